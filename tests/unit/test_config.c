#include "support.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "daemon/config.h"
#include "remarks.h"

struct fixture {
	char dir[32];
	char path[64];
	struct strbuf remarks;
	struct conf_report report;
	struct config c;
};

static void write_file(const struct fixture *f, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void remove_file(const struct fixture *f, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	remove(path);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char drop_ins[64];

	strcpy(f->dir, "/tmp/test_config.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/main.conf", f->dir);
	snprintf(drop_ins, sizeof(drop_ins), "%s/conf.d", f->dir);
	assert_int_equal(mkdir(drop_ins, 0700), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"main.conf",       "conf.d/10-a.conf",
					    "conf.d/9-b.conf", "conf.d/c.conf.bak",
					    "conf.d",	       ""};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(names); i++)
		remove_file(f, names[i]);
	config_free(&f->c);
	strbuf_free(&f->remarks);
	free(f);
	return 0;
}

/* Load text as the main file, with up to two --set. */
static int load(struct fixture *f, const char *text, const char *set1, const char *set2)
{
	const char *sets[2] = {set1, set2};
	size_t n_sets = set2 ? 2 : set1 ? 1 : 0;

	config_free(&f->c);
	f->report = remarks_report(&f->remarks);
	write_file(f, "main.conf", text);
	return config_load(&f->c, f->path, sets, n_sets, &f->report);
}

static void loads(struct fixture *f, const char *text)
{
	int r = load(f, text, NULL, NULL);

	assert_string_equal(f->remarks.data, "");
	assert_int_equal(r, 0);
}

/* The remark is that of the given line of the main file. */
static void remarks_on(struct fixture *f, int expected, const char *text, unsigned line,
		       const char *remark)
{
	struct strbuf all = {0};

	assert_int_equal(load(f, text, NULL, NULL), expected);
	strbuf_printf(&all, "%s:%u: %s\n", f->path, line, remark);
	assert_string_equal(f->remarks.data, all.data);
	strbuf_free(&all);
}

static void test_an_empty_file_gives_the_defaults_of_the_contract(void **state)
{
	struct fixture *f = *state;
	char text[ADDRESS_ENDPOINT_TEXT];

	loads(f, "");
	assert_string_equal(f->c.name, "");
	assert_int_equal(f->c.n_listen, 1);
	assert_true(f->c.listen_default);
	address_format_endpoint(&f->c.listen[0], text);
	assert_string_equal(text, "[::]:10479");
	assert_false(f->c.allow_reload);
	assert_int_equal(f->c.per_peer, CONFIG_PER_PEER_SUMMARY);
	assert_int_equal(f->c.max_series, 50000);
	assert_int_equal(f->c.n_rails, 0);
	assert_int_equal(f->c.n_classes, 1);
	assert_string_equal(f->c.classes[0].name, "default");
	assert_int_equal(f->c.classes[0].tos, -1);
	assert_int_equal(f->c.classes[0].sl, -1);
	assert_int_equal(f->c.op[OP_SEND].interval_ns, NSEC_PER_SEC);
	assert_int_equal(f->c.op[OP_READ].interval_ns, NSEC_PER_SEC);
	assert_int_equal(f->c.op[OP_WRITE].interval_ns, 10 * NSEC_PER_SEC);
	assert_int_equal(f->c.op[OP_ATOMIC].interval_ns, 0);
	assert_int_equal(f->c.op[OP_SEND].size, 64);
	assert_int_equal(f->c.op[OP_READ].deadline_ns, 500 * NSEC_PER_MSEC);
	assert_int_equal(f->c.ack_timeout, 17);
	assert_int_equal(f->c.retry_count, 6);
	assert_int_equal(f->c.qps_per_device, 1024);
	assert_int_equal(f->c.counters_interval_ns, 5 * NSEC_PER_SEC);
	assert_int_equal(f->c.peers.n, 0);
	assert_false(f->c.accept_any);
	assert_false(f->c.allow_shrink);
}

static void test_the_rate_expected_of_all_rails_is_that_of_those_that_state_none(void **state)
{
	struct fixture *f = *state;

	loads(f, "[rail r]\ndevice = d\nexpected_rate = 100Gb/s\n[rail s]\ndevice = e\n"
		 "[rails]\nexpected_rate = 2.5Gb/s\n");
	assert_int_equal(config_rail_rate(&f->c, "r"), 12500000000ULL);
	assert_int_equal(config_rail_rate(&f->c, "s"), 312500000);
	loads(f, "[rails]\nexpected_rate = 400Gb/s\n");
	assert_int_equal(config_rail_rate(&f->c, "mlx5_0"), 50000000000ULL);
}

