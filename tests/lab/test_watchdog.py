"""A main process that stands still is replaced by the service manager, its workers with it."""

import time

import pytest

from audit import Audit, wait_reachable
from guest import journal_cursor, journal_since, kill, main_pid, prop, timed, worker_pid
from healing import Healing
from host_faults import stopped_process
from waiting import wait_for

VICTIM = "host1"
OTHER = "host2"
WATCHDOG_S = 30
STOP_LIMIT_S = 5


def is_alive(lab, host, pid):
    return lab.exec(host, ["test", "-d", f"/proc/{pid}"], check=False).returncode == 0


def check_stop_while_frozen(lab):
    """A stop need not wait for the watchdog."""
    main, worker = main_pid(lab, OTHER), worker_pid(lab, OTHER)
    with stopped_process(lab, OTHER, main):
        seconds, code = timed(lab, OTHER, "systemctl stop rdma-pingmesh")
    assert code == 0 and seconds < STOP_LIMIT_S, (code, seconds)
    assert not is_alive(lab, OTHER, main) and not is_alive(lab, OTHER, worker)
    lab.exec(OTHER, "systemctl start rdma-pingmesh")
    wait_reachable(lab, OTHER)


@pytest.mark.limit(300)
def test_a_main_that_stands_still_is_replaced(lab):
    main, worker = main_pid(lab, VICTIM), worker_pid(lab, VICTIM)
    restarts, cursor = int(prop(lab, VICTIM, "NRestarts")), journal_cursor(lab, VICTIM)
    healing = Healing(lab, "main frozen", ["host3"], peer=VICTIM)
    begin = time.monotonic()
    kill(lab, VICTIM, main, "STOP")
    healing.begins()
    # Its worker goes on measuring and answering until the watchdog strikes.
    assert is_alive(lab, VICTIM, worker)
    check_stop_while_frozen(lab)
    wait_for(lambda: main_pid(lab, VICTIM) not in (0, main), 2 * WATCHDOG_S, "another main")
    healing.ends()
    print(f"replaced after {time.monotonic() - begin:.0f} s")
    assert time.monotonic() - begin > WATCHDOG_S / 2
    wait_reachable(lab, VICTIM)
    assert not is_alive(lab, VICTIM, worker)
    lab.wait_healthy()
    healing.record()
    assert int(prop(lab, VICTIM, "NRestarts")) == restarts + 1
    assert "Watchdog timeout" in journal_since(lab, VICTIM, cursor)
    rows, _ = Audit(lab).look(VICTIM)
    assert all(row["verdict"] == "ok" for row in rows.values())
