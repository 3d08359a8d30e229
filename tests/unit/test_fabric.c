/* The fingerprint of what must be equal across a fabric. */
#include "support.h"

#include "health/fabric.h"

struct host {
	struct snapshot *s;
	struct snap_rail rails[2];
	struct snap_device device;
	struct port_fact port;
	struct snap_class classes[2];
	struct strbuf words;
};

static int setup(void **state)
{
	struct host *h = calloc(1, sizeof(*h));

	h->s = snapshot_new(NULL);
	h->s->rails = h->rails;
	h->s->n_rails = 1;
	h->s->devices = &h->device;
	h->s->n_devices = 1;
	h->s->classes = h->classes;
	h->s->n_classes = 2;
	h->classes[0] = (struct snap_class){.name = "low", .tos = -1};
	h->classes[1] = (struct snap_class){.name = "bulk", .tos = 104};
	h->rails[0].name = "r0";
	h->rails[0].present = true;
	snprintf(h->rails[0].fact.device, FACT_NAME, "mlx5_0");
	h->rails[0].fact.port = 1;
	h->rails[0].fact.mtu = 4096;
	h->device.name = "mlx5_0";
	h->device.counters_fresh = true;
	h->device.ports = &h->port;
	h->device.n_ports = 1;
	h->port.port = 1;
	h->port.link_layer = LINK_LAYER_ETHERNET;
	h->port.config = (struct port_config_fact){
		.pfc_known = true, .pfc = 8, .trust = TRUST_DSCP, .netdev_mtu = 4200};
	memset(h->port.config.dscp_priority, DSCP_UNMAPPED, DSCP_COUNT);
	h->port.config.dscp_priority[26] = 3;
	h->port.config.dscp_priority[48] = 6;
	*state = h;
	return 0;
}

static int teardown(void **state)
{
	struct host *h = *state;

	snapshot_unref(h->s);
	strbuf_free(&h->words);
	free(h);
	return 0;
}

static const char *print_of(struct host *h)
{
	fabric_describe(h->s, &h->words);
	return h->s->fabric.fingerprint;
}

static void test_parts_are_spelled_out(void **state)
{
	struct host *h = *state;

	assert_int_equal(strlen(print_of(h)), 16);
	assert_int_equal(h->s->fabric.n_parts, 3);
	assert_string_equal(h->s->fabric.parts[0].name, "rail r0");
	assert_string_equal(h->s->fabric.parts[0].value,
			    "layer=Ethernet mtu=4096 netdev_mtu=4200 pfc=8 trust=dscp classes=- "
			    "dscp=26:3,48:6 ecn_np=- ecn_rp=- roce_mode=- roce_tos=-");
	assert_string_equal(h->s->fabric.parts[1].name, "class bulk");
	assert_string_equal(h->s->fabric.parts[1].value, "tos=104");
	assert_string_equal(h->s->fabric.parts[2].value, "tos=-");
}

static void test_each_difference_changes_the_fingerprint_and_nothing_else_does(void **state)
{
	struct host *h = *state;
	const char *before = print_of(h);
	struct snap_class first = h->classes[0];

	snprintf(h->device.fact.firmware, FACT_NAME, "another");
	snprintf(h->rails[0].fact.address, FACT_ADDRESS, "10.0.0.9");
	h->classes[0] = h->classes[1];
	h->classes[1] = first;
	assert_string_equal(print_of(h), before);
	h->rails[0].fact.mtu = 1024;
	assert_string_not_equal(print_of(h), before);
	h->rails[0].fact.mtu = 4096;
	h->port.config.dscp_priority[26] = 4;
	assert_string_not_equal(print_of(h), before);
	h->port.config.dscp_priority[26] = 3;
	h->port.config.ecn_np_known = true;
	assert_string_not_equal(print_of(h), before);
	h->port.config.ecn_np_known = false;
	h->port.config.forced_tos_known = true;
	assert_string_not_equal(print_of(h), before);
	assert_non_null(strstr(h->s->fabric.parts[0].value, " roce_tos=- forced_tos=0"));
	h->port.config.forced_tos_known = false;
	h->port.config.cnp_dscp_known = h->port.config.cnp_priority_known = true;
	h->port.config.cnp_dscp = 48;
	print_of(h);
	assert_non_null(strstr(h->s->fabric.parts[0].value, " cnp_dscp=48 cnp_priority=0"));
	h->port.config.cnp_dscp_known = h->port.config.cnp_priority_known = false;
	h->port.config.max_rates_known = true;
	assert_string_equal(print_of(h), before);
	h->port.config.max_kilobits[2] = 25000000;
	assert_string_not_equal(print_of(h), before);
	assert_non_null(strstr(h->s->fabric.parts[0].value, " max_rate[2]=25000000"));
	h->port.config.max_kilobits[2] = 0;
	assert_string_equal(print_of(h), before);
	h->classes[0].tos = 0;
	assert_string_not_equal(print_of(h), before);
}

static void test_half_of_the_facts_make_no_fingerprint(void **state)
{
	struct host *h = *state;

	h->device.counters_fresh = false;
	assert_string_equal(print_of(h), "");
	h->device.counters_fresh = true;
	h->rails[0].present = false;
	assert_string_equal(print_of(h), "");
	h->s->n_rails = 0;
	assert_string_equal(print_of(h), "");
}

#define HOST_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOST_TEST(test_parts_are_spelled_out),
		HOST_TEST(test_each_difference_changes_the_fingerprint_and_nothing_else_does),
		HOST_TEST(test_half_of_the_facts_make_no_fingerprint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