static void test_a_rail_that_would_be_any_port_is_an_error(void **state)
{
	remarks_on(*state, -EINVAL, "[rail r]\nexpected_rate = 1Gb/s\n", 0,
		   "section [rail r] says of no port that it is this rail: state its device, "
		   "netdev or subnet");
}

static void test_a_lab_file_is_read(void **state)
{
	struct fixture *f = *state;

	loads(f,
	      "[daemon]\nname = host1\n[http]\nlisten = 127.0.0.1:1\nlisten = [::1]:1\n"
	      "allow_reload = yes\n[metrics]\nper_peer = none\nmax_series = 1000\n"
	      "[rail r0]\ndevice = rxe0\nexpected_rate = 200Gb/s\n[rail dev/2]\nnetdev = "
	      "eth1\nsubnet = 10.99.1.0/24\n"
	      "[rails]\nexpected = 2\nallow_rocev1 = yes\n[class low]\ntos = 104\n[class hi]\n"
	      "tos = 12\n[probe]\nsend_interval = 200ms\nread_interval = off\nsend_deadline = 1s\n"
	      "send_size = 4k\nack_timeout = 19\nretry_count = 1\n[limits]\nconnects = 4\n"
	      "[counters]\ninterval = 100ms\nexclude = mlx5_bond* , rxe9\nexclude=siw?\n"
	      "[peers]\npeer = host1/r0 10.99.0.1\npeer\t=\thost2/r0\t10.99.0.2\n"
	      "peer = 10.99.0.3\naccept = any\n");
	assert_string_equal(f->c.name, "host1");
	assert_int_equal(f->c.n_listen, 2);
	assert_false(f->c.listen_default);
	assert_int_equal(f->c.n_rails, 2);
	assert_string_equal(f->c.rails[0].device, "rxe0");
	assert_int_equal(f->c.rails[0].prefix_len, -1);
	assert_int_equal(config_rail_rate(&f->c, "r0"), 25000000000ULL);
	assert_int_equal(config_rail_rate(&f->c, "dev/2"), 0);
	assert_int_equal(config_rail_rate(&f->c, "nobody"), 0);
	assert_string_equal(f->c.rails[1].name, "dev/2");
	assert_string_equal(f->c.rails[1].netdev, "eth1");
	assert_int_equal(f->c.rails[1].prefix_len, 96 + 24);
	assert_int_equal(f->c.n_classes, 2);
	assert_false(f->c.classes_default);
	assert_int_equal(f->c.classes[0].tos, 104);
	assert_int_equal(f->c.classes[1].tos, 12);
	assert_int_equal(f->c.op[OP_SEND].interval_ns, 200 * NSEC_PER_MSEC);
	assert_int_equal(f->c.op[OP_READ].interval_ns, 0);
	assert_string_equal(f->c.exclude, "mlx5_bond* rxe9 siw?");
	assert_int_equal(f->c.peers.n, 3);
	assert_string_equal(f->c.peers.entries[1].host, "host2");
	assert_string_equal(f->c.peers.entries[1].rail, "r0");
	assert_string_equal(f->c.peers.entries[2].host, "10.99.0.3");
	assert_string_equal(f->c.peers.entries[2].rail, "");
	assert_true(f->c.accept_any);
}

static void test_names_of_other_exporters_are_a_list_and_off_by_default(void **state)
{
	struct fixture *f = *state;

	loads(f, "");
	assert_false(f->c.also_node_exporter || f->c.also_rdma_exporter);
	loads(f, "[counters]\nalso_as = rdma_exporter\n");
	assert_true(!f->c.also_node_exporter && f->c.also_rdma_exporter);
	loads(f, "[counters]\nalso_as = rdma_exporter, node_exporter\n");
	assert_true(f->c.also_node_exporter && f->c.also_rdma_exporter);
	loads(f, "[counters]\nalso_as =\n");
	assert_false(f->c.also_node_exporter || f->c.also_rdma_exporter);
}

