"""The service dies by kill -9 and systemd brings it back: peers notice, heal, and nothing leaks."""

import time

import pytest

from audit import Audit, Events, wait_reachable
from books import counts_of
from guest import main_pid, prop
from waiting import wait_for

VICTIM = "host1"
KILLS = 4
LONG_KILLS = 50
CONNECTED_WITHIN_S = 10


def queue_pairs(lab, host):
    """Connected queue pairs of the kernel, whoever holds them."""
    return lab.exec(host, "rdma resource show qp | grep -c 'type RC' || true").stdout.strip()


@pytest.mark.parametrize("whom", ["main", "all"])
def test_the_service_killed_comes_back(lab, whom):
    audit = Audit(lab)
    events = {host: Events(lab, host) for host in lab.others(VICTIM)}
    before = {host: audit.look(host)[0] for host in lab.hosts}
    old = {
        "instance": lab.json(VICTIM, "/api/v1/status")["instance"],
        "pid": main_pid(lab, VICTIM),
        "restarts": int(prop(lab, VICTIM, "NRestarts")),
        "started": lab.metrics(VICTIM).value("process_start_time_seconds"),
    }
    lab.exec(VICTIM, f"systemctl kill --kill-who={whom} -s KILL rdma-pingmesh")
    for host in lab.others(VICTIM):
        wait_for(
            lambda host=host: events[host].texts(kind="session", peer=VICTIM),
            20,
            f"{host} notices",
        )
    wait_for(lambda: main_pid(lab, VICTIM) not in (0, old["pid"]), 30, "a new process")
    wait_reachable(lab, VICTIM)
    lab.wait_healthy()
    assert int(prop(lab, VICTIM, "NRestarts")) == old["restarts"] + 1
    check_new_life(lab, audit, before, old)
    for host in lab.others(VICTIM):
        check_peer(audit, host, before[host])
    wait_for(
        lambda: {queue_pairs(lab, host) for host in lab.hosts} == {"4"}, 20, "no QP is left over"
    )
    for host in lab.hosts:
        assert lab.metrics(host).value("rdma_worker_qps", device="rxe0", role="passive") == 2


def check_new_life(lab, audit, before, old):
    """The victim has begun its books anew and says that it has."""
    status = lab.json(VICTIM, "/api/v1/status")
    assert status["instance"] != old["instance"]
    rows, metrics = audit.look(VICTIM)
    assert metrics.value("process_start_time_seconds") > old["started"]
    for peer, row in rows.items():
        for op in ("send", "read"):
            counts = counts_of(row["ops"][op])
            due = status["uptime_seconds"] * 5 + 10
            assert 0 < counts["scheduled"] <= due, (peer, op, counts, status["uptime_seconds"])
        assert row["since"] > before[VICTIM][peer]["since"]


def check_peer(audit, host, before):
    """A peer has another connection to the victim, the old one to the third host, and its books."""
    rows, metrics = audit.look(host)
    for peer, row in rows.items():
        old = before[peer]
        if peer == VICTIM:
            assert row["since"] > old["since"]
            assert row["not_attempted"]["not_connected"] > old["not_attempted"]["not_connected"]
        else:
            assert (row["qpn"], row["since"]) == (old["qpn"], old["since"])
    assert metrics.value("rdma_worker_restarts_total", device="rxe0") is not None


def connected_since(lab, host, peer):
    """When the session to that peer came up; None while it is not."""
    row = lab.row(host, peer)
    return row["since"] if row["state"] == "up" else None


def kill_and_measure(lab, victim, peer):
    """Seconds from the new process to the sessions of both directions."""
    pid = main_pid(lab, victim)
    old = wait_for(lambda: connected_since(lab, peer, victim), 60, f"{peer} has {victim}")
    lab.exec(victim, "systemctl reset-failed; systemctl kill --kill-who=all -s KILL rdma-pingmesh")
    wait_for(lambda: main_pid(lab, victim) not in (0, pid), 30, "a new process")
    wait_reachable(lab, victim)
    begin = time.monotonic()
    wait_for(lambda: connected_since(lab, victim, peer), 60, f"{victim} connects")
    wait_for(lambda: (connected_since(lab, peer, victim) or 0) > old, 60, f"{peer} connects")
    return time.monotonic() - begin


def check_kills(lab, count):
    """The two kill each other's connections in turn: stale ones at both ends, again and again."""
    times = []
    for i in range(count):
        victim, peer = (VICTIM, "host2") if i % 2 else ("host2", VICTIM)
        times.append(kill_and_measure(lab, victim, peer))
    print("seconds to connect: " + " ".join(f"{t:.1f}" for t in times))
    assert max(times) <= CONNECTED_WITHIN_S, times
    lab.wait_healthy()
    wait_for(
        lambda: {queue_pairs(lab, host) for host in lab.hosts} == {"4"}, 30, "no QP is left over"
    )


def test_kills_at_both_ends_are_connected_again_in_time(lab):
    check_kills(lab, KILLS)


@pytest.mark.long
@pytest.mark.limit(1500)
def test_fifty_kills_at_both_ends_are_connected_again_in_time(lab):
    check_kills(lab, LONG_KILLS)
