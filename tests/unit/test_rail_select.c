#include "support.h"

#include <arpa/inet.h>

#include "core/names.h"
#include "probes/rail_select.h"

/* A device as scanning finds it, and what was made of it. */
struct lab {
	struct device_scan scan;
	struct rail_pick picks[RAIL_MAX];
	uint32_t n;
};

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof(*lab));

	strcpy(lab->scan.device, "mlx5_0");
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static struct scan_port *add_port(struct lab *lab, uint32_t port)
{
	struct scan_port *p = &lab->scan.ports[lab->scan.n_ports++];

	*p = (struct scan_port){
		.port = port,
		.active = true,
		.probeable = true,
		.link_layer = LINK_LAYER_ETHERNET,
		.mtu = 4096,
	};
	return p;
}

static struct in6_addr parse(const char *text)
{
	struct in6_addr a = {0};

	if (strchr(text, ':')) {
		assert_int_equal(inet_pton(AF_INET6, text, &a), 1);
		return a;
	}
	a.s6_addr[10] = a.s6_addr[11] = 0xff;
	assert_int_equal(inet_pton(AF_INET, text, &a.s6_addr[12]), 1);
	return a;
}

static struct scan_address *add_address(struct lab *lab, uint32_t port, const char *text)
{
	struct scan_address *a = &lab->scan.addresses[lab->scan.n_addresses];

	*a = (struct scan_address){
		.port = port,
		.addr = parse(text),
		.gid_index = lab->scan.n_addresses,
		.gid_type = GID_TYPE_ROCE_V2,
		.netdev = "eth0",
	};
	memcpy(a->gid, &a->addr, sizeof(a->gid));
	lab->scan.n_addresses++;
	return a;
}

static struct rail_spec spec(const char *name)
{
	struct rail_spec s = {.prefix_len = -1};

	name_copy(s.name, sizeof(s.name), name);
	return s;
}

static struct rail_spec spec_device(const char *name, const char *device)
{
	struct rail_spec s = spec(name);

	name_copy(s.device, sizeof(s.device), device);
	return s;
}

static struct rail_spec spec_netdev(const char *name, const char *netdev)
{
	struct rail_spec s = spec(name);

	name_copy(s.netdev, sizeof(s.netdev), netdev);
	return s;
}

static struct rail_spec spec_subnet(const char *name, const char *subnet, int prefix_len)
{
	struct rail_spec s = spec(name);

	s.subnet = parse(subnet);
	s.prefix_len = prefix_len;
	return s;
}

static void select_rails(struct lab *lab, const struct rail_spec *specs, uint32_t n)
{
	lab->n = rails_select(&lab->scan, specs, n, false, lab->picks);
}

/* --- without sections --- */

static void test_a_rail_per_active_port_named_after_the_device(void **state)
{
	struct lab *lab = *state;

	add_port(lab, 1);
	add_port(lab, 2);
	add_address(lab, 1, "10.0.0.1");
	add_address(lab, 2, "10.0.1.1");
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 2);
	assert_string_equal(lab->picks[0].fact.name, "mlx5_0");
	assert_string_equal(lab->picks[0].fact.address, "10.0.0.1");
	assert_int_equal(lab->picks[0].fact.port, 1);
	assert_int_equal(lab->picks[0].fact.mtu, 4096);
	assert_string_equal(lab->picks[0].fact.netdev, "eth0");
	assert_true(lab->picks[0].fact.up);
	assert_string_equal(lab->picks[1].fact.name, "mlx5_0/2");
	assert_string_equal(lab->picks[1].fact.device, "mlx5_0");
	assert_string_equal(lab->picks[1].fact.address, "10.0.1.1");
	assert_int_equal(lab->picks[1].fact.port, 2);
}

static void test_a_port_without_address_is_no_rail(void **state)
{
	struct lab *lab = *state;

	add_port(lab, 1);
	add_port(lab, 2);
	add_address(lab, 2, "10.0.1.1");
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 1);
	assert_string_equal(lab->picks[0].fact.name, "mlx5_0/2");
}

static void test_a_port_that_is_down_is_a_rail_that_says_so(void **state)
{
	struct lab *lab = *state;

	add_port(lab, 1)->active = false;
	add_address(lab, 1, "10.0.0.1");
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 1);
	assert_false(lab->picks[0].fact.up);
	assert_string_equal(lab->picks[0].fact.reason, "port 1 of mlx5_0 is not active");
	assert_string_equal(lab->picks[0].fact.address, "10.0.0.1");
}

