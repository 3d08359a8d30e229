#include "support.h"

#include "probes/sysfs_value.h"

#define ABSENT UINT64_MAX

static void test_counter_texts(void **state)
{
	static const struct {
		const char *text;
		bool valid;
		uint64_t value;
	} cases[] = {
		{"0\n", true, 0},
		{"4294967295\n", true, 4294967295},
		{"18446744073709551615\n", true, UINT64_MAX},
		{" 42 ", true, 42},
		{"43", true, 43},
		{"007", true, 7},
		{"N/A (no PMA)\n", false, 0},
		{"", false, 0},
		{"\n", false, 0},
		{"-1\n", false, 0},
		{"+1\n", false, 0},
		{"12abc\n", false, 0},
		{"0x10\n", false, 0},
		{"1 2\n", false, 0},
		{"1.5\n", false, 0},
		{"18446744073709551616\n", false, 0},
		{"99999999999999999999\n", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t value = 77;
		bool valid = sysfs_counter(cases[i].text, &value);

		if (valid != cases[i].valid || value != (valid ? cases[i].value : 77))
			fail_msg("'%s': %d %llu", cases[i].text, valid, (unsigned long long)value);
	}
}

static void test_rate_texts_give_exact_bytes_per_second(void **state)
{
	static const struct {
		const char *text;
		uint64_t bits;
	} cases[] = {
		{"0 GB/sec", 0},
		{"0 Gb/sec", 0},
		{"2.5 Gb/sec (1X SDR)", 2500000000},
		{"10 Gb/sec (4X)", 10000000000},
		{"10 Gb/sec (4X SDR)", 10000000000},
		{"10 Gb/sec (1X FDR10)", 10000000000},
		{"25 Gb/sec (1X EDR)", 25000000000},
		{"40 Gb/sec (4X QDR)", 40000000000},
		{"40 Gb/sec (4X FDR10)", 40000000000},
		{"50 Gb/sec (2X EDR)", 50000000000},
		{"56 Gb/sec (4X FDR)", 56000000000},
		{"100 Gb/sec (4X EDR)\n", 100000000000},
		{"100 Gb/sec (2X HDR)", 100000000000},
		{"200 Gb/sec (4X HDR)", 200000000000},
		{"200 Gb/sec (2X NDR)", 200000000000},
		{"400 Gb/sec (4X NDR)\n", 400000000000},
		{"500 Gb/sec (4X HDR)", 500000000000},
		{"800 Gb/sec (4X XDR)", 800000000000},
		{"1600 Gb/sec (8X XDR)", 1600000000000},
		{"14.0625 Gb/sec (1X FDR)", 14062500000},
		{"", ABSENT},
		{"garbage", ABSENT},
		{"-1 Gb/sec (4X SDR)", ABSENT},
		{"100", ABSENT},
		{"100 Mb/sec", ABSENT},
		{"100 Gb/second", ABSENT},
		{"1. Gb/sec", ABSENT},
		{".5 Gb/sec", ABSENT},
		{"99999999999999999999 Gb/sec", ABSENT},
		{"2.5555555555 Gb/sec", ABSENT},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t bytes = ABSENT, expected = cases[i].bits;

		sysfs_rate(cases[i].text, &bytes);
		if (bytes != (expected == ABSENT ? ABSENT : expected / 8))
			fail_msg("'%s': %llu", cases[i].text, (unsigned long long)bytes);
	}
}

static void test_lanes_stand_in_the_text_of_a_rate(void **state)
{
	static const struct {
		const char *text;
		uint32_t lanes;
	} cases[] = {
		{"100 Gb/sec (4X EDR)\n", 4},
		{"100 Gb/sec (2X HDR)", 2},
		{"1600 Gb/sec (8X XDR)", 8},
		{"100 Gb/sec (12X)", 12},
		{"100 Gb/sec", 0},
		{"100 Gb/sec (X EDR)", 0},
		{"100 Gb/sec (0X EDR)", 0},
		{"1 Gb/sec (999X)", 0},
		{"1 Gb/sec (4 EDR)", 0},
		{"", 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t lanes = 0;

		assert_int_equal(sysfs_lanes(cases[i].text, &lanes), cases[i].lanes != 0);
		assert_int_equal(lanes, cases[i].lanes);
	}
}

static void test_state_texts(void **state)
{
	static const struct {
		const char *text;
		uint32_t number;
		const char *name;
	} cases[] = {
		{"4: ACTIVE\n", 4, "ACTIVE"},
		{"1: DOWN", 1, "DOWN"},
		{"2: INIT", 2, "INIT"},
		{"0: NOP", 0, "NOP"},
		{"3: ARMED", 3, "ARMED"},
		{"5: ACTIVE_DEFER", 5, "ACTIVE_DEFER"},
		{"6: UNKNOWN", 6, "UNKNOWN"},
		{"5: LinkUp\n", 5, "LinkUp"},
		{"2: Polling", 2, "Polling"},
		{"3: Disabled", 3, "Disabled"},
		{"4: PortConfigurationTraining", 4, "PortConfigurationTraining"},
		{"6: LinkErrorRecovery", 6, "LinkErrorRecovery"},
		{"7: Phy Test\n", 7, "Phy Test"},
		{"8: <unknown>", 8, "<unknown>"},
		{"0: <unknown>", 0, "<unknown>"},
		{"12:", 12, ""},
	};
	char name[32];
	uint32_t number;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_true(sysfs_state(cases[i].text, &number, name, sizeof(name)));
		assert_int_equal(number, cases[i].number);
		assert_string_equal(name, cases[i].name);
	}
}

static void test_texts_that_are_no_states(void **state)
{
	static const char *const cases[] = {"",	     "ACTIVE",	 ": ACTIVE",
					    "-1: X", "4 ACTIVE", "4294967296: X"};
	char name[32] = "old";
	uint32_t number = 9;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_false(sysfs_state(cases[i], &number, name, sizeof(name)));
	assert_int_equal(number, 9);
	assert_string_equal(name, "old");
}

static void check_line(const char *text, const char *expected)
{
	char line[16];

	sysfs_first_line(text, line, sizeof(line));
	assert_string_equal(line, expected);
}

static void test_first_line_has_no_newline_and_no_control_characters(void **state)
{
	(void)state;
	check_line("InfiniBand\n\n", "InfiniBand");
	check_line("Ethernet", "Ethernet");
	check_line("\n", "");
	check_line("", "");
	check_line("  a b \t\n c", "a b");
	check_line("a\033[1mb\x7f", "a?[1mb?");
	check_line("0123456789abcdefghi", "0123456789abcde");
}

static void test_gids(void **state)
{
	uint8_t gid[16];

	(void)state;
	assert_true(sysfs_gid("fe80:0000:0000:0000:0ac0:ebff:feda:1cfb", gid));
	assert_int_equal(gid[0], 0xfe);
	assert_int_equal(gid[15], 0xfb);
	assert_true(sysfs_gid("0000:0000:0000:0000:0000:ffff:c0a8:4004", gid));
	assert_int_equal(gid[12], 192);
	assert_false(sysfs_gid("", gid));
	assert_false(sysfs_gid("fe80:0000", gid));
	assert_false(sysfs_gid("192.168.0.1", gid));
	assert_false(sysfs_gid("fe80:0000:0000:0000:0ac0:ebff:feda:1cfb:1", gid));
}

static void test_gid_type_needs_the_link_layer(void **state)
{
	(void)state;
	assert_int_equal(sysfs_gid_type("RoCE v2", LINK_LAYER_ETHERNET), GID_TYPE_ROCE_V2);
	assert_int_equal(sysfs_gid_type("IB/RoCE v1", LINK_LAYER_ETHERNET), GID_TYPE_ROCE_V1);
	assert_int_equal(sysfs_gid_type("IB/RoCE v1", LINK_LAYER_INFINIBAND), GID_TYPE_IB);
	assert_int_equal(sysfs_gid_type("IB/RoCE v1", LINK_LAYER_UNKNOWN), GID_TYPE_UNKNOWN);
	assert_int_equal(sysfs_gid_type("", LINK_LAYER_ETHERNET), GID_TYPE_UNKNOWN);
}

static void test_link_layers(void **state)
{
	(void)state;
	assert_int_equal(sysfs_link_layer("InfiniBand"), LINK_LAYER_INFINIBAND);
	assert_int_equal(sysfs_link_layer("Ethernet"), LINK_LAYER_ETHERNET);
	assert_int_equal(sysfs_link_layer("Unknown"), LINK_LAYER_UNKNOWN);
	assert_int_equal(sysfs_link_layer(""), LINK_LAYER_UNKNOWN);
}

static void test_only_a_guid_of_zeroes_is_zero(void **state)
{
	(void)state;
	assert_true(sysfs_guid_zero("0000:0000:0000:0000"));
	assert_false(sysfs_guid_zero("0000:0000:0000:0001"));
	assert_false(sysfs_guid_zero(""));
	assert_false(sysfs_guid_zero("unknown"));
}

static void test_pci_addresses(void **state)
{
	(void)state;
	assert_true(sysfs_pci_address("0000:03:00.0"));
	assert_true(sysfs_pci_address("10000:e1:1f.7"));
	assert_false(sysfs_pci_address("virtio3"));
	assert_false(sysfs_pci_address("0000:03:00"));
	assert_false(sysfs_pci_address("0000:03:00.8"));
	assert_false(sysfs_pci_address("0000:03:00.00"));
	assert_false(sysfs_pci_address(""));
}

static void test_port_directories(void **state)
{
	uint8_t port = 0;

	(void)state;
	assert_true(sysfs_port_number("1", &port));
	assert_int_equal(port, 1);
	assert_true(sysfs_port_number("255", &port));
	assert_int_equal(port, 255);
	assert_false(sysfs_port_number("0", &port));
	assert_false(sysfs_port_number("01", &port));
	assert_false(sysfs_port_number("256", &port));
	assert_false(sysfs_port_number("1x", &port));
	assert_false(sysfs_port_number("", &port));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter_texts),
		cmocka_unit_test(test_rate_texts_give_exact_bytes_per_second),
		cmocka_unit_test(test_lanes_stand_in_the_text_of_a_rate),
		cmocka_unit_test(test_state_texts),
		cmocka_unit_test(test_texts_that_are_no_states),
		cmocka_unit_test(test_first_line_has_no_newline_and_no_control_characters),
		cmocka_unit_test(test_gids),
		cmocka_unit_test(test_gid_type_needs_the_link_layer),
		cmocka_unit_test(test_link_layers),
		cmocka_unit_test(test_only_a_guid_of_zeroes_is_zero),
		cmocka_unit_test(test_pci_addresses),
		cmocka_unit_test(test_port_directories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
