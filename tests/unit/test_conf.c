#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/conf.h"
#include "remarks.h"

#define LONG_NAME "n123456789n123456789n123456789n123456789n123456789n123456789nnn" /* 63 */

struct target {
	char text[8];
	bool flag;
	uint32_t number, size;
	uint64_t wait_ns, every_ns;
	char secret[8];
	char items[256];
	char rails[256];
};

static int parse_item(void *target, const char *instance, const char *value, char *err,
		      size_t errlen)
{
	struct target *t = target;

	assert_string_equal(instance, "");
	if (!strcmp(value, "bad")) {
		snprintf(err, errlen, "'bad' is bad");
		return -EINVAL;
	}
	if (!strcmp(value, "odd"))
		snprintf(err, errlen, "'odd' is odd");
	strcat(strcat(t->items, value), ",");
	return 0;
}

static void print_items(const void *target, const char *instance, struct strbuf *out)
{
	(void)instance;
	strbuf_printf(out, "item = %s\n", ((const struct target *)target)->items);
}

static int parse_rail(void *target, const char *instance, const char *value, char *err,
		      size_t errlen)
{
	struct target *t = target;

	(void)err;
	(void)errlen;
	sprintf(t->rails + strlen(t->rails), "%s:%s,", instance, value);
	return 0;
}

static void print_rail(const void *target, const char *instance, struct strbuf *out)
{
	(void)target;
	strbuf_printf(out, "device = of-%s\n", instance);
}

static int check_number(const void *target, char *err, size_t errlen)
{
	if (((const struct target *)target)->number != 13)
		return 0;
	snprintf(err, errlen, "13 is not built yet");
	return -EINVAL;
}

#define FIELD(f) .offset = offsetof(struct target, f), .size = sizeof(((struct target *)0)->f)

static const struct conf_key table[] = {
	{.section = "a", .key = "text", .type = CONF_STRING, FIELD(text)},
	{.section = "a", .key = "flag", .type = CONF_BOOL, FIELD(flag), .default_text = "yes"},
	{.section = "a",
	 .key = "number",
	 .type = CONF_U32,
	 FIELD(number),
	 .min = 1,
	 .max = 20,
	 .default_text = "5",
	 .check = check_number},
	{.section = "a",
	 .key = "size",
	 .type = CONF_SIZE,
	 FIELD(size),
	 .max = 1 << 20,
	 .default_text = "64"},
	{.section = "b",
	 .key = "wait",
	 .type = CONF_DURATION,
	 FIELD(wait_ns),
	 .min = NSEC_PER_MSEC,
	 .max = NSEC_PER_SEC,
	 .default_text = "500ms"},
	{.section = "b",
	 .key = "every",
	 .type = CONF_INTERVAL,
	 FIELD(every_ns),
	 .min = NSEC_PER_MSEC,
	 .default_text = "off"},
	{.section = "b", .key = "secret", .type = CONF_STRING, FIELD(secret), .secret = true},
	{.section = "b",
	 .key = "item",
	 .type = CONF_CUSTOM,
	 .repeatable = true,
	 .parse = parse_item,
	 .print = print_items},
	{.section = "rail",
	 .key = "device",
	 .type = CONF_CUSTOM,
	 .instance = true,
	 .parse = parse_rail,
	 .print = print_rail},
};

struct fixture {
	struct target t;
	struct strbuf remarks;
	struct conf_report report;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->report = remarks_report(&f->remarks);
	conf_defaults(table, COUNT(table), &f->t);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	strbuf_free(&f->remarks);
	free(f);
	return 0;
}

static int parse(struct fixture *f, const char *text)
{
	return conf_parse_text(table, COUNT(table), &f->t, "f", text, strlen(text), &f->report);
}

static void refused(struct fixture *f, const char *text, const char *remark)
{
	f->report = remarks_report(&f->remarks);
	assert_int_equal(parse(f, text), -EINVAL);
	assert_int_equal(f->report.errors, 1);
	assert_string_equal(f->remarks.data, remark);
}

static void test_defaults_come_from_the_table(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(f->t.text, "");
	assert_true(f->t.flag);
	assert_int_equal(f->t.number, 5);
	assert_int_equal(f->t.size, 64);
	assert_int_equal(f->t.wait_ns, 500 * NSEC_PER_MSEC);
	assert_int_equal(f->t.every_ns, 0);
}

