/* One round of the reader over trees of every kind of device, with the kernel's error answers put
 * in its way. */
#include "counter_fixture.h"

#include <errno.h>

static void test_every_mlx5_counter_is_read_by_its_name(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "mlx5-roce", "mlx5_0");
	assert_int_equal(count_values(f, 1, SOURCE_COUNTERS), 21);
	assert_int_equal(count_values(f, 1, SOURCE_HW_COUNTERS), 31);
	check_value(f, 1, SOURCE_HW_COUNTERS, "np_cnp_sent", 4711);
	check_value(f, 1, SOURCE_HW_COUNTERS, "np_ecn_marked_roce_packets", 18446744073);
	check_value(f, 1, SOURCE_HW_COUNTERS, "rp_cnp_ignored", 200);
	check_value(f, 1, SOURCE_HW_COUNTERS, "rx_write_requests", 100);
	check_value(f, 1, SOURCE_COUNTERS, "port_rcv_data", 345091702026);
	check_value(f, 1, SOURCE_COUNTERS, "VL15_dropped", 0);
	assert_int_equal(count_errors(f), 0);
	assert_int_equal(f->round.values_dropped, 0);
}

static void test_device_and_port_facts_of_a_nic(void **state)
{
	struct fixture *f = *state;
	const struct port_fact *port = &f->round.ports[0];

	read_tree(f, "mlx5-roce", "mlx5_0");
	assert_string_equal(f->round.device.name, "mlx5_0");
	assert_string_equal(f->round.device.firmware, "22.41.1000");
	assert_string_equal(f->round.device.board, "MT_0000000356");
	assert_string_equal(f->round.device.hca_type, "MT4125");
	assert_string_equal(f->round.device.pci_address, "0000:03:00.0");
	assert_int_equal(f->round.device.is_vf, 0);
	assert_int_equal(f->round.device.node_guid_zero, 0);
	assert_int_equal(f->round.n_ports, 1);
	assert_int_equal(port->port, 1);
	assert_int_equal(port->state, 4);
	assert_string_equal(port->state_text, "ACTIVE");
	assert_int_equal(port->phys_state, 5);
	assert_string_equal(port->phys_state_text, "LinkUp");
	assert_int_equal(port->link_layer, LINK_LAYER_ETHERNET);
	assert_int_equal(port->rate_bytes_per_second, 12500000000);
	assert_string_equal(port->netdev, "ens1f0np0");
	assert_true(port->state_known && port->phys_state_known && port->rate_known);
}

static void test_renamed_device_has_the_same_counters(void **state)
{
	struct fixture *f = *state;
	struct counter_round *before = malloc(sizeof(*before));

	read_tree(f, "mlx5-roce", "mlx5_0");
	*before = f->round;
	read_tree(f, "renamed", "rocep1s0f0");
	assert_int_equal(f->round.n_values, before->n_values);
	assert_memory_equal(f->round.values, before->values,
			    f->round.n_values * sizeof(before->values[0]));
	assert_string_equal(f->round.device.name, "rocep1s0f0");
	free(before);
}

static void test_values_come_sorted_by_port_source_and_name(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "irdma", "iwp3s0f0");
	for (uint32_t i = 1; i < f->round.n_values; i++) {
		const struct counter_value *a = &f->round.values[i - 1], *b = a + 1;

		assert_true(a->port < b->port ||
			    (a->port == b->port &&
			     (a->source < b->source ||
			      (a->source == b->source && strcmp(a->name, b->name) < 0))));
	}
}

static void test_unreadable_counter_costs_only_itself(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "unreadable", "mlx5_1");
	check_absent(f, 1, SOURCE_COUNTERS, "VL15_dropped");
	assert_int_equal(count_values(f, 1, SOURCE_COUNTERS), 16);
	assert_int_equal(f->round.read_errors[1][READ_OTHER], 1);
}

static void test_unreadable_rate_and_directory_cost_only_themselves(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "unreadable", "mlx5_1");
	assert_int_equal(f->round.n_ports, 2);
	assert_false(f->round.ports[1].rate_known);
	assert_true(f->round.ports[1].state_known);
	assert_true(f->round.ports[0].rate_known);
	assert_int_equal(count_values(f, 2, SOURCE_COUNTERS), 17);
	assert_int_equal(count_values(f, 2, SOURCE_HW_COUNTERS), 0);
	assert_int_equal(f->round.read_errors[2][READ_OTHER], 2);
}

