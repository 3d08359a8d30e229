#include "daemon/kernel_record.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "probes/sysfs_value.h"

#define FACILITY_SHIFT 3 /* below it is the level; facility 0 is the kernel's own */

/* By the drivers' own words; dev_err() puts driver and PCI address in front. */
static const struct sentence {
	const char *driver, *words;
} sentences[] = {
	/* mlx5/core/cmd.c: wait_func(), cb_timeout_handler() */
	{"mlx5_core", "timeout. Will cause a leak of a command resource"},
	/* mlx5/core/health.c: poll_health() */
	{"mlx5_core", "device's health compromised - reached miss count"},
	/* mlx4/cmd.c: mlx4_cmd_wait(), mlx4_cmd_poll() */
	{"mlx4_core", "timed out (go bit not cleared)"},
	/* bnxt/bnxt_hwrm.c: __hwrm_send() */
	{"bnxt_en", "Error (timeout: "},
	/* bnxt_re/qplib_rcfw.c: its device is the function, whose driver is bnxt_en */
	{"bnxt_en", " timedout ("},
};

/* A number that ends with a comma or a semicolon; *at is moved past it. */
static bool take_number(const char **at, const char *end, uint64_t *ret)
{
	const char *p = *at;
	uint64_t n = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		if (n > (UINT64_MAX - 9) / 10)
			return false;
		n = n * 10 + (uint64_t)(*p - '0');
	}
	if (p == *at || p == end || (*p != ',' && *p != ';'))
		return false;
	*ret = n;
	*at = p + 1;
	return true;
}

/* "level,number,microseconds,flags[,more];message": the message's start, NULL: none. */
static const char *take_head(const char *record, const char *end, uint64_t *ret_us)
{
	uint64_t priority, number;

	if (!take_number(&record, end, &priority) || priority >> FACILITY_SHIFT != 0 ||
	    !take_number(&record, end, &number) || !take_number(&record, end, ret_us))
		return NULL;
	record = memchr(record, ';', (size_t)(end - record));
	return record ? record + 1 : NULL;
}

/* The next word of the message, without a colon at its end; *at is moved past the blank. */
static bool take_word(const char **at, const char *end, char *ret, size_t size)
{
	size_t n = 0;

	while (*at + n < end && (*at)[n] != ' ' && n < size)
		n++;
	if (n == 0 || n == size || *at + n == end)
		return false;
	memcpy(ret, *at, n);
	*at += n + 1;
	ret[ret[n - 1] == ':' ? n - 1 : n] = '\0';
	return true;
}

static bool alarming(const char *driver, const char *text)
{
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++)
		if (!strcmp(sentences[i].driver, driver) && strstr(text, sentences[i].words))
			return true;
	return false;
}

bool kernel_record_alarm(const char *record, size_t len, struct kernel_alarm *ret)
{
	const char *end = memchr(record, '\n', len), *at;
	char driver[FACT_NETDEV];
	uint64_t us;

	/* What follows the first line is for machines, and not needed. */
	end = end ? end : record + len;
	at = take_head(record, end, &us);
	if (!at || us > UINT64_MAX / NSEC_PER_USEC ||
	    !take_word(&at, end, driver, sizeof(driver)) ||
	    !take_word(&at, end, ret->pci_address, sizeof(ret->pci_address)) ||
	    !sysfs_pci_address(ret->pci_address))
		return false;
	len = (size_t)(end - at) < sizeof(ret->text) ? (size_t)(end - at) : sizeof(ret->text) - 1;
	for (size_t i = 0; i < len; i++)
		ret->text[i] = at[i] < ' ' || at[i] > '~' ? '?' : at[i];
	ret->text[len] = '\0';
	ret->boot_ns = us * NSEC_PER_USEC;
	return alarming(driver, ret->text);
}
