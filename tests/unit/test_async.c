#include "support.h"

#include "probes/async.h"
#include "probes/facts.h"

/* What our name is called in verbs.h, and what libibverbs says about it to people. */
struct event {
	enum ibv_event_type type;
	const char *name;
	const char *words; /* of ibv_event_type_str(), lower case */
};

static const struct event events[] = {
	{IBV_EVENT_CQ_ERR, "cq_err", "cq error"},
	{IBV_EVENT_QP_FATAL, "qp_fatal", "local work queue catastrophic error"},
	{IBV_EVENT_QP_REQ_ERR, "qp_req_err", "invalid request local work queue error"},
	{IBV_EVENT_QP_ACCESS_ERR, "qp_access_err", "local access violation work queue error"},
	{IBV_EVENT_COMM_EST, "comm_est", "communication established"},
	{IBV_EVENT_SQ_DRAINED, "sq_drained", "send queue drained"},
	{IBV_EVENT_PATH_MIG, "path_mig", "path migrated"},
	{IBV_EVENT_PATH_MIG_ERR, "path_mig_err", "path migration request error"},
	{IBV_EVENT_DEVICE_FATAL, "device_fatal", "local catastrophic error"},
	{IBV_EVENT_PORT_ACTIVE, "port_active", "port active"},
	{IBV_EVENT_PORT_ERR, "port_err", "port error"},
	{IBV_EVENT_LID_CHANGE, "lid_change", "lid change"},
	{IBV_EVENT_PKEY_CHANGE, "pkey_change", "p_key change"},
	{IBV_EVENT_SM_CHANGE, "sm_change", "sm change"},
	{IBV_EVENT_SRQ_ERR, "srq_err", "srq catastrophic error"},
	{IBV_EVENT_SRQ_LIMIT_REACHED, "srq_limit_reached", "srq limit reached"},
	{IBV_EVENT_QP_LAST_WQE_REACHED, "qp_last_wqe_reached", "last wqe reached"},
	{IBV_EVENT_CLIENT_REREGISTER, "client_reregister", "client reregistration"},
	{IBV_EVENT_GID_CHANGE, "gid_change", "gid table change"},
	{IBV_EVENT_WQ_FATAL, "wq_fatal", "wq fatal"},
};

static bool same_words(const char *said, const char *words)
{
	char lower[128];
	size_t n = strlen(said);

	assert_true(n < sizeof(lower));
	for (size_t i = 0; i <= n; i++)
		lower[i] = said[i] >= 'A' && said[i] <= 'Z' ? (char)(said[i] - 'A' + 'a') : said[i];
	return !strcmp(lower, words);
}

static void test_every_event_has_the_name_verbs_gives_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(events); i++) {
		assert_string_equal(async_event_names[async_event_index(events[i].type)],
				    events[i].name);
		/* That the number really means that is the library's own word. */
		assert_true(same_words(ibv_event_type_str(events[i].type), events[i].words));
	}
}

static void test_every_event_of_the_library_is_in_the_list(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		bool known = strcmp(ibv_event_type_str((enum ibv_event_type)i), "unknown") != 0;

		assert_int_equal(known, i < COUNT(events));
	}
}

static void test_unknown_events_are_other(void **state)
{
	(void)state;
	assert_string_equal(async_event_names[async_event_index((enum ibv_event_type)21)], "other");
	assert_string_equal(async_event_names[async_event_index((enum ibv_event_type)1000)],
			    "other");
	assert_string_equal(async_event_names[async_event_index((enum ibv_event_type) - 1)],
			    "other");
}

static void test_speed_change_of_newer_libraries_has_its_name(void **state)
{
	(void)state;
	assert_string_equal(async_event_names[async_event_index((enum ibv_event_type)20)],
			    "device_speed_change");
}

static void test_port_events_and_no_others_carry_a_port(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(events); i++) {
		bool port = events[i].type == IBV_EVENT_PORT_ACTIVE ||
			    events[i].type == IBV_EVENT_PORT_ERR ||
			    events[i].type == IBV_EVENT_LID_CHANGE ||
			    events[i].type == IBV_EVENT_PKEY_CHANGE ||
			    events[i].type == IBV_EVENT_SM_CHANGE ||
			    events[i].type == IBV_EVENT_CLIENT_REREGISTER ||
			    events[i].type == IBV_EVENT_GID_CHANGE;

		assert_int_equal(async_event_is_port(async_event_index(events[i].type)), port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_event_has_the_name_verbs_gives_it),
		cmocka_unit_test(test_every_event_of_the_library_is_in_the_list),
		cmocka_unit_test(test_unknown_events_are_other),
		cmocka_unit_test(test_speed_change_of_newer_libraries_has_its_name),
		cmocka_unit_test(test_port_events_and_no_others_carry_a_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
