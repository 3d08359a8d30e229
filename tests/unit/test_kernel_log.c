/* Sentences of NICs that take no commands, in records as the kernel writes them. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "core/clock.h"
#include "daemon/kernel_log.h"
#include "daemon/kernel_record.h"

#define MINUTE (60 * NSEC_PER_SEC)
#define WALL (1800000000 * NSEC_PER_SEC)
#define TIMEOUT_WORDS                                                                              \
	"wait_func:964:(pid 112): ENABLE_HCA(0x104) timeout. Will cause a leak of a command "      \
	"resource"

static bool alarms(const char *record, struct kernel_alarm *ret)
{
	return kernel_record_alarm(record, strlen(record), ret);
}

static void test_each_driver_says_it_in_its_own_words(void **state)
{
	static const char *const records[] = {
		"4,1,90000000,-;mlx5_core 0000:3b:00.0: " TIMEOUT_WORDS "\n SUBSYSTEM=pci\n"
		" DEVICE=+pci:0000:3b:00.0\n",
		"3,2,90000000,-;mlx5_core 0000:3b:00.0: poll_health:852:(pid 0): device's health "
		"compromised - reached miss count\n",
		"4,3,90000000,c,caller=T1;mlx4_core 0000:3b:00.0: command 0x4 timed out (go bit "
		"not "
		"cleared)\n",
		"3,4,90000000,-;bnxt_en 0000:3b:00.0 ens1f0np0: Error (timeout: 500015) msg {0x23 "
		"0x1f} len:0\n",
		"3,5,90000000,-;bnxt_en 0000:3b:00.0: cmdq[0x1a]=0x5 timedout (20000)msec",
	};
	struct kernel_alarm a;

	(void)state;
	for (size_t i = 0; i < COUNT(records); i++) {
		assert_true(alarms(records[i], &a));
		assert_string_equal(a.pci_address, "0000:3b:00.0");
		assert_int_equal(a.boot_ns, 90 * NSEC_PER_SEC);
		assert_non_null(strstr(records[i], a.text));
	}
}

static void test_what_is_none_of_that_is_no_alarm(void **state)
{
	static const char *const records[] = {
		"",
		"4",
		"4,1,2",
		"4,1,2,-",
		"4,1,2,-;",
		"4,1,2,-;mlx5_core",
		"4,1,2,-;mlx5_core 0000:3b:00.0:",
		"x,1,2,-;mlx5_core 0000:3b:00.0: " TIMEOUT_WORDS "\n",
		"4,1,99999999999999999999,-;mlx5_core 0000:3b:00.0: " TIMEOUT_WORDS "\n",
		"4,1,18446744073709551615,-;mlx5_core 0000:3b:00.0: " TIMEOUT_WORDS "\n",
		/* Written by a program: facility 1 (user), and 3 (daemon). */
		"12,1,2,-;mlx5_core 0000:3b:00.0: " TIMEOUT_WORDS "\n",
		"28,1,2,-;mlx5_core 0000:3b:00.0: " TIMEOUT_WORDS "\n",
		"4,1,2,-;mlx5_core eth0: " TIMEOUT_WORDS "\n",
		"4,1,2,-;nvme 0000:3b:00.0: " TIMEOUT_WORDS "\n",
		"4,1,2,-;mlx5_core 0000:3b:00.0: Port module event: module 0, Cable plugged\n",
		"4,1,2,-;mlx5_core 0000:3b:00.0: fine\n " TIMEOUT_WORDS "\n",
	};
	struct kernel_alarm a;

	(void)state;
	for (size_t i = 0; i < COUNT(records); i++)
		assert_false(alarms(records[i], &a));
}

static void test_every_cut_of_a_record_is_harmless(void **state)
{
	static const char record[] = "4,1,2,-;mlx5_core 0000:3b:00.0: \x01 " TIMEOUT_WORDS "\n";
	struct kernel_alarm a;
	char *copy;

	(void)state;
	for (size_t len = 0; len < sizeof(record); len++) {
		copy = malloc(len + 1);
		memcpy(copy, record, len);
		if (kernel_record_alarm(copy, len, &a))
			assert_int_equal(a.text[0], '?');
		free(copy);
	}
	assert_true(alarms(record, &a));
}