static void test_a_port_without_rdma_cm_says_why(void **state)
{
	struct lab *lab = *state;
	struct scan_port *p = add_port(lab, 1);

	p->probeable = false;
	strcpy(p->reason, "no RC by rdma_cm");
	add_address(lab, 1, "10.0.0.1");
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 1);
	assert_false(lab->picks[0].fact.up);
	assert_string_equal(lab->picks[0].fact.reason, "no RC by rdma_cm");
}

static void test_no_ports_no_rails(void **state)
{
	struct lab *lab = *state;

	add_address(lab, 1, "10.0.0.1"); /* of a port that nobody knows */
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 0);
	select_rails(lab, (struct rail_spec[]){spec_netdev("a", "eth0")}, 1);
	assert_int_equal(lab->n, 0);
}

/* --- which address --- */

static void test_ipv4_is_preferred_and_the_rest_is_listened_on(void **state)
{
	struct lab *lab = *state;

	add_port(lab, 1);
	add_address(lab, 1, "fe80::1");
	add_address(lab, 1, "2001:db8::1");
	add_address(lab, 1, "10.0.0.7");
	add_address(lab, 1, "10.0.0.8");
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 1);
	assert_string_equal(lab->picks[0].fact.address, "10.0.0.7");
	assert_int_equal(lab->picks[0].fact.gid_index, 2);
	assert_int_equal(lab->picks[0].n_addresses, 3);
	assert_memory_equal(&lab->picks[0].addresses[0], &lab->picks[0].source, 16);
}

static void test_ipv6_serves_where_there_is_no_ipv4(void **state)
{
	struct lab *lab = *state;

	add_port(lab, 1);
	add_address(lab, 1, "fe80::1");
	add_address(lab, 1, "2001:db8::1");
	select_rails(lab, NULL, 0);
	assert_string_equal(lab->picks[0].fact.address, "2001:db8::1");
	assert_int_equal(lab->picks[0].n_addresses, 1);
}

static void test_link_local_and_zero_alone_make_no_rail(void **state)
{
	struct lab *lab = *state;

	add_port(lab, 1);
	add_address(lab, 1, "fe80::1");
	add_address(lab, 1, "::");
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 0);
}

static void test_rocev1_is_used_only_when_allowed(void **state)
{
	struct lab *lab = *state;

	add_port(lab, 1);
	add_address(lab, 1, "10.0.0.1")->gid_type = GID_TYPE_ROCE_V1;
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 0);
	lab->n = rails_select(&lab->scan, NULL, 0, true, lab->picks);
	assert_int_equal(lab->n, 1);
	assert_int_equal(lab->picks[0].fact.gid_type, GID_TYPE_ROCE_V1);
}

/* The table of a NIC has each address twice, v1 first. */
static void test_rocev2_wins_over_rocev1_of_the_same_address(void **state)
{
	struct lab *lab = *state;

	add_port(lab, 1);
	add_address(lab, 1, "10.0.0.1")->gid_type = GID_TYPE_ROCE_V1;
	add_address(lab, 1, "10.0.0.1");
	for (int allow = 0; allow < 2; allow++) {
		lab->n = rails_select(&lab->scan, NULL, 0, allow, lab->picks);
		assert_int_equal(lab->n, 1);
		assert_int_equal(lab->picks[0].fact.gid_index, 1);
		assert_int_equal(lab->picks[0].fact.gid_type, GID_TYPE_ROCE_V2);
		assert_int_equal(lab->picks[0].n_addresses, 1);
	}
}

static void test_the_source_is_the_address_that_the_peers_know(void **state)
{
	struct lab *lab = *state;

	add_port(lab, 1);
	add_address(lab, 1, "10.0.0.1");
	add_address(lab, 1, "10.0.0.2")->listed = true;
	add_address(lab, 1, "10.0.0.3");
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 1);
	assert_string_equal(lab->picks[0].fact.address, "10.0.0.2");
	assert_int_equal(lab->picks[0].n_addresses, 3);
}

static void test_an_address_that_comes_to_a_lower_index_moves_no_rail(void **state)
{
	struct lab *lab = *state;

	add_port(lab, 1);
	add_address(lab, 1, "10.0.0.1");
	add_address(lab, 1, "10.0.0.2")->in_use = true;
	select_rails(lab, NULL, 0);
	assert_string_equal(lab->picks[0].fact.address, "10.0.0.2");
	/* But one that the peers know does. */
	lab->scan.addresses[0].listed = true;
	select_rails(lab, NULL, 0);
	assert_string_equal(lab->picks[0].fact.address, "10.0.0.1");
}

