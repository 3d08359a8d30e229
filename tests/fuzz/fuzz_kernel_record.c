/* Records of the kernel's log, which anybody who may write to it can make up. */
#include <stdlib.h>
#include <string.h>

#include "daemon/kernel_record.h"
#include "fuzz.h"
#include "probes/sysfs_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *record = malloc(size + 1); /* of its own: what lies behind it is not ours to read */
	struct kernel_alarm a;

	memcpy(record, data, size);
	if (kernel_record_alarm(record, size, &a)) {
		must_hold(sysfs_pci_address(a.pci_address));
		must_hold(strnlen(a.text, sizeof(a.text)) < sizeof(a.text));
		for (const char *p = a.text; *p; p++)
			must_hold(*p >= ' ' && *p <= '~');
	}
	free(record);
	return 0;
}
