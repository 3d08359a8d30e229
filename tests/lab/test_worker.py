"""A device's worker dies or freezes: that is told, its books are kept, it comes back."""

import re
import time

import pytest

from audit import Audit, Events, check_no_losses, check_untouched, device, findings, snapshot_time
from guest import kill, main_pid, worker_pid
from waiting import wait_for

VICTIM = "host2"
MAX_IN_FLIGHT = 5  # of one session: four unanswered SENDs and a READ


def grown(rows, before, kind, reason):
    return {peer: row[kind][reason] - before[peer][kind][reason] for peer, row in rows.items()}


def restarts(metrics):
    return metrics.value("rdma_worker_restarts_total", device="rxe0")


def is_back(rows, metrics):
    healthy = all((row["state"], row["verdict"]) == ("up", "ok") for row in rows.values())
    return healthy and metrics.value("rdma_worker_up", device="rxe0") == 1


def test_a_killed_worker_is_replaced_and_its_books_are_kept(lab):
    audit = Audit(lab)
    events = Events(lab, VICTIM)
    main, worker = main_pid(lab, VICTIM), worker_pid(lab, VICTIM)
    before, before_metrics = audit.look(VICTIM)
    kill(lab, VICTIM, worker, "KILL")
    rows, metrics = audit.wait(
        VICTIM,
        lambda rows, m: restarts(m) > restarts(before_metrics) and is_back(rows, m),
        45,
        "the worker is replaced and its sessions are up",
    )
    assert main_pid(lab, VICTIM) == main
    assert worker_pid(lab, VICTIM) != worker
    told = [text for text in events.texts(kind="worker", device="rxe0") if "signal 9" in text]
    assert len(told) == 1, events.texts(kind="worker")
    check_no_losses(rows, before)
    audit.wait_on_schedule(VICTIM, (before, before_metrics))
    for peer, lost in grown(rows, before, "aborts", "worker_lost").items():
        assert 0 <= lost <= MAX_IN_FLIGHT, (peer, lost)
        assert rows[peer]["since"] > before[peer]["since"]
    # The processor time of the dead one is not forgotten.
    cpu = "rdma_worker_cpu_seconds_total"
    assert metrics.value(cpu, device="rxe0") >= before_metrics.value(cpu, device="rxe0")


def delays_told(events, name="rxe0"):
    """The seconds that each restart was put off by."""
    texts = " ".join(events.texts(kind="worker", device=name))
    return [float(number) for number in re.findall(r"starting again in ([0-9.]+) s", texts)]


def check_in_backoff(lab, since):
    shown = device(lab, VICTIM)
    assert shown["worker"]["state"] == "backoff", shown["worker"]
    assert shown["worker"]["since"] >= since - 1
    (finding,) = [f for f in findings(lab, VICTIM) if f["subject"] == "device:rxe0"]
    assert (finding["cause"], finding["severity"]) == ("monitor", "critical")
    assert lab.metrics(VICTIM).value("rdma_worker_up", device="rxe0") == 0
    for row in lab.rows(VICTIM):
        assert (row["verdict"], row["cause"]) == ("unknown", "monitor"), row


def test_a_worker_that_keeps_dying_is_restarted_ever_more_slowly(lab):
    # A service that has not seen its worker die yet.
    lab.exec(VICTIM, "systemctl restart rdma-pingmesh")
    lab.wait_healthy()
    audit = Audit(lab)
    events = Events(lab, VICTIM)
    main = main_pid(lab, VICTIM)
    before, _ = audit.look(VICTIM)
    for _ in range(3):
        pid = wait_for(lambda: worker_pid(lab, VICTIM), 30, "a worker to kill")
        since = snapshot_time(lab.metrics(VICTIM))
        kill(lab, VICTIM, pid, "KILL")
    wait_for(lambda: device(lab, VICTIM)["worker"]["state"] == "backoff", 10, "back-off", 0.05)
    check_in_backoff(lab, since)
    rows, _ = audit.wait(VICTIM, is_back, 45, "the worker stays at last")
    delays = delays_told(events)
    assert len(delays) == 3
    # Each is twice the one before, with a quarter of jitter either way.
    assert all(later > 1.15 * earlier for earlier, later in zip(delays, delays[1:])), delays
    assert main_pid(lab, VICTIM) == main
    check_no_losses(rows, before)


CRASHES = 4
# In the guest, so that each life ends as soon as it has begun.
CRASH_LOOP = """
n=0 last=
for try in $(seq 300); do
	pid=$(pgrep -f '^rdma-pingmeshd --worker .* rxe1$')
	if [ -n "$pid" ] && [ "$pid" != "$last" ]; then
		last=$pid
		kill -SEGV $pid
		n=$((n + 1))
		[ $n -lt CRASHES ] || exit 0
	fi
	sleep 0.1
done
exit 1
"""