static void test_each_errno_of_a_driver_is_counted_in_its_class(void **state)
{
	static const struct {
		int error;
		enum read_error class;
	} cases[] = {
		{EINVAL, READ_EINVAL},	  {EACCES, READ_EACCES}, {EPERM, READ_EACCES},
		{EIO, READ_EIO},	  {ENODEV, READ_ENODEV}, {ETIMEDOUT, READ_TIMEOUT},
		{EOPNOTSUPP, READ_OTHER}, {EREMOTEIO, READ_EIO}, {ENOMEM, READ_OTHER},
	};
	struct fixture *f = *state;

	trap.failing = "counters/VL15_dropped";
	for (size_t i = 0; i < COUNT(cases); i++) {
		trap.error = cases[i].error;
		read_tree(f, "mlx5-roce", "mlx5_0");
		check_absent(f, 1, SOURCE_COUNTERS, "VL15_dropped");
		assert_int_equal(count_values(f, 1, SOURCE_COUNTERS), 20);
		assert_int_equal(f->round.read_errors[1][cases[i].class], 1);
		assert_int_equal(count_errors(f), 1);
	}
}

static void test_text_instead_of_numbers_is_absent_and_never_zero(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "mlx4-vf", "mlx4_0");
	assert_int_equal(count_values(f, 1, SOURCE_COUNTERS), 0);
	assert_int_equal(count_values(f, 1, SOURCE_HW_COUNTERS), 25);
	assert_int_equal(f->round.read_errors[1][READ_PARSE], 21);
	assert_true(f->round.ports[0].state_known);
	assert_int_equal(f->round.ports[0].rate_bytes_per_second, 1250000000);
	run(f, 5);
	assert_int_equal(f->round.read_errors[1][READ_PARSE], 21);
	read_tree(f, "i40iw-no-pma", "i40iw0");
	assert_int_equal(f->round.n_values, 0);
	assert_int_equal(f->round.ports[0].rate_bytes_per_second, 1250000000);
}

static void test_only_plain_numbers_are_values(void **state)
{
	static const char *const absent[] = {"no_pma",	"empty", "negative", "letters", "hex",
					     "too_big", "two",	 "nul",	     "long"};
	struct fixture *f = *state;

	read_tree(f, "odd-counters", "mlx5_0");
	check_value(f, 1, SOURCE_HW_COUNTERS, "zero", 0);
	check_value(f, 1, SOURCE_HW_COUNTERS, "u32_max", 4294967295);
	check_value(f, 1, SOURCE_HW_COUNTERS, "u64_max", UINT64_MAX);
	check_value(f, 1, SOURCE_HW_COUNTERS, "blanks", 42);
	check_value(f, 1, SOURCE_HW_COUNTERS, "no_newline", 43);
	check_value(f, 1, SOURCE_COUNTERS, "port_xmit_data", UINT64_MAX);
	for (size_t i = 0; i < COUNT(absent); i++)
		check_absent(f, 1, SOURCE_HW_COUNTERS, absent[i]);
	assert_int_equal(f->round.read_errors[1][READ_PARSE], COUNT(absent));
}

static void test_legacy_counters_keep_their_source_and_absence(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "legacy-ext", "mlx4_0");
	check_value(f, 1, SOURCE_COUNTERS, "port_xmit_data", 4294967295);
	check_value(f, 1, SOURCE_COUNTERS_EXT, "port_xmit_data_64", 8589934592);
	assert_int_equal(find(f, 1, SOURCE_COUNTERS, "port_xmit_data")->flags, COUNTER_SATURATED);
	assert_int_equal(find(f, 1, SOURCE_COUNTERS_EXT, "port_xmit_data_64")->flags, 0);
	assert_int_equal(count_values(f, 2, SOURCE_COUNTERS), 3);
	assert_int_equal(count_values(f, 2, SOURCE_COUNTERS_EXT), 8);
	check_absent(f, 2, SOURCE_COUNTERS, "port_rcv_packets");
}

