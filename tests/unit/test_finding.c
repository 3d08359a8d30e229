#include "support.h"

#include "health/finding.h"

struct scene {
	struct finding_memory *memory;
	struct snapshot *s;
	struct findings f;
	uint64_t wall;
};

static void next(struct scene *sc)
{
	snapshot_unref(sc->s);
	sc->s = snapshot_new(NULL);
	sc->s->wall_ns = ++sc->wall;
	assert_true(findings_begin(&sc->f, sc->s, sc->memory, 4));
}

static void begin(struct scene *sc)
{
	memset(sc, 0, sizeof(*sc));
	sc->wall = 100;
	sc->memory = finding_memory_new();
	next(sc);
}

static void end(struct scene *sc)
{
	snapshot_unref(sc->s);
	finding_memory_free(sc->memory);
}

static void test_finding_stands_since_it_was_first_seen(void **state)
{
	struct scene sc;

	(void)state;
	begin(&sc);
	findings_add(&sc.f, CAUSE_PATH, false, "peer:a", "text", 0);
	findings_end(&sc.f);
	assert_int_equal(sc.s->findings[0].since_wall_ns, 101);
	next(&sc);
	findings_add(&sc.f, CAUSE_LOCAL_PORT, true, "port:x/1", "text", 0);
	findings_add(&sc.f, CAUSE_PATH, false, "peer:a", "other words", 0);
	findings_end(&sc.f);
	assert_int_equal(sc.s->n_findings, 2);
	assert_int_equal(sc.s->findings[0].since_wall_ns, 102);
	assert_int_equal(sc.s->findings[1].since_wall_ns, 101);
	end(&sc);
}

static void test_finding_that_went_and_came_is_new(void **state)
{
	struct scene sc;

	(void)state;
	begin(&sc);
	findings_add(&sc.f, CAUSE_PATH, false, "peer:a", "text", 0);
	findings_end(&sc.f);
	next(&sc);
	findings_end(&sc.f);
	next(&sc);
	findings_add(&sc.f, CAUSE_PATH, false, "peer:a", "text", 0);
	findings_end(&sc.f);
	assert_int_equal(sc.s->findings[0].since_wall_ns, 103);
	end(&sc);
}

static void test_another_cause_is_another_finding(void **state)
{
	struct scene sc;

	(void)state;
	begin(&sc);
	findings_add(&sc.f, CAUSE_PATH, false, "peer:a", "text", 0);
	findings_end(&sc.f);
	next(&sc);
	findings_add(&sc.f, CAUSE_REMOTE_HOST, false, "peer:a", "text", 0);
	findings_end(&sc.f);
	assert_int_equal(sc.s->findings[0].since_wall_ns, 102);
	end(&sc);
}

static void test_known_start_is_kept(void **state)
{
	struct scene sc;

	(void)state;
	begin(&sc);
	findings_add(&sc.f, CAUSE_MONITOR, true, "device:x", "text", 7);
	findings_end(&sc.f);
	assert_int_equal(sc.s->findings[0].since_wall_ns, 7);
	end(&sc);
}

static void test_same_cause_and_subject_is_told_once(void **state)
{
	struct scene sc;

	(void)state;
	begin(&sc);
	assert_non_null(findings_add(&sc.f, CAUSE_LOCAL_PORT, true, "port:x/1", "rail a", 0));
	assert_null(findings_add(&sc.f, CAUSE_LOCAL_PORT, true, "port:x/1", "rail b", 0));
	findings_end(&sc.f);
	assert_int_equal(sc.s->n_findings, 1);
	assert_string_equal(sc.s->findings[0].text, "rail a");
	end(&sc);
}

static void test_list_does_not_grow_beyond_its_room(void **state)
{
	static const char *const subjects[] = {"a", "b", "c", "d", "e"};
	struct scene sc;

	(void)state;
	begin(&sc);
	for (size_t i = 0; i < COUNT(subjects); i++)
		findings_add(&sc.f, CAUSE_PATH, false, subjects[i], "text", 0);
	findings_end(&sc.f);
	assert_int_equal(sc.s->n_findings, 4);
	end(&sc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finding_stands_since_it_was_first_seen),
		cmocka_unit_test(test_finding_that_went_and_came_is_new),
		cmocka_unit_test(test_another_cause_is_another_finding),
		cmocka_unit_test(test_known_start_is_kept),
		cmocka_unit_test(test_same_cause_and_subject_is_told_once),
		cmocka_unit_test(test_list_does_not_grow_beyond_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
