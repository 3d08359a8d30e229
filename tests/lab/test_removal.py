"""The device is removed under a running daemon and made again: nobody hangs, everything returns."""

import contextlib

import pytest

from audit import Audit, Events, check_no_losses, check_untouched, device, findings
from books import counts_of
from guest import journal_cursor, journal_since, main_pid, timed
from healing import Healing
from waiting import wait_for

VICTIM = "host3"
REMOVED_WITHIN_S = 5
BACK_WITHIN_S = 10
ADD = "rdma link add {} type rxe netdev {}"

# rdma_cm before ib_uverbs: then the kernel waits for the verbs contexts first, and rdma_cm never
# says that a device is going (core/device.c removes its clients last come first).
RDMA_CM_FIRST = """
set -e
systemctl stop rdma-pingmesh
rdma link del rxe0
rmmod rdma_rxe rdma_ucm rdma_cm iw_cm ib_cm ib_uverbs
modprobe rdma_cm
modprobe -a ib_uverbs rdma_ucm rdma_rxe
rdma link add rxe0 type rxe netdev eth0
systemctl start rdma-pingmesh
"""
AS_BEFORE = RDMA_CM_FIRST.replace("modprobe rdma_cm\n", "modprobe ib_uverbs\n")


@contextlib.contextmanager
def as_booted(_lab):
    yield


@contextlib.contextmanager
def rdma_cm_first(lab):
    lab.exec(VICTIM, RDMA_CM_FIRST)
    try:
        lab.wait_healthy()
        yield
    finally:
        lab.exec(VICTIM, AS_BEFORE)


def is_back(metrics, rail):
    return metrics.value("rdma_rail_up", rail=rail) == 1


@pytest.mark.parametrize("order", [as_booted, rdma_cm_first], ids=lambda o: o.__name__)
def test_a_removed_device_is_let_go_and_taken_back(lab, order):
    with order(lab):
        check_removal(lab, f"only device removed and made again, modules {order.__name__}")
    lab.wait_healthy()


def check_removal(lab, name):
    audit = Audit(lab)
    events = Events(lab, VICTIM)
    main = main_pid(lab, VICTIM)
    before, _ = audit.look(VICTIM)
    healing = Healing(lab, name, [VICTIM])
    healing.begins()
    seconds, code = timed(lab, VICTIM, "rdma link del rxe0")
    try:
        assert code == 0 and seconds < REMOVED_WITHIN_S, (code, seconds)
        check_gone(lab, audit, before)
    finally:
        lab.exec(VICTIM, ADD.format("rxe0", "eth0"))
    healing.ends()
    rows, metrics = audit.wait(
        VICTIM, lambda _, m: is_back(m, "rxe0"), BACK_WITHIN_S, "it is back"
    )
    lab.wait_healthy()
    healing.record()
    assert main_pid(lab, VICTIM) == main
    rows, metrics = audit.look(VICTIM)
    for peer, row in rows.items():
        for op in ("send", "read"):
            old, new = counts_of(before[peer]["ops"][op]), counts_of(row["ops"][op])
            assert new["ok"] > old["ok"], (peer, op, old, new)
    check_no_losses(rows, before)
    assert metrics.value("rdma_worker_up", device="rxe0") == 1
    texts = events.texts(kind="worker", device="rxe0")
    # By its own event, or without one when rdma_cm keeps quiet: then udev told main.
    assert any("let go of the device" in t or "device is gone" in t for t in texts), texts


def check_gone(lab, audit, before):
    def absent(rows, _metrics):
        return all(
            row["not_attempted"]["device_absent"] > before[peer]["not_attempted"]["device_absent"]
            for peer, row in rows.items()
        )

    rows, metrics = audit.wait(VICTIM, absent, 15, "what comes due is booked as without a device")
    assert metrics.value("rdma_rail_up", rail="rxe0") == 0
    assert not metrics.samples("rdma_port_state_id", device="rxe0")
    for row in rows.values():
        assert row["verdict"] == "unknown", (row["verdict"], row["reason"])
    # First the worker is missed, then it is known why.
    wait_for(lambda: causes(lab) == ["local_nic"], 15, lambda: f"a missing NIC: {causes(lab)}")
    status = lab.json(VICTIM, "/api/v1/status")
    assert (status["verdict"], status["cause"]) == ("failing", "local_nic"), status
    assert device(lab, VICTIM)["worker"]["state"] == "exited"


def causes(lab):
    return [finding["cause"] for finding in findings(lab, VICTIM)]


def test_a_device_that_is_not_there_at_start_is_taken_when_it_comes(lab):
    """The modules are loaded, as after a reset of the NIC; the daemon was restarted meanwhile."""
    cursor = journal_cursor(lab, VICTIM)
    seconds, code = timed(lab, VICTIM, "rdma link del rxe0")
    try:
        assert code == 0 and seconds < REMOVED_WITHIN_S, (code, seconds)
        lab.exec(VICTIM, "systemctl restart rdma-pingmesh")
        status = wait_for(lambda: lab.json(VICTIM, "/api/v1/status"), 20, "it serves")
        assert status["rails"]["up"] == status["sessions"]["up"] == 0, status
        assert status["verdict"] == "unknown", status
        assert lab.get(VICTIM, "/-/ready")[0] == 200
        wait_for(
            lambda: "no RDMA device on this host" in journal_since(lab, VICTIM, cursor),
            20,
            "it says what is missing",
        )
        main = main_pid(lab, VICTIM)
        healing = Healing(lab, "device there only after the start", [VICTIM])
        healing.begins()
    finally:
        lab.exec(VICTIM, ADD.format("rxe0", "eth0"))
    healing.ends()
    lab.wait_healthy()
    healing.record()
    assert main_pid(lab, VICTIM) == main
    assert causes(lab) == []


@pytest.mark.lab(hosts=2, rails=2)
def test_one_of_two_devices_removed_leaves_the_other_alone(lab):
    victim, other = lab.hosts
    audit = Audit(lab)

    def by_rail(host):
        audit.look(host)
        return {row["rail"]: row for row in lab.rows(host)}

    before = {host: by_rail(host) for host in lab.hosts}
    healing = Healing(lab, "one of two devices removed and made again", [victim], rail="rxe1")
    healing.begins()
    seconds, code = timed(lab, victim, "rdma link del rxe1")
    try:
        assert code == 0 and seconds < REMOVED_WITHIN_S, (code, seconds)
        _, metrics = audit.wait(
            victim, lambda _, m: not is_back(m, "rxe1"), 15, "the rail is missed"
        )
        assert is_back(metrics, "rxe0")
        wait_for(
            lambda: [f["cause"] for f in findings(lab, victim)] == ["local_nic"],
            15,
            lambda: f"a missing NIC: {findings(lab, victim)}",
        )
        status = lab.json(victim, "/api/v1/status")
        assert (status["verdict"], status["rails"]) == ("failing", {"up": 1, "total": 2}), status
        # The peer misses that rail, and is not failing for it.
        wait_for(
            lambda: by_rail(other)["rxe1"]["verdict"] == "failing", 30, f"{other} misses the rail"
        )
        assert lab.json(other, "/api/v1/status")["verdict"] == "degraded"
    finally:
        lab.exec(victim, ADD.format("rxe1", "eth1"))
    healing.ends()
    lab.wait_healthy()
    healing.record()
    for host in lab.hosts:
        check_untouched(by_rail(host)["rxe0"], before[host]["rxe0"])
