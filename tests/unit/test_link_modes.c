/* Modes of a link and its partner: names of today and of kernels to come, answers as drivers make
 * them, cut and spoiled in every place, and the kernel of this host. */
#include "link_answer.h"

#include <errno.h>
#include <net/if.h>

#include "probes/generic_netlink.h"
#include "probes/link_modes.h"

static void test_speed_and_lanes_are_in_the_name_of_a_mode(void **state)
{
	static const struct {
		const char *name;
		uint32_t megabits, lanes;
	} modes[] = {
		{"10baseT/Half", 10, 1},
		{"10baseT1S_P2MP/Half", 10, 1},
		{"1000baseKX/Full", 1000, 1},
		{"2500baseX/Full", 2500, 1},
		{"10000baseKX4/Full", 10000, 4},
		{"10000baseR_FEC", 10000, 1},
		{"20000baseMLD2/Full", 20000, 2},
		{"25000baseCR/Full", 25000, 1},
		{"40000baseLR4/Full", 40000, 4},
		{"56000baseKR4/Full", 56000, 4},
		{"50000baseLR_ER_FR/Full", 50000, 1},
		{"100000baseLR4_ER4/Full", 100000, 4},
		{"200000baseLR4_ER4_FR4/Full", 200000, 4},
		{"400000baseDR4/Full", 400000, 4},
		{"800000baseDR8_2/Full", 800000, 8},
		{"1600000baseCR8/Full", 1600000, 8},
	};
	uint32_t megabits, lanes;

	(void)state;
	for (size_t i = 0; i < COUNT(modes); i++) {
		assert_true(link_mode_parse(modes[i].name, &megabits, &lanes));
		assert_int_equal(megabits, modes[i].megabits);
		assert_int_equal(lanes, modes[i].lanes);
	}
}

static void test_what_is_no_speed_is_none(void **state)
{
	static const char *const names[] = {
		"",	     "Autoneg",	   "TP",	 "Backplane",	     "FEC_RS",
		"Pause",     "base",	   "100",	 "100base",	     "100base/Full",
		"0baseT",    "100BaseT",   "100baset",	 "100baseT0/Full",   "-100baseT/Full",
		"100 baseT", "Asym_Pause", "100baseT99", "99999999999baseT",
	};
	uint32_t megabits = 7, lanes = 7;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		if (link_mode_parse(names[i], &megabits, &lanes))
			fail_msg("'%s' is a mode", names[i]);
	assert_int_equal(megabits, 7);
	assert_int_equal(lanes, 7);
}

static int setup(void **state)
{
	struct netlink_kernel *k = calloc(1, sizeof(*k));

	kernel_begin(k);
	*state = k;
	return 0;
}

static int teardown(void **state)
{
	kernel_end(*state);
	free(*state);
	return 0;
}

static struct link_fact ask(struct netlink_kernel *k)
{
	struct link_fact l;

	kernel_answer(k);
	assert_int_equal(link_modes_ask(&k->asker, ETHTOOL_FAMILY, "ens1f0np0", &l), 0);
	return l;
}

static const struct told_mode both_100[] = {
	{6, "Autoneg", true, true},
	{13, "Pause", true, false},
	{31, "25000baseCR/Full", true, true},
	{38, "100000baseCR4/Full", true, true},
	{57, "100000baseCR2/Full", true, true},
	{64, "200000baseCR4/Full", true, false},
};

