"""The device is removed under a running daemon and made again: nobody hangs, everything returns."""

from audit import Audit, Events, check_no_losses, device, findings
from books import counts_of
from guest import main_pid, timed
from waiting import wait_for

VICTIM = "host3"
REMOVED_WITHIN_S = 5
BACK_WITHIN_S = 10


def test_a_removed_device_is_let_go_and_taken_back(lab):
    audit = Audit(lab)
    events = Events(lab, VICTIM)
    main = main_pid(lab, VICTIM)
    before, _ = audit.look(VICTIM)
    seconds, code = timed(lab, VICTIM, "rdma link del rxe0")
    try:
        assert code == 0 and seconds < REMOVED_WITHIN_S, (code, seconds)
        check_gone(lab, audit, before)
    finally:
        lab.exec(VICTIM, "rdma link add rxe0 type rxe netdev eth0")
    rows, metrics = audit.wait(
        VICTIM, lambda _, m: m.value("rdma_rail_up", rail="rxe0") == 1, BACK_WITHIN_S, "it is back"
    )
    lab.wait_healthy()
    assert main_pid(lab, VICTIM) == main
    rows, metrics = audit.look(VICTIM)
    for peer, row in rows.items():
        for op in ("send", "read"):
            old, new = counts_of(before[peer]["ops"][op]), counts_of(row["ops"][op])
            assert new["ok"] > old["ok"], (peer, op, old, new)
    check_no_losses(rows, before)
    assert metrics.value("rdma_worker_up", device="rxe0") == 1
    texts = events.texts(kind="worker", device="rxe0")
    assert any("let go of the device" in text for text in texts), texts


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