@pytest.mark.lab(hosts=2, rails=2)
def test_a_worker_that_crashes_in_a_loop_costs_its_own_rail_alone(lab):
    (peer,) = lab.others(VICTIM)
    lab.exec(VICTIM, "systemctl reset-failed; systemctl restart rdma-pingmesh")
    lab.wait_healthy()
    events, main = Events(lab, VICTIM), main_pid(lab, VICTIM)
    before = lab.row(VICTIM, peer, "rxe0")
    lab.exec(VICTIM, CRASH_LOOP.replace("CRASHES", str(CRASHES)))
    check_crashed(lab, peer, events)
    lab.wait_healthy(60)
    assert main_pid(lab, VICTIM) == main
    check_untouched(lab.row(VICTIM, peer, "rxe0"), before)
    wait_for(lambda: findings(lab, VICTIM) == [], 20, "no finding is left")


def check_crashed(lab, peer, events):
    wait_for(
        lambda: len(delays_told(events, "rxe1")) == CRASHES
        and device(lab, VICTIM, "rxe1")["worker"]["state"] == "backoff",
        5,
        lambda: f"{CRASHES} back-offs: {events.texts(kind='worker')}",
    )
    told = [text for text in events.texts(kind="worker", device="rxe1") if "signal 11" in text]
    assert len(told) == CRASHES, told
    delays = delays_told(events, "rxe1")
    # 1, 2, 4 and 8 s, with a quarter of jitter either way.
    assert delays[2] > 2 * delays[0] and delays[3] > 2 * delays[1], delays
    texts = [f["text"] for f in findings(lab, VICTIM) if f["subject"] == "device:rxe1"]
    assert texts, findings(lab, VICTIM)
    metrics = lab.metrics(VICTIM)
    assert metrics.value("rdma_worker_up", device="rxe1") == 0
    assert metrics.value("rdma_rail_up", rail="rxe0") == 1
    row = lab.row(VICTIM, peer, "rxe1")
    assert (row["verdict"], row["cause"]) == ("unknown", "monitor"), row
    row = lab.row(VICTIM, peer, "rxe0")
    assert (row["state"], row["verdict"]) == ("up", "ok"), row


def test_a_frozen_worker_is_told_and_holds_nobody_up(lab):
    audit = Audit(lab)
    events = Events(lab, VICTIM)
    main, worker = main_pid(lab, VICTIM), worker_pid(lab, VICTIM)
    before, before_metrics = audit.look(VICTIM)
    kill(lab, VICTIM, worker, "STOP")
    try:
        check_frozen(lab, audit, before)
    finally:
        kill(lab, VICTIM, worker, "CONT")
    rows, metrics = audit.wait(VICTIM, is_back, 30, "the worker runs again")
    assert (main_pid(lab, VICTIM), worker_pid(lab, VICTIM)) == (main, worker)
    assert restarts(metrics) == restarts(before_metrics)
    audit.wait_on_schedule(VICTIM, (before, before_metrics))
    for peer, row in rows.items():
        assert row["qpn"] == before[peer]["qpn"]
    texts = events.texts(kind="worker", device="rxe0")
    assert any("stuck" in text for text in texts) and "worker runs again" in texts, texts


def check_frozen(lab, audit, before):
    stopped_at = time.monotonic()
    rows, metrics = audit.wait(
        VICTIM,
        lambda _, m: m.value("rdma_worker_up", device="rxe0") == 0,
        15,
        "it is told as stuck",
    )
    worker = device(lab, VICTIM)["worker"]
    assert worker["state"] == "stuck"
    now = lab.json(VICTIM, "/api/v1/status")["timestamp"]
    assert 1 < now - worker["since"] < time.monotonic() - stopped_at + 3
    beat = metrics.value("rdma_worker_heartbeat_timestamp_seconds", device="rxe0", loop="rail")
    assert beat < now - 1
    stuck = grown(rows, before, "not_attempted", "worker_stuck")
    begin = time.monotonic()
    assert lab.get(VICTIM, "/metrics")[0] == 200
    assert time.monotonic() - begin < 3
    rows, _ = audit.wait(
        VICTIM,
        lambda rows, _: all(
            now_stuck >= stuck[peer] + 10
            for peer, now_stuck in grown(rows, before, "not_attempted", "worker_stuck").items()
        ),
        20,
        "what comes due is booked as ours",
    )
    for row in rows.values():
        assert (row["verdict"], row["cause"]) == ("unknown", "monitor"), row["reason"]
        assert "stuck" in row["reason"]
    assert lab.json(VICTIM, "/api/v1/status")["verdict"] in ("unknown", "degraded")
