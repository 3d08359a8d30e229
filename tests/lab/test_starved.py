"""The service gets 5 % of a processor: what that spoils is its own delay and nobody's fault."""

from audit import Audit, Events, findings
from guest import main_pid, worker_pid
from host_faults import cpu_quota
from waiting import wait_for

VICTIM = "host2"
QUOTA = 5
BLAME_ELSEWHERE = ("path", "congestion", "remote_nic", "remote_host", "local_nic", "local_port")


def self_delayed(metrics):
    return metrics.sum("rdma_rail_probe_self_delayed_total", rail="rxe0")


def measured(metrics):
    return metrics.sum("rdma_rail_rtt_seconds_count", rail="rxe0")


def test_a_starved_service_blames_itself(lab):
    audit, events = Audit(lab), Events(lab, VICTIM)
    lives = main_pid(lab, VICTIM), worker_pid(lab, VICTIM)
    _, before = audit.look(VICTIM)
    lags = []

    def shows(rows, metrics):
        lags.append(metrics.value("rdma_pingmesh_loop_lag_seconds"))
        for row in rows.values():
            blamed = row["verdict"] == "failing" and row["cause"] in BLAME_ELSEWHERE
            assert not blamed, (row["peer"], row["verdict"], row["cause"], row["reason"])
        return self_delayed(metrics) >= self_delayed(before) + 40 and max(lags) > 0.02

    with cpu_quota(lab, VICTIM, QUOTA):
        _, metrics = audit.wait(VICTIM, shows, 60, lambda: f"its own delay is told: {lags}")
        # Kept out of what is told of the fabric.
        sent = metrics.sum("rdma_rail_probe_ok_total", rail="rxe0")
        sent += metrics.sum("rdma_rail_probe_late_total", rail="rxe0")
        assert measured(metrics) - metrics.value(
            "rdma_rail_rtt_seconds_count", rail="rxe0", op="ack"
        ) == sent - self_delayed(metrics)
        print(f"loop lag up to {max(lags):.3f} s, self_delayed {self_delayed(metrics):.0f}")
        assert lab.get(VICTIM, "/-/healthy")[0] == 200
    audit.wait(
        VICTIM,
        lambda rows, _: all(row["verdict"] == "ok" for row in rows.values()),
        30,
        "all is well",
    )
    wait_for(lambda: findings(lab, VICTIM) == [], 20, "no finding is left")
    assert (main_pid(lab, VICTIM), worker_pid(lab, VICTIM)) == lives
    assert events.texts(kind="rail") == []
