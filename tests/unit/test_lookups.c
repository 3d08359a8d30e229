#include "support.h"

#include <arpa/inet.h>

#include "core/names.h"
#include "daemon/lookups.h"

#define SECOND 1000000000ULL
#define INTERVAL (60 * SECOND)

static union address address(const char *text)
{
	union address a = {0};

	if (inet_pton(AF_INET, text, &a.in.sin_addr) == 1)
		a.in.sin_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &a.in6.sin6_addr) == 1)
		a.in6.sin6_family = AF_INET6;
	return a;
}

static struct resolver_answer answer(const char *const *texts)
{
	struct resolver_answer a = {0};

	for (; *texts; texts++)
		a.addresses[a.n++] = address(*texts);
	return a;
}

#define ANSWER(...) answer((const char *const[]){__VA_ARGS__, NULL})

static void follow(struct lookups *l, const char *const *names, size_t n, uint64_t now)
{
	struct peer_list list = {0};
	char err[256];

	for (size_t i = 0; i < n; i++) {
		char lookup[64];
		struct peer_entry e = {.lookup = lookup};

		snprintf(lookup, sizeof(lookup), "%s", names[i]);
		snprintf(e.host, sizeof(e.host), "host%zu", i);
		assert_int_equal(peer_list_add(&list, &e, err, sizeof(err)), 0);
	}
	assert_int_equal(lookups_follow(l, &list, now), 0);
	peer_list_free(&list);
}

static const char *const two[] = {"b.example", "a.example"};

static enum lookup_change says(struct lookups *l, const char *name, struct resolver_answer a,
			       uint64_t now)
{
	return lookups_answer(l, name, &a, INTERVAL, now, now * 31);
}

static struct resolver_answer failure(void)
{
	struct resolver_answer a = {0};

	strcpy(a.error, "Name or service not known");
	return a;
}

static void picks(const struct lookups *l, const char *name, int family, const char *wanted)
{
	union address a, w = address(wanted);

	assert_true(lookup_pick(lookups_find(l, name), family, &a));
	assert_true(address_equal(&a, &w));
}

static void test_every_name_is_asked_for_once_at_first(void **state)
{
	struct lookups *l = lookups_new();

	(void)state;
	assert_null(lookups_next(l, 0));
	follow(l, two, 2, SECOND);
	assert_string_equal(lookups_next(l, SECOND), "a.example");
	assert_string_equal(lookups_next(l, SECOND), "b.example");
	assert_null(lookups_next(l, SECOND));
	assert_null(lookups_next(l, 100 * INTERVAL));
	lookups_free(l);
}

static void test_a_known_name_is_asked_for_again_after_the_interval(void **state)
{
	struct lookups *l = lookups_new();

	(void)state;
	follow(l, two, 1, 0);
	lookups_next(l, 0);
	assert_int_equal(says(l, "b.example", ANSWER("10.0.0.1"), 0), LOOKUP_CHANGED);
	assert_null(lookups_next(l, INTERVAL * 3 / 4 - 1));
	assert_non_null(lookups_next(l, INTERVAL * 5 / 4 + 1));
	assert_int_equal(says(l, "b.example", ANSWER("10.0.0.1"), INTERVAL), LOOKUP_SAME);
	lookups_free(l);
}

static void test_a_name_that_fails_is_asked_for_ever_more_seldom_up_to_a_limit(void **state)
{
	struct lookups *l = lookups_new();
	uint64_t now = SECOND, last = 0;

	(void)state;
	follow(l, two, 1, now);
	for (int i = 0; i < 12; i++) {
		uint64_t asked = now;

		while (!lookups_next(l, now))
			now += SECOND / 10;
		if (i)
			assert_true(now - asked <= LOOKUP_RETRY_MAX_NS * 5 / 4 + SECOND / 10);
		last = now - asked;
		assert_int_equal(says(l, "b.example", failure(), now),
				 i ? LOOKUP_SAME : LOOKUP_FAILED);
	}
	assert_true(last >= LOOKUP_RETRY_MAX_NS * 3 / 4);
	assert_int_equal(lookups_failing(l), 1);
	assert_string_equal(lookups_find(l, "b.example")->error, "Name or service not known");
	lookups_free(l);
}

