#include "support.h"

#include <arpa/inet.h>

#include "core/names.h"
#include "daemon/lookups.h"
#include "daemon/peer_list.h"
#include "daemon/peers.h"

static union address v4(const char *text)
{
	union address a = {.in.sin_family = AF_INET};

	assert_int_equal(inet_pton(AF_INET, text, &a.in.sin_addr), 1);
	return a;
}

static struct peers *load(const char *const *hosts, const char *const *addresses, size_t n)
{
	struct peers *p = peers_new();
	struct peer_list list = {0};
	char err[256];

	assert_non_null(p);
	for (size_t i = 0; i < n; i++) {
		struct peer_entry e = {.address = v4(addresses[i])};

		name_copy(e.host, FACT_NAME, hosts[i]);
		assert_int_equal(peer_list_add(&list, &e, err, sizeof(err)), 0);
	}
	assert_int_equal(peers_load(p, &list), 0);
	peer_list_free(&list);
	return p;
}

static const char *const hosts[] = {"host1", "host2"};
static const char *const addresses[] = {"10.0.0.1", "10.0.0.2"};

static void test_the_list_keeps_its_order_and_writes_addresses_out(void **state)
{
	struct peers *p = load(hosts, addresses, 2);

	(void)state;
	assert_int_equal(peers_count(p), 2);
	assert_string_equal(peers_get(p, 1)->host, "host2");
	assert_string_equal(peers_get(p, 1)->text, "10.0.0.2");
	peers_free(p);
}

static void test_own_address_names_this_host(void **state)
{
	struct peers *p = load(hosts, addresses, 2);
	union address own = v4("10.0.0.2"), other = v4("10.0.0.1"), foreign = v4("192.0.2.1");

	(void)state;
	assert_null(peers_mesh_name(p));
	assert_true(peers_learn_own(p, &foreign));
	assert_null(peers_mesh_name(p));
	assert_true(peers_learn_own(p, &own));
	assert_false(peers_learn_own(p, &own));
	assert_string_equal(peers_mesh_name(p), "host2");
	assert_true(peers_is_own(p, &own));
	assert_false(peers_is_own(p, &other));
	assert_int_equal(peers_own_count(p), 2);
	peers_free(p);
}

static void test_no_address_is_never_own(void **state)
{
	struct peers *p = load(hosts, addresses, 2);
	union address none = {0};

	(void)state;
	assert_false(peers_learn_own(p, &none));
	assert_int_equal(peers_own_count(p), 0);
	peers_free(p);
}

static void test_addresses_that_change_for_ever_are_bounded(void **state)
{
	struct peers *p = load(hosts, addresses, 2);
	union address a = v4("10.1.0.0");

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		a.in.sin_addr.s_addr = htonl(0x0a010000u + i);
		assert_true(peers_learn_own(p, &a));
	}
	assert_true(peers_own_count(p) <= 1024);
	assert_true(peers_is_own(p, &a));
	peers_free(p);
}

static int any_family(void *arg, const struct target *t)
{
	(void)arg;
	(void)t;
	return AF_UNSPEC;
}

/* Every name of the list is at that address. */
static void place_all(struct peers *p, const struct peer_list *list, const char *address)
{
	struct lookups *l = lookups_new();
	struct resolver_answer a = {.n = 1};

	a.addresses[0] = v4(address);
	assert_int_equal(lookups_follow(l, list, 0), 0);
	for (size_t i = 0; i < list->n; i++)
		if (list->entries[i].lookup)
			lookups_answer(l, list->entries[i].lookup, &a, 1, 0, 0);
	assert_true(peers_place(p, l, 0, any_family, NULL));
	lookups_free(l);
}

static void add_peer(struct peer_list *list, const char *host, const char *address)
{
	struct peer_entry e = {0};
	char lookup[64], err[256];

	name_copy(e.host, FACT_NAME, host);
	name_copy(lookup, sizeof(lookup), host);
	if (address)
		e.address = v4(address);
	else
		e.lookup = lookup;
	assert_int_equal(peer_list_add(list, &e, err, sizeof(err)), 0);
}

static void test_targets_at_one_address_are_one(void **state)
{
	struct peer_list list = {0};
	struct peers *p = peers_new();

	(void)state;
	add_peer(&list, "10.0.0.1", "10.0.0.1");
	add_peer(&list, "b", NULL);
	add_peer(&list, "a", NULL);
	assert_int_equal(peers_load(p, &list), 0);
	assert_false(target_ready(peers_get(p, 1)));
	place_all(p, &list, "10.0.0.1");
	assert_false(target_ready(peers_get(p, 0)));
	assert_true(target_ready(peers_get(p, 1)));
	assert_false(target_ready(peers_get(p, 2)));
	assert_string_equal(peers_get(p, 1)->text, "10.0.0.1");
	place_all(p, &list, "10.0.0.2");
	assert_true(target_ready(peers_get(p, 0)));
	assert_true(target_ready(peers_get(p, 1)));
	assert_false(target_ready(peers_get(p, 2)));
	peer_list_free(&list);
	peers_free(p);
}

static void test_a_name_that_leads_to_loopback_is_this_host(void **state)
{
	struct peer_list list = {0};
	struct peers *p = peers_new();

	(void)state;
	add_peer(&list, "me", NULL);
	assert_int_equal(peers_load(p, &list), 0);
	assert_null(peers_mesh_name(p));
	place_all(p, &list, "127.0.1.1");
	assert_string_equal(peers_mesh_name(p), "me");
	peer_list_free(&list);
	peers_free(p);
}

static void test_an_empty_list_is_a_list(void **state)
{
	struct peer_list empty = {0};
	struct peers *p = load(hosts, addresses, 2);

	(void)state;
	assert_int_equal(peers_load(p, &empty), 0);
	assert_int_equal(peers_count(p), 0);
	peers_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_list_keeps_its_order_and_writes_addresses_out),
		cmocka_unit_test(test_own_address_names_this_host),
		cmocka_unit_test(test_no_address_is_never_own),
		cmocka_unit_test(test_addresses_that_change_for_ever_are_bounded),
		cmocka_unit_test(test_targets_at_one_address_are_one),
		cmocka_unit_test(test_a_name_that_leads_to_loopback_is_this_host),
		cmocka_unit_test(test_an_empty_list_is_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
