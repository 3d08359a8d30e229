"""A minute in which three packets of ten are lost while connecting, and neighbours that change.

Both faults are in one scenario: the one is about host3, the other about the session from host1 to
host2.
"""

import contextlib
import time

import pytest

from audit import Audit, Events, check_only
from healing import Healing
from waiting import wait_for

LOSSY = "host3"
LOSS_S = 60
NEIGHBOURS = ("host1", "host2")
WRONG_MAC = "52:54:00:99:ee:ee"
# One lost CM message costs 4 to 6 s, and an attempt is given up before two are lost.
CONNECTED_WITHIN_S = 90


@contextlib.contextmanager
def lossy(lab, host):
    lab.exec(host, "tc qdisc add dev eth0 root netem loss 30%")
    try:
        yield
    finally:
        lab.exec(host, "tc qdisc del dev eth0 root")


def tries(metrics):
    return metrics.value("rdma_connection_attempts_total", rail="rxe0")


def set_neighbour(lab, host, peer, mac):
    address = f"10.99.0.{peer[4:]}"
    words = ["ip", "neigh", "replace", address, "lladdr", mac, "dev", "eth0", "nud", "reachable"]
    lab.exec(host, words)


def mac_of(lab, host):
    return lab.exec(host, ["cat", "/sys/class/net/eth0/address"]).stdout.strip()


def check_neighbour_changes(lab, audit):
    """The kernel ends a connection whose neighbour moved: made again, once, when it can be."""
    host, peer = NEIGHBOURS
    look = audit.look(host)
    before = look[0][peer]
    right = mac_of(lab, peer)
    events = Events(lab, host)
    healing = Healing(lab, "neighbour's MAC changed", [host], peer=peer)
    healing.begins()
    set_neighbour(lab, host, peer, WRONG_MAC)
    try:
        audit.wait(host, lambda rows, _: rows[peer]["state"] != "up", 20, "the session ends")
    finally:
        set_neighbour(lab, host, peer, right)
    healing.ends()
    rows, _ = audit.wait(
        host,
        lambda rows, _: (rows[peer]["state"], rows[peer]["verdict"]) == ("up", "ok"),
        60,
        "the session is back",
    )
    healing.record()
    rows, _ = audit.wait_on_schedule(host, look)
    assert rows[peer]["since"] > before["since"]
    check_only(rows[peer], before, "failures", "timeout", "retry_exceeded")
    check_only(rows[peer], before, "aborts", "flushed")
    texts = events.texts(kind="session", peer=peer)
    assert any("link address changed" in text for text in texts), texts
    assert sum(text.startswith("up ->") for text in texts) <= 2, texts


@pytest.mark.limit(300)
def test_connecting_over_a_lossy_path_and_neighbours_that_change(lab):
    audit = Audit(lab)
    healing = Healing(lab, "30 % loss for a minute while connecting", [LOSSY])
    with lossy(lab, LOSSY):
        healing.begins()
        begin = time.monotonic()
        lab.exec(LOSSY, "systemctl restart rdma-pingmesh")
        check_neighbour_changes(lab, audit)
        wait_for(
            lambda: all(row["state"] == "up" for row in lab.rows(LOSSY)),
            CONNECTED_WITHIN_S,
            lambda: f"it connects: {[(r['peer'], r['reason']) for r in lab.rows(LOSSY)]}",
        )
        rows, metrics = audit.look(LOSSY)
        # Each attempt has its time; none follows another at once.
        assert tries(metrics) <= 2 + 2 * (time.monotonic() - begin) / 2, tries(metrics)
        for row in rows.values():
            assert row["failures"]["other"] == row["failures"]["local_qp_error"] == 0, row
        time.sleep(max(0, begin + LOSS_S - time.monotonic()))
        audit.look(LOSSY)
    healing.ends()
    lab.wait_healthy()
    healing.record()
