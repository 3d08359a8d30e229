#include "exporters/json_port_rules.h"

#include <stdio.h>

static void put_states(struct jsonw *j, const struct snap_port_rules *p)
{
	jsonw_key(j, "rules");
	jsonw_open_object(j);
	for (unsigned k = 0; p && k < RULE_COUNT; k++)
		jsonw_put_string(j, rule_name((enum rule)k), rule_state_name(p->rule[k].state));
	jsonw_close_object(j);
}

static void put_rate(struct jsonw *j, const struct snap_rate *r)
{
	char key[FACT_NAME];

	if (r->priority < 0)
		snprintf(key, sizeof(key), "%s", signal_name(r->signal));
	else
		snprintf(key, sizeof(key), "%s[%d]", signal_name(r->signal), r->priority);
	jsonw_key(j, key);
	jsonw_open_object(j);
	for (unsigned w = 0; w < RATE_WINDOWS; w++) {
		jsonw_key(j, rate_window_name((enum rate_window)w));
		if (r->known[w])
			jsonw_double(j, r->per_second[w]);
		else
			jsonw_null(j);
	}
	jsonw_close_object(j);
}

void json_put_port_rules(struct jsonw *j, const struct snap_port_rules *p)
{
	jsonw_put_string(j, "verdict", verdict_name(p ? p->verdict : VERDICT_UNKNOWN));
	jsonw_put_string(j, "cause", cause_name(p ? p->cause : CAUSE_NONE));
	jsonw_put_string(j, "reason", p ? p->reason : "");
	jsonw_key(j, "expected");
	jsonw_bool(j, p && p->expected);
	put_states(j, p);
	jsonw_key(j, "rates");
	jsonw_open_object(j);
	for (size_t i = 0; p && i < p->n_rates; i++)
		put_rate(j, &p->rates[i]);
	jsonw_close_object(j);
}
