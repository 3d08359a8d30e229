/* For the checks of docs and examples:
 *   config_tool keys        section, key, instance, type, default, effect and help with tabs
 * between config_tool check FILE  0 when FILE loads without any remark; prints the remarks */
#include <stdio.h>
#include <string.h>

#include "daemon/config.h"

static int print_keys(void)
{
	size_t n;
	const struct conf_key *keys = config_keys(&n);

	for (size_t i = 0; i < n; i++) {
		struct strbuf type = {0};

		conf_describe_type(&keys[i], &type);
		printf("%s\t%s\t%d\t%s\t%s\t%s\t%s\n", keys[i].section, keys[i].key,
		       keys[i].instance, type.data,
		       keys[i].default_text ? keys[i].default_text : "",
		       conf_effect_name(keys[i].effect), keys[i].help);
		strbuf_free(&type);
	}
	return 0;
}

static void print_remark(void *arg, enum conf_severity severity, const char *file, unsigned line,
			 const char *message)
{
	unsigned *remarks = arg;

	++*remarks;
	printf("%s:%u: %s%s\n", file, line, severity == CONF_WARNING ? "warning: " : "", message);
}

static int check(const char *path)
{
	unsigned remarks = 0;
	struct conf_report report = {.fn = print_remark, .arg = &remarks};
	struct config c;

	if (config_load(&c, path, NULL, 0, &report) < 0)
		return 1;
	config_free(&c);
	return remarks > 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "keys"))
		return print_keys();
	if (argc == 3 && !strcmp(argv[1], "check"))
		return check(argv[2]);
	fprintf(stderr, "usage: config_tool keys | check FILE\n");
	return 64;
}