static void test_every_operation_has_interval_size_and_deadline(void **state)
{
	struct fixture *f = *state;

	loads(f, "[probe]\nwrite_interval = 250ms\nwrite_size = 8192\nwrite_deadline = 1s\n"
		 "atomic_interval = 2s\natomic_deadline = 100ms\nsend_interval = off\n"
		 "send_size = 16384\nread_size = 65536\n");
	assert_int_equal(f->c.op[OP_WRITE].interval_ns, 250 * NSEC_PER_MSEC);
	assert_int_equal(f->c.op[OP_WRITE].size, 8192);
	assert_int_equal(f->c.op[OP_WRITE].deadline_ns, NSEC_PER_SEC);
	assert_int_equal(f->c.op[OP_ATOMIC].interval_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(f->c.op[OP_ATOMIC].deadline_ns, 100 * NSEC_PER_MSEC);
	assert_int_equal(f->c.op[OP_SEND].interval_ns, 0);
	assert_int_equal(f->c.op[OP_SEND].size, 16384);
	assert_int_equal(f->c.op[OP_READ].size, 65536);
}

static void test_sizes_have_bounds(void **state)
{
	struct fixture *f = *state;

	remarks_on(f, -EINVAL, "[probe]\nsend_size = 31\n", 2,
		   "send_size: '31' is out of range: 32 to 16k");
	remarks_on(f, -EINVAL, "[probe]\nsend_size = 16385\n", 2,
		   "send_size: '16385' is out of range: 32 to 16k");
	remarks_on(f, -EINVAL, "[probe]\nwrite_size = 7\n", 2,
		   "write_size: '7' is out of range: 8 to 64k");
	remarks_on(f, -EINVAL, "[probe]\nread_size = 65537\n", 2,
		   "read_size: '65537' is out of range: 8 to 64k");
	remarks_on(f, -EINVAL, "[probe]\natomic_size = 16\n", 2,
		   "atomic_size: '16' is out of range: 8 to 8");
	remarks_on(f, -EINVAL, "[probe]\nwrite_interval = 2h\n", 2,
		   "write_interval: '2h' is out of range: 1ms to 1h, or off");
	remarks_on(f, -EINVAL, "[probe]\natomic_deadline = 61s\n", 2,
		   "atomic_deadline: '61s' is out of range: 1ms to 1m");
}

static void test_bad_values_are_errors_with_line(void **state)
{
	static const char *const rates[] = {"200",   "200GB/s",	   "-1Gb/s",
					    "0Gb/s", "1.5Mb/s",	   "10001Gb/s",
					    "Gb/s",  "1.2345Gb/s", "99999999999999999999Gb/s"};
	struct fixture *f = *state;

	remarks_on(f, -EINVAL, "[probe]\nretry_count = 7\n", 2,
		   "retry_count: '7' is out of range: 1 to 6");
	remarks_on(f, -EINVAL, "[probe]\nack_timeout = 23\n", 2,
		   "ack_timeout: '23' is out of range: 8 to 22");
	remarks_on(f, -EINVAL, "[counters]\ninterval = 99ms\n", 2,
		   "interval: '99ms' is out of range: 100ms to 1h");
	remarks_on(f, -EINVAL, "[http]\nlisten = 10479\n", 2,
		   "listen: '10479' is not of the form ADDRESS:PORT, as 0.0.0.0:10479 or "
		   "[::]:10479");
	remarks_on(f, -EINVAL, "[daemon]\nname = a b\n", 2,
		   "name: 'a b' is no host name: at most 63 letters, digits and . _ - : %");
	remarks_on(f, -EINVAL, "[class x]\ntos = 256\n", 2,
		   "tos: '256' is not a whole number from 0 to 255");
	remarks_on(f, -EINVAL, "[class x]\ntos = 1\nsl = 1\n", 3,
		   "sl: a class has tos or sl, not both");
	remarks_on(f, 0, "[class x]\nsl = 3\n", 2,
		   "warning: sl: setting it is not built yet: the subnet manager chooses");
	assert_int_equal(f->c.classes[0].sl, 3);
	remarks_on(f, -EINVAL, "[class a/b]\ntos = 1\n", 2, "tos: 'a/b' is no class name");
	remarks_on(f, -EINVAL, "[rail r]\nnetdev = a23456789abcdef0\n", 2,
		   "netdev: 'a23456789abcdef0' is no name that a device can have");
	for (size_t i = 0; i < COUNT(rates); i++) {
		char text[128], remark[160];

		snprintf(text, sizeof(text), "[rail r]\nexpected_rate = %s\n", rates[i]);
		snprintf(remark, sizeof(remark),
			 "expected_rate: '%s' is no rate of a link: write it as 200Gb/s or 2.5Gb/s",
			 rates[i]);
		remarks_on(f, -EINVAL, text, 2, remark);
	}
	remarks_on(f, -EINVAL, "[counters]\nexclude = ../x\n", 2,
		   "exclude: '../x' is no pattern of a device name");
	remarks_on(f, -EINVAL, "[counters]\nalso_as = x\n", 2,
		   "also_as: 'x' is neither node_exporter nor rdma_exporter");
	remarks_on(f, -EINVAL, "[peers]\naccept = all\n", 2,
		   "accept: 'all' is neither listed nor any");
	remarks_on(f, -EINVAL, "[metrics]\nper_peer = all\n", 2,
		   "per_peer: 'all' is none of summary, histogram, worst, none");
}

static void test_bad_peers_are_errors(void **state)
{
	struct fixture *f = *state;

	remarks_on(f, -EINVAL, "[peers]\npeer =\n", 2,
		   "peer: not of the form 'peer = HOST[/RAIL] [ADDRESS]'");
	remarks_on(f, -EINVAL, "[peers]\npeer = h 10.0.0.1 x\n", 2,
		   "peer: not of the form 'peer = HOST[/RAIL] [ADDRESS]'");
	remarks_on(f, -EINVAL, "[peers]\npeer = h/ 10.0.0.1\n", 2, "peer: '' is no rail name");
	remarks_on(f, -EINVAL, "[peers]\npeer = h\"x 10.0.0.1\n", 2,
		   "peer: 'h\"x' is no host name or address: at most 63 letters, digits and "
		   ". _ - : %");
	remarks_on(f, -EINVAL, "[peers]\npeer = h 10.0.0\n", 2, "peer: '10.0.0' is no IP address");
	remarks_on(f, -EINVAL, "[peers]\npeer = fe80::1\n", 2,
		   "peer: 'fe80::1' is link-local: add its interface, as fe80::1%eth0");
	remarks_on(f, -EINVAL, "[peers]\npeer = h fe80::1%nope0\n", 2,
		   "peer: 'fe80::1%nope0' names an interface that this host does not have");
}

static void test_a_peer_without_address_is_looked_up_by_the_template(void **state)
{
	struct fixture *f = *state;

	loads(f, "[peers]\npeer = host2/r0\npeer = 10.0.0.1\naddress = {host}-{rail}.example\n");
	assert_int_equal(f->c.peers.n, 2);
	assert_string_equal(f->c.peers.entries[0].host, "host2");
	assert_string_equal(f->c.peers.entries[0].lookup, "host2-r0.example");
	assert_int_equal(f->c.peers.entries[0].address.sa.sa_family, AF_UNSPEC);
	assert_null(f->c.peers.entries[1].lookup);
	loads(f, "[peers]\npeer = host2/r0\n");
	assert_string_equal(f->c.peers.entries[0].lookup, "host2");
}

static void test_names_that_cannot_be_looked_up_are_errors(void **state)
{
	struct fixture *f = *state;

	remarks_on(f, -EINVAL, "[peers]\naddress = all.example\n", 2,
		   "address: 'all.example' makes one name for all hosts: put {host} in it, as "
		   "{host}-{rail}.example");
	remarks_on(f, -EINVAL, "[peers]\naddress = {host}/{rail}\n", 2,
		   "address: '{host}/{rail}' makes no host name: letters, digits and . _ -, with "
		   "{host} and {rail} for the names of the list");
	remarks_on(f, -EINVAL, "[peers]\npeer = h\naddress = {host}-{rail}\n", 0,
		   "[peers] peer: h has no address, and [peers] address makes one only with a "
		   "rail: give it a rail or an address");
	remarks_on(f, -EINVAL, "[peers]\npeer = h/dev/2\naddress = {host}-{rail}\n", 0,
		   "[peers] peer: 'h-dev/2' is no host name that can be looked up: letters, digits "
		   "and . _ - only; give the peer its address");
	remarks_on(f, -EINVAL, "[peers]\npeer = h/r0\npeer = h/r1\n", 0,
		   "[peers] peer: h/r1 has the address h, which is already that of h/r0");
}

static void test_a_relative_peer_file_is_beside_the_configuration(void **state)
{
	struct fixture *f = *state;
	char wanted[64];

	loads(f, "[peers]\nfile = lists/peers.json\n");
	snprintf(wanted, sizeof(wanted), "%s/lists/peers.json", f->dir);
	assert_string_equal(f->c.peers_file, wanted);
	loads(f, "[peers]\nfile = /srv/peers.json\n");
	assert_string_equal(f->c.peers_file, "/srv/peers.json");
}

static void test_a_zoned_peer_keeps_its_scope(void **state)
{
	struct fixture *f = *state;

	loads(f, "[peers]\npeer = fe80::1%lo/r0\n");
	assert_string_equal(f->c.peers.entries[0].host, "fe80::1%lo");
	assert_string_equal(f->c.peers.entries[0].rail, "r0");
	assert_int_not_equal(f->c.peers.entries[0].address.in6.sin6_scope_id, 0);
}

static void test_a_peer_listed_twice_is_merged_with_a_warning(void **state)
{
	struct fixture *f = *state;

	remarks_on(f, 0, "[peers]\npeer = h/r 10.0.0.1\npeer = h/r 10.0.0.1\n", 3,
		   "warning: peer: h/r is listed twice (as h/r before): merged");
	assert_int_equal(f->c.peers.n, 1);
	remarks_on(f, 0, "[peers]\npeer = 10.0.0.1\npeer = h/r 10.0.0.1\n", 3,
		   "warning: peer: h/r is listed twice (as 10.0.0.1 before): merged");
	assert_int_equal(f->c.peers.n, 1);
	assert_string_equal(f->c.peers.entries[0].host, "h");
	assert_string_equal(f->c.peers.entries[0].rail, "r");
	remarks_on(f, 0, "[peers]\npeer = h/r 10.0.0.1\npeer = ::ffff:10.0.0.1\n", 3,
		   "warning: peer: 10.0.0.1 is listed twice (as h/r before): merged");
	assert_string_equal(f->c.peers.entries[0].host, "h");
	remarks_on(f, 0, "[peers]\npeer = FD00:0::1\npeer = fd00::1\n", 3,
		   "warning: peer: fd00::1 is listed twice (as fd00::1 before): merged");
	assert_int_equal(f->c.peers.n, 1);
}

static void test_contradicting_peers_are_errors(void **state)
{
	struct fixture *f = *state;

	remarks_on(f, -EINVAL, "[peers]\npeer = h/r 10.0.0.1\npeer = h/r 10.0.0.2\n", 3,
		   "peer: h/r already has the address 10.0.0.1: a host with several addresses "
		   "needs HOST/RAIL for each");
	remarks_on(f, -EINVAL, "[peers]\npeer = h/r 10.0.0.1\npeer = g/r 10.0.0.1\n", 3,
		   "peer: g/r has the address 10.0.0.1, which is already that of h/r");
	remarks_on(f, -EINVAL, "[peers]\npeer = h/r 10.0.0.1\npeer = h/s 10.0.0.1\n", 3,
		   "peer: h/s has the address 10.0.0.1, which is already that of h/r");
	/* Merging the last two lines would give host h two endpoints on rail r. */
	remarks_on(f, -EINVAL,
		   "[peers]\npeer = h/r 10.0.0.1\npeer = 10.0.0.2/r\npeer = h 10.0.0.2\n", 4,
		   "peer: h has the address 10.0.0.2, which is already that of 10.0.0.2/r");
}

static void test_one_host_may_have_an_endpoint_on_each_rail(void **state)
{
	struct fixture *f = *state;

	loads(f, "[peers]\npeer = h/r0 10.0.0.1\npeer = h/r1 10.1.0.1\npeer = h/dev/2 10.2.0.1\n");
	assert_int_equal(f->c.peers.n, 3);
	assert_string_equal(f->c.peers.entries[2].rail, "dev/2");
}

static void test_drop_ins_are_read_in_the_order_of_their_names(void **state)
{
	struct fixture *f = *state;

	write_file(f, "conf.d/9-b.conf", "[probe]\nsend_interval = 9s\n");
	write_file(f, "conf.d/10-a.conf",
		   "[probe]\nsend_interval = 10s\nread_interval = 10s\n[peers]\npeer = 10.0.0.2\n");
	write_file(f, "conf.d/c.conf.bak", "[probe]\nsend_interval = 3s\n");
	loads(f, "[probe]\nsend_interval = 1s\n[peers]\npeer = 10.0.0.1\n");
	assert_int_equal(f->c.op[OP_SEND].interval_ns, 9 * NSEC_PER_SEC);
	assert_int_equal(f->c.op[OP_READ].interval_ns, 10 * NSEC_PER_SEC);
	assert_int_equal(f->c.peers.n, 2);
}

static void test_an_error_in_a_drop_in_names_it(void **state)
{
	struct fixture *f = *state;

	write_file(f, "conf.d/9-b.conf", "[probe]\nsend_interval = 9\n");
	assert_int_equal(load(f, "", NULL, NULL), -EINVAL);
	assert_non_null(strstr(f->remarks.data, "/conf.d/9-b.conf:2: send_interval: '9'"));
}

static void test_the_command_line_overrides_and_replaces_lists(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, "[peers]\npeer = 10.0.0.1\npeer = 10.0.0.2\n",
			      "peers.peer=10.0.0.3", "peers.peer=10.0.0.4"),
			 0);
	assert_int_equal(f->c.peers.n, 2);
	assert_string_equal(f->c.peers.entries[0].host, "10.0.0.3");
	assert_int_equal(
		load(f, "[http]\nlisten = 0.0.0.0:1\n", "http.listen=[::1]:2", "counters.exclude="),
		0);
	assert_int_equal(f->c.n_listen, 1);
	assert_int_equal(f->c.listen[0].sa.sa_family, AF_INET6);
	assert_int_equal(load(f, "[probe]\nsend_interval = 2s\n", "probe.send_interval=3s", NULL),
			 0);
	assert_int_equal(f->c.op[OP_SEND].interval_ns, 3 * NSEC_PER_SEC);
	assert_int_equal(load(f, "", "probe.nope=3s", NULL), -EINVAL);
}