static void test_every_type_is_read(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "# comment\n; comment\n  # indented comment\n\n"
				  "[a]\r\ntext = abc\r\nflag=no\nnumber\t=\t7 ; why\nsize = 4k\n"
				  "[b]\nwait = 1s\nevery = 10ms\nitem = x y\nitem = z"),
			 0);
	assert_string_equal(f->t.text, "abc");
	assert_false(f->t.flag);
	assert_int_equal(f->t.number, 7);
	assert_int_equal(f->t.size, 4096);
	assert_int_equal(f->t.wait_ns, NSEC_PER_SEC);
	assert_int_equal(f->t.every_ns, 10 * NSEC_PER_MSEC);
	assert_string_equal(f->t.items, "x y,z,");
	assert_string_equal(f->remarks.data, "");
}

static void test_a_byte_order_mark_is_no_part_of_the_text(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "\xef\xbb\xbf[a]\nnumber = 7\n"), 0);
	assert_int_equal(f->t.number, 7);
}

static void test_bad_values_name_file_line_and_what_is_right(void **state)
{
	struct fixture *f = *state;

	refused(f, "[a]\nnumber = x\n", "f:2: number: 'x' is not a whole number\n");
	refused(f, "[a]\nnumber = 0\n", "f:2: number: '0' is out of range: 1 to 20\n");
	refused(f, "[a]\nnumber = 99999999999999999999\n",
		"f:2: number: '99999999999999999999' is out of range: 1 to 20\n");
	refused(f, "[a]\nnumber =\n", "f:2: number: '' is not a whole number\n");
	refused(f, "\n[a]\n\nflag = maybe\n", "f:4: flag: 'maybe' is neither yes nor no\n");
	refused(f, "[a]\nsize = 2M\n", "f:2: size: '2M' is out of range: 0 to 1M\n");
	refused(f, "[a]\ntext = 12345678\n", "f:2: text: longer than 7 bytes\n");
	refused(f, "[b]\nwait = 1\n",
		"f:2: wait: '1' is not a duration: write a number and a unit, as 500ms or 1s\n");
	refused(f, "[b]\nwait = off\n",
		"f:2: wait: 'off' is not a duration: write a number and a unit, as 500ms or 1s\n");
	refused(f, "[b]\nevery = 0s\n",
		"f:2: every: '0s' is out of range: 1ms to 18446744073709551615ns, or off\n");
	refused(f, "[b]\nitem = bad\n", "f:2: item: 'bad' is bad\n");
	refused(f, "[a]\ntext =;x\n",
		"f:2: text: a value cannot begin with ';'; a comment needs a blank before it\n");
}

static void test_a_check_may_refuse_a_well_formed_value(void **state)
{
	refused(*state, "[a]\nnumber = 13\n", "f:2: number: 13 is not built yet\n");
}

static void test_a_parser_may_warn(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "[b]\nitem = odd\n"), 0);
	assert_string_equal(f->remarks.data, "f:2: warning: item: 'odd' is odd\n");
}

static void test_an_indented_line_is_no_continuation(void **state)
{
	struct fixture *f = *state;

	refused(f, "[b]\nitem = x\n  y\n",
		"f:3: indented line: lines are not continued here, start it at the margin\n");
	refused(f, "[a]\n\tnumber = 7\n",
		"f:2: indented line: lines are not continued here, start it at the margin\n");
	assert_int_equal(f->t.number, 5);
}

static void test_the_longest_line_is_read_and_a_longer_one_refused(void **state)
{
	char text[2000];
	struct fixture *f = *state;
	int head;

	/* Blanks before the value, so that what inih would cut off is the value itself. */
	head = sprintf(text, "[a]\nnumber =");
	memset(text + head, ' ', sizeof(text) - (size_t)head);
	strcpy(text + 4 + CONF_MAX_LINE - 1, "7");
	assert_int_equal(parse(f, text), 0);
	assert_int_equal(f->t.number, 7);
	text[4 + CONF_MAX_LINE - 1] = ' ';
	strcpy(text + 4 + CONF_MAX_LINE, "8");
	refused(f, text, "f:2: line longer than 1023 bytes\n");
	assert_int_equal(f->t.number, 7);
}

