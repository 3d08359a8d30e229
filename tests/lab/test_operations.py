"""Every operation on the wire: what it takes of the peer, large sizes, classes with own ToS."""

import contextlib
import re

from audit import Audit, Events, wait_counters
from books import counts_of, operations
from guest import own_config, reload_service, write_config
from waiting import wait_for

VICTIM, OTHER, THIRD = "host1", "host2", "host3"
ALL = {"send", "read", "write", "atomic"}

# Several packets of 1,024 bytes, the path MTU here, each.
SIZES = "send_size = 3000\nread_size = 8000\nwrite_size = 8000\n"
TOO_LARGE = "send is not run: the peer cannot receive our send_size"

CLASSES = "[class lossless]\ntos = 104\n[class bulk]\ntos = 32\n"
# The byte has two bits for ECN below the DSCP.
DSCP = {"lossless": 104 >> 2, "bulk": 32 >> 2}
COUNT_RULES = """
table inet lab_tos {{
	chain input {{
		type filter hook input priority 0
		ip saddr {address} udp dport 4791 ip dscp {lossless} counter comment "lossless"
		ip saddr {address} udp dport 4791 ip dscp {bulk} counter comment "bulk"
		ip saddr {address} udp dport 4791 ip dscp 0 counter comment "none"
	}}
}}
"""


def ok_of(row, op):
    return counts_of(row["ops"][op])["ok"]


def test_only_a_send_takes_a_receive_of_the_peer(lab):
    def sends(host):
        """SENDs that host received: answers to its own, and those of its peers."""
        own = sum(ok_of(row, "send") for row in lab.rows(host))
        return own + sum(ok_of(lab.row(peer, host), "send") for peer in lab.others(host))

    def counted(name):
        return wait_counters(lab, VICTIM).value(f"rdma_rdma_{name}_total", device="rxe0", port="1")

    before, received, sent = sends(VICTIM), counted("recvs"), counted("sends")
    others = {op: ok_of(lab.row(VICTIM, OTHER), op) for op in ALL - {"send"}}
    wait_for(lambda: sends(VICTIM) - before > 300, 60, "SENDs have come")
    for op, old in others.items():
        assert ok_of(lab.row(VICTIM, OTHER), op) - old > 30, op
    # The driver's counters are some seconds behind; three one-sided operations would show as
    # twice and a half of this.
    came = sends(VICTIM) - before
    for name, old in (("recvs", received), ("sends", sent)):
        wait_for(lambda n=name, o=old: counted(n) - o > 0.7 * came, 30, f"{name} are counted")
    came = sends(VICTIM) - before
    assert counted("recvs") - received < 1.3 * came + 50
    assert counted("sends") - sent < 1.3 * came + 50


def test_large_probes_run_where_the_peer_takes_them(lab):
    events = Events(lab, VICTIM)
    audit = Audit(lab)

    def all_run(rows, _):
        row = rows[OTHER]
        return (
            row["verdict"] == "ok"
            and set(operations(row)) == ALL
            and all(ok_of(row, op) > base[op] + 10 for op in ALL)
        )

    with contextlib.ExitStack() as stack:
        for host in (VICTIM, OTHER):
            text = stack.enter_context(own_config(lab, host))
            write_config(lab, host, text.replace("[probe]\n", f"[probe]\n{SIZES}"))
            reload_service(lab, host)
        base = {op: int(lab.row(VICTIM, OTHER)["ops"].get(op, {"ok": 0})["ok"]) for op in ALL}
        audit.wait(VICTIM, all_run, 60, "large probes of all operations succeed")
        small = wait_for(
            lambda: (r := lab.row(VICTIM, THIRD))["verdict"] == "ok" and r["reason"] and r,
            30,
            "the peer with small buffers is probed with the rest",
        )
        assert set(operations(small)) == ALL - {"send"}
        assert small["reason"] == TOO_LARGE
        assert TOO_LARGE in events.texts(kind="operation", peer=THIRD)
        assert set(operations(lab.row(THIRD, VICTIM))) == ALL
        assert lab.row(VICTIM, OTHER)["failures"]["corrupt"] == 0
    lab.wait_healthy()
    assert "send is run now" in events.texts(kind="operation", peer=THIRD)


@contextlib.contextmanager
def counted_by_tos(lab, host, address):
    """Gives a function: packets from that address by class so far."""
    lab.exec(host, "nft -f -", stdin=COUNT_RULES.format(address=address, **DSCP))

    def packets():
        shown = lab.exec(host, "nft list table inet lab_tos").stdout
        return {
            name: int(n) for n, name in re.findall(r'packets (\d+) .*comment "(\w+)"', shown)
        }

    try:
        yield packets
    finally:
        lab.exec(host, "nft delete table inet lab_tos")


def test_each_class_has_its_own_tos_in_both_directions(lab):
    audit = Audit(lab)

    def classes_up(_rows, metrics):
        rows = lab.rows(VICTIM)
        return (
            {(row["peer"], row["class"]) for row in rows}
            == {(peer, name) for peer in (OTHER, THIRD) for name in DSCP}
            and all((row["state"], row["verdict"]) == ("up", "ok") for row in rows)
            and all(
                metrics.value(
                    "rdma_rail_probe_ok_total", rail="rxe0", **{"class": name, "op": op}
                )
                for name in DSCP
                for op in ALL
            )
        )

    with own_config(lab, VICTIM) as text:
        write_config(lab, VICTIM, f"{CLASSES}{text}")
        reload_service(lab, VICTIM)
        audit.wait(VICTIM, classes_up, 60, "a session of each class to each peer")
        for row in lab.rows(VICTIM):
            assert set(operations(row)) == ALL
        # From us to the peer, and its answers: the passive side takes the class over.
        for here, sender in ((OTHER, "10.99.0.1"), (VICTIM, "10.99.0.2")):
            with counted_by_tos(lab, here, sender) as packets:
                wait_for(
                    lambda: all(packets()[name] > 20 for name in DSCP),
                    30,
                    lambda h=here, p=packets: f"packets of both classes reach {h}: {p()}",
                )
    lab.wait_healthy()
