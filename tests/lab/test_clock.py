"""The clock is set back two minutes and on by an hour: nothing that is measured notices."""


from audit import INTERVAL_S, MAX_UNEVEN, Audit, Events, check_no_losses, snapshot_time
from books import counts_of, operations
from guest import kill, main_pid, prop, worker_pid
from host_faults import CLOCK_SLACK_S, own_clock, step_clock
from waiting import wait_for

HOST = "host3"
STEPS = ("2 minutes ago", "1 hour")
MAX_WINDOW_S = 62


def uptime(lab):
    return lab.json(HOST, "/api/v1/status")["uptime_seconds"]


def clock(lab):
    return float(lab.exec(HOST, "date +%s.%N").stdout)


def watchdog_fed(lab):
    return int(prop(lab, HOST, "WatchdogTimestampMonotonic"))


def follows_clock(lab, metrics):
    return abs(snapshot_time(metrics) - clock(lab)) < CLOCK_SLACK_S


def is_fresh(lab, rows):
    """Whether each success is told with a time that the new clock may have shown just now."""
    now = clock(lab)
    stamps = [
        op[name]
        for row in rows.values()
        for op in operations(row).values()
        for name in ("last_success_timestamp", "last_attempt_timestamp")
    ]
    return all(abs(now - stamp) < CLOCK_SLACK_S for stamp in stamps)


def wait_caught_up(lab, audit, before, begin):
    """Each probe that came due by the clock that never steps was booked once."""

    def on_schedule(rows, _metrics):
        due = (uptime(lab) - begin) / INTERVAL_S
        counts = [
            counts_of(op)["scheduled"] - counts_of(before[peer]["ops"][name])["scheduled"]
            for peer, row in rows.items()
            for name, op in operations(row).items()
        ]
        return all(abs(count - due) <= 2 * MAX_UNEVEN for count in counts)

    return audit.wait(HOST, on_schedule, 15, "the books are on schedule")


def check_after_step(lab, audit, before, begin, fed):
    rows, _ = audit.wait(
        HOST,
        lambda rows, metrics: follows_clock(lab, metrics) and is_fresh(lab, rows),
        10,
        "what is told follows the clock",
    )
    for peer, row in rows.items():
        old = before[peer]
        assert (row["state"], row["qpn"], row["since"]) == ("up", old["qpn"], old["since"])
        assert 0 < row["window_seconds"] <= MAX_WINDOW_S, row["window_seconds"]
        assert row["loss_ratio"] is not None
        for name, op in row["ops"].items():
            assert op["p50_seconds"] is None or 0 < op["p50_seconds"] < 2, (name, op)
    check_no_losses(rows, before)
    wait_caught_up(lab, audit, before, begin)
    answer = lab.json(HOST, "/api/v1/peers")
    assert 0 <= answer["snapshot_age_seconds"] < 3, answer["snapshot_age_seconds"]
    assert lab.get(HOST, "/-/healthy")[0] == 200
    wait_for(lambda: watchdog_fed(lab) > fed, 20, "the watchdog is fed")


def test_a_clock_that_steps_changes_no_figure(lab):
    audit, events = Audit(lab), Events(lab, HOST)
    lives = main_pid(lab, HOST), prop(lab, HOST, "NRestarts"), worker_pid(lab, HOST)
    instance = lab.json(HOST, "/api/v1/status")["instance"]
    before, begin = audit.look(HOST)[0], uptime(lab)
    with own_clock(lab, HOST):
        for how in STEPS:
            fed = watchdog_fed(lab)
            step_clock(lab, HOST, how)
            check_after_step(lab, audit, before, begin, fed)
    assert (main_pid(lab, HOST), prop(lab, HOST, "NRestarts"), worker_pid(lab, HOST)) == lives
    assert lab.json(HOST, "/api/v1/status")["instance"] == instance
    assert events.texts(kind="worker") == [] and events.texts(kind="rail") == []
    assert not [text for text in events.texts(kind="verdict") if "-> failing" in text]


def test_a_clock_that_was_set_back_is_believed_by_the_next_worker(lab):
    audit = Audit(lab)
    with own_clock(lab, HOST):
        step_clock(lab, HOST, "1 hour")
        _, before = audit.wait(HOST, lambda rows, _: is_fresh(lab, rows), 10, "the wrong hour")
        kill(lab, HOST, worker_pid(lab, HOST), "KILL")
        step_clock(lab, HOST, "1 hour ago")
        # What the dead one left must not cover what its successor sees.
        audit.wait(
            HOST,
            lambda rows, metrics: restarts(metrics) > restarts(before) and is_fresh(lab, rows),
            30,
            "another worker's successes are told with the right hour",
        )


def restarts(metrics):
    return metrics.value("rdma_worker_restarts_total", device="rxe0")
