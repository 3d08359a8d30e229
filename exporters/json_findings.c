#include "exporters/json_findings.h"

static void put_evidence(struct jsonw *j, const struct snap_evidence *e)
{
	jsonw_open_object(j);
	jsonw_put_string(j, "name", e->name);
	jsonw_key(j, "value");
	jsonw_double(j, e->value);
	jsonw_key(j, "threshold");
	/* What is shown beside it has no limit of its own. */
	if (e->threshold == 0)
		jsonw_null(j);
	else
		jsonw_double(j, e->threshold);
	jsonw_key(j, "window_seconds");
	jsonw_double(j, e->window_seconds);
	jsonw_close_object(j);
}

static bool findings_row(struct json_list *l, struct jsonw *j)
{
	const struct snap_finding *f;

	if (l->next >= l->snapshot->n_findings)
		return false;
	f = &l->snapshot->findings[l->next++];
	jsonw_open_object(j);
	jsonw_put_string(j, "cause", cause_name(f->cause));
	jsonw_put_string(j, "severity", f->critical ? "critical" : "warning");
	jsonw_put_string(j, "subject", f->subject);
	if (f->rule)
		jsonw_put_string(j, "rule", f->rule);
	jsonw_put_timestamp(j, "since", f->since_wall_ns);
	jsonw_put_string(j, "text", f->text);
	jsonw_key(j, "evidence");
	jsonw_open_array(j);
	for (size_t i = 0; i < f->n_evidence; i++)
		put_evidence(j, &f->evidence[i]);
	jsonw_close_array(j);
	jsonw_close_object(j);
	return true;
}

const struct json_list_type json_findings = {.name = "findings", .row = findings_row};
