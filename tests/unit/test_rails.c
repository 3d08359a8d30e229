#include "support.h"

#include "core/names.h"
#include "daemon/config.h"
#include "daemon/rails.h"

struct fixture {
	struct rails *rails;
	struct config config;
	const char *device_in_use;
};

static bool in_use(void *arg, const char *device)
{
	const struct fixture *f = arg;

	return f->device_in_use && strcmp(f->device_in_use, device) == 0;
}

static int open_rails(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->rails = rails_new();
	assert_non_null(f->rails);
	*state = f;
	return 0;
}

static int close_rails(void **state)
{
	struct fixture *f = *state;

	rails_free(f->rails);
	free(f);
	return 0;
}

static struct rail_fact fact(const char *name, const char *address, bool up)
{
	struct rail_fact r = {.up = up, .port = 1};

	name_copy(r.name, sizeof(r.name), name);
	name_copy(r.address, sizeof(r.address), address);
	return r;
}

static enum rail_change learn(struct fixture *f, const char *device, uint32_t index,
			      const char *name, const char *address, bool up)
{
	struct rail_fact r = fact(name, address, up);
	struct rail *rail;
	enum rail_change change = rails_learn(f->rails, device, index, &r, &rail);

	if (rail)
		assert_string_equal(rail->name, name);
	return change;
}

static void configure(struct fixture *f, const char *name)
{
	f->config.n_rails = name ? 1 : 0;
	if (name)
		name_copy(f->config.rails[0].name, FACT_NAME, name);
	rails_configure(f->rails, &f->config, in_use, f);
}

static void test_each_change_of_a_rail_is_named(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(learn(f, "rxe0", 0, "rxe0", "10.99.0.1", true), RAIL_APPEARED);
	assert_int_equal(learn(f, "rxe0", 0, "rxe0", "10.99.0.1", true), RAIL_SAME);
	assert_int_equal(learn(f, "rxe0", 0, "rxe0", "10.99.0.1", false), RAIL_DOWN);
	assert_int_equal(learn(f, "rxe0", 0, "rxe0", "10.99.0.1", true), RAIL_UP);
	assert_int_equal(learn(f, "rxe0", 0, "rxe0", "10.99.0.9", true), RAIL_READDRESSED);
}

static void test_rails_are_sorted_by_name(void **state)
{
	struct fixture *f = *state;

	learn(f, "b", 0, "b", "", false);
	learn(f, "c", 0, "c", "", false);
	learn(f, "a", 0, "a", "", false);
	assert_string_equal(rails_get(f->rails, 0)->name, "a");
	assert_string_equal(rails_get(f->rails, 1)->name, "b");
	assert_string_equal(rails_get(f->rails, 2)->name, "c");
}

static void test_name_that_another_port_has_is_a_conflict_and_changes_nothing(void **state)
{
	struct fixture *f = *state;

	learn(f, "rxe0", 0, "storage", "10.0.0.1", true);
	assert_int_equal(learn(f, "rxe1", 0, "storage", "10.0.0.2", true), RAIL_CONFLICT);
	assert_string_equal(rails_find(f->rails, "storage")->fact.address, "10.0.0.1");
	/* once the first is gone, the other may have it */
	rails_worker_ended(f->rails, "rxe0");
	assert_int_equal(learn(f, "rxe1", 0, "storage", "10.0.0.2", true), RAIL_APPEARED);
	assert_string_equal(rails_find(f->rails, "storage")->device, "rxe1");
}

static void test_odd_names_are_ignored(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(learn(f, "rxe0", 0, "", "10.0.0.1", true), RAIL_IGNORED);
	assert_int_equal(learn(f, "rxe0", 0, "a b\"", "10.0.0.1", true), RAIL_IGNORED);
	assert_int_equal(rails_count(f->rails), 0);
}

static void test_hostile_worker_cannot_fill_the_registry_beyond_its_bound(void **state)
{
	struct fixture *f = *state;
	char name[32];

	for (unsigned i = 0; i < RAILS_MAX + 50; i++) {
		snprintf(name, sizeof(name), "r%u", i);
		learn(f, "rxe0", i % RAIL_MAX, name, "10.0.0.1", true);
	}
	assert_int_equal(rails_count(f->rails), RAILS_MAX);
}