static void test_same_names_at_device_and_port_stay_apart(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "irdma", "iwp3s0f0");
	assert_int_equal(count_values(f, 0, SOURCE_HW_COUNTERS), 46);
	assert_int_equal(count_values(f, 1, SOURCE_HW_COUNTERS), 46);
	assert_non_null(find(f, 0, SOURCE_HW_COUNTERS, "RxECNMrkd"));
	read_tree(f, "mana", "mana_0");
	check_value(f, 0, SOURCE_HW_COUNTERS, "rate_inc_events", 11);
	check_value(f, 1, SOURCE_HW_COUNTERS, "rate_inc_events", 22);
	read_tree(f, "cxgb4", "cxgb4_0");
	assert_int_equal(count_values(f, 0, SOURCE_HW_COUNTERS), 8);
	assert_int_equal(count_values(f, 1, SOURCE_HW_COUNTERS), 0);
	assert_int_equal(f->round.ports[0].state, 2);
	assert_string_equal(f->round.ports[0].state_text, "INIT");
}

static void test_every_vendor_is_read_whole(void **state)
{
	static const struct {
		const char *tree, *device;
		uint32_t device_level, port_level;
	} cases[] = {
		{"bnxt_re", "bnxt_re0", 0, 92}, {"efa", "rdmap0s31", 12, 22},
		{"mana", "mana_0", 6, 34},	{"hns", "hns_0", 0, 22},
		{"erdma", "erdma_0", 0, 11},	{"mlx5-switchdev", "mlx5_0", 0, 26},
		{"hfi1", "hfi1_0", 4, 8},	{"rxe", "enp0s3rxe", 0, 15},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(cases); i++) {
		read_tree(f, cases[i].tree, cases[i].device);
		assert_int_equal(count_values(f, 0, SOURCE_HW_COUNTERS), cases[i].device_level);
		assert_int_equal(count_values(f, 1, SOURCE_HW_COUNTERS), cases[i].port_level);
		check_absent(f, 0, SOURCE_HW_COUNTERS, "lifespan");
		check_absent(f, 1, SOURCE_HW_COUNTERS, "lifespan");
		assert_int_equal(count_errors(f), 0);
	}
}

static void test_bytes_and_words_are_not_scaled_here(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "bnxt_re", "bnxt_re0");
	check_value(f, 1, SOURCE_HW_COUNTERS, "rx_bytes", 7521781137064);
	read_tree(f, "hfi1", "hfi1_0");
	check_value(f, 1, SOURCE_COUNTERS, "port_rcv_data", 345091702026);
}

static void test_names_with_commas_are_kept_verbatim(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "hfi1", "hfi1_0");
	assert_non_null(find(f, 0, SOURCE_HW_COUNTERS, "SDMAIdInt1,32"));
	assert_non_null(find(f, 1, SOURCE_HW_COUNTERS, "SwLinkUp,32"));
	assert_string_equal(f->round.device.board,
			    "HPE 100Gb 1-port OP101 QSFP28 x16 PCIe Gen3 with I");
}

static void test_soft_roce_without_board_and_firmware(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "rxe", "enp0s3rxe");
	assert_string_equal(f->round.device.firmware, "");
	assert_string_equal(f->round.device.board, "");
	assert_string_equal(f->round.device.hca_type, "");
	assert_string_equal(f->round.device.pci_address, "");
	assert_string_equal(f->round.ports[0].netdev, "enp0s3");
	assert_int_equal(f->round.ports[0].rate_bytes_per_second, 312500000);
	assert_int_equal(f->round.n_gids, 2);
	assert_int_equal(count_errors(f), 0);
}

static void test_port_that_is_down_says_disabled_and_names_its_netdev(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "rxe-down", "rxe0");
	assert_int_equal(f->round.ports[0].state, 1);
	assert_int_equal(f->round.ports[0].phys_state, 3);
	assert_string_equal(f->round.ports[0].phys_state_text, "Disabled");
	assert_string_equal(f->round.ports[0].netdev, "eth0");
	assert_int_equal(f->round.n_gids, 0);
}

static void test_device_without_any_counters_still_has_its_facts(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "siw", "siw0");
	assert_int_equal(f->round.n_values, 0);
	assert_true(f->round.ports[0].state_known);
	assert_true(f->round.success_wall_ns > 0);
	assert_int_equal(count_errors(f), 0);
}

