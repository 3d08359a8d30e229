"""Twenty restarts of one daemon: each time its peers take it back, and nothing is left over."""

import pytest

from audit import Audit, check_only, check_untouched
from healing import Healing
from waiting import wait_for

VICTIM = "host2"
WATCHERS = ("host1", "host3")
RESTARTS = 20

# In the guest: each restart waits until the one before has all its sessions, both ways.
SCRIPT = """
up='^rdma_rail_sessions{rail="rxe0",state="up"} 2'
passive='^rdma_worker_qps{device="rxe0",role="passive"} 2'
all_up() {
	m=$(curl -s localhost:10479/metrics) || return 1
	echo "$m" | grep -q "$up" && echo "$m" | grep -q "$passive"
}
systemctl reset-failed rdma-pingmesh
for i in $(seq RESTARTS); do
	systemctl reset-failed rdma-pingmesh # its limit of starts a minute is not what is tested
	systemctl restart rdma-pingmesh || exit 1
	for try in $(seq 300); do all_up && continue 2; sleep 0.1; done
	echo "restart $i: not up after 30 s"; exit 1
done
"""


def queue_pairs(lab, host):
    return lab.exec(host, "rdma resource show qp | grep -c 'type RC' || true").stdout.strip()


@pytest.mark.limit(300)
def test_a_daemon_restarted_twenty_times(lab):
    audit = Audit(lab)
    looks = {host: audit.look(host) for host in WATCHERS}
    healing = Healing(lab, "daemon restarted 20 times (heal: the last)", WATCHERS, peer=VICTIM)
    healing.begins()
    lab.exec(VICTIM, SCRIPT.replace("RESTARTS", str(RESTARTS)), timeout=240)
    healing.ends()
    lab.wait_healthy()
    healing.record()
    for host in WATCHERS:
        check_peer(audit, host, looks[host])
    wait_for(
        lambda: {queue_pairs(lab, host) for host in lab.hosts} == {"4"}, 20, "no QP is left over"
    )


def check_peer(audit, host, look):
    rows, metrics = audit.wait_on_schedule(host, look)
    before, metrics_before = look
    row, old = rows[VICTIM], before[VICTIM]
    # Each was a planned stop: what was in flight is nobody's loss.
    assert check_only(row, old, "failures", "timeout").get("timeout", 0) <= 2, row["failures"]
    check_only(row, old, "aborts", "peer_leaving", "flushed")
    (other,) = set(rows) - {VICTIM}
    check_untouched(rows[other], before[other])

    def drains(m, outcome):
        return m.value("rdma_qp_drains_total", rail="rxe0", outcome=outcome)

    assert drains(metrics, "timeout") == drains(metrics_before, "timeout")
    ended = sum(drains(metrics, o) - drains(metrics_before, o) for o in ("last_wqe", "marker"))
    assert ended >= 2 * RESTARTS, ended
