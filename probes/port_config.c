#include "probes/port_config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/names.h"
#include "probes/sysfs.h"
#include "probes/sysfs_value.h"

#define MTU_MAX 0x7fffffffu
#define TOS_MAX 255
#define DSCP_MAX (DSCP_COUNT - 1)
#define PRIORITY_MAX (PRIORITIES - 1)
#define PAGE 4096 /* no file of sysfs has more */
#define FORCED_TOS "Global tclass="

static bool number_read(int fd, const char *path, uint64_t max, uint64_t *ret, uint64_t *errors)
{
	char line[SYSFS_TEXT];
	uint64_t value;

	if (!sysfs_line(fd, path, line, sizeof(line), errors) || !sysfs_counter(line, &value) ||
	    value > max)
		return false;
	*ret = value;
	return true;
}

/* The file of each priority says 0 or 1; where one is missing nothing is known. */
static bool ecn_read(const struct port_config_source *from, const char *side, uint8_t *ret,
		     uint64_t *errors)
{
	uint8_t mask = 0;

	for (unsigned p = 0; p < PRIORITIES; p++) {
		char path[SYSFS_PATH];
		uint64_t on;

		snprintf(path, sizeof(path), "class/net/%s/ecn/%s/enable/%u", from->netdev, side,
			 p);
		if (!number_read(from->root_fd, path, 1, &on, errors))
			return false;
		mask |= (uint8_t)(on << p);
	}
	*ret = mask;
	return true;
}

/* Other files of the same directory: with what CNP leave that answer marks. */
static bool cnp_read(const struct port_config_source *from, const char *what, uint64_t max,
		     uint8_t *ret, uint64_t *errors)
{
	char path[SYSFS_PATH];
	uint64_t value;

	snprintf(path, sizeof(path), "class/net/%s/ecn/roce_np/%s", from->netdev, what);
	if (!number_read(from->root_fd, path, max, &value, errors))
		return false;
	*ret = (uint8_t)value;
	return true;
}