static void test_unknown_and_missing_link_layers(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "efa", "rdmap0s31");
	assert_int_equal(f->round.ports[0].link_layer, LINK_LAYER_UNKNOWN);
	assert_string_equal(f->round.ports[0].link_layer_text, "Unknown");
	read_tree(f, "no-link-layer", "rdmap0s31");
	assert_int_equal(f->round.ports[0].link_layer, LINK_LAYER_UNKNOWN);
	assert_string_equal(f->round.ports[0].link_layer_text, "");
	assert_int_equal(count_values(f, 1, SOURCE_HW_COUNTERS), 22);
	assert_int_equal(count_errors(f), 0);
}

static void test_two_ports_find_their_netdevs_by_dev_port(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "mlx4-two-ports", "mlx4_0");
	assert_int_equal(f->round.n_ports, 2);
	assert_string_equal(f->round.ports[0].netdev, "ib0");
	assert_string_equal(f->round.ports[1].netdev, "ib1");
	assert_string_equal(f->round.ports[1].link_layer_text, "InfiniBand");
	check_value(f, 1, SOURCE_COUNTERS, "symbol_error", 10);
	check_value(f, 2, SOURCE_COUNTERS, "symbol_error", 20);
}

static void test_child_interfaces_are_not_the_port(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "mlx5-ib", "mlx5_0");
	assert_string_equal(f->round.ports[0].netdev, "ib0");
	assert_int_equal(f->round.gids[0].type, GID_TYPE_IB);
}

static void test_gids_of_iwarp_are_not_taken_for_roce(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "irdma", "iwp3s0f0");
	assert_int_equal(f->round.n_gids, 1);
	assert_int_equal(f->round.gids[0].type, GID_TYPE_UNKNOWN);
	assert_string_equal(f->round.ports[0].netdev, "ens3f0");
}

static void test_netdev_is_not_guessed_where_several_fit(void **state)
{
	struct fixture *f = *state;

	sysfs_tree_put(f->root, "4: ACTIVE\n", "class/infiniband/mlx5_0/ports/1/state");
	sysfs_tree_put(f->root, "0\n", "class/infiniband/mlx5_0/device/net/eth0/dev_port");
	sysfs_tree_put(f->root, "0\n", "class/infiniband/mlx5_0/device/net/eth1/dev_port");
	open_root(f, f->root, "mlx5_0");
	assert_int_equal(run(f, 0), 0);
	assert_string_equal(f->round.ports[0].netdev, "");
}

static void test_virtual_function_is_known_by_its_physical_one(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "mlx4-vf", "mlx4_0");
	assert_int_equal(f->round.device.is_vf, 1);
	assert_string_equal(f->round.device.pci_address, "0000:03:00.4");
}

static void test_bond_is_named_by_its_gids_and_not_by_its_first_leg(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "bond", "mlx5_bond_0");
	assert_string_equal(f->round.device.name, "mlx5_bond_0");
	assert_string_equal(f->round.ports[0].netdev, "bond0");
	check_value(f, 1, SOURCE_COUNTERS, "port_rcv_data", 230539874932483);
	assert_int_equal(f->round.ports[0].rate_bytes_per_second, 25000000000);
}

static void test_empty_gid_slots_are_passed_over_and_the_rest_is_read(void **state)
{
	static const uint16_t indices[] = {0, 1, 4, 8};
	struct fixture *f = *state;

	read_tree(f, "gid-holes", "mlx5_0");
	assert_int_equal(f->round.n_gids, 4);
	for (size_t i = 0; i < COUNT(indices); i++) {
		assert_int_equal(f->round.gids[i].index, indices[i]);
		assert_int_equal(f->round.gids[i].port, 1);
		assert_string_equal(f->round.gids[i].netdev, "eth4");
	}
	assert_int_equal(f->round.gids[0].type, GID_TYPE_ROCE_V1);
	assert_int_equal(f->round.gids[3].type, GID_TYPE_ROCE_V2);
	assert_int_equal(f->round.gids[3].gid[15], 9);
	assert_int_equal(count_errors(f), 0);
}