static void test_a_name_of_63_bytes_is_kept_whole_and_a_longer_one_refused(void **state)
{
	struct fixture *f = *state;

	/* libinih alone would cut it at 49. */
	assert_int_equal(parse(f, "[rail " LONG_NAME "]\ndevice = d\n"), 0);
	assert_string_equal(f->t.rails, LONG_NAME ":d,");
	refused(f, "[rail " LONG_NAME "x]\ndevice = d\n",
		"f:1: section name longer than 63 bytes\n");
	refused(f, "[a]\n" LONG_NAME "x = 1\n", "f:2: key longer than 63 bytes\n");
}

static void test_unknown_keys_are_counted_warnings(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "[a]\nnumbr = 7\n[nope]\nx = 1\ny = 2\n[a]\nnumber = 6\n"), 0);
	assert_int_equal(f->report.unknown_keys, 2);
	assert_int_equal(f->report.errors, 0);
	assert_int_equal(f->t.number, 6);
	assert_string_equal(f->remarks.data, "f:2: warning: unknown key 'numbr' in section [a]\n"
					     "f:3: warning: unknown section [nope]\n");
}

static void test_a_second_value_in_one_file_is_an_error_with_both_lines(void **state)
{
	struct fixture *f = *state;

	refused(f, "[a]\nnumber = 6\n[b]\n[a]\nnumber = 7\n",
		"f:5: number is given twice, first in line 2\n");
	assert_int_equal(f->t.number, 6);
	refused(f, "[rail r]\ndevice = d\ndevice = e\n",
		"f:3: device is given twice, first in line 2\n");
}

static void test_the_same_key_of_two_instances_is_not_twice(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "[rail r0]\ndevice = d\n[ rail\t r1/2 ] # second\ndevice = e\n"),
			 0);
	assert_string_equal(f->t.rails, "r0:d,r1/2:e,");
}

static void test_a_later_file_overrides_an_earlier_one(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "[a]\nnumber = 6\n"), 0);
	assert_int_equal(parse(f, "[a]\nnumber = 8\n"), 0);
	assert_int_equal(f->t.number, 8);
}

static void test_sections_are_checked(void **state)
{
	struct fixture *f = *state;

	refused(f, "number = 1\n", "f:1: 'number' comes before the first [section]\n");
	refused(f, "[a\nnumber = 7\n", "f:1: section without ']'\n");
	refused(f, "[a] x\nnumber = 7\n", "f:1: text after ']'\n");
	refused(f, "[a x]\nnumber = 7\n", "f:1: section [a] takes no name, but has 'x'\n");
	refused(f, "[rail]\ndevice = 7\n", "f:1: section [rail] needs a name: [rail NAME]\n");
	refused(f, "[rail a b]\ndevice = 7\n",
		"f:1: 'a b' is no name: letters, digits and . _ - : % are (and one /)\n");
	refused(f, "[rail x]\n[a]\n",
		"f:1: section [rail x] has no keys: state them or remove it\n");
	refused(f, "[rail x]\n", "f:1: section [rail x] has no keys: state them or remove it\n");
	assert_int_equal(f->t.number, 5);
	assert_string_equal(f->t.rails, "");
}

static void test_every_bad_line_is_told_not_only_the_first(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "[a]\nrubbish\nnumber: 7\n= 3\nflag = no\n"), -EINVAL);
	assert_int_equal(f->report.errors, 3);
	assert_string_equal(f->remarks.data, "f:2: not of the form 'key = value'\n"
					     "f:3: not of the form 'key = value'\n"
					     "f:4: not of the form 'key = value'\n");
	assert_false(f->t.flag);
}

static void test_control_characters_are_refused(void **state)
{
	static const char nul[] = "[a]\ntext = a\0b\n";
	struct fixture *f = *state;

	refused(f, "[a]\ntext = a\x1b[2J\n", "f:2: control character 0x1b\n");
	f->report = remarks_report(&f->remarks);
	assert_int_equal(
		conf_parse_text(table, COUNT(table), &f->t, "f", nul, sizeof(nul) - 1, &f->report),
		-EINVAL);
	assert_string_equal(f->remarks.data, "f:2: control character 0x00\n");
	assert_string_equal(f->t.text, "");
}