static void test_fastest_mode_of_one_end_and_of_both(void **state)
{
	struct netlink_kernel *k = *state;
	struct netlink_attrs attrs;
	struct netlink_attr header, name;
	struct link_fact l;
	char text[IFNAMSIZ];

	link_answer_begin(k, "ens1f0np0", 25000, 1, 1);
	link_answer_modes(k, both_100, COUNT(both_100));
	l = ask(k);
	assert_int_equal(l.megabits, 25000);
	assert_int_equal(l.lanes, 1);
	assert_int_equal(l.possible_megabits, 200000);
	assert_int_equal(l.partner_megabits, 100000);
	assert_int_equal(l.common_megabits, 100000);
	assert_int_equal(l.common_lanes, 2);
	assert_int_equal(kernel_question(k, sizeof(struct genlmsghdr), &attrs), ETHTOOL_FAMILY);
	assert_true(netlink_find(attrs, ETHTOOL_A_LINKMODES_HEADER, &header));
	assert_true(netlink_find(netlink_inside(&header), ETHTOOL_A_HEADER_DEV_NAME, &name));
	assert_true(netlink_text(&name, text, sizeof(text)));
	assert_string_equal(text, "ens1f0np0");
}

static void test_a_mode_that_is_not_advertised_is_nobodys_promise(void **state)
{
	struct netlink_kernel *k = *state;
	struct told_mode modes[COUNT(both_100)];
	struct link_fact l;

	memcpy(modes, both_100, sizeof(modes));
	modes[3].advertised = modes[4].advertised = false; /* as the administrator set it */
	link_answer_begin(k, "ens1f0np0", 25000, 1, 1);
	link_answer_modes(k, modes, COUNT(modes));
	l = ask(k);
	assert_int_equal(l.possible_megabits, 200000);
	assert_int_equal(l.partner_megabits, 100000);
	assert_int_equal(l.common_megabits, 25000);
}

/* What a driver says of a partner that never spoke, or that cannot be meant. */
static void test_a_partner_is_believed_after_a_negotiation_alone(void **state)
{
	struct netlink_kernel *k = *state;
	struct told_mode modes[COUNT(both_100)];
	struct link_fact l;

	memcpy(modes, both_100, sizeof(modes));
	link_answer_begin(k, "ens1f0np0", 25000, 0, 0); /* the speed was set by hand */
	link_answer_modes(k, modes, COUNT(modes));
	l = ask(k);
	assert_int_equal(l.possible_megabits, 200000);
	assert_int_equal(l.partner_megabits, 0);
	assert_int_equal(l.common_megabits, 0);
	modes[0].partners = false; /* not completed: a module of glass */
	link_answer_begin(k, "ens1f0np0", 25000, 0, 1);
	link_answer_modes(k, modes, COUNT(modes));
	l = ask(k);
	assert_int_equal(l.partner_megabits, 0);
	assert_int_equal(l.common_megabits, 0);
	modes[0].partners = true; /* but its modes are not of the link that is */
	link_answer_begin(k, "ens1f0np0", 10000, 0, 1);
	link_answer_modes(k, modes, COUNT(modes));
	l = ask(k);
	assert_int_equal(l.partner_megabits, 100000);
	assert_int_equal(l.common_megabits, 0);
}

static void test_a_link_that_is_down_has_no_speed(void **state)
{
	struct netlink_kernel *k = *state;
	struct link_fact l;

	link_answer_begin(k, "ens1f0np0", UINT32_MAX, 0, 1);
	link_answer_modes(k, both_100, COUNT(both_100));
	l = ask(k);
	assert_int_equal(l.megabits, 0);
	assert_int_equal(l.possible_megabits, 200000);
	assert_int_equal(l.common_megabits, 0);
}

static void test_a_driver_without_modes_leaves_them_unknown(void **state)
{
	struct netlink_kernel *k = *state;
	struct link_fact l;

	link_answer_begin(k, "eth0", 10000, 0, 0); /* veth, virtio_net with a speed */
	link_answer_modes(k, NULL, 0);
	l = ask(k);
	assert_int_equal(l.megabits, 10000);
	assert_int_equal(l.possible_megabits, 0);
	kernel_code(k, NLMSG_ERROR, -EOPNOTSUPP);
	kernel_answer(k);
	assert_int_equal(link_modes_ask(&k->asker, ETHTOOL_FAMILY, "lo", &l), -EOPNOTSUPP);
	assert_int_equal(l.megabits, 0);
	assert_int_equal(link_modes_ask(&k->asker, ETHTOOL_FAMILY, "", &l), -ENODEV);
	assert_int_equal(link_modes_ask(&k->asker, ETHTOOL_FAMILY, "sixteen-letters-", &l),
			 -ENODEV);
}

