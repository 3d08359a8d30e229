/* Addresses and single values as people write them. What is taken is written again and means the
 * same. */
#include <stdlib.h>
#include <string.h>

#include "core/conf.h"
#include "daemon/address.h"
#include "daemon/peer_list.h"
#include "fuzz.h"

static void address(const char *text)
{
	char err[CONF_MAX_ERROR], buf[ADDRESS_TEXT];
	union address a, again;

	if (address_parse(text, &a, err, sizeof(err)) < 0)
		return;
	address_format(&a, buf);
	must_hold(strlen(buf) < sizeof(buf));
	must_hold(!address_parse(buf, &again, err, sizeof(err)) && address_equal(&a, &again));
	must_hold(address_hash(&a) == address_hash(&again));
}

static void endpoint(const char *text)
{
	char err[CONF_MAX_ERROR], buf[ADDRESS_ENDPOINT_TEXT];
	union address a, again;

	if (address_parse_endpoint(text, &a, err, sizeof(err)) < 0)
		return;
	address_format_endpoint(&a, buf);
	must_hold(!address_parse_endpoint(buf, &again, err, sizeof(err)));
}

static void subnet(const char *text)
{
	char err[CONF_MAX_ERROR], buf[ADDRESS_TEXT];
	struct in6_addr net, again;
	int32_t len, len_again;

	if (address_parse_subnet(text, &net, &len, err, sizeof(err)) < 0)
		return;
	must_hold(len >= 0 && len <= 128);
	address_format_subnet(&net, len, buf);
	must_hold(!address_parse_subnet(buf, &again, &len_again, err, sizeof(err)));
	must_hold(len == len_again && !memcmp(&net, &again, sizeof(net)));
}

static void values(const char *text)
{
	char err[CONF_MAX_ERROR], name[PEER_LOOKUP_MAX], buf[64];
	uint64_t v, again;
	bool b;

	conf_parse_bool(text, &b);
	conf_parse_u64(text, &v);
	if (!conf_parse_duration(text, &v)) {
		conf_format_duration(v, buf, sizeof(buf));
		must_hold(!conf_parse_duration(buf, &again) && again == v);
	}
	if (!conf_parse_size(text, &v)) {
		conf_format_size(v, buf, sizeof(buf));
		must_hold(!conf_parse_size(buf, &again) && again == v);
	}
	peer_template_check(text, err, sizeof(err));
	if (!peer_lookup_name(text, "host", "rail", name, err, sizeof(err)))
		must_hold(strlen(name) < sizeof(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	address(text);
	endpoint(text);
	subnet(text);
	values(text);
	free(text);
	return 0;
}
