"""What the service lives on runs out or restarts: descriptors, its state directory, the journal."""

import contextlib
import socket
import time

from audit import Audit, Events, check_no_losses, wait_reachable
from guest import journal_cursor, journal_since, main_pid, prop, reload_service, timed, worker_pid
from host_faults import few_descriptors, full_state, make_state_read_only
from waiting import wait_for

HOST = "host1"
SPARE = 32
CLIENTS = 100
HELD_S = 8  # longer than the time between two looks for devices
MAX_LINES = 20
MAX_CPU = 0.3  # under emulation it has a tenth; a loop that spins takes nearly all
STOP_LIMIT_S = 5


@contextlib.contextmanager
def idle_clients(lab, host, count):
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            address = ("127.0.0.1", lab.port_base + int(host[4:]))
            stack.enter_context(socket.create_connection(address, timeout=5))
        yield


def told_of_itself(journal):
    """The lines but those about peers: they come as the fabric goes."""
    return [line for line in journal.splitlines() if not line.startswith("verdict ")]


def cpu_seconds(lab, pid):
    words = lab.exec(HOST, ["cat", f"/proc/{pid}/stat"]).stdout.rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / 100


def test_a_want_of_descriptors_stops_nothing(lab):
    audit, events, cursor = Audit(lab), Events(lab, HOST), journal_cursor(lab, HOST)
    pid, worker = main_pid(lab, HOST), worker_pid(lab, HOST)
    before = audit.look(HOST)
    begin, cpu = time.monotonic(), cpu_seconds(lab, pid)
    with few_descriptors(lab, HOST, pid, SPARE):
        with idle_clients(lab, HOST, CLIENTS):
            time.sleep(HELD_S)
            share = (cpu_seconds(lab, pid) - cpu) / (time.monotonic() - begin)
            lines = told_of_itself(journal_since(lab, HOST, cursor))
        # Still without more descriptors: those of the clients are free again.
        wait_reachable(lab, HOST)
    print(f"main took {share:.1%} of a processor and wrote {len(lines)} lines")
    assert share < MAX_CPU and len(lines) < MAX_LINES, (share, lines)
    rows, _ = audit.wait_on_schedule(HOST, before)
    check_no_losses(rows, before[0])
    for peer, row in rows.items():
        assert (row["state"], row["qpn"]) == ("up", before[0][peer]["qpn"])
        skipped = row["not_attempted"]["device_absent"]
        assert skipped == before[0][peer]["not_attempted"]["device_absent"]
    assert (main_pid(lab, HOST), worker_pid(lab, HOST)) == (pid, worker)
    assert events.texts(kind="worker") == []


def restart(lab):
    seconds, code = timed(lab, HOST, "systemctl stop rdma-pingmesh")
    assert code == 0 and seconds < STOP_LIMIT_S, (code, seconds)
    lab.exec(HOST, "systemctl start rdma-pingmesh")
    wait_reachable(lab, HOST)
    lab.wait_healthy()


def test_a_full_or_read_only_state_directory_stops_nothing(lab):
    with full_state(lab, HOST):
        restart(lab)
        make_state_read_only(lab, HOST)
        restart(lab)
    restart(lab)


def test_a_journal_that_restarts_or_dies_takes_nobody_along(lab):
    audit, lives = Audit(lab), (main_pid(lab, HOST), worker_pid(lab, HOST))
    before = audit.look(HOST)
    for how in ("restart", "kill -s KILL"):
        lab.exec(HOST, f"systemctl {how} systemd-journald")
        wait_for(lambda: is_told(lab), 20, f"after {how} a reload is told in the journal")
    assert (main_pid(lab, HOST), worker_pid(lab, HOST)) == lives
    assert prop(lab, HOST, "ActiveState") == "active"
    rows, _ = audit.wait_on_schedule(HOST, before)
    check_no_losses(rows, before[0])


def is_told(lab):
    cursor = journal_cursor(lab, HOST)
    reload_service(lab, HOST)
    time.sleep(1)
    return "configuration reloaded" in journal_since(lab, HOST, cursor)
