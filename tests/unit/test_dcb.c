/* DCB by rtnetlink: messages as the kernel makes them, cut and spoiled in every place, and the
 * kernel of this host. */
#include "support.h"

#include <errno.h>
#include <net/if.h>

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include "probes/dcb.h"

struct message {
	char bytes[2048];
	size_t len;
};

static size_t open_attr(struct message *m, unsigned type)
{
	struct nlattr attr = {.nla_type = (uint16_t)type};
	size_t at = m->len;

	memcpy(m->bytes + at, &attr, sizeof(attr));
	m->len += sizeof(attr);
	return at;
}

static void close_attr(struct message *m, size_t at)
{
	uint16_t len = (uint16_t)(m->len - at);

	memcpy(m->bytes + at, &len, sizeof(len));
	m->len = (m->len + 3) / 4 * 4;
}

static void put_attr(struct message *m, unsigned type, const void *data, size_t len)
{
	size_t at = open_attr(m, type);

	memcpy(m->bytes + m->len, data, len);
	m->len += len;
	close_attr(m, at);
}

static void begin(struct message *m)
{
	struct dcbmsg dcb = {.cmd = DCB_CMD_IEEE_GET};

	memset(m, 0, sizeof(*m));
	memcpy(m->bytes, &dcb, sizeof(dcb));
	m->len = sizeof(dcb);
}

static void put_app(struct message *m, uint8_t selector, uint16_t protocol, uint8_t priority)
{
	struct dcb_app app = {.selector = selector, .protocol = protocol, .priority = priority};

	put_attr(m, DCB_ATTR_IEEE_APP, &app, sizeof(app));
}

