#include "exporters/json_findings.h"

static void put_evidence(struct json *j, const struct snap_evidence *e)
{
	json_open_object(j);
	json_put_string(j, "name", e->name);
	json_key(j, "value");
	json_double(j, e->value);
	json_key(j, "threshold");
	json_double(j, e->threshold);
	json_key(j, "window_seconds");
	json_double(j, e->window_seconds);
	json_close_object(j);
}

static bool findings_row(struct json_list *l, struct json *j)
{
	const struct snap_finding *f;

	if (l->next >= l->snapshot->n_findings)
		return false;
	f = &l->snapshot->findings[l->next++];
	json_open_object(j);
	json_put_string(j, "cause", cause_name(f->cause));
	json_put_string(j, "severity", f->critical ? "critical" : "warning");
	json_put_string(j, "subject", f->subject);
	json_put_timestamp(j, "since", f->since_wall_ns);
	json_put_string(j, "text", f->text);
	json_key(j, "evidence");
	json_open_array(j);
	for (size_t i = 0; i < f->n_evidence; i++)
		put_evidence(j, &f->evidence[i]);
	json_close_array(j);
	json_close_object(j);
	return true;
}

const struct json_list_type json_findings = {.name = "findings", .row = findings_row};
