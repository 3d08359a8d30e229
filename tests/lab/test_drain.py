"""How connections end on the two kernels: with the event that says so, or by the marker alone."""

import pytest

from audit import Audit, wait_counters
from guest import own_config, reload_service, without_peer, write_config

DRAINS = "rdma_qp_drains_total"


def outcomes(metrics):
    return {
        name: metrics.value(DRAINS, rail="rxe0", outcome=name)
        for name in ("last_wqe", "marker", "timeout")
    }


def drain_one(lab, host, peer):
    """Take a peer out of the list and put it back; by how much the outcomes grew at either end."""
    audit = Audit(lab)
    before = {h: outcomes(audit.look(h)[1]) for h in (host, peer)}
    with own_config(lab, host) as text:
        write_config(lab, host, without_peer(text, peer))
        reload_service(lab, host)
        audit.wait(host, lambda rows, _: peer not in rows, 20, "the session has left")
    for h in (host, peer):
        audit.wait(
            h,
            lambda _, m, h=h: sum(outcomes(m).values()) > sum(before[h].values()),
            20,
            f"{h} has drained its end",
        )
    lab.wait_healthy()
    after = {h: outcomes(audit.look(h)[1]) for h in (host, peer)}
    return {h: {name: after[h][name] - before[h][name] for name in before[h]} for h in before}


@pytest.mark.lab(kernel="6.12")
def test_a_drain_ends_with_the_last_wqe_event(lab):
    for host, grown in drain_one(lab, "host1", "host2").items():
        assert grown["last_wqe"] >= 1 and grown["timeout"] == 0, (host, grown)
        events = lab.metrics(host).value(
            "rdma_async_events_total", device="rxe0", port="", event="qp_last_wqe_reached"
        )
        assert events >= 1


@pytest.mark.lab(hosts=2, kernel="6.1")
def test_a_kernel_without_that_event_drains_by_the_marker(lab):
    assert lab.exec("host1", "uname -r").stdout.startswith("6.1.")
    for host, grown in drain_one(lab, "host1", "host2").items():
        assert grown["marker"] >= 1 and grown["last_wqe"] == grown["timeout"] == 0, (host, grown)
    for host in lab.hosts:
        assert lab.json(host, "/api/v1/status")["verdict"] == "ok"
        wait_counters(lab, host)