static void set_refused(struct fixture *f, const char *assignment, const char *remark)
{
	f->report = remarks_report(&f->remarks);
	assert_int_equal(conf_set(table, COUNT(table), &f->t, assignment, &f->report), -EINVAL);
	assert_int_equal(f->report.errors, 1);
	assert_string_equal(f->remarks.data, remark);
}

static void test_the_command_line_sets_keys(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(conf_set(table, COUNT(table), &f->t, "a.number=9", &f->report), 0);
	assert_int_equal(f->t.number, 9);
	assert_int_equal(conf_set(table, COUNT(table), &f->t, "b.item=x=y", &f->report), 0);
	assert_string_equal(f->t.items, "x=y,");
	assert_int_equal(conf_set(table, COUNT(table), &f->t, "rail.eth0.100.device=d", &f->report),
			 0);
	assert_string_equal(f->t.rails, "eth0.100:d,");
	assert_int_equal(conf_set(table, COUNT(table), &f->t, "a.text=", &f->report), 0);
	assert_string_equal(f->remarks.data, "");
}

static void test_a_wrong_command_line_is_an_error(void **state)
{
	struct fixture *f = *state;

	set_refused(f, "number", "--set:0: 'number' is not of the form section.key=value\n");
	set_refused(f, "number=3", "--set:0: 'number=3' is not of the form section.key=value\n");
	set_refused(f, ".x=3", "--set:0: '.x=3' is not of the form section.key=value\n");
	set_refused(f, "a.numbr=3", "--set:0: unknown key a.numbr\n");
	set_refused(f, "a.number=x", "--set:0: a.number: 'x' is not a whole number\n");
	set_refused(f, "a.b.number=3", "--set:0: a.number: section a takes no name for number\n");
	set_refused(f, "rail.device=d",
		    "--set:0: rail.device: name the section, as rail.NAME.device\n");
	set_refused(f, "a.text=a ;b",
		    "--set:0: a.text: control characters and ' ;' cannot be in a value\n");
	set_refused(f, "a.text=a\nb",
		    "--set:0: a.text: control characters and ' ;' cannot be in a value\n");
	assert_int_equal(f->t.number, 5);
}

static void test_print_shows_the_effective_values_without_secrets(void **state)
{
	static const struct conf_instance instances[] = {{"rail", "r0"}, {NULL, NULL}};
	struct fixture *f = *state;
	struct strbuf out = {0};

	assert_int_equal(parse(f, "[a]\nnumber = 6\nsize = 4096\n[b]\nsecret = pssst\nitem = i\n"),
			 0);
	conf_print(table, COUNT(table), &f->t, instances, &out);
	assert_string_equal(out.data, "[a]\n# text =\nflag = yes\nnumber = 6\nsize = 4k\n\n"
				      "[b]\nwait = 500ms\nevery = off\nitem = i,\n\n"
				      "[rail r0]\ndevice = of-r0\n");
	strbuf_free(&out);
}

static void test_printed_text_loads_to_the_same(void **state)
{
	struct fixture *f = *state;
	struct strbuf once = {0}, twice = {0};
	struct target again = {0};

	assert_int_equal(parse(f, "[a]\ntext = abc\nflag = no\n[b]\nevery = 20ms\nwait = 1ms\n"),
			 0);
	conf_print(table, COUNT(table), &f->t, NULL, &once);
	conf_defaults(table, COUNT(table), &again);
	assert_int_equal(
		conf_parse_text(table, COUNT(table), &again, "g", once.data, once.len, &f->report),
		0);
	again.items[0] = '\0'; /* the printer of this test is not made for that */
	f->t.items[0] = '\0';
	conf_print(table, COUNT(table), &again, NULL, &twice);
	strbuf_reset(&once);
	conf_print(table, COUNT(table), &f->t, NULL, &once);
	assert_string_equal(once.data, twice.data);
	strbuf_free(&once);
	strbuf_free(&twice);
}

static void file_refused(struct fixture *f, const char *path, int error, const char *message)
{
	char expected[128];

	f->report = remarks_report(&f->remarks);
	assert_int_equal(conf_parse_file(table, COUNT(table), &f->t, path, &f->report), error);
	snprintf(expected, sizeof(expected), "%s:0: %s\n", path, message);
	assert_string_equal(f->remarks.data, expected);
}

