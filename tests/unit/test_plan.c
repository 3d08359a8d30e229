#include "support.h"

#include "core/names.h"
#include "daemon/plan.h"

#define TARGETS_MAX 64

static struct target targets[TARGETS_MAX];
static const struct target *list[TARGETS_MAX];
static size_t n_targets;
static unsigned routes_asked;

static const struct plan_rail two_rails[] = {{"rxe0", "rxe0"}, {"rxe1", "rxe1"}};
static const char *const one_class[] = {"default"};
static const char *const two_classes[] = {"lossless", "bulk"};

static int reset(void **state)
{
	(void)state;
	n_targets = 0;
	routes_asked = 0;
	memset(targets, 0, sizeof(targets));
	return 0;
}

static void target(const char *host, const char *rail)
{
	struct target *t = &targets[n_targets];

	name_copy(t->host, sizeof(t->host), host);
	name_copy(t->rail, sizeof(t->rail), rail);
	t->address.in.sin_family = AF_INET;
	t->address.in.sin_addr.s_addr = htonl(0x0a630000u + (uint32_t)n_targets);
	list[n_targets++] = t;
}

/* Hosts whose name ends in an even digit are behind the first rail, "lost" behind none. */
static int route_by_name(void *arg, const struct target *t)
{
	(void)arg;
	routes_asked++;
	if (strcmp(t->host, "lost") == 0)
		return -1;
	return (t->host[strlen(t->host) - 1] - '0') % 2;
}

static int route_to_nowhere(void *arg, const struct target *t)
{
	(void)arg;
	(void)t;
	return 17;
}

static struct plan_input input(void)
{
	return (struct plan_input){
		.targets = list,
		.n_targets = n_targets,
		.rails = two_rails,
		.n_rails = COUNT(two_rails),
		.rails_complete = true,
		.classes = one_class,
		.n_classes = 1,
		.sessions_per_device = 512,
		.route = route_by_name,
	};
}

static void make(struct plan *p, const struct plan_input *in)
{
	assert_int_equal(plan_make(p, in), 0);
}

static void test_no_targets_or_no_rails_plan_nothing(void **state)
{
	struct plan_input in = input();
	struct plan p;

	(void)state;
	make(&p, &in);
	assert_int_equal(p.n, 0);
	plan_free(&p);
	target("host1", "");
	in = input();
	in.n_rails = 0;
	make(&p, &in);
	assert_int_equal(p.n, 0);
	assert_int_equal(p.unmatched, 1);
	plan_free(&p);
}

static void test_rail_label_picks_the_rail_of_that_name_on_both_ends(void **state)
{
	struct plan_input in;
	struct plan p;

	(void)state;
	target("host2", "rxe1");
	target("host2", "rxe0");
	in = input();
	make(&p, &in);
	assert_int_equal(p.n, 2);
	assert_string_equal(p.entries[0].key.rail, "rxe0");
	assert_string_equal(p.entries[0].key.peer_rail, "rxe0");
	assert_string_equal(p.entries[0].device, "rxe0");
	assert_string_equal(p.entries[1].key.rail, "rxe1");
	assert_string_equal(p.entries[1].key.peer_rail, "rxe1");
	assert_int_equal(routes_asked, 0);
	plan_free(&p);
}

static void test_label_of_no_rail_here_is_unmatched_even_with_one_rail(void **state)
{
	struct plan_input in;
	struct plan p;

	(void)state;
	target("host2", "mlx5_7");
	in = input();
	in.n_rails = 1;
	make(&p, &in);
	assert_int_equal(p.n, 0);
	assert_int_equal(p.unmatched, 1);
	plan_free(&p);
}

