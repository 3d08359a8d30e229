"""A stop amid a storm of connects, of which half are refused and a fifth never answered."""

import contextlib

import pytest

from audit import wait_reachable
from guest import ROCE_PORT, own_config, without_peers, write_config
from waiting import wait_for

VICTIM = "host1"
ANSWERS = "host2"  # and has the addresses from which nothing ever comes back
REFUSES = "host3"  # its service is stopped: its kernel refuses
ANSWERING, SILENT, REFUSING = 15, 10, 25
STOP_LIMIT_S = 5
RUNS = 6
LONG_RUNS = 50

# In the guest: a stop at another moment of the storm each time; prints how long each took and what
# the sessions were doing just before. Of what was stopped nothing may be left.
SCRIPT = """
set -e
sessions='^rdma_rail_sessions{rail="rxe0",state="\\(.*\\)"} \\([1-9][0-9]*\\)$'
for i in $(seq RUNS); do
	systemctl reset-failed rdma-pingmesh
	systemctl start rdma-pingmesh
	sleep $((i % 4)).$((i * 3 % 10))
	states=$(curl -s -m 2 localhost:10479/metrics | sed -n "s/$sessions/\\1=\\2/p" | paste -sd,)
	read a _ < /proc/uptime
	systemctl stop rdma-pingmesh
	read b _ < /proc/uptime
	left=$(pgrep -c -f '^(/usr/sbin/)?rdma-pingmeshd ' || true)
	left=$left,$(rdma resource show qp | grep -c 'type RC' || true)
	echo "$a $b $(systemctl show --value -p Result rdma-pingmesh) $left ${states:-nothing-yet}"
done
"""


def addresses(host, first, count):
    """Further addresses of that host, of a range of its own."""
    return [f"10.99.0.{50 * int(host[4:]) + first + i}" for i in range(count)]


LIVE = addresses(ANSWERS, 0, ANSWERING)
DEAD = addresses(ANSWERS, ANSWERING, SILENT)
REFUSED = addresses(REFUSES, 0, REFUSING)


@contextlib.contextmanager
def more_addresses(lab, host, added):
    batch = "".join(f"address add {a}/24 dev eth0\n" for a in added)
    lab.exec(host, "ip -batch -", stdin=batch)
    try:
        yield
    finally:
        lab.exec(host, "ip -batch -", stdin=batch.replace(" add ", " del "))


@contextlib.contextmanager
def silent(lab, host, dead):
    rule = f"ip daddr {{ {', '.join(dead)} }} udp dport {ROCE_PORT} drop"
    chain = f"chain input {{\ntype filter hook input priority 0\n{rule}\n}}"
    lab.exec(host, "nft -f -", stdin=f"table inet lab {{\n{chain}\n}}\n")
    try:
        yield
    finally:
        lab.exec(host, "nft delete table inet lab")


@contextlib.contextmanager
def storm(lab):
    """The victim stopped, with a configuration of fifty peers."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(more_addresses(lab, ANSWERS, LIVE + DEAD))
        stack.enter_context(more_addresses(lab, REFUSES, REFUSED))
        stack.enter_context(silent(lab, ANSWERS, DEAD))
        text = stack.enter_context(own_config(lab, VICTIM))
        lab.exec(REFUSES, "systemctl stop rdma-pingmesh")
        stack.callback(lab.exec, REFUSES, "systemctl start rdma-pingmesh")
        lab.exec(VICTIM, "systemctl stop rdma-pingmesh")
        peers = "".join(f"peer = p{i}/rxe0 {a}\n" for i, a in enumerate(LIVE + DEAD + REFUSED))
        own = f"peer = {VICTIM}/rxe0 10.99.0.1\n"
        write_config(lab, VICTIM, without_peers(text) + own + peers)
        yield


def check_storm_is_one(lab):
    """It is what it says: some are up, some are refused, some are never heard of."""
    lab.exec(VICTIM, "systemctl start rdma-pingmesh")
    wait_reachable(lab, VICTIM)

    def counts():
        metrics = lab.metrics(VICTIM)
        name = "rdma_connection_failures_total"

        def failures(*reasons):
            return sum(metrics.value(name, rail="rxe0", reason=r) or 0 for r in reasons)

        ups = [row for row in lab.rows(VICTIM) if row["state"] == "up"]
        return len(ups), failures("rejected"), failures("timeout", "unreachable")

    wait_for(
        lambda: all(n >= m for n, m in zip(counts(), (ANSWERING, REFUSING, SILENT))),
        60,
        lambda: f"up, refused, silent: {counts()}",
    )
    lab.exec(VICTIM, "systemctl stop rdma-pingmesh")


def check_stops(lab, runs):
    with storm(lab):
        check_storm_is_one(lab)
        lines = lab.exec(VICTIM, SCRIPT.replace("RUNS", str(runs)), timeout=runs * 25).stdout
        print(lines)
        found = [line.split() for line in lines.splitlines()]
    assert len(found) == runs
    for begin, end, result, left, states in found:
        assert float(end) - float(begin) < STOP_LIMIT_S, (begin, end, states)
        assert (result, left) == ("success", "0,0"), (result, left, states)
    lab.wait_healthy()


def test_a_stop_amid_a_storm_of_connects_is_in_time(lab):
    check_stops(lab, RUNS)


@pytest.mark.long
@pytest.mark.limit(1200)
def test_fifty_stops_amid_storms_of_connects_are_in_time(lab):
    check_stops(lab, LONG_RUNS)
