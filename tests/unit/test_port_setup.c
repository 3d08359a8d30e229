/* What is asked about a port, by whom, and what becomes of the answers; a socket pair stands in the
 * kernel's place. */
#include "link_answer.h"

#include <errno.h>
#include <unistd.h>

#include "probes/port_setup.h"

static struct netlink_kernel kernel;
static unsigned opened;

int __wrap_netlink_open(struct netlink *n, int protocol, uint32_t groups);

int __wrap_netlink_open(struct netlink *n, int protocol, uint32_t groups)
{
	assert_int_equal(groups, 0);
	opened++;
	if (protocol != NETLINK_GENERIC)
		return -EPROTONOSUPPORT;
	*n = kernel.asker;
	kernel.asker = (struct netlink){.fd = -1};
	return 0;
}

struct asking {
	struct port_setup setup;
	struct port_fact port;
	uint64_t errors[READ_ERROR_COUNT];
};

static int setup(void **state)
{
	struct asking *a = calloc(1, sizeof(*a));

	opened = 0;
	kernel_begin(&kernel);
	port_setup_init(&a->setup, true);
	a->port.port = 1;
	a->port.link_layer = LINK_LAYER_ETHERNET;
	snprintf(a->port.netdev, FACT_NETDEV, "ens1f0np0");
	*state = a;
	return 0;
}

static int teardown(void **state)
{
	struct asking *a = *state;

	port_setup_close(&a->setup);
	kernel_end(&kernel);
	free(a);
	return 0;
}

static void tell(const char *netdev, uint32_t megabits, uint32_t fastest)
{
	const struct told_mode modes[] = {
		{6, "Autoneg", true, true},
		{31, megabits == 25000 ? "25000baseCR/Full" : "100000baseCR4/Full", true, true},
		{38, fastest == 100000 ? "100000baseCR2/Full" : "200000baseCR4/Full", true, true},
	};

	link_answer_begin(&kernel, netdev, megabits, 0, 1);
	link_answer_modes(&kernel, modes, COUNT(modes));
	kernel_answer(&kernel);
}

static uint64_t errors_of(const struct asking *a)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < READ_ERROR_COUNT; i++)
		sum += a->errors[i];
	return sum;
}

static void test_the_family_is_looked_up_once(void **state)
{
	struct asking *a = *state;

	family_answer(&kernel);
	tell("ens1f0np0", 25000, 100000);
	port_setup_links(&a->setup, &a->port, a->errors);
	assert_int_equal(a->port.link.common_megabits, 100000);
	tell("ens1f0np0", 100000, 200000);
	port_setup_links(&a->setup, &a->port, a->errors);
	assert_int_equal(a->port.link.common_megabits, 200000);
	assert_int_equal(opened, 1);
	assert_int_equal(errors_of(a), 0);
}

static void test_a_bond_is_as_good_as_the_least_of_its_legs(void **state)
{
	struct asking *a = *state;
	struct port_fact *p = &a->port;

	snprintf(p->netdev, FACT_NETDEV, "bond0");
	snprintf(p->config.bond, FACT_NETDEV, "bond0");
	snprintf(p->config.members[0], FACT_NETDEV, "ens1f0np0");
	snprintf(p->config.members[1], FACT_NETDEV, "ens1f1np1");
	p->config.n_members = 2;
	family_answer(&kernel);
	tell("ens1f0np0", 100000, 200000);
	tell("ens1f1np1", 25000, 100000);
	port_setup_links(&a->setup, p, a->errors);
	assert_int_equal(p->leg[0].common_megabits, 200000);
	assert_int_equal(p->leg[1].common_megabits, 100000);
	assert_int_equal(p->link.common_megabits, 100000);
	assert_int_equal(p->link.megabits, 25000);
	/* One that went leaves the whole unknown, and nothing of what was. */
	tell("ens1f0np0", 100000, 200000);
	kernel_code(&kernel, NLMSG_ERROR, -ENODEV);
	kernel_answer(&kernel);
	port_setup_links(&a->setup, p, a->errors);
	assert_int_equal(p->leg[0].common_megabits, 200000);
	assert_int_equal(p->leg[1].possible_megabits, 0);
	assert_int_equal(p->link.common_megabits, 0);
	assert_int_equal(errors_of(a), 0);
	/* A member of a bond, which has its own port, is asked for itself alone. */
	snprintf(p->netdev, FACT_NETDEV, "ens1f0np0");
	tell("ens1f0np0", 25000, 100000);
	port_setup_links(&a->setup, p, a->errors);
	assert_int_equal(p->link.common_megabits, 100000);
	assert_int_equal(p->leg[0].possible_megabits, 0);
}

static void test_only_this_hosts_ethernet_is_asked_about(void **state)
{
	struct asking *a = *state;

	a->port.link_layer = LINK_LAYER_INFINIBAND;
	snprintf(a->port.rate_text, sizeof(a->port.rate_text), "100 Gb/sec (2X HDR)");
	port_setup_links(&a->setup, &a->port, a->errors);
	assert_int_equal(a->port.link.lanes, 2);
	assert_int_equal(a->port.link.possible_megabits, 0);
	a->port.link_layer = LINK_LAYER_ETHERNET;
	a->setup.own_host = false;
	port_setup_links(&a->setup, &a->port, a->errors);
	assert_int_equal(a->port.link.lanes, 0);
	a->setup.own_host = true;
	a->port.netdev[0] = '\0';
	port_setup_links(&a->setup, &a->port, a->errors);
	assert_int_equal(opened, 0);
}

static void test_a_kernel_that_fails_is_counted_and_one_that_cannot_is_not(void **state)
{
	struct asking *a = *state;

	kernel_code(&kernel, NLMSG_ERROR, -ENOENT); /* no such family */
	kernel_answer(&kernel);
	port_setup_links(&a->setup, &a->port, a->errors);
	family_answer(&kernel);
	kernel_code(&kernel, NLMSG_ERROR, -EOPNOTSUPP);
	kernel_answer(&kernel);
	port_setup_links(&a->setup, &a->port, a->errors);
	assert_int_equal(errors_of(a), 0);
	kernel_code(&kernel, NLMSG_ERROR, -EIO);
	kernel_answer(&kernel);
	port_setup_links(&a->setup, &a->port, a->errors);
	assert_int_equal(a->errors[READ_EIO], 1);
	assert_int_equal(a->port.link.possible_megabits, 0);
}

#define SETUP_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETUP_TEST(test_the_family_is_looked_up_once),
		SETUP_TEST(test_a_bond_is_as_good_as_the_least_of_its_legs),
		SETUP_TEST(test_only_this_hosts_ethernet_is_asked_about),
		SETUP_TEST(test_a_kernel_that_fails_is_counted_and_one_that_cannot_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
