#include "daemon/config_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"

static void set_name(struct config_peer *peer, const char *host, const char *rail)
{
	name_copy(peer->host, sizeof(peer->host), host);
	name_copy(peer->rail, sizeof(peer->rail), rail);
	peer->name_hash = hash_str(host) * 31 + hash_str(rail);
}

static bool same_name(const struct config_peer *a, const struct config_peer *b)
{
	return a->name_hash == b->name_hash && !strcmp(a->host, b->host) &&
	       !strcmp(a->rail, b->rail);
}

static bool same_address(const struct config_peer *a, const struct config_peer *b)
{
	return a->address_hash == b->address_hash && address_equal(&a->address, &b->address);
}

/* Its name is nothing but its address. */
static bool nameless(const struct config_peer *peer)
{
	char text[ADDRESS_TEXT];

	address_format(&peer->address, text);
	return !strcmp(text, peer->host);
}

static void label(const struct config_peer *peer, char *buf, size_t len)
{
	snprintf(buf, len, "%s%s%s", peer->host, peer->rail[0] ? "/" : "", peer->rail);
}

static struct config_peer *find_name(struct config *c, const struct config_peer *peer)
{
	for (size_t i = 0; i < c->n_peers; i++) {
		if (same_name(&c->peers[i], peer))
			return &c->peers[i];
	}
	return NULL;
}

static struct config_peer *find_address(struct config *c, const struct config_peer *peer)
{
	for (size_t i = 0; i < c->n_peers; i++) {
		if (same_address(&c->peers[i], peer))
			return &c->peers[i];
	}
	return NULL;
}

/* One endpoint under two names: fine when one of them says less than the other, for example
 * 10.99.0.2 and host2/rxe0. Then the fuller name stays, unless another endpoint has it. */
static bool merge_names(struct config *c, struct config_peer *known, const struct config_peer *peer)
{
	struct config_peer merged = *known, *taken;

	if (strcmp(known->host, peer->host) && !nameless(known) && !nameless(peer))
		return false;
	if (strcmp(known->rail, peer->rail) && known->rail[0] && peer->rail[0])
		return false;
	set_name(&merged, nameless(known) ? peer->host : known->host,
		 known->rail[0] ? known->rail : peer->rail);
	taken = find_name(c, &merged);
	if (taken && taken != known)
		return false;
	*known = merged;
	return true;
}

static int append(struct config *c, const struct config_peer *peer, char *err, size_t errlen)
{
	if (c->n_peers == CONFIG_PEER_MAX) {
		snprintf(err, errlen, "more than %d peers", CONFIG_PEER_MAX);
		return -EINVAL;
	}
	if (c->n_peers == c->peers_cap) {
		size_t cap = c->peers_cap ? 2 * c->peers_cap : 64;
		struct config_peer *peers = reallocarray(c->peers, cap, sizeof(*peers));

		if (!peers) {
			snprintf(err, errlen, "out of memory");
			return -EINVAL;
		}
		c->peers = peers;
		c->peers_cap = cap;
	}
	c->peers[c->n_peers++] = *peer;
	return 0;
}

static int add_peer(struct config *c, const struct config_peer *peer, char *err, size_t errlen)
{
	struct config_peer *by_name = find_name(c, peer), *by_address = find_address(c, peer);
	char name[2 * FACT_NAME], known[2 * FACT_NAME], address[ADDRESS_TEXT];

	label(peer, name, sizeof(name));
	if (by_name && by_name != by_address) {
		address_format(&by_name->address, address);
		snprintf(err, errlen,
			 "%.80s already has the address %s: a host with several addresses needs "
			 "HOST/RAIL for each",
			 name, address);
		return -EINVAL;
	}
	if (!by_address)
		return append(c, peer, err, errlen);
	label(by_address, known, sizeof(known));
	address_format(&peer->address, address);
	if (!merge_names(c, by_address, peer)) {
		snprintf(err, errlen, "%.64s has the address %s, which is already that of %.64s",
			 name, address, known);
		return -EINVAL;
	}
	snprintf(err, errlen, "%.64s is listed twice (as %.64s before): merged", name, known);
	return 0;
}

/* Split "HOST[/RAIL]" in place and check both names. */
static int parse_name(char *word, struct config_peer *peer, char *err, size_t errlen)
{
	char *slash = strchr(word, '/'), *rail = slash ? slash + 1 : "";

	if (slash)
		*slash = '\0';
	if (!name_valid(word)) {
		snprintf(err, errlen,
			 "'%.64s' is no host name or address: at most %d letters, digits and . _ - "
			 ": %%",
			 word, NAME_MAX_LEN);
		return -EINVAL;
	}
	if (slash && !rail_name_valid(rail)) {
		snprintf(err, errlen, "'%.64s' is no rail name", rail);
		return -EINVAL;
	}
	set_name(peer, word, rail);
	return 0;
}

/* The address of a host that is one itself, or of the second word. */
static int parse_address(struct config_peer *peer, const char *address, char *err, size_t errlen)
{
	char text[ADDRESS_TEXT], rail[FACT_NAME];
	bool literal = address_is_literal(peer->host);
	int r;

	if (!address && !literal) {
		snprintf(err, errlen,
			 "%.64s has no address, and looking up host names is not built yet: write "
			 "'peer = %.64s ADDRESS'",
			 peer->host, peer->host);
		return -EINVAL;
	}
	r = address_parse(address ? address : peer->host, &peer->address, err, errlen);
	if (r < 0)
		return r;
	peer->address_hash = address_hash(&peer->address);
	if (!literal)
		return 0;
	/* FD00:0::1 and fd00::1 are one host. */
	address_format(&peer->address, text);
	if (address) {
		union address host;

		r = address_parse(peer->host, &host, err, errlen);
		if (r < 0)
			return r;
		address_format(&host, text);
	}
	name_copy(rail, sizeof(rail), peer->rail);
	set_name(peer, text, rail);
	return 0;
}

int config_parse_peer(void *target, const char *instance, const char *value, char *err,
		      size_t errlen)
{
	struct config_loading *l = target;
	char words[CONF_MAX_LINE + 1], *name, *address, *save;
	struct config_peer peer = {0};

	(void)instance;
	name_copy(words, sizeof(words), value);
	name = strtok_r(words, " \t", &save);
	address = strtok_r(NULL, " \t", &save);
	if (!name || strtok_r(NULL, " \t", &save)) {
		snprintf(err, errlen, "not of the form 'peer = HOST[/RAIL] [ADDRESS]'");
		return -EINVAL;
	}
	if (parse_name(name, &peer, err, errlen) < 0 ||
	    parse_address(&peer, address, err, errlen) < 0)
		return -EINVAL;
	if (l->from_command_line && !l->peers_replaced) {
		l->config.n_peers = 0;
		l->peers_replaced = true;
	}
	return add_peer(&l->config, &peer, err, errlen);
}

void config_print_peers(const void *target, const char *instance, struct strbuf *out)
{
	const struct config *c = target;
	char name[2 * FACT_NAME], address[ADDRESS_TEXT];

	(void)instance;
	if (c->n_peers == 0)
		strbuf_puts(out, "# peer =\n");
	for (size_t i = 0; i < c->n_peers; i++) {
		label(&c->peers[i], name, sizeof(name));
		address_format(&c->peers[i].address, address);
		strbuf_printf(out, "peer = %s %s\n", name, address);
	}
}
