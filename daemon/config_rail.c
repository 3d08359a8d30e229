#include "daemon/config_keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"

#define BYTES_PER_MEGABIT 125000
#define RATE_MAX_GIGABITS 10000ULL

/* [rail NAME] */

static struct rail_spec *find_rail(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_rails; i++) {
		if (!strcmp(c->rails[i].name, name))
			return (struct rail_spec *)&c->rails[i];
	}
	return NULL;
}

/* The rail of a section, made by the first of its keys. */
static struct rail_spec *take_rail(struct config *c, const char *name, char *err, size_t errlen)
{
	struct rail_spec *rail = find_rail(c, name);

	if (rail)
		return rail;
	if (!rail_name_valid(name)) {
		config_refuse(err, errlen, name, "is no rail name");
		return NULL;
	}
	if (c->n_rails == RAIL_MAX) {
		snprintf(err, errlen, "more than %d rails", RAIL_MAX);
		return NULL;
	}
	rail = &c->rails[c->n_rails++];
	rail->prefix_len = -1;
	name_copy(rail->name, sizeof(rail->name), name);
	return rail;
}

static int parse_rail_word(char *field, size_t size, const char *value, char *err, size_t errlen)
{
	if (!name_valid(value) || !name_copy(field, size, value)) {
		*field = '\0';
		return config_refuse(err, errlen, value, "is no name that a device can have");
	}
	return 0;
}

int config_parse_rail_device(void *target, const char *instance, const char *value, char *err,
			     size_t errlen)
{
	struct rail_spec *rail = take_rail(target, instance, err, errlen);

	if (!rail)
		return -EINVAL;
	return parse_rail_word(rail->device, sizeof(rail->device), value, err, errlen);
}

int config_parse_rail_netdev(void *target, const char *instance, const char *value, char *err,
			     size_t errlen)
{
	struct rail_spec *rail = take_rail(target, instance, err, errlen);

	if (!rail)
		return -EINVAL;
	return parse_rail_word(rail->netdev, sizeof(rail->netdev), value, err, errlen);
}

int config_parse_rail_subnet(void *target, const char *instance, const char *value, char *err,
			     size_t errlen)
{
	struct rail_spec *rail = take_rail(target, instance, err, errlen);

	if (!rail)
		return -EINVAL;
	return address_parse_subnet(value, &rail->subnet, &rail->prefix_len, err, errlen);
}

/* "200Gb/s", "2.5Gb/s", "100Mb/s" in bits per second, as links are named; whole megabits. */
static bool parse_rate(const char *value, uint64_t *ret_megabits)
{
	uint64_t whole = 0, thousandths = 0, scale = 1000;
	const char *p = value;

	for (; *p >= '0' && *p <= '9' && whole <= RATE_MAX_GIGABITS * 1000; p++)
		whole = whole * 10 + (uint64_t)(*p - '0');
	if (p == value)
		return false;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9' && scale > 1; p++) {
			scale /= 10;
			thousandths += (uint64_t)(*p - '0') * scale;
		}
	p += strspn(p, " ");
	if (!strcmp(p, "Gb/s"))
		*ret_megabits = whole * 1000 + thousandths;
	else if (!strcmp(p, "Mb/s") && scale == 1000)
		*ret_megabits = whole;
	else
		return false;
	return *ret_megabits > 0 && *ret_megabits <= RATE_MAX_GIGABITS * 1000;
}

static int parse_rate_to(uint64_t *ret, const char *value, char *err, size_t errlen)
{
	uint64_t megabits;

	if (!parse_rate(value, &megabits))
		return config_refuse(err, errlen, value,
				     "is no rate of a link: write it as 200Gb/s or 2.5Gb/s");
	*ret = megabits * BYTES_PER_MEGABIT;
	return 0;
}

int config_parse_rail_rate(void *target, const char *instance, const char *value, char *err,
			   size_t errlen)
{
	struct config *c = target;
	struct rail_spec *rail = take_rail(c, instance, err, errlen);

	if (!rail)
		return -EINVAL;
	return parse_rate_to(&c->rail_rates[rail - c->rails], value, err, errlen);
}

int config_parse_rails_rate(void *target, const char *instance, const char *value, char *err,
			    size_t errlen)
{
	(void)instance;
	return parse_rate_to(&((struct config *)target)->rails_rate, value, err, errlen);
}

static void print_rate(uint64_t rate, struct strbuf *out)
{
	uint64_t megabits = rate / BYTES_PER_MEGABIT;

	if (megabits % 1000)
		strbuf_printf(out, "expected_rate = %" PRIu64 "Mb/s\n", megabits);
	else if (megabits)
		strbuf_printf(out, "expected_rate = %" PRIu64 "Gb/s\n", megabits / 1000);
	else
		strbuf_puts(out, "# expected_rate =\n");
}

