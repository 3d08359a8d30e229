/* For daemon/config*.c alone: what the parsers of single keys share with config_load(). */
#pragma once
#include "daemon/config.h"

/* The target of the key table; a struct config to those who only print. */
struct config_loading {
	struct config config; /* first: the table's offsets are into it */
	bool from_command_line;
	/* A list of the files that the command line has replaced. */
	bool listen_replaced, exclude_replaced, peers_replaced;
};

/* Message "'value' why" and -EINVAL. */
int config_refuse(char *err, size_t errlen, const char *value, const char *why);
/* "key = value", or the key alone as a comment when it has no value. */
void config_print_word(struct strbuf *out, const char *key, const char *value);

/* Makes the key of what secret_file holds, when one is set. -EINVAL with a message in err. */
int config_read_secret(struct config *c, char *err, size_t errlen);

/* Parsers and printers of keys, as struct conf_key wants them. */
int config_parse_peer(void *target, const char *instance, const char *value, char *err,
		      size_t errlen);
/* Once all is read: which host names are looked up follows from [peers] address. */
void config_place_peers(struct config *c, const char *path, struct conf_report *report);
void config_print_peers(const void *target, const char *instance, struct strbuf *out);
int config_parse_rail_device(void *target, const char *instance, const char *value, char *err,
			     size_t errlen);
int config_parse_rail_netdev(void *target, const char *instance, const char *value, char *err,
			     size_t errlen);
int config_parse_rail_subnet(void *target, const char *instance, const char *value, char *err,
			     size_t errlen);
int config_parse_rail_rate(void *target, const char *instance, const char *value, char *err,
			   size_t errlen);
int config_parse_rails_rate(void *target, const char *instance, const char *value, char *err,
			    size_t errlen);
void config_print_rail_rate(const void *target, const char *instance, struct strbuf *out);
void config_print_rails_rate(const void *target, const char *instance, struct strbuf *out);
/* Errors for rails that would be any port. */
void config_check_rails(const struct config *c, const char *path, struct conf_report *report);
void config_print_rail_device(const void *target, const char *instance, struct strbuf *out);
void config_print_rail_netdev(const void *target, const char *instance, struct strbuf *out);
void config_print_rail_subnet(const void *target, const char *instance, struct strbuf *out);
int config_parse_class_tos(void *target, const char *instance, const char *value, char *err,
			   size_t errlen);
int config_parse_class_sl(void *target, const char *instance, const char *value, char *err,
			  size_t errlen);
void config_print_class_tos(const void *target, const char *instance, struct strbuf *out);
void config_print_class_sl(const void *target, const char *instance, struct strbuf *out);
