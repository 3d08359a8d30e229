/* Findings from how a host is set up: each fires, stays silent where nothing is certain, clears. */
#include "judge_world.h"

static struct port_fact ports[WORLD_MAX];
static struct gid_fact gids[4];
static struct snap_class classes[2];
static struct judge_subnet subnets[1];
static size_t n_subnets;

static int setup(void **state)
{
	struct world *w = malloc(sizeof(*w));

	world_init(w);
	memset(ports, 0, sizeof(ports));
	memset(gids, 0, sizeof(gids));
	classes[0] = (struct snap_class){.name = "default", .tos = -1};
	classes[1] = (struct snap_class){.name = "bulk", .tos = 104};
	n_subnets = 0;
	add_rail(w, "mlx5_0");
	w->devices[0].counters_fresh = true;
	w->devices[0].n_ports = 1;
	w->devices[0].ports = ports;
	ports[0].port = 1;
	ports[0].link_layer = LINK_LAYER_ETHERNET;
	memset(ports[0].config.dscp_priority, DSCP_UNMAPPED, DSCP_COUNT);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	world_free(*state);
	free(*state);
	return 0;
}

static void look_here(struct world *w)
{
	struct judge_input in = {.sessions = w->in,
				 .devices = w->in_devices,
				 .subnets = subnets,
				 .n_subnets = n_subnets};

	snapshot_unref(w->s);
	w->s = snapshot_new(NULL);
	w->s->mono_ns = w->now;
	w->s->wall_ns = w->wall;
	w->s->rails = w->rails;
	w->s->n_rails = w->n_rails;
	w->s->devices = w->devices;
	w->s->n_devices = w->n_devices;
	w->s->classes = classes;
	w->s->n_classes = 2;
	judge_run(w->judge, &in, w->s);
}

static const struct snap_finding *of_rule(const struct world *w, const char *rule)
{
	const struct snap_finding *found = NULL;

	for (size_t i = 0; i < w->s->n_findings; i++) {
		const struct snap_finding *f = &w->s->findings[i];

		if (!f->rule || strcmp(f->rule, rule) != 0)
			continue;
		assert_null(found);
		found = f;
	}
	return found;
}

static const struct snap_finding *look_for(struct world *w, const char *rule)
{
	look_here(w);
	return of_rule(w, rule);
}

/* PFC for 3; DSCP 26 is priority 3, DSCP 0 is 0. */
static void lossless_three(void)
{
	ports[0].config.pfc_known = true;
	ports[0].config.pfc = 1 << 3;
	ports[0].config.trust = TRUST_DSCP;
	ports[0].config.dscp_priority[26] = 3;
	ports[0].config.dscp_priority[0] = 0;
}

static void test_probes_beside_the_lossless_priority_are_a_finding(void **state)
{
	struct world *w = *state;
	const struct snap_finding *f;

	lossless_three();
	classes[0].tos = 0;
	f = look_for(w, "probe_priority");
	assert_non_null(f);
	assert_string_equal(f->subject, "class:mlx5_0/default");
	assert_int_equal(f->cause, CAUSE_CONFIGURATION);
	assert_false(f->critical);
	assert_int_equal(f->n_evidence, 3);
	assert_string_equal(f->evidence[1].name, "priority");
	assert_true(f->evidence[1].value == 0);
	/* It says nothing about the host's health. */
	assert_int_equal(w->s->verdict, VERDICT_UNKNOWN); /* as without it: no session */
	classes[0].tos = 104;
	assert_null(look_for(w, "probe_priority"));
}

static void test_default_tos_of_rdma_cm_counts_where_a_class_has_none(void **state)
{
	struct world *w = *state;

	lossless_three();
	assert_null(look_for(w, "probe_priority"));
	ports[0].config.roce_tos_known = true;
	assert_non_null(look_for(w, "probe_priority"));
	ports[0].config.roce_tos = 106;
	assert_null(look_for(w, "probe_priority"));
}

static void test_a_tos_that_the_driver_forces_overrides_all_others(void **state)
{
	struct world *w = *state;
	const struct snap_finding *f;

	lossless_three();
	classes[0].tos = 104;
	classes[1].tos = 0;
	assert_non_null(look_for(w, "probe_priority"));
	/* It may mend what a class does wrong, and spoil what it does right. */
	ports[0].config.forced_tos_known = true;
	ports[0].config.forced_tos = 106;
	assert_null(look_for(w, "probe_priority"));
	ports[0].config.forced_tos = 0;
	look_here(w);
	assert_int_equal(w->s->n_findings, 2); /* one for each class */
	f = &w->s->findings[0];
	assert_string_equal(f->rule, "probe_priority");
	assert_non_null(strstr(f->text, "leave rail mlx5_0 with ToS 0, which is priority 0"));
	assert_non_null(strstr(f->text, "set the global tclass of the driver"));
}