void config_print_rail_rate(const void *target, const char *instance, struct strbuf *out)
{
	const struct config *c = target;
	const struct rail_spec *rail = find_rail(c, instance);

	if (rail)
		print_rate(c->rail_rates[rail - c->rails], out);
}

void config_print_rails_rate(const void *target, const char *instance, struct strbuf *out)
{
	(void)instance;
	print_rate(((const struct config *)target)->rails_rate, out);
}

uint64_t config_rail_rate(const struct config *c, const char *name)
{
	const struct rail_spec *rail = find_rail(c, name);

	return rail && c->rail_rates[rail - c->rails] ? c->rail_rates[rail - c->rails]
						      : c->rails_rate;
}

void config_check_rails(const struct config *c, const char *path, struct conf_report *report)
{
	for (size_t i = 0; i < c->n_rails; i++)
		if (!c->rails[i].device[0] && !c->rails[i].netdev[0] && c->rails[i].prefix_len < 0)
			conf_remark(report, CONF_ERROR, path, 0,
				    "section [rail %s] says of no port that it is this rail: state "
				    "its device, netdev or subnet",
				    c->rails[i].name);
}

void config_print_rail_device(const void *target, const char *instance, struct strbuf *out)
{
	const struct rail_spec *rail = find_rail(target, instance);

	if (rail)
		config_print_word(out, "device", rail->device);
}

void config_print_rail_netdev(const void *target, const char *instance, struct strbuf *out)
{
	const struct rail_spec *rail = find_rail(target, instance);

	if (rail)
		config_print_word(out, "netdev", rail->netdev);
}

void config_print_rail_subnet(const void *target, const char *instance, struct strbuf *out)
{
	const struct rail_spec *rail = find_rail(target, instance);
	char text[ADDRESS_TEXT] = "";

	if (!rail)
		return;
	if (rail->prefix_len >= 0)
		address_format_subnet(&rail->subnet, rail->prefix_len, text);
	config_print_word(out, "subnet", text);
}

/* [class NAME] */

static struct class_config *find_class(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_classes; i++) {
		if (!strcmp(c->classes[i].name, name))
			return (struct class_config *)&c->classes[i];
	}
	return NULL;
}

static struct class_config *take_class(struct config *c, const char *name, char *err, size_t errlen)
{
	struct class_config *class = find_class(c, name);

	if (class)
		return class;
	if (!name_valid(name)) {
		config_refuse(err, errlen, name, "is no class name");
		return NULL;
	}
	if (c->n_classes == CLASS_MAX) {
		snprintf(err, errlen, "more than %d classes", CLASS_MAX);
		return NULL;
	}
	class = &c->classes[c->n_classes++];
	class->tos = class->sl = -1;
	name_copy(class->name, sizeof(class->name), name);
	return class;
}

static int parse_class_number(int32_t *field, const int32_t *other, uint64_t max, const char *value,
			      char *err, size_t errlen)
{
	uint64_t v;

	if (conf_parse_u64(value, &v) < 0 || v > max) {
		snprintf(err, errlen, "'%.64s' is not a whole number from 0 to %u", value,
			 (unsigned)max);
		return -EINVAL;
	}
	if (*other >= 0) {
		snprintf(err, errlen, "a class has tos or sl, not both");
		return -EINVAL;
	}
	*field = (int32_t)v;
	return 0;
}

int config_parse_class_tos(void *target, const char *instance, const char *value, char *err,
			   size_t errlen)
{
	struct class_config *class = take_class(target, instance, err, errlen);

	if (!class)
		return -EINVAL;
	return parse_class_number(&class->tos, &class->sl, 255, value, err, errlen);
}

int config_parse_class_sl(void *target, const char *instance, const char *value, char *err,
			  size_t errlen)
{
	struct class_config *class = take_class(target, instance, err, errlen);

	if (!class || parse_class_number(&class->sl, &class->tos, 15, value, err, errlen) < 0)
		return -EINVAL;
	snprintf(err, errlen, "setting it is not built yet: the subnet manager chooses");
	return 0;
}

static void print_class_number(struct strbuf *out, const char *key, int32_t value)
{
	if (value < 0)
		strbuf_printf(out, "# %s =\n", key);
	else
		strbuf_printf(out, "%s = %d\n", key, value);
}

void config_print_class_tos(const void *target, const char *instance, struct strbuf *out)
{
	const struct class_config *class = find_class(target, instance);

	if (class)
		print_class_number(out, "tos", class->tos);
}

void config_print_class_sl(const void *target, const char *instance, struct strbuf *out)
{
	const struct class_config *class = find_class(target, instance);

	if (class)
		print_class_number(out, "sl", class->sl);
}