static void test_index_given_to_another_rail_makes_the_first_absent(void **state)
{
	struct fixture *f = *state;

	learn(f, "rxe0", 3, "old", "10.0.0.1", true);
	learn(f, "rxe0", 3, "new", "10.0.0.1", true);
	assert_false(rails_find(f->rails, "old")->present);
	assert_ptr_equal(rails_by_index(f->rails, "rxe0", 3), rails_find(f->rails, "new"));
}

static void test_totals_go_on_when_a_worker_ends_and_when_a_rail_moves(void **state)
{
	struct fixture *f = *state;
	struct rail_totals sum;
	struct rail *rail;

	learn(f, "rxe0", 0, "a", "10.0.0.1", true);
	rail = rails_find(f->rails, "a");
	rail->live.attempts = 5;
	rail->live.failures[CONNECT_REJECTED] = 2;
	rail->live.refused[REFUSE_CAP] = 3;
	rails_worker_ended(f->rails, "rxe0");
	assert_false(rail->present);
	learn(f, "rxe0", 0, "a", "10.0.0.1", true);
	rail->live.attempts = 1;
	rail_totals_sum(rail, &sum);
	assert_int_equal(sum.attempts, 6);
	assert_int_equal(sum.failures[CONNECT_REJECTED], 2);
	assert_int_equal(sum.refused[REFUSE_CAP], 3);
	rails_worker_ended(f->rails, "rxe0");
	learn(f, "rxe7", 2, "a", "10.0.0.1", true);
	rail_totals_sum(rail, &sum);
	assert_int_equal(sum.attempts, 6);
}

static void test_configured_rail_is_there_before_it_is_ever_seen(void **state)
{
	struct fixture *f = *state;

	configure(f, "storage");
	assert_int_equal(rails_count(f->rails), 1);
	assert_false(rails_get(f->rails, 0)->present);
	assert_string_equal(rails_get(f->rails, 0)->device, "");
}

static void test_reload_drops_what_is_neither_configured_nor_of_a_device_in_use(void **state)
{
	struct fixture *f = *state;

	learn(f, "rxe0", 0, "a", "10.0.0.1", true);
	learn(f, "rxe1", 0, "b", "10.0.0.2", true);
	learn(f, "rxe2", 0, "c", "10.0.0.3", true);
	/* its worker is away for a moment */
	rails_worker_ended(f->rails, "rxe1");
	f->device_in_use = "rxe1";
	configure(f, "c");
	assert_null(rails_find(f->rails, "a"));
	assert_non_null(rails_find(f->rails, "b"));
	assert_non_null(rails_find(f->rails, "c"));
	assert_false(rails_find(f->rails, "c")->present);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_change_of_a_rail_is_named, open_rails,
						close_rails),
		cmocka_unit_test_setup_teardown(test_rails_are_sorted_by_name, open_rails,
						close_rails),
		cmocka_unit_test_setup_teardown(
			test_name_that_another_port_has_is_a_conflict_and_changes_nothing,
			open_rails, close_rails),
		cmocka_unit_test_setup_teardown(test_odd_names_are_ignored, open_rails,
						close_rails),
		cmocka_unit_test_setup_teardown(
			test_hostile_worker_cannot_fill_the_registry_beyond_its_bound, open_rails,
			close_rails),
		cmocka_unit_test_setup_teardown(
			test_index_given_to_another_rail_makes_the_first_absent, open_rails,
			close_rails),
		cmocka_unit_test_setup_teardown(
			test_totals_go_on_when_a_worker_ends_and_when_a_rail_moves, open_rails,
			close_rails),
		cmocka_unit_test_setup_teardown(
			test_configured_rail_is_there_before_it_is_ever_seen, open_rails,
			close_rails),
		cmocka_unit_test_setup_teardown(
			test_reload_drops_what_is_neither_configured_nor_of_a_device_in_use,
			open_rails, close_rails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
