"""A device is released for work on its driver, while the service goes on, and taken back."""

from audit import Audit, check_no_losses, device, findings
from guest import main_pid, timed
from waiting import wait_for

VICTIM = "host3"
OTHER = "host1"
REMOVED_WITHIN_S = 5


def test_the_driver_of_a_released_device_can_be_unloaded_and_loaded_again(lab):
    audit = Audit(lab)
    main = main_pid(lab, VICTIM)
    before, _ = audit.look(VICTIM)
    seen_before, _ = audit.look(OTHER)
    lab.exec(VICTIM, "rdma-pingmesh release rxe0")
    try:
        check_released(lab, audit, before)
        # Both wait for whoever has the device open.
        seconds, code = timed(lab, VICTIM, "rdma link del rxe0 && modprobe -r rdma_rxe")
        assert code == 0 and seconds < REMOVED_WITHIN_S, (code, seconds)
        lab.exec(VICTIM, "modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0")
        # A look at the devices belongs to a reload: it is back, and not ours.
        assert "reloaded" in lab.exec(VICTIM, "rdma-pingmesh reload").stdout
        assert device(lab, VICTIM)["worker"]["state"] == "released"
    finally:
        lab.exec(VICTIM, "rdma link add rxe0 type rxe netdev eth0", check=False)
        told = lab.exec(VICTIM, "rdma-pingmesh acquire rxe0").stdout
    assert "rxe0 is in use" in told
    lab.wait_healthy()
    assert main_pid(lab, VICTIM) == main
    # To the peers it was a goodbye, and no loss.
    check_no_losses(audit.look(OTHER)[0], seen_before)
    check_no_losses(audit.look(VICTIM)[0], before)


def check_released(lab, audit, before):
    def absent(rows, _metrics):
        return all(
            row["not_attempted"]["device_absent"] > before[peer]["not_attempted"]["device_absent"]
            for peer, row in rows.items()
        )

    rows, _ = audit.wait(VICTIM, absent, 15, "what comes due is booked as without a device")
    for row in rows.values():
        assert (row["state"], row["verdict"]) == ("disabled", "unknown"), row
        assert "rxe0 is released" in row["reason"], row
    assert [(f["severity"], f["subject"]) for f in findings(lab, VICTIM)] == [
        ("warning", "device:rxe0")
    ]
    status = lab.json(VICTIM, "/api/v1/status")
    assert status["verdict"] == "unknown" and "released" in status["reason"], status
    wait_for(
        lambda: lab.exec(VICTIM, "pgrep -c -x rxe0", check=False).stdout.strip() == "0",
        5,
        "no process of the device is left",
    )


def test_only_root_and_the_service_reach_the_control_socket(lab):
    shown = lab.exec(VICTIM, "stat -c '%A %U' /run/rdma-pingmesh/control").stdout.strip()
    assert shown == "srw------- rdma-pingmesh", shown
    for user, code in (("nobody", 3), ("rdma-pingmesh", 0), ("root", 0)):
        done = lab.exec(
            VICTIM, f"setpriv --reuid {user} --clear-groups rdma-pingmesh reload", check=False
        )
        assert done.returncode == code, (user, done.stdout, done.stderr)
