/* A worker without verbs, for tests of main: it takes wishes, fills the table and tells facts as a
 * real one does, and misbehaves as the file $FAKE_WORKER_DIR/DEVICE says, which it reads again
 * and again:
 *   rail NAME ADDRESS up|down   a rail, in order; default: named as the device, 10.99.0.1, up
 *   answer all|nic|none         what peers do; default: all; nic: SENDs are not answered
 *   lack OP N                   an operation that sessions added from now on cannot run, and why
 *   exit N | crash              end now
 *   deaf                        ignore WISH_STOP
 *   keep                        never let go of a removed session
 *   refuse                      have no session that is added, and let its row alone say so
 *   uncounted                   counters hang
 *   trouble TEXT                cannot probe
 *   refused WHY TEXT | stalled 0|1 | duplicate HOST TEXT | async N | garbage   tell that once
 *   rows                        write nonsense into every row
 * What it is told goes to $FAKE_WORKER_DIR/DEVICE.log, a line a wish. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/hash.h"
#include "core/names.h"
#include "probes/table.h"
#include "probes/wish.h"
#include "probes/worker.h"

#define TURN_MS 20
#define SCRIPT_EVERY 5 /* turns */
#define STUCK_NS NSEC_PER_SEC
#define RTT_NS 250000

enum answer { ANSWER_ALL, ANSWER_NIC, ANSWER_NONE };

struct fake_session {
	struct wish_session wish;
	struct session_books books;
	struct session_conn conn;
	uint64_t started_ns;
};

struct fake {
	int fd;
	struct table *table;
	struct worker_config config;
	char dir[256], device[FACT_NAME];
	struct rail_fact rails[RAIL_MAX];
	uint32_t n_rails;
	enum answer answer;
	uint8_t lack[OP_COUNT]; /* of sessions that are added from now on */
	bool deaf, keep, refuse, rows, uncounted;
	char once[FACT_TEXT], trouble[FACT_TEXT];
	struct fake_session *sessions; /* by row */
	uint32_t n_rows;
	uint64_t counters_ns;
};

