#include "daemon/config_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"

/* Split "HOST[/RAIL]" in place and check both names. */
static int parse_name(char *word, struct peer_entry *peer, char *err, size_t errlen)
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
	name_copy(peer->host, sizeof(peer->host), word);
	name_copy(peer->rail, sizeof(peer->rail), rail);
	return 0;
}

/* FD00:0::1 and fd00::1 are one host. */
static int normalise_host(struct peer_entry *peer, char *err, size_t errlen)
{
	char text[ADDRESS_TEXT];
	union address host;

	if (address_parse(peer->host, &host, err, errlen) < 0)
		return -EINVAL;
	address_format(&host, text);
	name_copy(peer->host, sizeof(peer->host), text);
	return 0;
}

/* The address of a host that is one itself, or of the second word; else it is looked up. */
static int parse_address(struct peer_entry *peer, const char *address, char *err, size_t errlen)
{
	bool literal = address_is_literal(peer->host);

	if (!address && !literal)
		return 0;
	if (address_parse(address ? address : peer->host, &peer->address, err, errlen) < 0)
		return -EINVAL;
	return literal ? normalise_host(peer, err, errlen) : 0;
}

/* What is to be looked up follows from [peers] address, which may stand further down: until the
 * file is read to its end, an entry without address is at no place but its own. */
static int add(struct peer_list *list, struct peer_entry *peer, char *err, size_t errlen)
{
	char place[2 * FACT_NAME];

	if (peer->address.sa.sa_family != AF_UNSPEC)
		return peer_list_add(list, peer, err, errlen);
	peer_entry_label(peer, place, sizeof(place));
	peer->lookup = place;
	return peer_list_add(list, peer, err, errlen);
}

int config_parse_peer(void *target, const char *instance, const char *value, char *err,
		      size_t errlen)
{
	struct config_loading *l = target;
	char words[CONF_MAX_LINE + 1], *name, *address, *save;
	struct peer_entry peer = {0};

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
		peer_list_free(&l->config.peers);
		l->peers_replaced = true;
	}
	return add(&l->config.peers, &peer, err, errlen);
}

static int place_peer(struct peer_list *list, const struct peer_entry *from, const char *template,
		      char *err, size_t errlen)
{
	struct peer_entry peer = *from;
	char lookup[PEER_LOOKUP_MAX];

	if (from->lookup) {
		if (peer_lookup_name(template, from->host, from->rail, lookup, err, errlen) < 0)
			return -EINVAL;
		peer.lookup = lookup;
	}
	return peer_list_add(list, &peer, err, errlen);
}

void config_place_peers(struct config *c, const char *path, struct conf_report *report)
{
	struct peer_list placed = {0};
	char err[CONF_MAX_ERROR];

	for (size_t i = 0; i < c->peers.n; i++) {
		err[0] = '\0';
		if (place_peer(&placed, &c->peers.entries[i], c->address_template, err,
			       sizeof(err)) < 0)
			conf_remark(report, CONF_ERROR, path, 0, "[peers] peer: %s", err);
		else if (err[0])
			conf_remark(report, CONF_WARNING, path, 0, "[peers] peer: %s", err);
	}
	peer_list_free(&c->peers);
	c->peers = placed;
}

void config_print_peers(const void *target, const char *instance, struct strbuf *out)
{
	const struct config *c = target;
	char name[2 * FACT_NAME], address[ADDRESS_TEXT];

	(void)instance;
	if (c->peers.n == 0)
		strbuf_puts(out, "# peer =\n");
	for (size_t i = 0; i < c->peers.n; i++) {
		const struct peer_entry *e = &c->peers.entries[i];

		peer_entry_label(e, name, sizeof(name));
		address_format(&e->address, address);
		strbuf_printf(out, "peer = %s%s%s\n", name, e->lookup ? "" : " ",
			      e->lookup ? "" : address);
	}
}
