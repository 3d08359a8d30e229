"""A host without RDMA: the daemon serves, says why once, and takes the device when it comes."""

import contextlib

from audit import Audit, findings, wait_reachable
from guest import journal_cursor, journal_since, main_pid
from waiting import wait_for

VICTIM = "host3"
PICKED_UP_WITHIN_S = 10
COMPLAINT = "no RDMA device on this host"

# Whoever asks for the modules does not get them, the service's own unit included.
TAKE_AWAY = """
set -e
for m in ib_uverbs rdma_ucm rdma_rxe rdma_cm; do echo "install $m /bin/false"; done \
	> /etc/modprobe.d/lab-no-rdma.conf
systemctl stop rdma-pingmesh
rdma link del rxe0
rmmod rdma_rxe rdma_ucm rdma_cm iw_cm ib_cm ib_uverbs
"""
GIVE_BACK = """
set -e
rm /etc/modprobe.d/lab-no-rdma.conf
modprobe -a ib_uverbs rdma_rxe rdma_ucm
rdma link add rxe0 type rxe netdev eth0
"""


@contextlib.contextmanager
def without_rdma(lab, host):
    lab.exec(host, TAKE_AWAY)
    try:
        yield
    except BaseException:
        lab.exec(host, GIVE_BACK)
        raise


def check_bare(lab, cursor):
    status = wait_reachable(lab, VICTIM)
    assert status["sessions"] == {"up": 0, "total": 0} and status["rails"]["up"] == 0
    assert status["verdict"] == "unknown", status
    assert lab.get(VICTIM, "/-/ready")[0] == 200
    assert lab.get(VICTIM, "/-/healthy")[0] == 200
    assert lab.get(VICTIM, "/api/v1/health")[0] == 200
    assert lab.json(VICTIM, "/api/v1/devices")["devices"] == []
    assert lab.rows(VICTIM) == []
    metrics = lab.metrics(VICTIM)
    assert metrics.samples("rdma_pingmesh_build_info")
    text = journal_since(lab, VICTIM, cursor)
    assert text.count(COMPLAINT) == 1, text


def test_a_host_without_rdma_serves_and_picks_the_device_up(lab):
    cursor = journal_cursor(lab, VICTIM)
    with without_rdma(lab, VICTIM):
        assert lab.exec(VICTIM, "ls /dev/infiniband", check=False).returncode != 0
        lab.exec(VICTIM, "systemctl start rdma-pingmesh")
        check_bare(lab, cursor)
        pid = main_pid(lab, VICTIM)
        # Some scans later it has not said so again.
        lab.exec(VICTIM, "sleep 6")
        assert journal_since(lab, VICTIM, cursor).count(COMPLAINT) == 1
        lab.exec(VICTIM, GIVE_BACK)
    wait_for(
        lambda: lab.json(VICTIM, "/api/v1/status")["rails"]["up"] == 1,
        PICKED_UP_WITHIN_S,
        "the device is picked up",
    )
    Audit(lab).wait(
        VICTIM,
        lambda rows, _: [row["verdict"] for row in rows.values()] == ["ok", "ok"],
        30,
        "its sessions are up",
    )
    assert main_pid(lab, VICTIM) == pid
    wait_for(lambda: findings(lab, VICTIM) == [], 10, "nothing is left to say")
