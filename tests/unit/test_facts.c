#include "support.h"

#include "probes/facts.h"

/* All names of a set are there, differ, and what lies beyond is refused. */
#define CHECK_NAMES(function, count)                                                               \
	do {                                                                                       \
		for (int i = 0; i < (count); i++) {                                                \
			assert_string_not_equal(function(i), "invalid");                           \
			for (int j = 0; j < i; j++)                                                \
				assert_string_not_equal(function(i), function(j));                 \
		}                                                                                  \
		assert_string_equal(function(count), "invalid");                                   \
		assert_string_equal(function(-1), "invalid");                                      \
	} while (0)

static void test_every_value_has_a_name_of_its_own(void **state)
{
	(void)state;
	CHECK_NAMES(op_name, OP_COUNT);
	CHECK_NAMES(stream_name, STREAM_COUNT);
	CHECK_NAMES(session_state_name, SESSION_STATE_COUNT);
	CHECK_NAMES(fail_reason_name, FAIL_COUNT);
	CHECK_NAMES(abort_reason_name, ABORT_COUNT);
	CHECK_NAMES(skip_reason_name, SKIP_COUNT);
	CHECK_NAMES(connect_failure_name, CONNECT_COUNT);
	CHECK_NAMES(drain_outcome_name, DRAIN_COUNT);
	CHECK_NAMES(gid_type_name, GID_TYPE_ROCE_V2 + 1);
	CHECK_NAMES(link_layer_name, LINK_LAYER_ETHERNET + 1);
	CHECK_NAMES(worker_loop_name, WORKER_LOOPS);
	CHECK_NAMES(counter_source_name, COUNTER_SOURCE_COUNT);
	CHECK_NAMES(read_error_name, READ_ERROR_COUNT);
}

static void test_names_stand_at_their_values(void **state)
{
	(void)state;
	assert_string_equal(op_name(OP_ATOMIC), "atomic");
	assert_string_equal(stream_name(STREAM_ACK), "ack");
	assert_string_equal(session_state_name(SESSION_DISABLED), "disabled");
	assert_string_equal(fail_reason_name(FAIL_RNR_RETRY_EXCEEDED), "rnr_retry_exceeded");
	assert_string_equal(abort_reason_name(ABORT_WORKER_LOST), "worker_lost");
	assert_string_equal(skip_reason_name(SKIP_WORKER_STUCK), "worker_stuck");
	assert_string_equal(connect_failure_name(CONNECT_NO_RESOURCES), "no_resources");
	assert_string_equal(drain_outcome_name(DRAIN_MARKER), "marker");
	assert_string_equal(gid_type_name(GID_TYPE_ROCE_V2), "RoCE v2");
	assert_string_equal(link_layer_name(LINK_LAYER_ETHERNET), "Ethernet");
	assert_string_equal(counter_source_name(SOURCE_COUNTERS_EXT), "counters_ext");
	assert_string_equal(read_error_name(READ_PARSE), "parse");
}

static void test_async_events_end_with_other(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ASYNC_EVENT_COUNT; i++)
		assert_non_null(async_event_names[i]);
	assert_string_equal(async_event_names[ASYNC_EVENT_COUNT - 1], "other");
}

static void test_only_port_events_carry_a_port(void **state)
{
	static const char *const port_events[] = {
		"port_active", "port_err",	    "lid_change", "pkey_change",
		"sm_change",   "client_reregister", "gid_change",
	};
	unsigned found = 0;

	(void)state;
	for (unsigned i = 0; i < ASYNC_EVENT_COUNT; i++) {
		bool expected = false;

		for (size_t j = 0; j < COUNT(port_events); j++)
			expected |= strcmp(async_event_names[i], port_events[j]) == 0;
		if (async_event_is_port(i) != expected)
			fail_msg("%s", async_event_names[i]);
		found += expected;
	}
	assert_int_equal(found, COUNT(port_events));
	assert_false(async_event_is_port(ASYNC_EVENT_COUNT));
	assert_false(async_event_is_port(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_value_has_a_name_of_its_own),
		cmocka_unit_test(test_names_stand_at_their_values),
		cmocka_unit_test(test_async_events_end_with_other),
		cmocka_unit_test(test_only_port_events_carry_a_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