static void master_read(const struct port_config_source *from, char ret[FACT_NETDEV])
{
	char path[SYSFS_PATH], target[PATH_MAX];
	const char *base;
	ssize_t n;

	snprintf(path, sizeof(path), "class/net/%s/master", from->netdev);
	n = readlinkat(from->root_fd, path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = '\0';
	base = strrchr(target, '/');
	name_copy(ret, FACT_NETDEV, base ? base + 1 : target);
}

static void members_take(struct port_config_fact *c, char *line)
{
	char *rest = NULL;

	for (char *name = strtok_r(line, " ", &rest); name && c->n_members < BOND_MEMBERS;
	     name = strtok_r(NULL, " ", &rest))
		name_copy(c->members[c->n_members++], FACT_NETDEV, name);
}

/* By operstate (RFC 2863). "unknown" is of a driver that does not tell, "dormant" waits for more
 * than a link: neither says that there is none. */
static void leg_read(const struct port_config_source *from, struct port_config_fact *c, unsigned i,
		     uint64_t *errors)
{
	static const char *const without[] = {"down", "lowerlayerdown", "notpresent"};
	char path[SYSFS_PATH], line[SYSFS_TEXT];
	uint8_t bit = (uint8_t)(1u << i);

	snprintf(path, sizeof(path), "class/net/%s/operstate", c->members[i]);
	if (!sysfs_line(from->root_fd, path, line, sizeof(line), errors))
		return;
	if (strcmp(line, "up") == 0) {
		c->legs_known |= bit;
		c->legs_up |= bit;
	}
	for (unsigned k = 0; k < sizeof(without) / sizeof(without[0]); k++)
		if (strcmp(line, without[k]) == 0)
			c->legs_known |= bit;
}

/* The port's netdev may be a member, or with mlx5's bonded devices the bond itself. A master that
 * is no bond (a bridge, a VRF) has no such file. */
static void bond_read(const struct port_config_source *from, struct port_config_fact *c,
		      uint64_t *errors)
{
	char bond[FACT_NETDEV] = "", path[SYSFS_PATH], line[SYSFS_TEXT];

	master_read(from, bond);
	if (!bond[0])
		name_copy(bond, sizeof(bond), from->netdev);
	snprintf(path, sizeof(path), "class/net/%s/bonding/slaves", bond);
	if (!sysfs_line(from->root_fd, path, line, sizeof(line), errors))
		return;
	name_copy(c->bond, sizeof(c->bond), bond);
	members_take(c, line);
	for (unsigned i = 0; i < c->n_members; i++)
		leg_read(from, c, i, errors);
}

static void netdev_read(const struct port_config_source *from, struct port_config_fact *c,
			uint64_t *errors)
{
	char path[SYSFS_PATH];
	uint64_t mtu;

	snprintf(path, sizeof(path), "class/net/%s/mtu", from->netdev);
	if (number_read(from->root_fd, path, MTU_MAX, &mtu, errors))
		c->netdev_mtu = (uint32_t)mtu;
	c->ecn_np_known = ecn_read(from, "roce_np", &c->ecn_np, errors);
	c->ecn_rp_known = ecn_read(from, "roce_rp", &c->ecn_rp, errors);
	c->cnp_dscp_known = cnp_read(from, "cnp_dscp", DSCP_MAX, &c->cnp_dscp, errors);
	c->cnp_priority_known =
		cnp_read(from, "cnp_802p_prio", PRIORITY_MAX, &c->cnp_priority, errors);
	bond_read(from, c, errors);
}

static void defaults_read(const struct port_config_source *from, struct port_config_fact *c,
			  uint64_t *errors)
{
	char path[SYSFS_PATH], line[SYSFS_TEXT];
	uint64_t tos;

	snprintf(path, sizeof(path), "kernel/config/rdma_cm/%s/ports/%u/default_roce_mode",
		 from->device, from->port);
	/* RoCE is asked for only on Ethernet, where "IB/RoCE v1" is the latter. */
	if (sysfs_line(from->root_fd, path, line, sizeof(line), errors))
		c->roce_mode = (uint8_t)sysfs_gid_type(line, LINK_LAYER_ETHERNET);
	snprintf(path, sizeof(path), "kernel/config/rdma_cm/%s/ports/%u/default_roce_tos",
		 from->device, from->port);
	c->roce_tos_known = number_read(from->root_fd, path, TOS_MAX, &tos, errors);
	if (c->roce_tos_known)
		c->roce_tos = (uint8_t)tos;
}

/* NVIDIA's own driver (MLNX_OFED, DOCA), not the kernel's: the first line is of all packets, and
 * missing where nobody set it; lines after it are of single addresses, and may be many. */
static void forced_tos_read(const struct port_config_source *from, struct port_config_fact *c,
			    uint64_t *errors)
{
	char path[SYSFS_PATH], text[PAGE + 1], line[SYSFS_TEXT];
	const size_t before = sizeof(FORCED_TOS) - 1;
	uint64_t tos;
	int n;

	snprintf(path, sizeof(path), "class/infiniband/%s/tc/%u/traffic_class", from->device,
		 from->port);
	n = sysfs_read(from->root_fd, path, text, sizeof(text));
	if (n < 0 && n != -ENOENT)
		errors[sysfs_error_class(n)]++;
	if (n < 0)
		return;
	sysfs_first_line(text, line, sizeof(line));
	if (strncmp(line, FORCED_TOS, before) != 0 || !sysfs_counter(line + before, &tos) ||
	    tos > TOS_MAX)
		return;
	c->forced_tos_known = true;
	c->forced_tos = (uint8_t)tos;
}

void port_config_read(const struct port_config_source *from, struct port_config_fact *ret,
		      uint64_t *errors)
{
	*ret = (struct port_config_fact){0};
	memset(ret->dscp_priority, DSCP_UNMAPPED, sizeof(ret->dscp_priority));
	if (from->netdev[0])
		netdev_read(from, ret, errors);
	defaults_read(from, ret, errors);
	forced_tos_read(from, ret, errors);
}