static void test_a_failed_load_leaves_the_old_one_alone(void **state)
{
	struct fixture *f = *state;
	struct config kept;

	loads(f, "[peers]\npeer = 10.0.0.1\n");
	kept = f->c;
	write_file(f, "main.conf", "[peers]\npeer = 10.0.0.1\npeer = x y\n");
	assert_int_equal(config_load(&f->c, f->path, NULL, 0, &f->report), -EINVAL);
	assert_memory_equal(&kept, &f->c, sizeof(kept));
	assert_int_equal(config_load(&f->c, "/nonexistent/x.conf", NULL, 0, &f->report), -ENOENT);
	assert_memory_equal(&kept, &f->c, sizeof(kept));
}

static void test_a_level_that_is_never_reached_is_a_warning(void **state)
{
	struct fixture *f = *state;

	remarks_on(f, 0, "[rules]\nlink_flap_warning = 6\n", 0,
		   "warning: [rules] link_flap_critical (5) is below link_flap_warning (6): it "
		   "will never be a warning alone");
	loads(f, "[rules]\nlink_flap_warning = 5\n");
	loads(f, "[rules]\nlink_flap_warning = 6\nlink_flap_critical = off\n");
	/* Storms that the NIC told, and percent of the time. */
	loads(f, "[rules]\npfc_storm_warning = 1000\n");
}