static void test_files_that_cannot_be_read_say_why(void **state)
{
	char dir[] = "/tmp/test_conf.XXXXXX", path[64];
	struct fixture *f = *state;
	int fd;

	assert_non_null(mkdtemp(dir));
	file_refused(f, dir, -EISDIR, "cannot be read: Is a directory");
	snprintf(path, sizeof(path), "%s/none", dir);
	file_refused(f, path, -ENOENT, "cannot be read: No such file or directory");
	snprintf(path, sizeof(path), "%s/pipe", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	file_refused(f, path, -EINVAL, "not a regular file");
	unlink(path);
	snprintf(path, sizeof(path), "%s/big", dir);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, CONF_MAX_FILE + 1), 0);
	close(fd);
	file_refused(f, path, -EFBIG, "larger than 4194304 bytes");
	unlink(path);
	rmdir(dir);
}

static void test_a_file_is_read_whole(void **state)
{
	char path[] = "/tmp/test_conf.XXXXXX";
	struct fixture *f = *state;
	FILE *file = fdopen(mkstemp(path), "w");

	for (int i = 0; i < 5000; i++)
		fputs("# a line of many, so that the file is longer than one read\n", file);
	fputs("[a]\nnumber = 7", file);
	fclose(file);
	assert_int_equal(conf_parse_file(table, COUNT(table), &f->t, path, &f->report), 0);
	assert_int_equal(f->t.number, 7);
	unlink(path);
}

static void assert_described(struct conf_key key, const char *expected)
{
	struct strbuf out = {0};

	conf_describe_type(&key, &out);
	assert_string_equal(out.data, expected);
	strbuf_free(&out);
}

static void test_values_are_described_by_type_and_range(void **state)
{
	(void)state;
	assert_described((struct conf_key){.type = CONF_BOOL}, "yes or no");
	assert_described((struct conf_key){.type = CONF_U32, .min = 8, .max = 22},
			 "number (8 to 22)");
	assert_described((struct conf_key){.type = CONF_U32, .max = 1024}, "number (at most 1024)");
	assert_described((struct conf_key){.type = CONF_SIZE, .min = 8, .max = 8}, "bytes (8)");
	assert_described((struct conf_key){.type = CONF_INTERVAL, .min = NSEC_PER_MSEC},
			 "duration or off (at least 1ms)");
	assert_described((struct conf_key){.type = CONF_CUSTOM, .repeatable = true}, "list");
}

int main(void)
{
#define CONF_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CONF_TEST(test_defaults_come_from_the_table),
		CONF_TEST(test_every_type_is_read),
		CONF_TEST(test_a_byte_order_mark_is_no_part_of_the_text),
		CONF_TEST(test_bad_values_name_file_line_and_what_is_right),
		CONF_TEST(test_a_check_may_refuse_a_well_formed_value),
		CONF_TEST(test_a_parser_may_warn),
		CONF_TEST(test_an_indented_line_is_no_continuation),
		CONF_TEST(test_the_longest_line_is_read_and_a_longer_one_refused),
		CONF_TEST(test_a_name_of_63_bytes_is_kept_whole_and_a_longer_one_refused),
		CONF_TEST(test_unknown_keys_are_counted_warnings),
		CONF_TEST(test_a_second_value_in_one_file_is_an_error_with_both_lines),
		CONF_TEST(test_the_same_key_of_two_instances_is_not_twice),
		CONF_TEST(test_a_later_file_overrides_an_earlier_one),
		CONF_TEST(test_sections_are_checked),
		CONF_TEST(test_every_bad_line_is_told_not_only_the_first),
		CONF_TEST(test_control_characters_are_refused),
		CONF_TEST(test_the_command_line_sets_keys),
		CONF_TEST(test_a_wrong_command_line_is_an_error),
		CONF_TEST(test_print_shows_the_effective_values_without_secrets),
		CONF_TEST(test_printed_text_loads_to_the_same),
		CONF_TEST(test_files_that_cannot_be_read_say_why),
		CONF_TEST(test_a_file_is_read_whole),
		CONF_TEST(test_values_are_described_by_type_and_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