static void note(const struct fake *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void note(const struct fake *f, const char *fmt, ...)
{
	char path[512];
	va_list ap;
	FILE *log;

	snprintf(path, sizeof(path), "%s/%s.log", f->dir, f->device);
	log = fopen(path, "a");
	if (!log)
		return;
	va_start(ap, fmt);
	vfprintf(log, fmt, ap);
	va_end(ap);
	fputc('\n', log);
	fclose(log);
}

static void tell(const struct fake *f, struct fact *fact)
{
	fact_send(f->fd, fact);
}

/* --- the script --- */

static void set_rail(struct fake *f, uint32_t index, const char *name, const char *address, bool up)
{
	struct rail_fact r = {.up = up, .port = 1, .gid_type = GID_TYPE_ROCE_V2, .mtu = 1024};
	struct fact fact = {.type = FACT_RAIL, .rail = index, .number = index + 1};
	struct in_addr v4;

	name_copy(r.name, sizeof(r.name), name);
	name_copy(r.device, sizeof(r.device), f->device);
	name_copy(r.netdev, sizeof(r.netdev), "eth0");
	name_copy(r.address, sizeof(r.address), address);
	name_copy(r.reason, sizeof(r.reason), up ? "" : "port is down");
	if (inet_pton(AF_INET, address, &v4) == 1) {
		r.gid[10] = r.gid[11] = 0xff;
		memcpy(&r.gid[12], &v4, sizeof(v4));
	}
	if (index < f->n_rails && memcmp(&r, &f->rails[index], sizeof(r)) == 0)
		return;
	f->rails[index] = r;
	if (index >= f->n_rails)
		f->n_rails = index + 1;
	table_put_rail(f->table, index, &r);
	fact.rail_fact = r;
	tell(f, &fact);
}

static void do_once(struct fake *f, const char *line)
{
	struct fact fact = {0};
	char *text;

	if (strcmp(f->once, line) == 0)
		return;
	name_copy(f->once, sizeof(f->once), line);
	if (strncmp(line, "duplicate ", 10) == 0) {
		size_t len = strcspn(line + 10, " ");

		fact.type = FACT_DUPLICATE;
		snprintf(fact.host, sizeof(fact.host), "%.*s", (int)len, line + 10);
		fact.host_hash = hash_str(fact.host);
		name_copy(fact.text, sizeof(fact.text), line + 10 + len);
		tell(f, &fact);
	} else if (strncmp(line, "refused ", 8) == 0) {
		fact.type = FACT_REFUSED;
		fact.number = (uint32_t)strtoul(line + 8, &text, 10);
		name_copy(fact.text, sizeof(fact.text), text + strspn(text, " "));
		tell(f, &fact);
	} else if (strncmp(line, "stalled ", 8) == 0) {
		fact.type = FACT_STALLED;
		fact.number = line[8] == '1';
		tell(f, &fact);
	} else if (strncmp(line, "async ", 6) == 0) {
		fact.type = FACT_ASYNC;
		fact.number = (uint32_t)atoi(line + 6) % ASYNC_EVENT_COUNT;
		fact.port = 1;
		table_count_async(f->table, 1, fact.number);
		tell(f, &fact);
	} else {
		send(f->fd, "garbage", 7, MSG_DONTWAIT);
		memset(&fact, 0xff, sizeof(fact));
		fact.type = FACT_SESSION;
		send(f->fd, &fact, sizeof(fact), MSG_DONTWAIT);
	}
}

static void set_trouble(struct fake *f, const char *text)
{
	struct fact fact = {.type = FACT_DEVICE};

	if (strcmp(f->trouble, text) == 0)
		return;
	name_copy(f->trouble, sizeof(f->trouble), text);
	name_copy(fact.text, sizeof(fact.text), text);
	tell(f, &fact);
}

/* "write 2": enum op_lack by its number. */
static void set_lack(struct fake *f, const char *words)
{
	char name[FACT_NAME];
	unsigned lack;

	if (sscanf(words, "%63s %u", name, &lack) != 2)
		return;
	for (unsigned op = 0; op < OP_COUNT; op++)
		if (strcmp(name, op_name(op)) == 0)
			f->lack[op] = (uint8_t)lack;
}

static void run_line(struct fake *f, char *line, uint32_t *n_rails)
{
	char name[FACT_NAME], word[FACT_NAME], address[FACT_NAME];

	if (sscanf(line, "rail %63s %63s %63s", name, address, word) == 3)
		set_rail(f, (*n_rails)++, name, strcmp(address, "-") ? address : "",
			 strcmp(word, "up") == 0);
	else if (strncmp(line, "answer ", 7) == 0)
		f->answer = line[7] == 'a'		       ? ANSWER_ALL
			    : line[7] == 'n' && line[8] == 'i' ? ANSWER_NIC
							       : ANSWER_NONE;
	else if (strncmp(line, "exit ", 5) == 0)
		_exit(atoi(line + 5));
	else if (strcmp(line, "crash") == 0)
		abort();
	else if (strcmp(line, "deaf") == 0)
		f->deaf = true;
	else if (strcmp(line, "keep") == 0)
		f->keep = true;
	else if (strcmp(line, "refuse") == 0)
		f->refuse = true;
	else if (strcmp(line, "uncounted") == 0)
		f->uncounted = true;
	else if (strcmp(line, "rows") == 0)
		f->rows = true;
	else if (strncmp(line, "lack ", 5) == 0)
		set_lack(f, line + 5);
	else if (strncmp(line, "trouble ", 8) == 0)
		set_trouble(f, line + 8);
	else if (line[0] != '\0')
		do_once(f, line);
}

static void run_script(struct fake *f)
{
	char path[512], line[256];
	uint32_t n_rails = 0;
	FILE *script;

	snprintf(path, sizeof(path), "%s/%s", f->dir, f->device);
	f->answer = ANSWER_ALL;
	memset(f->lack, 0, sizeof(f->lack));
	f->deaf = f->keep = f->refuse = f->rows = f->uncounted = false;
	script = fopen(path, "r");
	while (script && fgets(line, sizeof(line), script)) {
		line[strcspn(line, "\n")] = '\0';
		run_line(f, line, &n_rails);
	}
	if (script)
		fclose(script);
	if (n_rails == 0 && !f->config.counters_only)
		set_rail(f, 0, f->device, "10.99.0.1", true);
}

/* --- sessions --- */

static void show_state(struct fake *f, struct fake_session *s, enum session_state state)
{
	struct fact fact = {.type = FACT_SESSION, .number = state, .old = s->conn.state};

	s->conn.state = state;
	s->conn.since_wall_ns = clock_wall_ns();
	s->conn.since_mono_ns = clock_now_ns();
	table_put_conn(f->table, s->wish.row, &s->conn);
	fact.row = s->wish.row;
	fact.session_id = s->wish.id;
	fact.conn = s->conn;
	tell(f, &fact);
}

static void add_session(struct fake *f, const struct wish_session *w)
{
	struct fake_session *s = &f->sessions[w->row];
	uint64_t now = clock_now_ns();

	run_script(f); /* what it says now about sessions that are added */
	memset(s, 0, sizeof(*s));
	if (f->refuse) {
		s->conn.gone_id = w->id;
		table_put_conn(f->table, w->row, &s->conn);
		return;
	}
	s->wish = *w;
	s->books.session_id = w->id;
	s->started_ns = now;
	for (unsigned op = 0; op < OP_COUNT; op++) {
		struct op_books *b = &s->books.op[op];

		b->interval_ns = f->lack[op] ? 0 : f->config.op[op].interval_ns;
		s->conn.op_lack[op] = f->lack[op];
		b->phase_ns = b->interval_ns ? now % b->interval_ns : 0;
		b->booked_until_ns = now;
	}
	table_clear_samples(f->table, w->row);
	table_put_books(f->table, w->row, &s->books);
	s->conn.session_id = w->id;
	s->conn.qpn = 0x11 + w->row;
	s->conn.remote_qpn = 0x100 + w->row;
	s->conn.udp_source_port = 49152 + w->row % 16384;
	memcpy(s->conn.local_gid, f->rails[w->rail].gid, 16);
	s->conn.remote_gid[15] = 1;
	if (w->address.sa.sa_family == AF_UNSPEC)
		name_copy(s->conn.reason, sizeof(s->conn.reason), "no address");
	show_state(f, s, s->conn.reason[0] ? SESSION_BACKOFF : SESSION_UP);
}

static void remove_session(struct fake *f, const struct wish_session *w)
{
	struct fake_session *s = &f->sessions[w->row];
	struct fact fact = {.type = FACT_REMOVED, .row = w->row, .session_id = w->id};

	if (s->wish.id != w->id || f->keep)
		return;
	table_put_books(f->table, w->row, &s->books);
	s->wish.id = 0;
	memset(&s->conn, 0, sizeof(s->conn));
	s->conn.gone_id = w->id;
	table_put_conn(f->table, w->row, &s->conn);
	tell(f, &fact);
}

static void miss(struct op_books *b)
{
	b->misses++;
	b->double_misses += b->miss_streak > 0;
	b->miss_streak++;
	b->ok_streak = 0;
}

static void book_one(struct fake *f, struct fake_session *s, enum op op, uint64_t due, uint64_t now)
{
	struct op_books *b = &s->books.op[op];

	b->scheduled++;
	b->booked_until_ns = due;
	if (now - due > STUCK_NS) {
		b->not_attempted[SKIP_WORKER_STUCK]++;
		return;
	}
	if (s->conn.state == SESSION_BACKOFF) {
		b->not_attempted[SKIP_NOT_CONNECTED]++;
		miss(b);
		return;
	}
	b->sent++;
	b->last_attempt_wall_ns = clock_wall_ns();
	if (f->answer == ANSWER_NONE || (f->answer == ANSWER_NIC && op == OP_SEND)) {
		b->failed[FAIL_TIMEOUT]++;
		miss(b);
		return;
	}
	b->ok++;
	b->miss_streak = 0;
	b->ok_streak++;
	b->rtt_sum_ns += RTT_NS;
	b->rtt_count++;
	b->last_success_wall_ns = clock_wall_ns();
	b->last_success_ns = now;
	table_put_sample(f->table, s->wish.row, op, now, RTT_NS);
	if (!s->wish.loopback)
		table_put_rtt(f->table, s->wish.rail, s->wish.class_index, op, RTT_NS);
}

static void book(struct fake *f, struct fake_session *s)
{
	uint64_t now = clock_now_ns();
	bool changed = false;

	for (unsigned op = 0; op < OP_COUNT; op++) {
		const struct op_books *b = &s->books.op[op];

		while (b->interval_ns) {
			uint64_t k = (b->booked_until_ns - b->phase_ns) / b->interval_ns + 1;
			uint64_t due = b->phase_ns + k * b->interval_ns;

			if (due > now)
				break;
			book_one(f, s, (enum op)op, due, now);
			changed = true;
		}
	}
	if (changed)
		table_put_books(f->table, s->wish.row, &s->books);
}

static void spoil_rows(struct fake *f)
{
	struct session_books odd;
	struct session_conn conn;

	memset(&odd, 0xa5, sizeof(odd));
	memset(&conn, 0xa5, sizeof(conn));
	for (uint32_t row = 0; row < f->n_rows; row++) {
		odd.session_id = conn.session_id = f->sessions[row].wish.id;
		table_put_books(f->table, row, &odd);
		table_put_conn(f->table, row, &conn);
	}
}

/* --- the rest --- */

static void count(struct fake *f, uint64_t now)
{
	struct counter_round *r;

	if (now - f->counters_ns < f->config.counters_interval_ns && f->counters_ns)
		return;
	f->counters_ns = now;
	r = table_counter_slot(f->table);
	memset(r, 0, sizeof(*r));
	r->mono_ns = now;
	r->wall_ns = r->success_wall_ns = clock_wall_ns();
	r->interval_ns = f->config.counters_interval_ns;
	name_copy(r->device.name, sizeof(r->device.name), f->device);
	r->n_ports = 1;
	r->ports[0].port = 1;
	r->ports[0].state_known = 1;
	r->ports[0].state = f->n_rails == 0 || f->rails[0].up ? 4 : 1;
	r->ports[0].link_layer = LINK_LAYER_ETHERNET;
	r->n_values = 2;
	name_copy(r->values[0].name, FACT_NAME, "sent_pkts");
	name_copy(r->values[1].name, FACT_NAME, "rcvd_pkts");
	for (unsigned i = 0; i < 2; i++) {
		r->values[i].value = 1000 + i;
		r->values[i].port = 1;
		r->values[i].source = SOURCE_HW_COUNTERS;
	}
	table_publish_counters(f->table);
	table_beat(f->table, WORKER_COUNTER, now, clock_wall_ns());
}

static void take_config(struct fake *f, const struct worker_config *c)
{
	struct fact ready = {.type = FACT_READY};
	bool first = f->device[0] == '\0';

	f->config = *c;
	name_copy(f->device, sizeof(f->device), c->device);
	/* Of the secret's key just enough to tell one from another. */
	note(f, "config host=%s generation=%u send=%llu read=%llu write=%llu secret=%02x%02x",
	     c->host, c->generation, (unsigned long long)c->op[OP_SEND].interval_ns,
	     (unsigned long long)c->op[OP_READ].interval_ns,
	     (unsigned long long)c->op[OP_WRITE].interval_ns, c->secret[0], c->secret[1]);
	if (!first)
		return;
	tell(f, &ready);
	run_script(f);
}

static void stop(struct fake *f)
{
	struct fact bye = {.type = FACT_BYE};

	note(f, "stop");
	if (f->deaf)
		return;
	tell(f, &bye);
	_exit(0);
}

static void take_wish(struct fake *f, const struct wish *w)
{
	switch ((enum wish_type)w->type) {
	case WISH_CONFIG:
		take_config(f, &w->config);
		break;
	case WISH_ACCEPT:
		note(f, "accept first=%u n=%u", w->accept.first, w->accept.n);
		break;
	case WISH_SESSION_ADD:
		note(f, "add id=%llu row=%u rail=%u peer=%s/%s%s",
		     (unsigned long long)w->session.id, w->session.row, w->session.rail,
		     w->session.peer, w->session.peer_rail, w->session.loopback ? " loopback" : "");
		if (w->session.row < f->n_rows)
			add_session(f, &w->session);
		break;
	case WISH_SESSION_REMOVE:
		note(f, "remove id=%llu reason=%u", (unsigned long long)w->session.id,
		     w->session.reason);
		if (w->session.row < f->n_rows)
			remove_session(f, &w->session);
		break;
	case WISH_STOP:
		stop(f);
		break;
	}
}

static void take_wishes(struct fake *f)
{
	struct wish w;
	int r;

	while ((r = wish_recv(f->fd, &w)) == 1)
		take_wish(f, &w);
	if (r == -ECONNRESET)
		_exit(0);
	if (r < 0) {
		note(f, "bad wish: %s", strerror(-r));
		_exit(WORKER_EXIT_SETUP);
	}
}

static void turn(struct fake *f)
{
	uint64_t now = clock_now_ns();
	uint64_t active = 0;

	table_beat(f->table, WORKER_RAIL, now, clock_wall_ns());
	table_beat(f->table, WORKER_CONTROL, now, clock_wall_ns());
	if (f->device[0] == '\0')
		return;
	if (!f->uncounted)
		count(f, now);
	for (uint32_t row = 0; row < f->n_rows; row++) {
		if (f->sessions[row].wish.id == 0)
			continue;
		active++;
		book(f, &f->sessions[row]);
	}
	table_put_qps(f->table, active, 0);
	if (f->rows)
		spoil_rows(f);
}

int main(int argc, char **argv)
{
	const char *dir = getenv("FAKE_WORKER_DIR");
	struct fake f = {0};

	if (argc < 4 || !dir)
		return WORKER_EXIT_SETUP;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	name_copy(f.dir, sizeof(f.dir), dir);
	f.fd = atoi(argv[2]);
	f.table = table_map(atoi(argv[3]));
	if (!f.table)
		return WORKER_EXIT_SETUP;
	f.n_rows = table_get_layout(f.table)->sessions;
	f.sessions = calloc(f.n_rows, sizeof(*f.sessions));
	if (!f.sessions)
		return WORKER_EXIT_SETUP;
	for (unsigned n = 0;; n++) {
		struct pollfd p = {.fd = f.fd, .events = POLLIN};

		poll(&p, 1, TURN_MS);
		take_wishes(&f);
		if (f.device[0] != '\0' && n % SCRIPT_EVERY == 0)
			run_script(&f);
		turn(&f);
	}
}