static void test_unknown_keys_are_warnings_that_are_counted(void **state)
{
	struct fixture *f = *state;

	remarks_on(f, 0, "[probe]\nsend_intervall = 1s\n", 2,
		   "warning: unknown key 'send_intervall' in section [probe]");
	assert_int_equal(f->report.unknown_keys, 1);
}

static void print_again(struct fixture *f, const char *text, struct strbuf *once,
			struct strbuf *twice)
{
	strbuf_reset(once);
	strbuf_reset(twice);
	loads(f, text);
	config_print(&f->c, once);
	loads(f, once->data);
	config_print(&f->c, twice);
}

static void test_the_printed_configuration_loads_to_itself(void **state)
{
	static const char *const texts[] = {
		"",
		"[daemon]\nname = h\n[http]\nlisten = [::]:10479\n[rail a]\nsubnet = fd00::/64\n"
		"expected_rate = 2.5Gb/s\n[rail b]\ndevice = d\n[class x]\ntos = 0\n[class y]\ntos "
		"= 8\n[counters]\n"
		"exclude = a b c\nalso_as = rdma_exporter node_exporter\n[peers]\npeer = "
		"fe80::1%lo/r\npeer = h2 fd00::2\naccept = any\n"
		"peer = h3/r\naddress = {host}-{rail}.example\nfile = /p.json\nallow_shrink = "
		"yes\n",
	};
	struct strbuf once = {0}, twice = {0};

	for (size_t i = 0; i < COUNT(texts); i++) {
		print_again(*state, texts[i], &once, &twice);
		assert_string_equal(once.data, twice.data);
	}
	strbuf_free(&once);
	strbuf_free(&twice);
}

