"""A peer's host loses its power: no goodbye and no disconnect comes from it, and then it is back."""

import time

from audit import Audit, Events, check_only, check_untouched, findings
from healing import Healing
from waiting import wait_for

VICTIM = "host3"
WATCHERS = ("host1", "host2")
# A try that nobody answers ends after 2 s (no ARP) or later; none follows another at once.
MAX_TRIES_A_SECOND = 1


def tries(metrics):
    return metrics.value("rdma_connection_attempts_total", rail="rxe0")


def is_gone(rows, _metrics):
    row = rows[VICTIM]
    return row["verdict"] == "failing" and row["state"] != "up"


def check_missed(lab, audit, host, before):
    rows, _ = audit.wait(host, is_gone, 30, f"{host} has lost {VICTIM}")
    row = rows[VICTIM]
    check_only(row, before[VICTIM], "failures", "timeout", "retry_exceeded")
    assert row["cause"] in ("inconclusive", "remote_host") and VICTIM in row["reason"], row
    (finding,) = [f for f in findings(lab, host) if f["subject"] == f"peer:{VICTIM}"]
    assert finding["severity"] == "warning"
    assert lab.json(host, "/api/v1/status")["verdict"] == "degraded"


def check_back(audit, host, look, events):
    before, metrics_before = look
    rows, metrics = audit.wait_on_schedule(host, look)
    row, old = rows[VICTIM], before[VICTIM]
    assert row["since"] > old["since"]
    check_only(row, old, "failures", "timeout", "retry_exceeded")
    # The last words of the old connection may be about what was in flight.
    check_only(row, old, "aborts", "flushed")
    # A guest that boots takes the processor of the others: their own standing still is told as such.
    skipped = check_only(row, old, "not_attempted", "not_connected", "qp_stalled", "worker_stuck")
    assert skipped["not_connected"] > 10 * skipped.get("worker_stuck", 0), skipped
    (other,) = set(rows) - {VICTIM}
    check_untouched(rows[other], before[other])
    texts = events.texts(kind="session", peer=VICTIM)
    assert texts[-1].endswith("-> up"), texts
    assert tries(metrics) - tries(metrics_before) >= 2


def test_a_peer_without_power_is_missed_and_taken_back(lab):
    audit = Audit(lab)
    looks = {host: audit.look(host) for host in WATCHERS}
    events = {host: Events(lab, host) for host in WATCHERS}
    healing = Healing(lab, "peer powered off and on again", WATCHERS, peer=VICTIM)
    begin = time.monotonic()
    healing.begins()
    lab.power("off", VICTIM)
    try:
        for host in WATCHERS:
            check_missed(lab, audit, host, looks[host][0])
    finally:
        lab.power("on", VICTIM)
    healing.ends()
    lab.wait_healthy()
    healing.record()
    for host in WATCHERS:
        check_back(audit, host, looks[host], events[host])
        made = tries(lab.metrics(host)) - tries(looks[host][1])
        assert made <= 2 + MAX_TRIES_A_SECOND * (time.monotonic() - begin), made
    wait_for(lambda: not any(findings(lab, host) for host in WATCHERS), 20, "no finding is left")


def test_a_rebooted_peer_is_taken_back(lab):
    """Its queue pairs may have the numbers of those that its peers still know."""
    audit = Audit(lab)
    looks = {host: audit.look(host) for host in WATCHERS}
    events = {host: Events(lab, host) for host in WATCHERS}
    instance = lab.json(VICTIM, "/api/v1/status")["instance"]
    healing = Healing(lab, "peer rebooted without a word", WATCHERS, peer=VICTIM)
    healing.begins()
    lab.power("cycle", VICTIM)
    healing.ends()
    lab.wait_healthy()
    healing.record()
    assert lab.json(VICTIM, "/api/v1/status")["instance"] != instance
    for host in WATCHERS:
        check_back(audit, host, looks[host], events[host])
    for host in lab.hosts:
        # Of its old connections nothing is left, here and there.
        wait_for(
            lambda host=host: lab.metrics(host).value(
                "rdma_worker_qps", device="rxe0", role="passive"
            )
            == 2,
            20,
            f"{host} answers on two connections",
        )
