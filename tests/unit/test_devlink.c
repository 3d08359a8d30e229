/* Health reporters as drivers tell them, and as none would. */
#include "netlink_kernel.h"

#include <errno.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>

#include "probes/devlink.h"

#define FAMILY 0x15
#define ADDRESS "0000:3b:00.0"

struct fixture {
	struct netlink_kernel k;
	struct devlink_health h;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	kernel_begin(&f->k);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	kernel_end(&f->k);
	free(f);
	return 0;
}

static void begin(struct fixture *f, const char *bus, const char *device)
{
	const struct genlmsghdr head = {.cmd = DEVLINK_CMD_HEALTH_REPORTER_GET};

	kernel_message(&f->k, FAMILY, NLM_F_MULTI, &head, sizeof(head));
	kernel_text(&f->k, DEVLINK_ATTR_BUS_NAME, bus);
	kernel_text(&f->k, DEVLINK_ATTR_DEV_NAME, device);
}

static void add(struct fixture *f, const char *device, const char *name, uint8_t state,
		uint64_t errors, uint64_t recoveries)
{
	begin(f, "pci", device);
	kernel_nest(&f->k, DEVLINK_ATTR_HEALTH_REPORTER);
	kernel_text(&f->k, DEVLINK_ATTR_HEALTH_REPORTER_NAME, name);
	kernel_u8(&f->k, DEVLINK_ATTR_HEALTH_REPORTER_STATE, state);
	kernel_u64(&f->k, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, errors);
	kernel_u64(&f->k, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, recoveries);
	kernel_u64(&f->k, DEVLINK_ATTR_HEALTH_REPORTER_GRACEFUL_PERIOD, 500);
	kernel_unnest(&f->k);
}

static int read_health(struct fixture *f)
{
	kernel_code(&f->k, NLMSG_DONE, 0);
	kernel_answer(&f->k);
	return devlink_health_read(&f->h, &f->k.asker, FAMILY, ADDRESS);
}

static void check(const struct health_fact *h, const char *name, unsigned error, uint64_t errors,
		  uint64_t recoveries)
{
	assert_string_equal(h->reporter, name);
	assert_int_equal(h->error, error);
	assert_int_equal(h->errors, errors);
	assert_int_equal(h->recoveries, recoveries);
}

static void test_reporters_of_the_device_are_read_and_of_no_other(void **state)
{
	struct netlink_attrs attrs;
	struct netlink_attr attr;
	struct fixture *f = *state;
	char text[32];

	add(f, ADDRESS, "fw", 0, 3, 2);
	add(f, "0000:3b:00.1", "fw_fatal", 1, 9, 9);
	add(f, ADDRESS, "fw_fatal", 0, 0, 0);
	begin(f, "auxiliary", ADDRESS);
	assert_int_equal(read_health(f), 0);
	assert_int_equal(f->h.n, 2);
	check(&f->h.reporter[0], "fw", 0, 3, 2);
	check(&f->h.reporter[1], "fw_fatal", 0, 0, 0);
	assert_null(devlink_firmware_error(&f->h));
	assert_int_equal(kernel_question(&f->k, sizeof(struct genlmsghdr), &attrs), FAMILY);
	assert_true(netlink_find(attrs, DEVLINK_ATTR_DEV_NAME, &attr));
	assert_true(netlink_text(&attr, text, sizeof(text)));
	assert_string_equal(text, ADDRESS);
}

static void test_reporters_of_ports_are_added_up(void **state)
{
	struct fixture *f = *state;

	add(f, ADDRESS, "tx", 0, 1, 1);
	add(f, ADDRESS, "tx", 1, 5, 4);
	add(f, ADDRESS, "tx", 0, UINT64_MAX, 0);
	assert_int_equal(read_health(f), 0);
	assert_int_equal(f->h.n, 1);
	check(&f->h.reporter[0], "tx", 1, UINT64_MAX, 5);
	/* A queue that hangs is not the firmware. */
	assert_null(devlink_firmware_error(&f->h));
}

