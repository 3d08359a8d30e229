/* For the checks of docs and of the vendors' lists:
 *   counters_tool rows   the table, a row a line with tabs: source, name, drivers, width, unit,
 *                        kind, direction, signal, help
 *   counters_tool find   for each line "source<TAB>name" of its input the row that it has; the name
 *                        is empty where it is in none */
#include <stdio.h>
#include <string.h>

#include "probes/counter_table.h"

static void print_row(const struct counter_row *r)
{
	printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", counter_source_name(r->source), r->name,
	       r->drivers, counter_width_name(r->width), counter_unit_name(r->unit),
	       counter_kind_name(r->kind), counter_direction_name(r->direction),
	       signal_name(r->signal), r->help);
}

static int print_rows(void)
{
	size_t n;
	const struct counter_row *rows = counter_rows(&n);

	for (size_t i = 0; i < n; i++)
		print_row(&rows[i]);
	return 0;
}

static int find_rows(void)
{
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		char *name = strchr(line, '\t');
		unsigned source = 0;

		line[strcspn(line, "\n")] = '\0';
		if (!name)
			return 1;
		*name++ = '\0';
		while (source < COUNTER_SOURCE_COUNT &&
		       strcmp(line, counter_source_name(source)) != 0)
			source++;
		if (source == COUNTER_SOURCE_COUNT)
			return 1;
		print_row(counter_row_of(source, name));
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "rows") == 0)
		return print_rows();
	if (argc == 2 && strcmp(argv[1], "find") == 0)
		return find_rows();
	fprintf(stderr, "usage: counters_tool rows | find\n");
	return 64;
}
