"""A counter that never answers costs the counters, and nothing else: not probing, not a stop."""

import contextlib
import time

import pytest

from audit import Audit, Events, findings, wait_reachable
from books import counts_of, operations
from guest import kill, main_pid, timed, worker_pid
from healing import note
from host_faults import dead_disk_under_counters, silent_counter, threads_in_disk_sleep
from waiting import wait_for

KILLABLE = "host1"  # its counter thread waits for a file that says nothing
UNKILLABLE = "host2"  # its counter thread sleeps in the kernel
STOP_LIMIT_S = 5
COUNTER = "rdma_sent_pkts_total"
MIN_OK = 0.5  # of what is due: a busy machine misses some, one that hangs all
LABELS = {"device": "rxe0", "port": "1"}


@contextlib.contextmanager
def both_faults(lab):
    with silent_counter(lab, KILLABLE, "sent_pkts"):
        with dead_disk_under_counters(lab, UNKILLABLE):
            yield


def check_probing_goes_on(rows, before):
    for peer, row in rows.items():
        for name, op in operations(row).items():
            old, new = counts_of(before[peer]["ops"][name]), counts_of(op)
            due = new["scheduled"] - old["scheduled"]
            assert new["ok"] - old["ok"] >= MIN_OK * due, (peer, name, old, new)


def check_only_counters_suffer(lab, audit, host, before, begin):
    """They are told as gone, with whose fault it is, and probing goes on as if nothing were."""
    rows, metrics = audit.wait(
        host,
        lambda _, m: m.value("rdma_finding", subject="counters:rxe0") == 1,
        40,
        f"{host} tells that its counters hang",
    )
    told = time.monotonic() - begin
    (finding,) = [f for f in findings(lab, host) if f["subject"] == "counters:rxe0"]
    assert (finding["cause"], finding["severity"]) == ("local_nic", "warning")
    assert "counters of rxe0 cannot be read" in finding["text"], finding
    assert metrics.value(COUNTER, **LABELS) is None
    stamp = metrics.value("rdma_counters_last_success_timestamp_seconds", device="rxe0")
    assert 0 < stamp < lab.json(host, "/api/v1/status")["timestamp"] - 5
    assert metrics.value("rdma_worker_up", device="rxe0") == 1
    rows, _ = audit.wait_on_schedule(host, before[host])
    check_probing_goes_on(rows, before[host][0])
    for peer, row in rows.items():
        assert (row["state"], row["qpn"]) == ("up", before[host][0][peer]["qpn"])
    return told


def check_stop(lab, host):
    seconds, code = timed(lab, host, "systemctl stop rdma-pingmesh")
    print(f"{host}: stopped in {seconds:.1f} s")
    assert code == 0 and seconds < STOP_LIMIT_S, (host, code, seconds)


def check_next_life(lab):
    """Next to a worker that cannot die: it listens, or says that the port is held and waits."""

    def listens_or_tells():
        status = wait_reachable(lab, UNKILLABLE)
        texts = [f["text"] for f in findings(lab, UNKILLABLE) if f["subject"] == "device:rxe0"]
        held = any("10480" in text and "in use" in text for text in texts)
        return held or status["rails"]["up"] == 1

    wait_for(listens_or_tells, 60, lambda: f"it says what it does: {findings(lab, UNKILLABLE)}")
    assert lab.get(UNKILLABLE, "/-/ready")[0] == 200


def check_healed(lab, audit, host, begin):
    audit.wait(
        host,
        lambda rows, m: m.value(COUNTER, **LABELS) is not None
        and all((row["state"], row["verdict"]) == ("up", "ok") for row in rows.values()),
        45,
        f"{host} has its counters and sessions again",
    )
    healed = time.monotonic() - begin
    wait_for(lambda: findings(lab, host) == [], 20, f"{host} has nothing left to say")
    return healed


def check_stops(lab):
    """Both stop in time, also where a worker stays behind; and where main was killed before."""
    kill(lab, UNKILLABLE, main_pid(lab, UNKILLABLE), "KILL")
    check_stop(lab, KILLABLE)
    check_next_life(lab)
    check_stop(lab, UNKILLABLE)
    for host in (KILLABLE, UNKILLABLE):
        lab.exec(host, "systemctl start rdma-pingmesh")
    wait_reachable(lab, KILLABLE)
    check_next_life(lab)


@pytest.mark.limit(300)
def test_counters_that_never_answer_hold_nobody_up(lab):
    audit = Audit(lab)
    faults = {KILLABLE: "counter file that never answers", UNKILLABLE: "the same, unkillable"}
    before = {host: audit.look(host) for host in faults}
    events = {host: Events(lab, host) for host in faults}
    worker = worker_pid(lab, UNKILLABLE)
    told = {}
    with both_faults(lab):
        begin = time.monotonic()
        for host in faults:
            told[host] = check_only_counters_suffer(lab, audit, host, before, begin)
            texts = events[host].texts(kind="worker", device="rxe0")
            assert "its counters cannot be read: sysfs does not answer" in texts
            assert not [text for text in texts if "its counters" not in text], texts
        assert threads_in_disk_sleep(lab, UNKILLABLE, worker) == ["counter"]
        check_stops(lab)
    begin = time.monotonic()
    for host, name in faults.items():
        note(lab, name, told[host], check_healed(lab, audit, host, begin))
