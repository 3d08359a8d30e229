#include "support.h"

#include <crypt.h>
#include <systemd/sd-event.h>

#include "core/clock.h"
#include "core/loop.h"
#include "exporters/gate.h"
#include "exporters/users.h"

#define USEC_PER_SEC UINT64_C(1000000)
#define RIGHT "Basic YTpyaWdodA=="    /* a:right */
#define WRONG "Basic YTp3cm9uZw=="    /* a:wrong */
#define STRANGER "Basic YjpyaWdodA==" /* b:right */

static const uint8_t here[16] = {[15] = 1}, there[16] = {[15] = 2};

struct world {
	struct loop *loop;
	struct gate *gate;
	unsigned n_told;
	enum gate_answer last;
	void *last_who;
};

static void told(void *arg, void *who, enum gate_answer answer)
{
	struct world *w = arg;

	w->n_told++;
	w->last = answer;
	w->last_who = who;
}

static struct users *make_users(const char *password)
{
	struct crypt_data data = {0};
	char text[512], err[256];
	int n = snprintf(text, sizeof(text), "a:%s\n",
			 crypt_r(password, "$5$rounds=1000$salt", &data));

	return users_parse("users", text, (size_t)n, err, sizeof(err));
}

static void set_users(struct world *w, const char *password)
{
	struct users *u = make_users(password);

	assert_non_null(u);
	assert_int_equal(gate_set_users(w->gate, u), 0);
	users_unref(u);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->loop = loop_new();
	w->gate = gate_new(w->loop, told, w);
	set_users(w, "right");
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	gate_free(w->gate);
	loop_free(w->loop);
	free(w);
	return 0;
}

static enum gate_answer ask(struct world *w, const char *header, const uint8_t address[16])
{
	return gate_ask(w->gate, header, address, w, clock_now_ns());
}

static void wait_told(struct world *w, unsigned n)
{
	unsigned until = w->n_told + n;

	while (w->n_told < until)
		assert_true(sd_event_run(loop_sd_event(w->loop), 20 * USEC_PER_SEC) > 0);
}

static void test_right_is_checked_once_and_known_then(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w, RIGHT, here), GATE_ASK);
	wait_told(w, 1);
	assert_int_equal(w->last, GATE_OPEN);
	assert_ptr_equal(w->last_who, w);
	assert_int_equal(ask(w, RIGHT, here), GATE_OPEN);
	assert_int_equal(ask(w, RIGHT, there), GATE_OPEN);
}

static void test_wrong_and_unknown_are_denied_and_known_then(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w, NULL, here), GATE_DENIED);
	assert_int_equal(ask(w, "Basic x", here), GATE_DENIED);
	assert_int_equal(ask(w, WRONG, here), GATE_ASK);
	wait_told(w, 1);
	assert_int_equal(w->last, GATE_DENIED);
	assert_int_equal(ask(w, WRONG, here), GATE_DENIED);
	/* The right password of another user. */
	assert_int_equal(ask(w, STRANGER, there), GATE_ASK);
	wait_told(w, 1);
	assert_int_equal(w->last, GATE_DENIED);
}

static void test_after_a_wrong_one_the_address_waits_for_a_second(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w, WRONG, here), GATE_ASK);
	wait_told(w, 1);
	assert_int_equal(ask(w, RIGHT, here), GATE_BUSY);
	assert_int_equal(ask(w, RIGHT, there), GATE_ASK);
	wait_told(w, 1);
	/* What is known passes from everywhere. */
	assert_int_equal(ask(w, RIGHT, here), GATE_OPEN);
	assert_int_equal(gate_ask(w->gate, STRANGER, here, w, clock_now_ns() + 2 * NSEC_PER_SEC),
			 GATE_ASK);
}

static void test_the_same_asked_at_once_is_one_check(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 64; i++)
		assert_int_equal(ask(w, RIGHT, here), GATE_ASK);
	assert_int_equal(ask(w, RIGHT, here), GATE_BUSY);
	wait_told(w, 64);
	assert_int_equal(w->last, GATE_OPEN);
}

static void test_an_address_has_two_checks_and_all_have_eight(void **state)
{
	struct world *w = *state;
	unsigned asked = 0;

	for (uint8_t i = 0; i < 5; i++) {
		uint8_t address[16] = {[14] = 1, [15] = i};

		for (unsigned k = 0; k < 3; k++) {
			char header[32];
			enum gate_answer a;

			/* A different password for each. */
			snprintf(header, sizeof(header), "Basic YTp%cQUF%c", 'A' + i, 'B' + k);
			a = ask(w, header, address);
			assert_int_equal(a, k < 2 && i < 4 ? GATE_ASK : GATE_BUSY);
			asked += a == GATE_ASK;
		}
	}
	assert_int_equal(asked, 8);
	wait_told(w, 8);
	assert_int_equal(w->last, GATE_DENIED);
}

static void test_new_users_make_old_answers_void(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w, RIGHT, here), GATE_ASK);
	set_users(w, "other");
	wait_told(w, 1);
	assert_int_equal(w->last, GATE_ASK);
	assert_int_equal(ask(w, RIGHT, here), GATE_ASK);
	wait_told(w, 1);
	assert_int_equal(w->last, GATE_DENIED);
	set_users(w, "right");
	assert_int_equal(ask(w, RIGHT, there), GATE_ASK);
	wait_told(w, 1);
	assert_int_equal(w->last, GATE_OPEN);
	/* The same again is no change. */
	set_users(w, "right");
	assert_int_equal(ask(w, RIGHT, here), GATE_OPEN);
	assert_int_equal(gate_set_users(w->gate, NULL), 0);
	assert_int_equal(ask(w, NULL, here), GATE_OPEN);
}

static void test_it_can_be_freed_with_checks_on_their_way(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w, RIGHT, here), GATE_ASK);
	assert_int_equal(ask(w, WRONG, here), GATE_ASK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_right_is_checked_once_and_known_then),
		TEST(test_wrong_and_unknown_are_denied_and_known_then),
		TEST(test_after_a_wrong_one_the_address_waits_for_a_second),
		TEST(test_the_same_asked_at_once_is_one_check),
		TEST(test_an_address_has_two_checks_and_all_have_eight),
		TEST(test_new_users_make_old_answers_void),
		TEST(test_it_can_be_freed_with_checks_on_their_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