static void test_target_without_label_goes_by_route(void **state)
{
	struct plan_input in;
	struct plan p;

	(void)state;
	target("host2", "");
	target("host3", "");
	target("lost", "");
	in = input();
	make(&p, &in);
	assert_int_equal(p.n, 2);
	assert_string_equal(p.entries[0].key.peer, "host2");
	assert_string_equal(p.entries[0].key.rail, "rxe0");
	assert_string_equal(p.entries[0].key.peer_rail, "");
	assert_string_equal(p.entries[1].key.rail, "rxe1");
	assert_int_equal(p.unmatched, 1);
	plan_free(&p);
}

static void test_route_outside_of_the_rails_is_unmatched(void **state)
{
	struct plan_input in;
	struct plan p;

	(void)state;
	target("host2", "");
	in = input();
	in.route = route_to_nowhere;
	make(&p, &in);
	assert_int_equal(p.n, 0);
	plan_free(&p);
}

static void test_single_rail_takes_all_without_asking_for_routes(void **state)
{
	struct plan_input in;
	struct plan p;

	(void)state;
	target("lost", "");
	target("host3", "");
	in = input();
	in.n_rails = 1;
	make(&p, &in);
	assert_int_equal(p.n, 2);
	assert_int_equal(routes_asked, 0);
	plan_free(&p);
}

static void test_first_rail_of_several_to_come_takes_only_what_the_route_brings_to_it(void **state)
{
	struct plan_input in;
	struct plan p;

	(void)state;
	target("host2", "");
	target("host3", "");
	target("host4", "rxe0");
	in = input();
	in.n_rails = 1;
	in.rails_complete = false;
	make(&p, &in);
	assert_int_equal(p.n, 2);
	assert_string_equal(p.entries[0].key.peer, "host2");
	assert_string_equal(p.entries[1].key.peer, "host4");
	plan_free(&p);
}

static void test_every_class_gets_a_session_with_its_index(void **state)
{
	struct plan_input in;
	struct plan p;

	(void)state;
	target("host2", "rxe0");
	in = input();
	in.classes = two_classes;
	in.n_classes = 2;
	make(&p, &in);
	assert_int_equal(p.n, 2);
	/* sorted by name, but the index is the configuration's */
	assert_string_equal(p.entries[0].key.class_name, "bulk");
	assert_int_equal(p.entries[0].class_index, 1);
	assert_string_equal(p.entries[1].key.class_name, "lossless");
	assert_int_equal(p.entries[1].class_index, 0);
	plan_free(&p);
}

static void test_order_does_not_depend_on_the_order_of_the_list(void **state)
{
	struct plan_input in;
	struct plan p, q;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "host%u", (i * 7) % 20);
		target(name, i % 2 ? "rxe0" : "rxe1");
	}
	in = input();
	make(&p, &in);
	for (unsigned i = 0; i < 10; i++) {
		const struct target *t = list[i];

		list[i] = list[19 - i];
		list[19 - i] = t;
	}
	make(&q, &in);
	assert_int_equal(p.n, 20);
	assert_int_equal(q.n, 20);
	for (size_t i = 0; i < p.n; i++)
		assert_int_equal(session_key_cmp(&p.entries[i].key, &q.entries[i].key), 0);
	plan_free(&p);
	plan_free(&q);
}

static void test_same_endpoint_twice_is_one_session(void **state)
{
	struct plan_input in;
	struct plan p;

	(void)state;
	target("host2", "rxe0");
	target("host2", "rxe0");
	in = input();
	make(&p, &in);
	assert_int_equal(p.n, 1);
	plan_free(&p);
}

