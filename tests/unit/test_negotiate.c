#include "support.h"

#include "exporters/negotiate.h"

static void test_openmetrics_is_given_to_who_asks_for_it(void **state)
{
	(void)state;
	assert_true(negotiate_openmetrics("application/openmetrics-text"));
	assert_true(negotiate_openmetrics("application/openmetrics-text; version=1.0.0"));
	assert_true(negotiate_openmetrics("APPLICATION/OpenMetrics-Text;version=\"1.0.0\""));
	assert_true(negotiate_openmetrics(
		"application/openmetrics-text;version=1.0.0;q=0.5,"
		"application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,"
		"*/*;q=0.2"));
}

static void test_text_is_given_to_everybody_else(void **state)
{
	static const char *const others[] = {
		"",
		"*/*",
		"text/plain",
		"text/html, application/xhtml+xml, */*;q=0.8",
		"application/openmetrics-text;version=0.0.1",
		"application/openmetrics-text;q=0",
		"application/openmetrics-text;q=nonsense",
		"text/plain;version=0.0.4;q=0.9, application/openmetrics-text;q=0.8",
		",,,;;;===",
		";q=1",
		"application/openmetrics-textual",
	};

	(void)state;
	assert_false(negotiate_openmetrics(NULL));
	for (size_t i = 0; i < COUNT(others); i++)
		assert_false(negotiate_openmetrics(others[i]));
}

static void test_gzip_is_used_when_it_is_accepted(void **state)
{
	static const char *const yes[] = {"gzip", "deflate, gzip", "x-gzip", "br, gzip;q=0.5",
					  "*",	  "GZIP; q=1.0"};
	static const char *const no[] = {"",	    "identity",	       "gzip;q=0", "gzip;q=0.000",
					 "deflate", "gzip;q=0, *;q=1", "gzipped"};

	(void)state;
	assert_false(negotiate_gzip(NULL));
	for (size_t i = 0; i < COUNT(yes); i++)
		assert_true(negotiate_gzip(yes[i]));
	for (size_t i = 0; i < COUNT(no); i++)
		assert_false(negotiate_gzip(no[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openmetrics_is_given_to_who_asks_for_it),
		cmocka_unit_test(test_text_is_given_to_everybody_else),
		cmocka_unit_test(test_gzip_is_used_when_it_is_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
