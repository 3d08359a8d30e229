"""Peers of a file that changes, and of host names whose addresses change, while the daemon runs."""

import contextlib
import json

from audit import Audit, check_untouched
from guest import own_config, reload_service, without_peers, write_config

VICTIM = "host1"
OTHER = "host2"
THIRD = "host3"
PEERS_FILE = "/etc/rdma-pingmesh/peers.json"
RELOADED = "rdma_pingmesh_config_last_reload_successful"
TIMEOUT_S = 30


def entries(hosts):
    """What a program that knows the racks would write."""
    return [
        {
            "targets": [f"10.99.0.{host[4:]}:9100"],
            "labels": {"host": host, "rail": "rxe0", "rack": f"r{host[4:]}"},
        }
        for host in hosts
    ]


def lay_file(lab, text):
    lab.exec(VICTIM, f"cat > {PEERS_FILE}.new && mv {PEERS_FILE}.new {PEERS_FILE}", stdin=text)


def is_reachable(rows, peer):
    return peer in rows and (rows[peer]["state"], rows[peer]["verdict"]) == ("up", "ok")


@contextlib.contextmanager
def peers_of_file(lab):
    with own_config(lab, VICTIM) as text:
        lay_file(lab, json.dumps(entries(lab.hosts)))
        write_config(lab, VICTIM, without_peers(text) + f"file = {PEERS_FILE}\n")
        reload_service(lab, VICTIM)
        try:
            yield
        finally:
            lab.exec(VICTIM, ["rm", PEERS_FILE])


def test_a_peer_file_is_followed_and_a_broken_one_is_not(lab):
    audit = Audit(lab)
    before, _ = audit.look(VICTIM)
    with peers_of_file(lab):
        rows, metrics = audit.wait(
            VICTIM,
            lambda _, m: m.samples("rdma_peer_info", peer=OTHER, rack="r2"),
            TIMEOUT_S,
            "the labels of the file are there",
        )
        # Lines or file, it is the same list.
        for peer in (OTHER, THIRD):
            check_untouched(rows[peer], before[peer])
        lay_file(lab, json.dumps(entries([VICTIM, OTHER])))
        rows, _ = audit.wait(VICTIM, lambda r, _: set(r) == {OTHER}, TIMEOUT_S, "one is gone")
        check_untouched(rows[OTHER], before[OTHER])
        lay_file(lab, json.dumps(entries(lab.hosts))[:-20])
        rows, metrics = audit.wait(
            VICTIM, lambda _, m: m.value(RELOADED) == 0, TIMEOUT_S, "half a file is refused"
        )
        assert set(rows) == {OTHER}
        lay_file(lab, json.dumps(entries(lab.hosts)))
        rows, metrics = audit.wait(
            VICTIM, lambda r, _: is_reachable(r, THIRD), TIMEOUT_S, "the peer is back"
        )
        assert metrics.value(RELOADED) == 1
        check_untouched(rows[OTHER], before[OTHER])


NAMES = """accept = any
resolve_interval = 1s
peer = moving/rxe0
peer = no-such-host/rxe0
"""


@contextlib.contextmanager
def names_in_hosts_file(lab, line):
    hosts = lab.exec(VICTIM, "cat /etc/hosts").stdout

    def lay(text):
        lab.exec(VICTIM, "cat > /etc/hosts", stdin=hosts + text + "\n")

    lay(line)
    try:
        yield lay
    finally:
        lab.exec(VICTIM, "cat > /etc/hosts", stdin=hosts)


def test_a_host_name_is_followed_to_another_host_and_a_bad_one_costs_itself(lab):
    with own_config(lab, VICTIM) as text, names_in_hosts_file(lab, "10.99.0.2 moving") as lay:
        write_config(lab, VICTIM, without_peers(text) + NAMES)
        reload_service(lab, VICTIM)
        audit = Audit(lab)
        rows, _ = audit.wait(
            VICTIM, lambda r, _: is_reachable(r, "moving"), TIMEOUT_S, "the name is reached"
        )
        assert rows["moving"]["address"] == "10.99.0.2"
        lay("10.99.0.3 moving")
        rows, _ = audit.wait(
            VICTIM,
            lambda r, _: is_reachable(r, "moving") and r["moving"]["address"] == "10.99.0.3",
            TIMEOUT_S,
            "the name is reached at the other host",
        )
        assert rows["moving"]["remote_gid"].endswith(":ffff:0a63:0003")
        check_bad_name(audit)


def check_bad_name(audit):
    rows, metrics = audit.wait(
        VICTIM,
        lambda r, _: r["no-such-host"]["verdict"] == "failing",
        TIMEOUT_S,
        "the name that nobody knows is told",
    )
    bad = rows["no-such-host"]
    assert (bad["address"], bad["cause"]) == (None, "configuration")
    assert "host name no-such-host: " in bad["reason"]
    assert set(name for name, n in bad["not_attempted"].items() if n) == {"not_connected"}
    assert metrics.value("rdma_connection_failures_total", rail="rxe0", reason="resolve") > 0
    assert metrics.value("rdma_pingmesh_names_failing") == 1
    assert rows["moving"]["verdict"] == "ok"



def test_a_rail_probes_itself_on_request_outside_of_its_sums(lab):
    audit = Audit(lab)
    audit.look(VICTIM)
    with own_config(lab, VICTIM) as text:
        write_config(lab, VICTIM, text + "[probe]\nloopback = yes\n")
        reload_service(lab, VICTIM)
        rows, metrics = audit.wait(
            VICTIM,
            lambda _, m: m.sum("rdma_loopback_up") == 1
            and m.sum("rdma_loopback_probe_ok_total", op="send") > 5
            and m.sum("rdma_loopback_probe_ok_total", op="read") > 5,
            TIMEOUT_S,
            "the rail reaches itself",
        )
        # The books of the rail, which each look asserts, are those of its peers alone.
        assert set(rows) == {OTHER, THIRD}
        assert metrics.sum("rdma_rail_sessions", rail="rxe0") == 2
    audit.wait(
        VICTIM, lambda _, m: not m.samples("rdma_loopback_up"), TIMEOUT_S, "it is off again"
    )
