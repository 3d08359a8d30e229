"""Device nodes that are missing or forbidden: each costs what hangs on it, and says so once."""

import pytest

from audit import check_untouched, findings, wait_reachable
from guest import journal_cursor, journal_since, kill, main_pid, worker_pid
from healing import Healing
from host_faults import unreadable, verbs_node, without_rdma_cm
from waiting import wait_for

FORBIDDEN = "host1"  # one device of two may not be opened
NO_CM = "host2"  # there is no connection manager
WATCHER = "host3"
COUNTER = "rdma_sent_pkts_total"
OPEN_AGAIN_S = 60  # a back-off of half a minute may have begun just before


def finding_of(lab, host, device):
    texts = [f["text"] for f in findings(lab, host) if f["subject"] == f"device:{device}"]
    return texts[0] if texts else ""


def counts(metrics, device):
    return metrics.value(COUNTER, device=device, port="1") is not None


def states(lab, host, rail):
    return {row["state"] for row in lab.rows(host) if row["rail"] == rail}


def wait_told(lab, host, device, words):
    def told():
        text = finding_of(lab, host, device)
        return all(word in text for word in words) and text

    return wait_for(told, 45, lambda: f"{device} of {host} is told: {findings(lab, host)}")


def rows_to_watcher(lab):
    """The sessions that no fault of this scenario concerns, of rail 0."""
    return [r for r in lab.rows(FORBIDDEN) if (r["peer"], r["rail"]) == (WATCHER, "rxe0")]


def check_forbidden(lab, before, node, cursor):
    """The other device is untouched, the counters of both are there, the reason is told once."""
    wait_told(lab, FORBIDDEN, "rxe1", ["rxe1 is not probed", node, "group rdma"])
    wait_counters_of_both(lab, FORBIDDEN)
    (row,) = rows_to_watcher(lab)
    check_untouched(row, *before)
    assert (row["state"], row["verdict"]) == ("up", "ok"), row
    assert "up" not in states(lab, FORBIDDEN, "rxe1")
    status = lab.json(FORBIDDEN, "/api/v1/status")
    assert status["rails"] == {"up": 1, "total": 2}, status
    lines = [
        line
        for line in journal_since(lab, FORBIDDEN, cursor).splitlines()
        if node in line and not line.startswith("verdict ")
    ]
    assert len(lines) == 1, lines


def wait_counters_of_both(lab, host):
    wait_for(
        lambda: all(counts(lab.metrics(host), device) for device in ("rxe0", "rxe1")),
        20,
        f"{host} has the counters of both devices",
    )


def check_without_cm(lab):
    wait_reachable(lab, NO_CM)
    for device in ("rxe0", "rxe1"):
        wait_told(lab, NO_CM, device, ["rdma_cm", "rdma_ucm"])
    wait_counters_of_both(lab, NO_CM)
    status = lab.json(NO_CM, "/api/v1/status")
    assert status["sessions"]["up"] == 0 and status["rails"]["up"] == 0, status
    assert lab.get(NO_CM, "/-/ready")[0] == 200


@pytest.mark.lab(rails=2)
@pytest.mark.limit(300)
def test_nodes_that_are_missing_or_forbidden(lab):
    cursor, before = journal_cursor(lab, FORBIDDEN), rows_to_watcher(lab)
    node = verbs_node(lab, FORBIDDEN, "rxe1")
    mains = {}
    forbidden = Healing(lab, "uverbs unreadable, one of two", [FORBIDDEN])
    missing = Healing(lab, "rdma_cm missing", [WATCHER], peer=NO_CM)
    with unreadable(lab, FORBIDDEN, node), without_rdma_cm(lab, NO_CM):
        # Who has it open keeps it.
        kill(lab, FORBIDDEN, worker_pid(lab, FORBIDDEN, "rxe1"), "KILL")
        mains = {host: main_pid(lab, host) for host in (FORBIDDEN, NO_CM)}
        check_forbidden(lab, before, node, cursor)
        check_without_cm(lab)
    forbidden.ends()
    missing.ends()
    lab.wait_healthy(OPEN_AGAIN_S)
    forbidden.record()
    missing.record()
    assert {host: main_pid(lab, host) for host in mains} == mains
    for host in mains:
        wait_for(lambda host=host: findings(lab, host) == [], 20, f"{host} has nothing to say")
