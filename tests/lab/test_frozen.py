"""Every process of one service is stopped for ten seconds: its NIC answers, its host does not."""

import time

from audit import INTERVAL_S, Audit, Events, findings, health_status
from books import counts_of
from guest import frozen, main_pid, prop, worker_pid
from waiting import wait_for

VICTIM = "host2"
FREEZE_S = 10
# SENDs that a peer may leave unanswered before it gets no more of them.
ECHO_BOUND = 4


def op_counts(rows, peer, op):
    return counts_of(rows[peer]["ops"][op])


def is_blamed(rows, _metrics):
    row = rows[VICTIM]
    return (row["verdict"], row["cause"]) == ("failing", "remote_host")


def check_watcher_during(lab, audit, host, before):
    """While the victim is frozen: only SEND to it fails, and the words say whose fault it is."""
    rows, metrics = audit.wait(host, is_blamed, 15, f"{host} blames {VICTIM}")
    row = rows[VICTIM]
    assert (row["state"], row["qpn"]) == ("up", before[VICTIM]["qpn"])
    assert f"{VICTIM} stopped answering" in row["reason"] and "READ" in row["reason"]
    labels = {"peer": VICTIM, "rail": "rxe0", "class": "default"}
    assert metrics.value("rdma_session_verdict_id", **labels) == 2
    assert metrics.value("rdma_session_up", **labels) == 1
    assert metrics.value("rdma_finding", cause="remote_host", subject=f"peer:{VICTIM}") == 1
    reads = op_counts(rows, VICTIM, "read")
    audit.wait(
        host,
        lambda rows, _: op_counts(rows, VICTIM, "read")["ok"] >= reads["ok"] + 10,
        15,
        f"{host} goes on reading the memory of {VICTIM}",
    )
    # A fault of a peer never makes this host failing.
    assert lab.json(host, "/api/v1/status")["verdict"] == "degraded"
    assert health_status(lab, host) == 200 and health_status(lab, host, "degraded") == 503
    third = next(peer for peer in rows if peer != VICTIM)
    assert rows[third]["verdict"] == "ok"


def check_watcher_after(lab, audit, host, before):
    rows, _ = audit.wait(
        host, lambda rows, _: rows[VICTIM]["verdict"] == "ok", 30, f"{host} sees {VICTIM} healed"
    )
    row = rows[VICTIM]
    assert (row["qpn"], row["since"]) == (before[VICTIM]["qpn"], before[VICTIM]["since"])
    old, new = op_counts(before, VICTIM, "send"), op_counts(rows, VICTIM, "send")
    # What was sent into the silence was answered on waking: late, and no more than the bound.
    assert 1 <= new["failed"] - old["failed"] <= ECHO_BOUND + 1
    assert new["late"] - old["late"] >= 1
    skipped = row["not_attempted"]["peer_unresponsive"]
    expected = FREEZE_S / INTERVAL_S / 2
    assert skipped - before[VICTIM]["not_attempted"]["peer_unresponsive"] >= expected
    assert findings(lab, host) == []


def check_victim_after(lab, audit, before, before_metrics, seconds, old):
    """The gap is booked as our own, nothing came in a burst, and nobody was restarted."""
    audit.wait(
        VICTIM,
        lambda rows, _: all(row["verdict"] == "ok" for row in rows.values()),
        30,
        f"{VICTIM} is well again",
    )
    rows, _ = audit.wait_on_schedule(VICTIM, (before, before_metrics))
    gap = FREEZE_S / INTERVAL_S
    for peer, row in rows.items():
        for op in ("send", "read"):
            was, now = op_counts(before, peer, op), op_counts(rows, peer, op)
            sent = now["sent"] - was["sent"]
            awake = seconds() - FREEZE_S
            # The first look was at a snapshot that may have been two seconds old.
            assert sent <= (awake + 2) / INTERVAL_S, (peer, op, sent, awake)
        stuck = row["not_attempted"]["worker_stuck"] - before[peer]["not_attempted"]["worker_stuck"]
        assert stuck >= 2 * gap * 0.9, (peer, row["not_attempted"])
        assert row["qpn"] == before[peer]["qpn"]
    assert (main_pid(lab, VICTIM), worker_pid(lab, VICTIM), prop(lab, VICTIM, "NRestarts")) == old


def test_a_frozen_service_fails_sends_and_not_reads(lab):
    audit = Audit(lab)
    watchers = lab.others(VICTIM)
    events = Events(lab, watchers[0])
    old = main_pid(lab, VICTIM), worker_pid(lab, VICTIM), prop(lab, VICTIM, "NRestarts")
    begin = time.monotonic()
    before = {host: audit.look(host)[0] for host in watchers}
    victim_before = audit.look(VICTIM)
    with frozen(lab, VICTIM):
        stopped_at = time.monotonic()
        for host in watchers:
            check_watcher_during(lab, audit, host, before[host])
        time.sleep(max(0, stopped_at + FREEZE_S - time.monotonic()))
    for host in watchers:
        check_watcher_after(lab, audit, host, before[host])
    check_victim_after(lab, audit, *victim_before, lambda: time.monotonic() - begin, old)
    verdicts = events.texts(kind="verdict", peer=VICTIM)
    assert any("-> failing" in text and VICTIM in text for text in verdicts), verdicts
    wait_for(lambda: lab.json(watchers[0], "/api/v1/status")["verdict"] == "ok", 20, "host is ok")
