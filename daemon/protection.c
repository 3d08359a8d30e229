#include "daemon/protection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/log.h"
#include "core/names.h"
#include "daemon/daemon.h"
#include "daemon/looker.h"
#include "daemon/peer_watch.h"
#include "exporters/http.h"
#include "exporters/tls.h"
#include "exporters/users.h"

#define AGAIN_NS (2 * NSEC_PER_SEC) /* certificate and key are not replaced in one instant */
#define DAY_NS (24 * 3600 * NSEC_PER_SEC)
#define WARN_S (7 * 24 * 3600) /* before a certificate ends */
#define SECRET_MODES (S_IRWXO | S_IWGRP)
#define PUBLIC_MODES S_IWOTH

enum { CERT, KEY, CLIENT_CA, USERS, FILES };

struct protection {
	struct daemon *daemon;
	struct peer_watch *watch[FILES];
	struct loop_source *again, *daily;
	bool tried_again, bad;
	struct tls *tls;     /* in force */
	struct users *users; /* likewise */
};

/* A file as it was read. */
struct content {
	const char *path;
	char *text;
	size_t len;
};

/* --- reading --- */

static int refuse(const char *path, const char *why, char *err, size_t errlen)
{
	snprintf(err, errlen, "%s: %s", path, why);
	return -EINVAL;
}

static int check_file(const char *path, int fd, size_t max, mode_t forbidden, char *err,
		      size_t errlen)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return refuse(path, strerror(errno), err, errlen);
	if (!S_ISREG(st.st_mode))
		return refuse(path, "is no regular file", err, errlen);
	if ((uint64_t)st.st_size > max)
		return refuse(path, "is too long", err, errlen);
	if (!(st.st_mode & forbidden))
		return 0;
	snprintf(err, errlen, "%s: its mode %04o lets others %s it: chmod %s", path,
		 st.st_mode & 07777, forbidden == PUBLIC_MODES ? "change" : "read or change",
		 forbidden == PUBLIC_MODES ? "o-w" : "0640");
	return -EACCES;
}

/* One byte more than is allowed is read, so that growth meanwhile is seen. */
static int read_open(struct content *c, int fd, size_t max, char *err, size_t errlen)
{
	ssize_t n;

	c->text = malloc(max + 1);
	if (!c->text)
		return refuse(c->path, "out of memory", err, errlen);
	n = fd_read_all(fd, c->text, max + 1);
	if (n < 0)
		return refuse(c->path, strerror((int)-n), err, errlen);
	c->len = (size_t)n;
	return c->len <= max ? 0 : refuse(c->path, "is too long", err, errlen);
}

/* "" is no path: then nothing is read. The caller forgets the content in either case. */
static int read_file(struct content *c, const char *path, size_t max, mode_t forbidden, char *err,
		     size_t errlen)
{
	int fd, r;

	c->path = path;
	if (!*path)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return refuse(path, strerror(errno), err, errlen);
	r = check_file(path, fd, max, forbidden, err, errlen);
	if (r == 0)
		r = read_open(c, fd, max, err, errlen);
	close(fd);
	return r;
}

static void forget(struct content *c)
{
	if (c->text)
		explicit_bzero(c->text, c->len);
	free(c->text);
}

static int check_together(const struct config *c, char *err, size_t errlen)
{
	if (!c->tls_cert[0] != !c->tls_key[0])
		return refuse("[http] tls_cert and tls_key", "the one needs the other", err,
			      errlen);
	if (c->tls_client_ca[0] && !c->tls_cert[0])
		return refuse("[http] tls_client_ca", "needs tls_cert and tls_key", err, errlen);
	return 0;
}

static int use(const struct config *c, const struct content content[FILES],
	       struct http_protection *ret, char *err, size_t errlen)
{
	struct tls_text text[USERS];

	for (int i = 0; i < USERS; i++)
		text[i] = (struct tls_text){content[i].path, content[i].text, content[i].len};
	if (c->tls_cert[0]) {
		ret->tls = tls_new(&text[CERT], &text[KEY],
				   c->tls_client_ca[0] ? &text[CLIENT_CA] : NULL, err, errlen);
		if (!ret->tls)
			return -EINVAL;
	}
	if (c->auth_file[0]) {
		ret->users = users_parse(content[USERS].path, content[USERS].text,
					 content[USERS].len, err, errlen);
		if (!ret->users)
			return -EINVAL;
	}
	ret->plain_loopback = c->plain_loopback;
	return 0;
}

int protection_read(const struct config *c, struct http_protection *ret, char *err, size_t errlen)
{
	struct content content[FILES] = {0};
	int r = check_together(c, err, errlen);

	*ret = (struct http_protection){0};
	if (r == 0)
		r = read_file(&content[CERT], c->tls_cert, TLS_TEXT_MAX, PUBLIC_MODES, err, errlen);
	if (r == 0)
		r = read_file(&content[KEY], c->tls_key, TLS_TEXT_MAX, SECRET_MODES, err, errlen);
	if (r == 0)
		r = read_file(&content[CLIENT_CA], c->tls_client_ca, TLS_TEXT_MAX, PUBLIC_MODES,
			      err, errlen);
	if (r == 0)
		r = read_file(&content[USERS], c->auth_file, USERS_TEXT_MAX, SECRET_MODES, err,
			      errlen);
	if (r == 0)
		r = use(c, content, ret, err, errlen);
	for (int i = 0; i < FILES; i++)
		forget(&content[i]);
	if (r < 0)
		protection_release(ret);
	return r;
}