static size_t begin_answer(struct message *m, uint8_t pfc_en)
{
	struct ieee_ets ets = {.ets_cap = 8, .prio_tc = {1, 0, 2, 3, 4, 5, 6, 7}};
	struct ieee_pfc pfc = {.pfc_cap = 8, .pfc_en = pfc_en};
	size_t ieee;

	begin(m);
	put_attr(m, DCB_ATTR_IFNAME, "ens1f0np0", 10);
	ieee = open_attr(m, DCB_ATTR_IEEE | NLA_F_NESTED);
	put_attr(m, DCB_ATTR_IEEE_ETS, &ets, sizeof(ets));
	put_attr(m, DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
	return ieee;
}

/* As an mlx5 answers that was told `dcb app add dev X dscp-prio 26:3` and has PFC for 3. */
static void mlx5(struct message *m)
{
	size_t ieee = begin_answer(m, 1 << 3), table = open_attr(m, DCB_ATTR_IEEE_APP_TABLE);

	put_app(m, IEEE_8021QAZ_APP_SEL_ETHERTYPE, 0x8915, 4);
	put_app(m, IEEE_8021QAZ_APP_SEL_DSCP, 26, 3);
	put_app(m, IEEE_8021QAZ_APP_SEL_DSCP, 48, 6);
	put_app(m, IEEE_8021QAZ_APP_SEL_DSCP, 99, 6);
	put_app(m, IEEE_8021QAZ_APP_SEL_DSCP, 10, 9);
	close_attr(m, table);
	close_attr(m, ieee);
}

static int parse(const struct message *m, struct port_config_fact *ret)
{
	return dcb_take((const uint8_t *)m->bytes, m->len, ret);
}

static void test_priorities_flow_control_and_dscp_of_a_nic(void **state)
{
	struct port_config_fact c = {0};
	struct message m;

	(void)state;
	mlx5(&m);
	assert_int_equal(parse(&m, &c), 0);
	assert_true(c.pfc_known);
	assert_int_equal(c.pfc, 1 << 3);
	assert_int_equal(c.trust, TRUST_DSCP);
	assert_true(c.classes_known);
	assert_int_equal(c.priority_class[0], 1);
	assert_int_equal(c.priority_class[7], 7);
	assert_int_equal(c.dscp_priority[26], 3);
	assert_int_equal(c.dscp_priority[48], 6);
	assert_int_equal(c.dscp_priority[10], DSCP_UNMAPPED);
	assert_int_equal(c.dscp_priority[0], DSCP_UNMAPPED);
}

/* As a bnxt_en answers: what its firmware made of DCBX, rates of the classes in front, the mode of
 * DCBX behind. Of its three entries for RoCE one is for a DSCP. */
static void bnxt(struct message *m)
{
	struct ieee_ets ets = {.ets_cap = 3, .prio_tc = {0, 0, 0, 1, 0, 0, 0, 2}};
	struct ieee_pfc pfc = {.pfc_cap = 8, .pfc_en = 1 << 3};
	struct ieee_maxrate rates = {.tc_maxrate = {100000000, 0, UINT64_MAX}};
	uint8_t dcbx = DCB_CAP_DCBX_LLD_MANAGED | DCB_CAP_DCBX_VER_IEEE;
	size_t ieee, table;

	begin(m);
	put_attr(m, DCB_ATTR_IFNAME, "ens2f0np0", 10);
	ieee = open_attr(m, DCB_ATTR_IEEE);
	put_attr(m, DCB_ATTR_IEEE_ETS, &ets, sizeof(ets));
	put_attr(m, DCB_ATTR_IEEE_MAXRATE, &rates, sizeof(rates));
	put_attr(m, DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
	table = open_attr(m, DCB_ATTR_IEEE_APP_TABLE);
	put_app(m, IEEE_8021QAZ_APP_SEL_ETHERTYPE, 0x8915, 3);
	put_app(m, IEEE_8021QAZ_APP_SEL_DGRAM, 4791, 3);
	put_app(m, IEEE_8021QAZ_APP_SEL_DSCP, 48, 7);
	close_attr(m, table);
	close_attr(m, ieee);
	put_attr(m, DCB_ATTR_DCBX, &dcbx, sizeof(dcbx));
}

static void test_entries_for_ports_and_ethertypes_are_no_dscp(void **state)
{
	struct port_config_fact c = {0};
	struct message m;

	(void)state;
	bnxt(&m);
	assert_int_equal(parse(&m, &c), 0);
	assert_true(c.pfc_known && c.classes_known);
	assert_int_equal(c.pfc, 1 << 3);
	assert_int_equal(c.priority_class[3], 1);
	assert_int_equal(c.priority_class[7], 2);
	assert_int_equal(c.trust, TRUST_DSCP);
	for (unsigned dscp = 0; dscp < DSCP_COUNT; dscp++)
		assert_int_equal(c.dscp_priority[dscp], dscp == 48 ? 7 : DSCP_UNMAPPED);
}

static void test_limits_of_classes_are_kilobits_a_second_and_zero_is_none(void **state)
{
	struct port_config_fact c = {0};
	struct message m;

	(void)state;
	bnxt(&m);
	assert_int_equal(parse(&m, &c), 0);
	assert_true(c.max_rates_known);
	assert_int_equal(c.max_kilobits[0], 100000000);
	assert_int_equal(c.max_kilobits[1], 0);
	assert_int_equal(c.max_kilobits[2], 0); /* beyond what a wire could do */
	mlx5(&m);
	assert_int_equal(parse(&m, &c), 0);
	assert_false(c.max_rates_known);
	assert_int_equal(c.max_kilobits[0], 0);
}

/* A table that ends within an entry would be taken for another setup than the host's. */
static void test_tables_that_are_cut_within_say_nothing_at_all(void **state)
{
	static const uint16_t tables[] = {DCB_ATTR_IEEE_APP_TABLE, 11};
	struct message m;

	(void)state;
	for (size_t i = 0; i < COUNT(tables); i++) {
		struct port_config_fact c = {0};
		size_t ieee = begin_answer(&m, 1 << 3), table = open_attr(&m, tables[i]);

		put_app(&m, IEEE_8021QAZ_APP_SEL_DSCP, 26, 3);
		put_app(&m, IEEE_8021QAZ_APP_SEL_DSCP, 48, 6);
		m.len -= 4; /* of the last entry */
		close_attr(&m, table);
		close_attr(&m, ieee);
		assert_int_equal(parse(&m, &c), -EBADMSG);
		assert_false(c.pfc_known);
		assert_int_equal(c.trust, TRUST_UNKNOWN);
		assert_int_equal(c.dscp_priority[26], DSCP_UNMAPPED);
	}
}

/* A driver that says less than its kernel's structure has is not guessed at. */
static void test_values_that_are_too_short_are_unknown_and_the_others_known(void **state)
{
	struct port_config_fact c = {0};
	struct ieee_ets ets = {.prio_tc = {1}};
	struct ieee_pfc pfc = {.pfc_en = 1 << 3};
	struct message m;
	size_t ieee;

	(void)state;
	begin(&m);
	ieee = open_attr(&m, DCB_ATTR_IEEE);
	put_attr(&m, DCB_ATTR_IEEE_ETS, &ets, sizeof(ets) - 4);
	put_attr(&m, DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
	close_attr(&m, ieee);
	assert_int_equal(parse(&m, &c), 0);
	assert_false(c.classes_known);
	assert_true(c.pfc_known);
}

static void test_without_dscp_entries_the_port_trusts_pcp(void **state)
{
	struct port_config_fact c = {0};
	struct message m;
	size_t ieee;

	(void)state;
	ieee = begin_answer(&m, 0);
	close_attr(&m, ieee);
	assert_int_equal(parse(&m, &c), 0);
	assert_int_equal(c.trust, TRUST_PCP);
	assert_true(c.pfc_known);
	assert_int_equal(c.pfc, 0);
}

static void test_table_of_trust_has_the_word(void **state)
{
	static const uint8_t pcp = 255, dscp = IEEE_8021QAZ_APP_SEL_DSCP;
	struct port_config_fact c = {0};
	struct message m;
	size_t ieee, table;

	(void)state;
	ieee = begin_answer(&m, 0);
	table = open_attr(&m, DCB_ATTR_IEEE_APP_TABLE);
	put_app(&m, IEEE_8021QAZ_APP_SEL_DSCP, 26, 3);
	close_attr(&m, table);
	table = open_attr(&m, 11);
	put_attr(&m, 1, &pcp, 1);
	put_attr(&m, 1, &dscp, 1);
	close_attr(&m, table);
	close_attr(&m, ieee);
	assert_int_equal(parse(&m, &c), 0);
	assert_int_equal(c.trust, TRUST_PCP);
}

static void test_dscp_with_two_priorities_is_not_mapped(void **state)
{
	struct port_config_fact c = {0};
	struct message m;
	size_t ieee, table;

	(void)state;
	ieee = begin_answer(&m, 0);
	table = open_attr(&m, DCB_ATTR_IEEE_APP_TABLE);
	put_app(&m, IEEE_8021QAZ_APP_SEL_DSCP, 26, 3);
	put_app(&m, IEEE_8021QAZ_APP_SEL_DSCP, 26, 4);
	put_app(&m, IEEE_8021QAZ_APP_SEL_DSCP, 26, 3);
	close_attr(&m, table);
	close_attr(&m, ieee);
	assert_int_equal(parse(&m, &c), 0);
	assert_int_equal(c.dscp_priority[26], DSCP_UNMAPPED);
}

/* Each length from nothing on, in memory of just that length so that a sanitizer sees one byte
 * more being read. */
static void test_answers_cut_anywhere_do_no_harm(void **state)
{
	struct port_config_fact c = {0};
	struct message m;

	(void)state;
	mlx5(&m);
	for (size_t len = 0; len < m.len; len++) {
		uint8_t *part = malloc(len + 1);

		memcpy(part, m.bytes, len);
		assert_int_equal(dcb_take(part, len, &c), -EBADMSG);
		assert_int_equal(c.trust, TRUST_UNKNOWN);
		assert_false(c.pfc_known);
		free(part);
	}
}

static void test_any_byte_may_be_another(void **state)
{
	struct message m;

	(void)state;
	mlx5(&m);
	for (size_t i = 0; i < m.len; i++) {
		for (unsigned value = 0; value < 256; value += 5) {
			struct port_config_fact c = {0};
			struct message other = m;

			other.bytes[i] = (char)value;
			parse(&other, &c);
			assert_in_range(c.trust, TRUST_UNKNOWN, TRUST_DSCP);
			for (unsigned d = 0; d < DSCP_COUNT; d++)
				assert_true(c.dscp_priority[d] < PRIORITIES ||
					    c.dscp_priority[d] == DSCP_UNMAPPED ||
					    c.dscp_priority[d] == 0);
		}
	}
}

/* The kernel understands the question: lo has no DCB, and what is not there is not there. Without
 * CONFIG_DCB rtnetlink knows no such question. */
static void test_kernel_of_this_host_answers(void **state)
{
	static const char *const names[] = {"lo", "nosuchnetdev", "", "sixteen-letters-"};
	struct port_config_fact c;
	struct netlink n;

	(void)state;
	assert_int_equal(netlink_open(&n, NETLINK_ROUTE, 0), 0);
	for (size_t i = 0; i < COUNT(names); i++) {
		int r = dcb_ask(&n, names[i], &c);

		assert_true(r == -EOPNOTSUPP || r == -ENODEV);
		assert_false(c.pfc_known);
		assert_int_equal(c.dscp_priority[0], DSCP_UNMAPPED);
	}
	netlink_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_priorities_flow_control_and_dscp_of_a_nic),
		cmocka_unit_test(test_entries_for_ports_and_ethertypes_are_no_dscp),
		cmocka_unit_test(test_limits_of_classes_are_kilobits_a_second_and_zero_is_none),
		cmocka_unit_test(test_tables_that_are_cut_within_say_nothing_at_all),
		cmocka_unit_test(test_values_that_are_too_short_are_unknown_and_the_others_known),
		cmocka_unit_test(test_without_dscp_entries_the_port_trusts_pcp),
		cmocka_unit_test(test_table_of_trust_has_the_word),
		cmocka_unit_test(test_dscp_with_two_priorities_is_not_mapped),
		cmocka_unit_test(test_answers_cut_anywhere_do_no_harm),
		cmocka_unit_test(test_any_byte_may_be_another),
		cmocka_unit_test(test_kernel_of_this_host_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