static void test_addresses_stay_while_the_name_fails(void **state)
{
	struct lookups *l = lookups_new();

	(void)state;
	follow(l, two, 2, 0);
	says(l, "a.example", ANSWER("10.0.0.1"), 0);
	assert_int_equal(says(l, "a.example", failure(), SECOND), LOOKUP_FAILED);
	assert_int_equal(says(l, "a.example", failure(), SECOND), LOOKUP_SAME);
	picks(l, "a.example", AF_UNSPEC, "10.0.0.1");
	assert_int_equal(says(l, "a.example", ANSWER("10.0.0.1"), SECOND), LOOKUP_RECOVERED);
	assert_int_equal(lookups_failing(l), 0);
	lookups_free(l);
}

static void test_an_address_in_use_stays_while_the_name_has_it(void **state)
{
	struct lookups *l = lookups_new();

	(void)state;
	follow(l, two, 1, 0);
	says(l, "b.example", ANSWER("10.0.0.1", "10.0.0.2"), 0);
	/* a server that hands them out in turns */
	assert_int_equal(says(l, "b.example", ANSWER("10.0.0.2", "10.0.0.1"), 0), LOOKUP_SAME);
	picks(l, "b.example", AF_INET, "10.0.0.1");
	assert_int_equal(says(l, "b.example", ANSWER("10.0.0.3", "10.0.0.2"), 0), LOOKUP_CHANGED);
	picks(l, "b.example", AF_INET, "10.0.0.2");
	assert_int_equal(says(l, "b.example", ANSWER("10.0.0.4"), 0), LOOKUP_CHANGED);
	picks(l, "b.example", AF_INET, "10.0.0.4");
	lookups_free(l);
}

static void test_of_several_the_first_of_the_family_is_used(void **state)
{
	struct lookups *l = lookups_new();

	(void)state;
	follow(l, two, 1, 0);
	says(l, "b.example", ANSWER("fd00::1", "10.0.0.1", "fd00::2"), 0);
	picks(l, "b.example", AF_INET, "10.0.0.1");
	picks(l, "b.example", AF_INET6, "fd00::1");
	picks(l, "b.example", AF_UNSPEC, "fd00::1");
	says(l, "b.example", ANSWER("fd00::2"), 0);
	picks(l, "b.example", AF_INET, "fd00::2");
	lookups_free(l);
}

static void test_another_list_keeps_what_is_known_of_its_names(void **state)
{
	static const char *const others[] = {"c.example", "a.example"};
	struct lookups *l = lookups_new();
	union address a;

	(void)state;
	follow(l, two, 2, 0);
	says(l, "a.example", ANSWER("10.0.0.1"), 0);
	follow(l, others, 2, SECOND);
	assert_int_equal(lookups_count(l), 2);
	picks(l, "a.example", AF_INET, "10.0.0.1");
	assert_null(lookups_find(l, "b.example"));
	assert_false(lookup_pick(lookups_find(l, "c.example"), AF_INET, &a));
	assert_string_equal(lookups_next(l, SECOND), "c.example");
	/* the answer about one that is not wanted any more */
	assert_int_equal(says(l, "b.example", ANSWER("10.0.0.2"), SECOND), LOOKUP_SAME);
	lookups_free(l);
}

static void test_a_new_name_is_pending_until_answered_or_late(void **state)
{
	struct lookups *l = lookups_new();

	(void)state;
	follow(l, two, 2, SECOND);
	assert_true(lookup_pending(lookups_find(l, "a.example"), 2 * SECOND));
	assert_false(lookup_pending(lookups_find(l, "a.example"), SECOND + LOOKUP_PENDING_NS));
	says(l, "a.example", failure(), 2 * SECOND);
	assert_false(lookup_pending(lookups_find(l, "a.example"), 2 * SECOND));
	lookups_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_name_is_asked_for_once_at_first),
		cmocka_unit_test(test_a_known_name_is_asked_for_again_after_the_interval),
		cmocka_unit_test(
			test_a_name_that_fails_is_asked_for_ever_more_seldom_up_to_a_limit),
		cmocka_unit_test(test_addresses_stay_while_the_name_fails),
		cmocka_unit_test(test_an_address_in_use_stays_while_the_name_has_it),
		cmocka_unit_test(test_of_several_the_first_of_the_family_is_used),
		cmocka_unit_test(test_another_list_keeps_what_is_known_of_its_names),
		cmocka_unit_test(test_a_new_name_is_pending_until_answered_or_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
