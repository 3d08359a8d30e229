/* Prints a manual page with the keys of the configuration in the place of its line @KEYS@, from the
 * same table that parses them: conf_keys FILE. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "daemon/config.h"

/* The longest line of the page; it is ours. */
#define LINE_MAX_BYTES 1024

/* A minus that stays one, a backslash, and no request at the start of a line. */
static void print_text(const char *text)
{
	if (text[0] == '.' || text[0] == '\'')
		fputs("\\&", stdout);
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
	}
}

static void print_key(const struct conf_key *key)
{
	struct strbuf type = {0};

	fputs(".TP\n.B ", stdout);
	print_text(key->key);
	fputc('\n', stdout);
	print_text(key->help);
	fputs(".\n.br\n", stdout);
	conf_describe_type(key, &type);
	type.data[0] = (char)toupper((unsigned char)type.data[0]);
	print_text(type.data);
	fputs(". ", stdout);
	strbuf_free(&type);
	if (key->default_text && key->default_text[0]) {
		fputs("Default: ", stdout);
		print_text(key->default_text);
		fputs(". ", stdout);
	}
	printf("A change %s%s.\n",
	       key->effect == CONF_REBUILDS_SESSIONS ? "" : "takes effect at the next ",
	       conf_effect_name(key->effect));
}

static void print_keys(void)
{
	size_t n;
	const struct conf_key *keys = config_keys(&n);

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0)
			printf(".SH \"[%s%s]\"\n", keys[i].section,
			       keys[i].instance ? " NAME" : "");
		print_key(&keys[i]);
	}
}

int main(int argc, char **argv)
{
	FILE *in = argc == 2 ? fopen(argv[1], "r") : NULL;
	char line[LINE_MAX_BYTES];

	if (!in) {
		fputs("usage: conf_keys FILE\n", stderr);
		return 64;
	}
	while (fgets(line, sizeof(line), in)) {
		if (strcmp(line, "@KEYS@\n") == 0)
			print_keys();
		else
			fputs(line, stdout);
	}
	fclose(in);
	return fflush(stdout) == 0 ? 0 : 1;
}