static void test_a_gid_index_above_255_is_not_used(void **state)
{
	struct lab *lab = *state;

	add_port(lab, 1);
	add_address(lab, 1, "10.0.0.1")->gid_index = 256;
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 0);
	lab->scan.addresses[0].gid_index = 255;
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 1);
}

static void test_250_addresses_of_one_port_are_all_listened_on(void **state)
{
	struct lab *lab = *state;
	char text[32];

	add_port(lab, 1);
	for (unsigned i = 0; i < 250; i++) {
		snprintf(text, sizeof(text), "10.0.%u.%u", i / 100, i % 100 + 1);
		add_address(lab, 1, text);
	}
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 1);
	assert_int_equal(lab->picks[0].n_addresses, 250);
	assert_string_equal(lab->picks[0].fact.address, "10.0.0.1");
}

static void test_a_full_gid_table_stays_within_bounds(void **state)
{
	struct lab *lab = *state;
	char text[32];

	add_port(lab, 1);
	for (unsigned i = 0; i < GID_MAX; i++) {
		snprintf(text, sizeof(text), "10.%u.%u.1", i / 250, i % 250);
		add_address(lab, 1, text)->gid_index = i % 256;
	}
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->picks[0].n_addresses, RAIL_ADDRESS_MAX);
}

static void test_infiniband_addresses_are_used(void **state)
{
	struct lab *lab = *state;

	add_port(lab, 1)->link_layer = LINK_LAYER_INFINIBAND;
	add_address(lab, 1, "192.168.5.1")->gid_type = GID_TYPE_IB;
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, 1);
	assert_int_equal(lab->picks[0].fact.gid_type, GID_TYPE_IB);
}

/* --- with sections --- */

static void test_sections_choose_by_device(void **state)
{
	struct lab *lab = *state;
	struct rail_spec specs[] = {spec_device("other", "mlx5_1"), spec_device("mine", "mlx5_0")};

	add_port(lab, 1);
	add_address(lab, 1, "10.0.0.1");
	select_rails(lab, specs, 2);
	assert_int_equal(lab->n, 1);
	assert_string_equal(lab->picks[0].fact.name, "mine");
	assert_true(lab->picks[0].fact.up);
}

static void test_sections_choose_by_netdev(void **state)
{
	struct lab *lab = *state;
	struct rail_spec specs[] = {spec_netdev("a", "eth1"), spec_netdev("b", "eth7")};

	add_port(lab, 1);
	add_address(lab, 1, "10.0.0.1");
	strcpy(add_address(lab, 1, "10.0.1.1")->netdev, "eth1");
	select_rails(lab, specs, 2);
	assert_int_equal(lab->n, 1); /* eth7 may be another device's */
	assert_string_equal(lab->picks[0].fact.name, "a");
	assert_string_equal(lab->picks[0].fact.address, "10.0.1.1");
	assert_int_equal(lab->picks[0].n_addresses, 1);
}

static void test_sections_choose_by_subnet(void **state)
{
	struct lab *lab = *state;
	struct rail_spec specs[] = {
		spec_subnet("none", "10.0.3.0", 96 + 24),
		spec_subnet("odd", "10.0.1.128", 96 + 25),
		spec_subnet("six", "2001:db8::", 32),
	};

	add_port(lab, 1);
	add_address(lab, 1, "10.0.0.1");
	add_address(lab, 1, "10.0.1.1");
	add_address(lab, 1, "10.0.1.200");
	add_address(lab, 1, "2001:db8:5::1");
	select_rails(lab, specs, 3);
	assert_int_equal(lab->n, 2);
	assert_string_equal(lab->picks[0].fact.name, "odd");
	assert_string_equal(lab->picks[0].fact.address, "10.0.1.200");
	assert_string_equal(lab->picks[1].fact.name, "six");
	assert_string_equal(lab->picks[1].fact.address, "2001:db8:5::1");
}

static void test_a_prefix_of_zero_matches_everything(void **state)
{
	struct lab *lab = *state;
	struct rail_spec all = spec_subnet("all", "::", 0);

	add_port(lab, 1);
	add_address(lab, 1, "2001:db8::1");
	add_address(lab, 1, "10.0.0.1");
	select_rails(lab, &all, 1);
	assert_int_equal(lab->picks[0].n_addresses, 2);
}