static void test_the_hash_is_of_the_effect_not_of_the_spelling(void **state)
{
	struct fixture *f = *state;
	uint64_t hash;

	loads(f, "");
	hash = config_hash(&f->c);
	loads(f, "# a comment\n[probe]\nsend_interval = 1000ms\n");
	assert_true(config_hash(&f->c) == hash);
	loads(f, "[probe]\nsend_interval = 1001ms\n");
	assert_true(config_hash(&f->c) != hash);
}

static unsigned changes(struct fixture *f, const char *before, const char *after,
			struct strbuf *restart)
{
	struct config old;
	unsigned result;

	loads(f, before);
	old = f->c;
	f->c = (struct config){0};
	loads(f, after);
	strbuf_reset(restart);
	strbuf_puts(restart, "");
	result = config_changes(&old, &f->c, restart);
	config_free(&old);
	return result;
}

static void test_changes_are_told_by_their_effect(void **state)
{
	struct fixture *f = *state;
	struct strbuf names = {0};

	assert_int_equal(changes(f, "", "", &names), 0);
	assert_int_equal(changes(f, "", "[probe]\nsend_deadline = 400ms\n", &names),
			 CONFIG_RELOADS);
	assert_int_equal(changes(f, "", "[probe]\nsend_interval = 2s\n", &names), CONFIG_REBUILDS);
	assert_int_equal(changes(f, "", "[peers]\npeer = 10.0.0.1\n", &names), CONFIG_RELOADS);
	assert_int_equal(changes(f, "", "[probe]\nretry_count = 3\n", &names), CONFIG_REBUILDS);
	/* A rail more is another of all its keys, also of those that a reload is enough for. */
	assert_int_equal(changes(f, "", "[rail r]\ndevice = d\n", &names),
			 CONFIG_REBUILDS | CONFIG_RELOADS);
	assert_int_equal(changes(f, "[rail r]\ndevice = d\n",
				 "[rail r]\ndevice = d\nexpected_rate = 25Gb/s\n", &names),
			 CONFIG_RELOADS);
	assert_int_equal(changes(f, "[rail r]\ndevice = d\n", "[rail r]\ndevice = e\n", &names),
			 CONFIG_REBUILDS);
	assert_int_equal(changes(f, "[class a]\ntos=1\n[class b]\ntos=2\n",
				 "[class b]\ntos=2\n[class a]\ntos=1\n", &names),
			 CONFIG_REBUILDS);
	assert_int_equal(changes(f, "", "[class a]\ntos = 1\n", &names), CONFIG_REBUILDS);
	assert_string_equal(names.data, "");
	assert_int_equal(
		changes(f, "", "[limits]\nqps_per_device = 8\n[http]\nlisten=[::]:1\n", &names),
		CONFIG_RESTARTS);
	assert_string_equal(names.data, "http.listen, limits.qps_per_device");
	strbuf_free(&names);
}