static void test_gid_attributes_answering_einval_are_no_error(void **state)
{
	struct fixture *f = *state;

	trap.failing = "gid_attrs/types/1";
	trap.error = EINVAL;
	read_tree(f, "irdma-two-gids", "rocep0s4");
	assert_int_equal(f->round.n_gids, 2);
	assert_int_equal(f->round.gids[1].type, GID_TYPE_UNKNOWN);
	assert_string_equal(f->round.gids[1].netdev, "eth0");
	assert_int_equal(count_errors(f), 0);
}

static void test_zero_node_guid_is_flagged(void **state)
{
	struct fixture *f = *state;

	read_tree(f, "guid-zero", "mlx5_0");
	assert_int_equal(f->round.device.node_guid_zero, 1);
	assert_string_equal(f->round.device.node_guid, "0000:0000:0000:0000");
}

static void test_saturated_counter_is_flagged(void **state)
{
	static const char *const full[] = {"link_downed", "port_xmit_discards", "port_xmit_wait",
					   "excessive_buffer_overrun_errors"};
	struct fixture *f = *state;
	unsigned flagged = 0;

	read_tree(f, "saturated", "mlx5_1");
	for (size_t i = 0; i < COUNT(full); i++)
		assert_int_equal(find(f, 1, SOURCE_COUNTERS, full[i])->flags, COUNTER_SATURATED);
	for (uint32_t i = 0; i < f->round.n_values; i++)
		flagged += f->round.values[i].flags != 0;
	assert_int_equal(flagged, COUNT(full));
	check_value(f, 1, SOURCE_COUNTERS, "port_rcv_switch_relay_errors", 255);
}

static void test_names_that_lead_out_of_the_class_are_no_devices(void **state)
{
	static const char *const names[] = {"",
					    ".",
					    "..",
					    "../net",
					    "a/b",
					    "0123456789012345678901234567890123456789"
					    "012345678901234567890123"};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		assert_null(counter_reader_new("/sys", names[i]));
		assert_int_equal(errno, EINVAL);
	}
}

#define READER_TEST(name) cmocka_unit_test_setup_teardown(name, reader_setup, reader_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		READER_TEST(test_every_mlx5_counter_is_read_by_its_name),
		READER_TEST(test_device_and_port_facts_of_a_nic),
		READER_TEST(test_renamed_device_has_the_same_counters),
		READER_TEST(test_values_come_sorted_by_port_source_and_name),
		READER_TEST(test_unreadable_counter_costs_only_itself),
		READER_TEST(test_unreadable_rate_and_directory_cost_only_themselves),
		READER_TEST(test_each_errno_of_a_driver_is_counted_in_its_class),
		READER_TEST(test_text_instead_of_numbers_is_absent_and_never_zero),
		READER_TEST(test_only_plain_numbers_are_values),
		READER_TEST(test_legacy_counters_keep_their_source_and_absence),
		READER_TEST(test_same_names_at_device_and_port_stay_apart),
		READER_TEST(test_every_vendor_is_read_whole),
		READER_TEST(test_bytes_and_words_are_not_scaled_here),
		READER_TEST(test_names_with_commas_are_kept_verbatim),
		READER_TEST(test_soft_roce_without_board_and_firmware),
		READER_TEST(test_port_that_is_down_says_disabled_and_names_its_netdev),
		READER_TEST(test_device_without_any_counters_still_has_its_facts),
		READER_TEST(test_unknown_and_missing_link_layers),
		READER_TEST(test_two_ports_find_their_netdevs_by_dev_port),
		READER_TEST(test_child_interfaces_are_not_the_port),
		READER_TEST(test_netdev_is_not_guessed_where_several_fit),
		READER_TEST(test_virtual_function_is_known_by_its_physical_one),
		READER_TEST(test_gids_of_iwarp_are_not_taken_for_roce),
		READER_TEST(test_bond_is_named_by_its_gids_and_not_by_its_first_leg),
		READER_TEST(test_empty_gid_slots_are_passed_over_and_the_rest_is_read),
		READER_TEST(test_gid_attributes_answering_einval_are_no_error),
		READER_TEST(test_zero_node_guid_is_flagged),
		READER_TEST(test_saturated_counter_is_flagged),
		cmocka_unit_test(test_names_that_lead_out_of_the_class_are_no_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