void protection_release(struct http_protection *p)
{
	tls_unref(p->tls);
	users_unref(p->users);
	*p = (struct http_protection){0};
}

/* --- in force --- */

static void tell_end(const struct protection *p)
{
	int64_t end = p->tls ? tls_not_after(p->tls) : INT64_MAX;
	int64_t now = (int64_t)(clock_wall_ns() / NSEC_PER_SEC);
	char text[32];
	time_t at = (time_t)end;
	struct tm tm;

	if (end == INT64_MAX || end - now > WARN_S || !gmtime_r(&at, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &tm);
	log_warn("http: %s: the certificate %s at %s", p->daemon->config.tls_cert,
		 end <= now ? "ended" : "ends", text);
}

static void on_daily(void *arg, uint64_t now_ns)
{
	struct protection *p = arg;

	tell_end(p);
	loop_timer_arm(p->daily, now_ns + DAY_NS);
}

static void follow(struct protection *p)
{
	const struct config *c = &p->daemon->config;
	const char *const path[FILES] = {c->tls_cert, c->tls_key, c->tls_client_ca, c->auth_file};

	for (int i = 0; i < FILES; i++)
		peer_watch_follow(p->watch[i], path[i]);
}

int protection_take(struct protection *p, struct http_protection *fresh)
{
	int r = http_server_protect(p->daemon->http, fresh);

	if (r == 0) {
		tls_unref(p->tls);
		users_unref(p->users);
		p->tls = tls_ref(fresh->tls);
		p->users = users_ref(fresh->users);
		p->bad = false;
	} else {
		log_error("http: what protects it stays as it was: %s", strerror(-r));
		p->bad = true;
	}
	protection_release(fresh);
	loop_timer_disarm(p->again);
	p->tried_again = false;
	follow(p);
	tell_end(p);
	return r;
}

bool protection_good(const struct protection *p)
{
	return !p->bad;
}

/* --- files that change --- */

static void tell(struct protection *p, const char *text)
{
	journal_add(p->daemon->journal, clock_wall_ns(), "reload", NULL, NULL, NULL, "%s", text);
	looker_soon(p->daemon->looker);
}

static void refuse_files(struct protection *p, const char *err, uint64_t now_ns)
{
	char text[PROTECTION_ERROR + 64];

	if (!p->tried_again) {
		p->tried_again = true;
		loop_timer_arm(p->again, now_ns + AGAIN_NS);
		return;
	}
	p->tried_again = false;
	p->bad = true;
	snprintf(text, sizeof(text), "http: refused, what was in force stays: %s", err);
	log_error("%s", text);
	tell(p, text);
}

static void use_files(struct protection *p, struct http_protection *fresh)
{
	bool new_tls = !tls_equal(p->tls, fresh->tls);
	bool new_users = !users_equal(p->users, fresh->users);
	const char *text = new_tls && new_users ? "http: certificate and users read again"
			   : new_tls		? "http: certificate read again"
						: "http: users read again";

	if (!new_tls && !new_users) {
		p->tried_again = p->bad = false;
		protection_release(fresh);
		return;
	}
	if (protection_take(p, fresh) < 0)
		return;
	log_info("%s", text);
	tell(p, text);
}

static void look(struct protection *p)
{
	struct http_protection fresh;
	char err[PROTECTION_ERROR];

	if (p->daemon->stopper)
		return;
	if (protection_read(&p->daemon->config, &fresh, err, sizeof(err)) < 0)
		refuse_files(p, err, clock_now_ns());
	else
		use_files(p, &fresh);
}

static void on_changed(void *arg)
{
	struct protection *p = arg;

	p->tried_again = false;
	loop_timer_disarm(p->again);
	look(p);
}

static void on_again(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	look(arg);
}

/* --- life --- */

struct protection *protection_new(struct daemon *d)
{
	struct protection *p = calloc(1, sizeof(*p));
	bool whole;

	if (!p)
		return NULL;
	p->daemon = d;
	p->again = loop_add_timer(d->loop, on_again, p);
	p->daily = loop_add_timer(d->loop, on_daily, p);
	whole = p->again && p->daily;
	for (int i = 0; i < FILES; i++) {
		p->watch[i] = peer_watch_new(d->loop, on_changed, p);
		whole &= p->watch[i] != NULL;
	}
	if (whole) {
		loop_timer_arm(p->daily, clock_now_ns() + DAY_NS);
		return p;
	}
	protection_free(p);
	errno = ENOMEM;
	return NULL;
}

void protection_free(struct protection *p)
{
	if (!p)
		return;
	for (int i = 0; i < FILES; i++)
		peer_watch_free(p->watch[i]);
	loop_source_free(p->again);
	loop_source_free(p->daily);
	tls_unref(p->tls);
	users_unref(p->users);
	free(p);
}
