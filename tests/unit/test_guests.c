#include "support.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "exporters/guests.h"

#define SECOND 1000000000ULL

static struct guests all;

static int setup(void **state)
{
	(void)state;
	guests_init(&all);
	return 0;
}

static struct sockaddr_in from(uint32_t host)
{
	return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(host)}};
}

static struct guest *enter(uint32_t host, uint64_t now_ns)
{
	struct sockaddr_in a = from(host);

	return guests_enter(&all, 3, (struct sockaddr *)&a, now_ns);
}

static struct guest *in_the_way(uint32_t host)
{
	struct sockaddr_in a = from(host);

	return guests_in_the_way(&all, (struct sockaddr *)&a);
}

static void test_there_is_room_below_the_limits(void **state)
{
	(void)state;
	for (unsigned i = 0; i < GUESTS_PER_ADDRESS - 1; i++) {
		assert_null(in_the_way(1));
		enter(1, i);
	}
	assert_null(in_the_way(1));
}

static void test_the_longest_idle_of_an_address_goes_first(void **state)
{
	struct guest *oldest = NULL, *second = NULL;

	(void)state;
	for (unsigned i = 0; i < GUESTS_PER_ADDRESS; i++) {
		struct guest *g = enter(1, 100 + i);

		if (i == 0)
			oldest = g;
		if (i == 1)
			second = g;
	}
	assert_ptr_equal(in_the_way(1), oldest);
	assert_null(in_the_way(2));
	/* Who has just been served is not the longest idle any more. */
	guest_enter_phase(oldest, GUEST_WRITING, 200);
	guest_enter_phase(oldest, GUEST_WAITING, 5000);
	assert_ptr_equal(in_the_way(1), second);
}

static void test_the_total_is_bounded_over_addresses(void **state)
{
	struct guest *first = NULL;

	(void)state;
	for (unsigned i = 0; i < GUESTS_MAX; i++) {
		struct guest *g = enter(i + 1, i);

		if (i == 0)
			first = g;
	}
	assert_ptr_equal(in_the_way(9999), first);
	first->leaving = true;
	assert_null(in_the_way(9999));
}

static void test_when_all_are_served_the_slowest_goes(void **state)
{
	struct guest *slowest = NULL;

	(void)state;
	for (unsigned i = 0; i < GUESTS_PER_ADDRESS; i++) {
		struct guest *g = enter(1, i);

		guest_enter_phase(g, GUEST_WRITING, 1000 - i);
		slowest = g;
	}
	assert_ptr_equal(in_the_way(1), slowest);
	/* One who only waits goes before it. */
	guest_enter_phase(slowest, GUEST_WAITING, 2000);
	assert_ptr_equal(in_the_way(1), slowest);
}

static void test_each_phase_has_its_time(void **state)
{
	struct guest *g = enter(1, 0);

	(void)state;
	assert_null(guests_overdue(&all, GUEST_WAIT_MAX_NS));
	assert_ptr_equal(guests_overdue(&all, GUEST_WAIT_MAX_NS + 1), g);
	guest_enter_phase(g, GUEST_READING, 20 * SECOND);
	assert_null(guests_overdue(&all, 20 * SECOND + GUEST_READ_MAX_NS));
	guest_enter_phase(g, GUEST_WRITING, 40 * SECOND);
	assert_null(guests_overdue(&all, 40 * SECOND + GUEST_WRITE_MAX_NS));
	assert_ptr_equal(guests_overdue(&all, 41 * SECOND + GUEST_WRITE_MAX_NS), g);
	g->leaving = true;
	assert_null(guests_overdue(&all, 1000 * SECOND));
}

static void test_who_holds_an_edition_is_found_until_served(void **state)
{
	struct guest *g = enter(1, 0);
	int edition;

	(void)state;
	guest_enter_phase(g, GUEST_WRITING, 0);
	g->holds = &edition;
	assert_ptr_equal(guests_holding(&all, &edition), g);
	guest_enter_phase(g, GUEST_WAITING, 1);
	assert_null(guests_holding(&all, &edition));
}

static void test_slots_come_back(void **state)
{
	struct guest *g[GUESTS_MAX + GUESTS_SLACK];

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		for (size_t i = 0; i < COUNT(g); i++) {
			g[i] = enter((uint32_t)i, i);
			assert_non_null(g[i]);
		}
		assert_null(enter(1, 1));
		for (size_t i = 0; i < COUNT(g); i++)
			guests_leave(&all, g[(i * 7) % COUNT(g)]);
		assert_false(guests_any(&all));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_there_is_room_below_the_limits, setup),
		cmocka_unit_test_setup(test_the_longest_idle_of_an_address_goes_first, setup),
		cmocka_unit_test_setup(test_the_total_is_bounded_over_addresses, setup),
		cmocka_unit_test_setup(test_when_all_are_served_the_slowest_goes, setup),
		cmocka_unit_test_setup(test_each_phase_has_its_time, setup),
		cmocka_unit_test_setup(test_who_holds_an_edition_is_found_until_served, setup),
		cmocka_unit_test_setup(test_slots_come_back, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