static void test_an_error_of_the_firmware_is_found(void **state)
{
	struct fixture *f = *state;

	add(f, ADDRESS, "tx", 1, 1, 0);
	add(f, ADDRESS, "fw_fatal", 1, 2, 1);
	assert_int_equal(read_health(f), 0);
	check(devlink_firmware_error(&f->h), "fw_fatal", 1, 2, 1);
}

static void test_reporters_that_are_none_are_left_out(void **state)
{
	struct fixture *f = *state;

	begin(f, "pci", ADDRESS);
	kernel_u32(&f->k, DEVLINK_ATTR_HEALTH_REPORTER, 7);
	begin(f, "pci", ADDRESS);
	kernel_nest(&f->k, DEVLINK_ATTR_HEALTH_REPORTER);
	kernel_text(&f->k, DEVLINK_ATTR_HEALTH_REPORTER_NAME, "stateless");
	kernel_unnest(&f->k);
	add(f, ADDRESS, "bad\nname", 1, 1, 1);
	add(f, ADDRESS, "a-name-that-is-longer-than-any-of-them", 1, 1, 1);
	add(f, ADDRESS, "", 1, 1, 1);
	assert_int_equal(read_health(f), 0);
	assert_int_equal(f->h.n, 0);
}

static void test_more_reporters_than_there_is_room_for_are_counted(void **state)
{
	struct fixture *f = *state;
	char name[16];

	for (unsigned i = 0; i < HEALTH_MAX + 3; i++) {
		snprintf(name, sizeof(name), "r%u", i);
		add(f, ADDRESS, name, 0, i, 0);
	}
	assert_int_equal(read_health(f), 0);
	assert_int_equal(f->h.n, HEALTH_MAX);
	assert_int_equal(f->h.dropped, 3);
}

static void test_a_failed_answer_leaves_nothing(void **state)
{
	struct fixture *f = *state;

	add(f, ADDRESS, "fw", 1, 1, 1);
	kernel_code(&f->k, NLMSG_DONE, -EBUSY);
	kernel_answer(&f->k);
	assert_int_equal(devlink_health_read(&f->h, &f->k.asker, FAMILY, ADDRESS), -EBUSY);
	assert_int_equal(f->h.n, 0);
}

static void test_the_number_of_devlink_is_asked_of_the_kernel(void **state)
{
	const struct genlmsghdr head = {.cmd = CTRL_CMD_NEWFAMILY};
	struct fixture *f = *state;
	uint16_t family = 0;

	kernel_message(&f->k, GENL_ID_CTRL, 0, &head, sizeof(head));
	kernel_u16(&f->k, CTRL_ATTR_FAMILY_ID, FAMILY);
	kernel_answer(&f->k);
	assert_int_equal(devlink_family(&f->k.asker, &family), 0);
	assert_int_equal(family, FAMILY);
	kernel_message(&f->k, GENL_ID_CTRL, 0, &head, sizeof(head));
	kernel_u16(&f->k, CTRL_ATTR_FAMILY_ID, 2);
	kernel_answer(&f->k);
	assert_int_equal(devlink_family(&f->k.asker, &family), -EBADMSG);
	kernel_code(&f->k, NLMSG_ERROR, -ENOENT);
	kernel_answer(&f->k);
	assert_int_equal(devlink_family(&f->k.asker, &family), -ENOENT);
	assert_int_equal(family, FAMILY);
}

#define DEVLINK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVLINK_TEST(test_reporters_of_the_device_are_read_and_of_no_other),
		DEVLINK_TEST(test_reporters_of_ports_are_added_up),
		DEVLINK_TEST(test_an_error_of_the_firmware_is_found),
		DEVLINK_TEST(test_reporters_that_are_none_are_left_out),
		DEVLINK_TEST(test_more_reporters_than_there_is_room_for_are_counted),
		DEVLINK_TEST(test_a_failed_answer_leaves_nothing),
		DEVLINK_TEST(test_the_number_of_devlink_is_asked_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