struct fixture {
	char dir[32], path[64];
	struct loop *loop;
	int writer;
	struct kernel_log *log;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/test_kernel_log.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/kmsg", f->dir);
	assert_int_equal(mkfifo(f->path, 0600), 0);
	f->loop = loop_new();
	f->log = kernel_log_open(f->loop, f->path);
	assert_non_null(f->log);
	f->writer = open(f->path, O_WRONLY);
	assert_true(f->writer >= 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	kernel_log_close(f->log);
	loop_free(f->loop);
	if (f->writer >= 0)
		close(f->writer);
	unlink(f->path);
	rmdir(f->dir);
	free(f);
	return 0;
}

static void say(struct fixture *f, uint64_t second, const char *pci_address)
{
	char record[256];
	int len = snprintf(record, sizeof(record), "4,1,%llu,-;mlx5_core %s: " TIMEOUT_WORDS "\n",
			   (unsigned long long)second * 1000000, pci_address);

	assert_int_equal(write(f->writer, record, (size_t)len), len);
	assert_true(sd_event_run(loop_sd_event(f->loop), 20000) >= 0);
}

static struct device_fact ask(const struct fixture *f, const char *pci_address, uint64_t second)
{
	struct device_fact fact = {.name = "mlx5_0"};

	strcpy(fact.pci_address, pci_address);
	kernel_log_tell(f->log, &fact, second * NSEC_PER_SEC, WALL);
	return fact;
}

static void test_a_nic_is_stuck_from_the_first_sentence_until_it_was_quiet(void **state)
{
	struct fixture *f = *state;
	struct device_fact fact = ask(f, "0000:3b:00.0", 100);

	assert_int_equal(fact.firmware_watched, 1);
	assert_int_equal(fact.firmware_stuck_since_wall_ns, 0);
	say(f, 100, "0000:3b:00.0");
	say(f, 160, "0000:3b:00.0");
	fact = ask(f, "0000:3b:00.0", 170);
	assert_int_equal(fact.firmware_stuck_since_wall_ns, WALL - 70 * NSEC_PER_SEC);
	assert_string_equal(fact.firmware_stuck_text, TIMEOUT_WORDS);
	assert_int_equal(ask(f, "0000:3b:00.1", 170).firmware_stuck_since_wall_ns, 0);
	assert_int_not_equal(ask(f, "0000:3b:00.0", 760).firmware_stuck_since_wall_ns, 0);
	assert_int_equal(ask(f, "0000:3b:00.0", 761).firmware_stuck_since_wall_ns, 0);
	/* Another time later is another fault. */
	say(f, 2000, "0000:3b:00.0");
	assert_int_equal(ask(f, "0000:3b:00.0", 2001).firmware_stuck_since_wall_ns,
			 WALL - NSEC_PER_SEC);
}

static void test_many_functions_do_not_push_out_the_latest(void **state)
{
	struct fixture *f = *state;
	char address[32];

	for (unsigned i = 0; i < 100; i++) {
		snprintf(address, sizeof(address), "0000:%02x:00.0", i);
		say(f, 100 + i, address);
	}
	assert_int_not_equal(ask(f, address, 200).firmware_stuck_since_wall_ns, 0);
	assert_int_equal(ask(f, "0000:00:00.0", 200).firmware_stuck_since_wall_ns, 0);
}

static void test_nobody_watches_without_the_log_or_an_address(void **state)
{
	struct fixture *f = *state;
	struct device_fact fact = {.pci_address = "0000:3b:00.0"};

	assert_int_equal(ask(f, "", 100).firmware_watched, 0);
	kernel_log_tell(NULL, &fact, 1, 1);
	assert_int_equal(fact.firmware_watched, 0);
	/* It ended: what is not read any more is not watched. */
	close(f->writer);
	f->writer = -1;
	assert_true(sd_event_run(loop_sd_event(f->loop), 20000) >= 0);
	assert_int_equal(ask(f, "0000:3b:00.0", 100).firmware_watched, 0);
}

static void test_a_log_that_may_not_be_read_is_an_error(void **state)
{
	struct fixture *f = *state;

	assert_null(kernel_log_open(f->loop, "/nowhere/kmsg"));
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_driver_says_it_in_its_own_words),
		cmocka_unit_test(test_what_is_none_of_that_is_no_alarm),
		cmocka_unit_test(test_every_cut_of_a_record_is_harmless),
		T(test_a_nic_is_stuck_from_the_first_sentence_until_it_was_quiet),
		T(test_many_functions_do_not_push_out_the_latest),
		T(test_nobody_watches_without_the_log_or_an_address),
		T(test_a_log_that_may_not_be_read_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