static void test_excluded_devices_match_by_pattern(void **state)
{
	struct fixture *f = *state;

	loads(f, "[counters]\nexclude = mlx5_bond* rxe?\n");
	assert_true(config_device_excluded(&f->c, "mlx5_bond_0"));
	assert_true(config_device_excluded(&f->c, "rxe1"));
	assert_false(config_device_excluded(&f->c, "mlx5_0"));
	assert_false(config_device_excluded(&f->c, "rxe10"));
	loads(f, "");
	assert_false(config_device_excluded(&f->c, "mlx5_0"));
}

static void test_limits_of_lists_are_told(void **state)
{
	struct fixture *f = *state;
	struct strbuf text = {0};

	for (int i = 0; i <= RAIL_MAX; i++)
		strbuf_printf(&text, "[rail r%d]\ndevice = d%d\n", i, i);
	remarks_on(f, -EINVAL, text.data, 2 * RAIL_MAX + 2, "device: more than 16 rails");
	strbuf_reset(&text);
	strbuf_puts(&text, "[http]\n");
	for (int i = 0; i <= CONFIG_LISTEN_MAX; i++)
		strbuf_printf(&text, "listen = 127.0.0.1:%d\n", i + 1);
	remarks_on(f, -EINVAL, text.data, CONFIG_LISTEN_MAX + 2, "listen: more than 16 addresses");
	strbuf_free(&text);
}

