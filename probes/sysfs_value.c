#include "probes/sysfs_value.h"

#include <arpa/inet.h>
#include <string.h>

#define BITS_PER_GIGABIT 1000000000ULL
#define GIGABITS_MAX 1000000ULL /* far beyond any link; keeps the product in 64 bits */
#define PORT_NUMBER_MAX 255
#define LANES_MAX 64

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static const char *skip_blanks(const char *s)
{
	while (is_blank(*s))
		s++;
	return s;
}

/* Decimal digits at s up to max; what follows them, or NULL. */
static const char *digits(const char *s, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	if (!is_digit(*s))
		return NULL;
	for (; is_digit(*s); s++) {
		uint64_t digit = (uint64_t)(*s - '0');

		if (value > (max - digit) / 10)
			return NULL;
		value = value * 10 + digit;
	}
	*ret = value;
	return s;
}

void sysfs_first_line(const char *text, char *ret, size_t size)
{
	const char *start = skip_blanks(text);
	size_t len = strcspn(start, "\n");

	while (len > 0 && is_blank(start[len - 1]))
		len--;
	if (len >= size)
		len = size - 1;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)start[i];

		ret[i] = c < ' ' || c == 0x7f ? '?' : start[i];
	}
	ret[len] = '\0';
}

bool sysfs_counter(const char *text, uint64_t *ret)
{
	uint64_t value;
	const char *end = digits(skip_blanks(text), UINT64_MAX, &value);

	if (!end || *skip_blanks(end))
		return false;
	*ret = value;
	return true;
}

bool sysfs_state(const char *text, uint32_t *ret_number, char *ret_name, size_t size)
{
	uint64_t number;
	const char *end = digits(skip_blanks(text), UINT32_MAX, &number);

	if (!end || *end != ':')
		return false;
	*ret_number = (uint32_t)number;
	sysfs_first_line(end + 1, ret_name, size);
	return true;
}

/* Digits after a decimal point as parts of 10^9; more than nine are not exact and not accepted. */
static const char *fraction(const char *s, uint64_t *ret)
{
	uint64_t scale = BITS_PER_GIGABIT, value = 0;

	if (!is_digit(*s))
		return NULL;
	for (; is_digit(*s); s++) {
		if (scale == 1)
			return NULL;
		scale /= 10;
		value += (uint64_t)(*s - '0') * scale;
	}
	*ret = value;
	return s;
}

/* Gigabits, also where the unit is spelled GB: no kernel ever reported bytes there. */
static bool rate_unit(const char *s)
{
	static const char unit[] = "gb/sec";

	s = skip_blanks(s);
	if (strncasecmp(s, unit, sizeof(unit) - 1) != 0)
		return false;
	s += sizeof(unit) - 1;
	return *s == '\0' || is_blank(*s);
}

bool sysfs_rate(const char *text, uint64_t *ret_bytes_per_second)
{
	uint64_t whole, part = 0;
	const char *s = digits(skip_blanks(text), GIGABITS_MAX, &whole);

	if (s && *s == '.')
		s = fraction(s + 1, &part);
	if (!s || !rate_unit(s))
		return false;
	*ret_bytes_per_second = (whole * BITS_PER_GIGABIT + part) / 8;
	return true;
}

bool sysfs_lanes(const char *text, uint32_t *ret)
{
	const char *s = strchr(text, '(');
	uint64_t lanes;

	s = s ? digits(s + 1, LANES_MAX, &lanes) : NULL;
	if (!s || *s != 'X' || lanes == 0)
		return false;
	*ret = (uint32_t)lanes;
	return true;
}

bool sysfs_gid(const char *line, uint8_t ret[16])
{
	struct in6_addr address;

	if (inet_pton(AF_INET6, line, &address) != 1)
		return false;
	memcpy(ret, &address, sizeof(address));
	return true;
}

enum gid_type sysfs_gid_type(const char *line, enum link_layer layer)
{
	if (strcmp(line, "RoCE v2") == 0)
		return GID_TYPE_ROCE_V2;
	if (strcmp(line, "IB/RoCE v1") != 0)
		return GID_TYPE_UNKNOWN;
	switch (layer) {
	case LINK_LAYER_INFINIBAND:
		return GID_TYPE_IB;
	case LINK_LAYER_ETHERNET:
		return GID_TYPE_ROCE_V1;
	case LINK_LAYER_UNKNOWN:
		break;
	}
	return GID_TYPE_UNKNOWN;
}

enum link_layer sysfs_link_layer(const char *line)
{
	if (strcmp(line, "InfiniBand") == 0)
		return LINK_LAYER_INFINIBAND;
	if (strcmp(line, "Ethernet") == 0)
		return LINK_LAYER_ETHERNET;
	return LINK_LAYER_UNKNOWN;
}

bool sysfs_guid_zero(const char *line)
{
	return *line && line[strspn(line, "0:")] == '\0';
}

/* At least min hex digits and then the character `end`; what follows it, or NULL. */
static const char *hex_field(const char *s, size_t min, size_t max, char end)
{
	size_t n = 0;

	while (is_hex(s[n]))
		n++;
	return n >= min && n <= max && s[n] == end ? s + n + 1 : NULL;
}

bool sysfs_pci_address(const char *name)
{
	const char *s = hex_field(name, 4, 8, ':');

	if (s)
		s = hex_field(s, 2, 2, ':');
	if (s)
		s = hex_field(s, 2, 2, '.');
	return s && s[0] >= '0' && s[0] <= '7' && s[1] == '\0';
}

bool sysfs_port_number(const char *name, uint8_t *ret)
{
	uint64_t number;
	const char *end = name[0] == '0' ? NULL : digits(name, PORT_NUMBER_MAX, &number);

	if (!end || *end)
		return false;
	*ret = (uint8_t)number;
	return true;
}
