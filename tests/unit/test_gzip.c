#include "support.h"

#include <zlib.h>

#include "exporters/gzip.h"

#define BIG (1 << 20)

static void assert_unpacks_to(const struct strbuf *packed, const char *data, size_t size)
{
	unsigned char *plain = malloc(size + 1);
	z_stream z = {0};

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = (unsigned char *)packed->data;
	z.avail_in = (unsigned)packed->len;
	z.next_out = plain;
	z.avail_out = (unsigned)size + 1;
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, size);
	assert_int_equal(z.avail_in, 0);
	assert_memory_equal(plain, data, size);
	inflateEnd(&z);
	free(plain);
}

static void test_what_is_packed_unpacks_to_the_same(void **state)
{
	char *big = malloc(BIG);
	struct strbuf out = {0};
	struct gzip *g = gzip_new();

	(void)state;
	for (size_t i = 0; i < BIG; i++)
		big[i] = (char)(i * i % 251);
	assert_int_equal(gzip_compress(g, big, BIG, &out), 0);
	assert_unpacks_to(&out, big, BIG);
	strbuf_reset(&out);
	assert_int_equal(gzip_compress(g, "x", 1, &out), 0);
	assert_unpacks_to(&out, "x", 1);
	strbuf_reset(&out);
	assert_int_equal(gzip_compress(g, "", 0, &out), 0);
	assert_unpacks_to(&out, "", 0);
	gzip_free(g);
	strbuf_free(&out);
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_packed_unpacks_to_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
