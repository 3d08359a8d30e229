#include <stdio.h>
#include <string.h>

#include "cli/list.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/value.h"

enum column {
	COL_PEER,
	COL_RAIL,
	COL_PEER_RAIL,
	COL_CLASS,
	COL_STATE,
	COL_VERDICT,
	COL_CAUSE,
	COL_SINCE,
	COL_LOSS,
	COL_SEND,
	COL_READ,
	COL_WRITE,
	COL_ATOMIC,
	COL_COUNT,
};

static const char *const titles[COL_COUNT] = {
	[COL_PEER] = "PEER",
	[COL_RAIL] = "RAIL",
	[COL_PEER_RAIL] = "PEER-RAIL",
	[COL_CLASS] = "CLASS",
	[COL_STATE] = "STATE",
	[COL_VERDICT] = "VERDICT",
	[COL_CAUSE] = "CAUSE",
	[COL_SINCE] = "FOR",
	[COL_LOSS] = "LOSS",
	[COL_SEND] = "SEND p50/p99",
	[COL_READ] = "READ p50/p99",
	[COL_WRITE] = "WRITE p50/p99",
	[COL_ATOMIC] = "ATOMIC p50/p99",
};

static const char *const op_keys[] = {"send", "read", "write", "atomic"};

static void put_latency(struct text_table *t, size_t column, const json_t *op)
{
	char a[TEXT_SHORT], b[TEXT_SHORT], cell[2 * TEXT_SHORT + 1];
	double p50, p99;

	if (!value_double(op, "p50_seconds", &p50) || !value_double(op, "p99_seconds", &p99))
		return;
	snprintf(cell, sizeof(cell), "%s/%s", text_latency(p50, a), text_latency(p99, b));
	text_table_cell(t, column, cell);
}

static void put_loss(struct text_table *t, const json_t *row)
{
	char cell[TEXT_SHORT];
	double loss;

	if (!value_double(row, "loss_ratio", &loss) || !(loss >= 0 && loss <= 1))
		return;
	/* 0.04 % is no 0 */
	snprintf(cell, sizeof(cell), loss > 0 && loss < 0.001 ? "%.2g%%" : "%.1f%%", 100 * loss);
	text_table_cell(t, COL_LOSS, cell);
}

static void put_row(struct text_table *t, const json_t *row, double now)
{
	const char *cause = value_text(row, "cause", "");
	char buf[TEXT_SHORT];
	double since;

	text_table_row(t);
	text_table_cell(t, COL_PEER, value_text(row, "peer", "?"));
	text_table_cell(t, COL_RAIL, value_text(row, "rail", ""));
	text_table_cell(t, COL_PEER_RAIL, value_text(row, "peer_rail", ""));
	text_table_cell(t, COL_CLASS, value_text(row, "class", ""));
	text_table_cell(t, COL_STATE, value_text(row, "state", ""));
	text_table_cell(t, COL_VERDICT, value_text(row, "verdict", ""));
	text_table_cell(t, COL_CAUSE, strcmp(cause, "none") ? cause : "");
	if (value_double(row, "verdict_since", &since))
		text_table_cell(t, COL_SINCE, text_duration(now - since, buf));
	put_loss(t, row);
	for (size_t op = 0; op < sizeof(op_keys) / sizeof(*op_keys); op++)
		put_latency(t, COL_SEND + op, value_object(value_object(row, "ops"), op_keys[op]));
}

/* Columns in which every row says nothing, or the same as another column, cost width only. */
static void hide_dull(struct text_table *t)
{
	bool peer_rail = false, class_name = false, used[COL_COUNT] = {false};

	for (size_t row = 0; row < text_table_rows(t); row++) {
		const char *far = text_table_get(t, row, COL_PEER_RAIL);

		peer_rail |= far[0] && strcmp(far, text_table_get(t, row, COL_RAIL));
		class_name |= strcmp(text_table_get(t, row, COL_CLASS), "default") != 0;
		for (size_t c = 0; c < COL_COUNT; c++)
			used[c] |= text_table_get(t, row, c)[0] != '\0';
	}
	text_table_tint(t, COL_VERDICT);
	if (!peer_rail)
		text_table_hide(t, COL_PEER_RAIL);
	if (!class_name)
		text_table_hide(t, COL_CLASS);
	if (!used[COL_CAUSE])
		text_table_hide(t, COL_CAUSE);
	for (size_t c = COL_WRITE; c <= COL_ATOMIC; c++)
		if (!used[c])
			text_table_hide(t, c);
}

static void name_session(const json_t *row, struct strbuf *out)
{
	strbuf_printf(out, "%s on %s", value_text(row, "peer", "?"), value_text(row, "rail", "?"));
}

enum cli_exit command_peers(const struct cli_options *o)
{
	static const struct list_view view = {
		.path = "/api/v1/peers",
		.member = "peers",
		.columns = COL_COUNT,
		.titles = titles,
		.put = put_row,
		.tidy = hide_dull,
		.name = name_session,
	};

	return list_show(o, &view);
}