static void test_a_thousand_hosts_of_eight_rails_fit(void **state)
{
	struct fixture *f = *state;
	struct strbuf text = {0};

	strbuf_puts(&text, "[peers]\n");
	for (unsigned i = 0; i < 8000; i++)
		strbuf_printf(&text, "peer = host%u/rail%u 10.%u.%u.%u\n", i / 8, i % 8, i % 8,
			      i / 8 / 250, i / 8 % 250 + 1);
	loads(f, text.data);
	assert_int_equal(f->c.peers.n, 8000);
	strbuf_free(&text);
}

static void test_every_key_has_what_docs_need(void **state)
{
	size_t n;
	const struct conf_key *keys = config_keys(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		assert_non_null(keys[i].help);
		assert_true(strlen(keys[i].help) > 0);
		assert_ptr_equal(conf_find(keys, n, keys[i].section, keys[i].key), &keys[i]);
		assert_true(keys[i].type != CONF_CUSTOM || (keys[i].parse && keys[i].print));
	}
}

static void test_paths_of_http_are_absolute(void **state)
{
	static const char *const keys[] = {"tls_cert", "tls_key", "tls_client_ca", "auth_file"};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(keys); i++) {
		char text[128];

		snprintf(text, sizeof(text), "[http]\n%s = relative\n", keys[i]);
		assert_int_equal(load(f, text, NULL, NULL), -EINVAL);
		assert_non_null(strstr(f->remarks.data, "main.conf:2: "));
		assert_non_null(strstr(f->remarks.data, "must be an absolute path"));
		snprintf(text, sizeof(text), "[http]\n%s = /etc/x\n", keys[i]);
		assert_int_equal(load(f, text, NULL, NULL), 0);
	}
}

int main(void)
{
#define CONFIG_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CONFIG_TEST(test_an_empty_file_gives_the_defaults_of_the_contract),
		CONFIG_TEST(test_the_rate_expected_of_all_rails_is_that_of_those_that_state_none),
		CONFIG_TEST(test_a_rail_that_would_be_any_port_is_an_error),
		CONFIG_TEST(test_a_lab_file_is_read),
		CONFIG_TEST(test_paths_of_http_are_absolute),
		CONFIG_TEST(test_names_of_other_exporters_are_a_list_and_off_by_default),
		CONFIG_TEST(test_bad_values_are_errors_with_line),
		CONFIG_TEST(test_every_operation_has_interval_size_and_deadline),
		CONFIG_TEST(test_sizes_have_bounds),
		CONFIG_TEST(test_bad_peers_are_errors),
		CONFIG_TEST(test_a_peer_without_address_is_looked_up_by_the_template),
		CONFIG_TEST(test_names_that_cannot_be_looked_up_are_errors),
		CONFIG_TEST(test_a_relative_peer_file_is_beside_the_configuration),
		CONFIG_TEST(test_a_zoned_peer_keeps_its_scope),
		CONFIG_TEST(test_a_peer_listed_twice_is_merged_with_a_warning),
		CONFIG_TEST(test_contradicting_peers_are_errors),
		CONFIG_TEST(test_one_host_may_have_an_endpoint_on_each_rail),
		CONFIG_TEST(test_drop_ins_are_read_in_the_order_of_their_names),
		CONFIG_TEST(test_an_error_in_a_drop_in_names_it),
		CONFIG_TEST(test_the_command_line_overrides_and_replaces_lists),
		CONFIG_TEST(test_a_failed_load_leaves_the_old_one_alone),
		CONFIG_TEST(test_a_level_that_is_never_reached_is_a_warning),
		CONFIG_TEST(test_unknown_keys_are_warnings_that_are_counted),
		CONFIG_TEST(test_the_printed_configuration_loads_to_itself),
		CONFIG_TEST(test_the_hash_is_of_the_effect_not_of_the_spelling),
		CONFIG_TEST(test_changes_are_told_by_their_effect),
		CONFIG_TEST(test_excluded_devices_match_by_pattern),
		CONFIG_TEST(test_limits_of_lists_are_told),
		CONFIG_TEST(test_a_thousand_hosts_of_eight_rails_fit),
		cmocka_unit_test(test_every_key_has_what_docs_need),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