static void test_sessions_beyond_the_limit_of_a_device_are_disabled_with_a_reason(void **state)
{
	/* two rails of one device share its limit, another device has its own */
	static const struct plan_rail rails[] = {{"a", "mlx5_0"}, {"b", "mlx5_0"}, {"c", "mlx5_1"}};
	struct plan_input in;
	struct plan p;
	unsigned disabled = 0;

	(void)state;
	target("host1", "a");
	target("host2", "b");
	target("host3", "a");
	target("host4", "c");
	in = input();
	in.rails = rails;
	in.n_rails = COUNT(rails);
	in.sessions_per_device = 2;
	make(&p, &in);
	assert_int_equal(p.n, 4);
	for (size_t i = 0; i < p.n; i++) {
		disabled += p.entries[i].disabled;
		assert_int_equal(p.entries[i].disabled, p.entries[i].reason[0] != '\0');
	}
	assert_int_equal(disabled, 1);
	assert_true(p.entries[2].disabled);
	assert_string_equal(p.entries[2].key.peer, "host3");
	assert_non_null(strstr(p.entries[2].reason, "qps_per_device"));
	plan_free(&p);
}

static void match(const struct plan *p, const struct session_key *have, size_t n, ssize_t *ret_have,
		  bool *ret_wanted)
{
	const struct session_key *keys[TARGETS_MAX];

	for (size_t i = 0; i < n; i++)
		keys[i] = &have[i];
	plan_match(p, keys, n, ret_have, ret_wanted);
}

static void test_unchanged_sessions_are_matched_new_and_gone_ones_told_apart(void **state)
{
	struct session_key have[] = {
		{.peer = "host1", .rail = "rxe0", .peer_rail = "rxe0", .class_name = "default"},
		{.peer = "host2", .rail = "rxe0", .peer_rail = "rxe0", .class_name = "default"},
		{.peer = "host9", .rail = "rxe0", .peer_rail = "rxe0", .class_name = "default"},
	};
	struct plan_input in;
	struct plan p;
	ssize_t of[4];
	bool wanted[4] = {true, false, true, true};

	(void)state;
	target("host2", "rxe0");
	target("host3", "rxe0");
	in = input();
	make(&p, &in);
	match(&p, have, COUNT(have), of, wanted);
	assert_int_equal(of[0], 1);
	assert_int_equal(of[1], -1);
	assert_false(wanted[0]);
	assert_true(wanted[1]);
	assert_false(wanted[2]);
	plan_free(&p);
}

static void test_matching_with_nothing_planned_or_nothing_there(void **state)
{
	struct session_key have[] = {{.peer = "host1"}};
	struct plan none = {0}, p;
	struct plan_input in;
	ssize_t of[1] = {5};
	bool wanted[1] = {true};

	(void)state;
	match(&none, have, 1, of, wanted);
	assert_false(wanted[0]);
	target("host1", "rxe0");
	in = input();
	make(&p, &in);
	match(&p, NULL, 0, of, wanted);
	assert_int_equal(of[0], -1);
	plan_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_no_targets_or_no_rails_plan_nothing, reset),
		cmocka_unit_test_setup(test_rail_label_picks_the_rail_of_that_name_on_both_ends,
				       reset),
		cmocka_unit_test_setup(test_label_of_no_rail_here_is_unmatched_even_with_one_rail,
				       reset),
		cmocka_unit_test_setup(test_target_without_label_goes_by_route, reset),
		cmocka_unit_test_setup(test_route_outside_of_the_rails_is_unmatched, reset),
		cmocka_unit_test_setup(test_single_rail_takes_all_without_asking_for_routes, reset),
		cmocka_unit_test_setup(
			test_first_rail_of_several_to_come_takes_only_what_the_route_brings_to_it,
			reset),
		cmocka_unit_test_setup(test_every_class_gets_a_session_with_its_index, reset),
		cmocka_unit_test_setup(test_order_does_not_depend_on_the_order_of_the_list, reset),
		cmocka_unit_test_setup(test_same_endpoint_twice_is_one_session, reset),
		cmocka_unit_test_setup(
			test_sessions_beyond_the_limit_of_a_device_are_disabled_with_a_reason,
			reset),
		cmocka_unit_test_setup(
			test_unchanged_sessions_are_matched_new_and_gone_ones_told_apart, reset),
		cmocka_unit_test_setup(test_matching_with_nothing_planned_or_nothing_there, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