/* The message laid out last, without its header, in memory of just that length. */
static uint8_t *payload_of(const struct netlink_kernel *k, size_t *ret_len)
{
	size_t skip = k->message + sizeof(struct nlmsghdr);
	uint8_t *copy;

	*ret_len = k->len - skip;
	copy = malloc(*ret_len);
	memcpy(copy, k->part + skip, *ret_len);
	return copy;
}

static void check_sane(const struct link_fact *l)
{
	assert_true(l->lanes <= 64 && l->common_lanes <= 64);
	assert_true(l->common_megabits <= l->possible_megabits);
	assert_true(l->common_megabits <= l->partner_megabits);
	assert_true(!l->common_megabits == !l->common_lanes);
}

static void test_answers_cut_or_spoiled_anywhere_do_no_harm(void **state)
{
	struct netlink_kernel *k = *state;
	struct link_fact l;
	uint8_t *whole, *part;
	size_t len;

	link_answer_begin(k, "ens1f0np0", 25000, 1, 1);
	link_answer_modes(k, both_100, COUNT(both_100));
	whole = payload_of(k, &len);
	for (size_t cut = 0; cut <= len; cut++) {
		part = malloc(cut + 1);
		memcpy(part, whole, cut);
		link_modes_take(part, cut, &l);
		check_sane(&l);
		free(part);
	}
	for (size_t i = 0; i < len; i++) {
		uint8_t right = whole[i];

		for (unsigned value = 0; value < 256; value += 3) {
			whole[i] = (uint8_t)value;
			link_modes_take(whole, len, &l);
			check_sane(&l);
		}
		whole[i] = right;
	}
	free(whole);
	assert_int_equal(link_modes_take(NULL, 0, &l), -EBADMSG);
}

/* Whatever netdevs there are; one without ethtool at all, and one that is not there. */
static void test_kernel_of_this_host_answers(void **state)
{
	struct if_nameindex *all = if_nameindex();
	struct link_fact l;
	struct netlink n;
	uint16_t family;
	int r;

	(void)state;
	assert_non_null(all);
	assert_int_equal(netlink_open(&n, NETLINK_GENERIC, 0), 0);
	r = generic_netlink_family(&n, LINK_MODES_FAMILY, &family);
	for (size_t i = 0; r == 0 && all[i].if_name; i++) {
		int got = link_modes_ask(&n, family, all[i].if_name, &l);

		assert_true(got == 0 || got == -EOPNOTSUPP || got == -ENODEV);
		check_sane(&l);
	}
	if (r == 0)
		assert_int_equal(link_modes_ask(&n, family, "nosuchnetdev", &l), -ENODEV);
	else
		assert_int_equal(r, -ENOENT); /* a kernel before 5.6 */
	netlink_close(&n);
	if_freenameindex(all);
}

#define MODES_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_speed_and_lanes_are_in_the_name_of_a_mode),
		cmocka_unit_test(test_what_is_no_speed_is_none),
		MODES_TEST(test_fastest_mode_of_one_end_and_of_both),
		MODES_TEST(test_a_mode_that_is_not_advertised_is_nobodys_promise),
		MODES_TEST(test_a_partner_is_believed_after_a_negotiation_alone),
		MODES_TEST(test_a_link_that_is_down_has_no_speed),
		MODES_TEST(test_a_driver_without_modes_leaves_them_unknown),
		MODES_TEST(test_answers_cut_or_spoiled_anywhere_do_no_harm),
		cmocka_unit_test(test_kernel_of_this_host_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
