"""A whole guest stands still for a minute: peers miss it, and it makes up for nothing."""

import contextlib
import time

import pytest

from audit import INTERVAL_S, Audit, wait_reachable
from books import counts_of, operations
from guest import journal_cursor, journal_since, main_pid, prop, worker_pid
from healing import Healing
from host_faults import held, paused
from waiting import wait_for

VICTIM = "host3"
SLACK_S = 3  # the first look was at a snapshot that may have been two seconds old
WATCHDOG = "Watchdog timeout"

# A hypervisor stops the clocks with the guest; a guest that is only not scheduled wakes to later.
PAUSES = {"paused": (paused, 20), "held": (held, 60)}


@contextlib.contextmanager
def stands_still(lab, how, healing):
    fault, seconds = PAUSES[how]
    healing.begins()
    with fault(lab, VICTIM):
        begin = time.monotonic()
        yield
        time.sleep(max(0, begin + seconds - time.monotonic()))
    healing.ends()


def lives(lab):
    return main_pid(lab, VICTIM), worker_pid(lab, VICTIM), prop(lab, VICTIM, "NRestarts")


def check_missed(audit, host):
    def failing(rows, _metrics):
        return rows[VICTIM]["verdict"] == "failing"

    rows, _ = audit.wait(host, failing, 30, f"{host} misses {VICTIM}")
    others = [row["verdict"] for peer, row in rows.items() if peer != VICTIM]
    assert "failing" not in others, rows
    assert rows[VICTIM]["cause"] not in ("local_port", "local_nic", "local_host"), rows[VICTIM]


def check_no_burst(rows, before, awake):
    for peer, row in rows.items():
        for name, op in operations(row).items():
            sent = counts_of(op)["sent"] - counts_of(before[peer]["ops"][name])["sent"]
            assert sent <= (awake + SLACK_S) / INTERVAL_S, (peer, name, sent, awake)


def check_gap_is_ours(rows, before, gap):
    for peer, row in rows.items():
        stuck = row["not_attempted"]["worker_stuck"] - before[peer]["not_attempted"]["worker_stuck"]
        due = gap / INTERVAL_S * len(operations(row))
        assert stuck >= 0.9 * due, (peer, stuck, due, row["not_attempted"])


@pytest.mark.parametrize("how", PAUSES)
def test_a_guest_that_stood_still(lab, how):
    audit, cursor = Audit(lab), journal_cursor(lab, VICTIM)
    healing = Healing(lab, f"guest {how} for {PAUSES[how][1]} s", lab.others(VICTIM), peer=VICTIM)
    old, before = lives(lab), audit.look(VICTIM)
    instance = lab.json(VICTIM, "/api/v1/status")["instance"]
    begin = time.monotonic()
    with stands_still(lab, how, healing):
        for host in lab.others(VICTIM):
            check_missed(audit, host)
    wait_reachable(lab, VICTIM, 45)
    for host in lab.hosts:
        audit.wait(
            host,
            lambda rows, _: all(row["verdict"] == "ok" for row in rows.values()),
            45,
            f"{host} is well again",
        )
    healing.record()
    rows, _ = audit.look(VICTIM)
    awake = time.monotonic() - begin - PAUSES[how][1]
    if lab.json(VICTIM, "/api/v1/status")["instance"] != instance:
        # Only the guest that woke to later may have been taken for hung, and then that is told.
        assert how == "held" and WATCHDOG in journal_since(lab, VICTIM, cursor)
        print("the service manager took the pause for a hang")
        return
    assert lives(lab) == old
    check_no_burst(rows, before[0], awake)
    if how == "held":
        check_gap_is_ours(rows, before[0], PAUSES[how][1])
        wait_for(lambda: audit.wait_on_schedule(VICTIM, before), 15, "the books have caught up")