static void test_priority_is_not_guessed(void **state)
{
	struct world *w = *state;

	lossless_three();
	classes[0].tos = 0;
	ports[0].config.trust = TRUST_PCP;
	assert_null(look_for(w, "probe_priority"));
	ports[0].config.trust = TRUST_DSCP;
	ports[0].config.dscp_priority[0] = DSCP_UNMAPPED;
	assert_null(look_for(w, "probe_priority"));
	ports[0].config.dscp_priority[0] = 0;
	ports[0].config.pfc_known = false;
	assert_null(look_for(w, "probe_priority"));
	/* Without flow control anywhere no priority is the lossless one. */
	ports[0].config.pfc_known = true;
	ports[0].config.pfc = 0;
	assert_null(look_for(w, "probe_priority"));
}

static void test_port_with_roce_v1_alone_is_a_finding(void **state)
{
	struct world *w = *state;
	const struct snap_finding *f;

	w->devices[0].gids = gids;
	w->devices[0].n_gids = 2;
	gids[0].port = gids[1].port = 1;
	gids[0].type = gids[1].type = GID_TYPE_ROCE_V1;
	f = look_for(w, "rocev1_only");
	assert_non_null(f);
	assert_string_equal(f->subject, "port:mlx5_0/1");
	gids[1].type = GID_TYPE_ROCE_V2;
	assert_null(look_for(w, "rocev1_only"));
	gids[1].type = GID_TYPE_UNKNOWN;
	assert_null(look_for(w, "rocev1_only"));
	w->devices[0].n_gids = 0;
	assert_null(look_for(w, "rocev1_only"));
	w->devices[0].n_gids = 1;
	ports[0].link_layer = LINK_LAYER_INFINIBAND;
	assert_null(look_for(w, "rocev1_only"));
}

static void test_pci_link_below_card_and_slot_is_a_finding(void **state)
{
	struct world *w = *state;
	struct device_fact *d = &w->devices[0].fact;
	const struct snap_finding *f;

	d->pci = d->pci_possible = (struct pci_link){.mega_transfers = 16000, .lanes = 16};
	assert_null(look_for(w, "pcie_degraded"));
	d->pci.lanes = 8;
	f = look_for(w, "pcie_degraded");
	assert_non_null(f);
	assert_string_equal(f->subject, "pci:mlx5_0");
	assert_int_equal(f->cause, CAUSE_LOCAL_HOST);
	assert_true(f->evidence[0].value == 8 && f->evidence[0].threshold == 16);
	d->pci = (struct pci_link){.mega_transfers = 8000, .lanes = 16};
	assert_non_null(look_for(w, "pcie_degraded"));
	w->devices[0].counters_fresh = false;
	assert_null(look_for(w, "pcie_degraded"));
	w->devices[0].counters_fresh = true;
	d->pci = (struct pci_link){0};
	assert_null(look_for(w, "pcie_degraded"));
}

static void test_rails_in_one_subnet_are_a_finding_while_they_are(void **state)
{
	struct world *w = *state;
	const struct snap_finding *f;

	subnets[0] = (struct judge_subnet){.rail = "a", .other = "b", .text = "arp_ignore=0"};
	n_subnets = 1;
	f = look_for(w, "same_subnet");
	assert_non_null(f);
	assert_string_equal(f->subject, "rails:a+b");
	n_subnets = 0;
	assert_null(look_for(w, "same_subnet"));
}

#define FACT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FACT_TEST(test_probes_beside_the_lossless_priority_are_a_finding),
		FACT_TEST(test_default_tos_of_rdma_cm_counts_where_a_class_has_none),
		FACT_TEST(test_a_tos_that_the_driver_forces_overrides_all_others),
		FACT_TEST(test_priority_is_not_guessed),
		FACT_TEST(test_port_with_roce_v1_alone_is_a_finding),
		FACT_TEST(test_pci_link_below_card_and_slot_is_a_finding),
		FACT_TEST(test_rails_in_one_subnet_are_a_finding_while_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
