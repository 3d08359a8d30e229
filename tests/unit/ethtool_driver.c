#include "ethtool_driver.h"
#include "support.h"

void ethtool_driver_answer(struct ethtool_driver *d, const struct ifreq *request)
{
	union {
		void *data;
		uint32_t *cmd;
		struct ethtool_sset_info *info;
		struct ethtool_gstrings *strings;
		struct ethtool_stats *stats;
	} to = {request->ifr_data};

	switch (*to.cmd) {
	case ETHTOOL_GSSET_INFO:
		to.info->data[0] = d->n;
		return;
	case ETHTOOL_GSTRINGS:
		d->names_asked++;
		to.strings->len = d->n + d->grown;
		memset(to.strings->data, 0, (size_t)d->n * ETHTOOL_NAME);
		for (uint32_t i = 0; i < d->n; i++)
			d->put_name(i, (char *)to.strings->data + (size_t)i * ETHTOOL_NAME);
		return;
	case ETHTOOL_GSTATS:
		to.stats->n_stats = d->n + d->grown;
		for (uint32_t i = 0; i < d->n; i++)
			to.stats->data[i] = d->first + i;
		return;
	}
	fail_msg("nothing but reading is allowed: command %u", *to.cmd);
}