static void test_two_rails_on_one_port_share_no_address(void **state)
{
	struct lab *lab = *state;
	struct rail_spec specs[] = {spec_device("first", "mlx5_0"),
				    spec_subnet("second", "10.0.1.0", 96 + 24)};

	add_port(lab, 1);
	add_address(lab, 1, "10.0.0.1");
	add_address(lab, 1, "10.0.1.1");
	select_rails(lab, specs, 2);
	/* The first takes all that the port has; the second has nothing left and is no rail here.
	 */
	assert_int_equal(lab->n, 1);
	assert_int_equal(lab->picks[0].n_addresses, 2);

	specs[0] = spec_subnet("first", "10.0.0.0", 96 + 24);
	select_rails(lab, specs, 2);
	assert_int_equal(lab->n, 2);
	assert_string_equal(lab->picks[0].fact.address, "10.0.0.1");
	assert_string_equal(lab->picks[1].fact.address, "10.0.1.1");
	assert_int_equal(lab->picks[0].fact.port, 1);
	assert_int_equal(lab->picks[1].fact.port, 1);
	assert_int_equal(lab->picks[0].n_addresses + lab->picks[1].n_addresses, 2);
}

static void test_a_section_that_names_the_device_says_what_is_missing(void **state)
{
	struct lab *lab = *state;
	struct rail_spec s = spec_device("storage", "mlx5_0");

	add_port(lab, 1);
	add_address(lab, 1, "fe80::1");
	select_rails(lab, &s, 1);
	assert_int_equal(lab->n, 1);
	assert_false(lab->picks[0].fact.up);
	assert_string_equal(lab->picks[0].fact.name, "storage");
	assert_string_equal(lab->picks[0].fact.address, "");
	assert_string_equal(lab->picks[0].fact.reason,
			    "mlx5_0 has no address that [rail storage] asks for");
	assert_int_equal(lab->picks[0].n_addresses, 0);
}

static void test_more_sections_than_rails_stay_within_bounds(void **state)
{
	struct lab *lab = *state;
	struct rail_spec specs[RAIL_MAX];

	add_port(lab, 1);
	add_address(lab, 1, "10.0.0.1");
	for (unsigned i = 0; i < RAIL_MAX; i++)
		specs[i] = spec_device("r", "mlx5_0");
	select_rails(lab, specs, RAIL_MAX);
	assert_int_equal(lab->n, RAIL_MAX);
}

static void test_as_many_ports_as_fit(void **state)
{
	struct lab *lab = *state;
	char text[32];

	for (unsigned i = 1; i <= PORT_MAX; i++) {
		add_port(lab, i);
		snprintf(text, sizeof(text), "10.0.%u.1", i);
		add_address(lab, i, text);
	}
	select_rails(lab, NULL, 0);
	assert_int_equal(lab->n, RAIL_MAX);
	assert_string_equal(lab->picks[RAIL_MAX - 1].fact.name, "mlx5_0/16");
}

static void test_address_texts(void **state)
{
	struct in6_addr a = parse("10.1.2.3"), b = parse("2001:db8::1");
	char text[FACT_ADDRESS];

	(void)state;
	rail_address_text(&a, text);
	assert_string_equal(text, "10.1.2.3");
	rail_address_text(&b, text);
	assert_string_equal(text, "2001:db8::1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_rail_per_active_port_named_after_the_device),
		TEST(test_a_port_without_address_is_no_rail),
		TEST(test_a_port_that_is_down_is_a_rail_that_says_so),
		TEST(test_a_port_without_rdma_cm_says_why),
		TEST(test_no_ports_no_rails),
		TEST(test_ipv4_is_preferred_and_the_rest_is_listened_on),
		TEST(test_ipv6_serves_where_there_is_no_ipv4),
		TEST(test_link_local_and_zero_alone_make_no_rail),
		TEST(test_rocev1_is_used_only_when_allowed),
		TEST(test_rocev2_wins_over_rocev1_of_the_same_address),
		TEST(test_the_source_is_the_address_that_the_peers_know),
		TEST(test_an_address_that_comes_to_a_lower_index_moves_no_rail),
		TEST(test_a_gid_index_above_255_is_not_used),
		TEST(test_250_addresses_of_one_port_are_all_listened_on),
		TEST(test_a_full_gid_table_stays_within_bounds),
		TEST(test_infiniband_addresses_are_used),
		TEST(test_sections_choose_by_device),
		TEST(test_sections_choose_by_netdev),
		TEST(test_sections_choose_by_subnet),
		TEST(test_a_prefix_of_zero_matches_everything),
		TEST(test_two_rails_on_one_port_share_no_address),
		TEST(test_a_section_that_names_the_device_says_what_is_missing),
		TEST(test_more_sections_than_rails_stay_within_bounds),
		TEST(test_as_many_ports_as_fit),
		TEST(test_address_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
