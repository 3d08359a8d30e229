"""The local link goes down and comes back: one finding about the port, not a loss per peer."""

from audit import Audit, Events, check_no_losses, device, findings, health_status
from guest import link_down
from waiting import wait_for

VICTIM = "host1"
PORT = {"device": "rxe0", "port": "1"}
MAX_IN_FLIGHT = 2 * 5  # of both operations, with a bound of unanswered SENDs


def grown(rows, before, kind, reason=None):
    """By how much a count of all sessions grew."""

    def total(r):
        counts = [row[kind] for row in r.values()]
        return sum(c[reason] if reason else sum(c.values()) for c in counts)

    return total(rows) - total(before)


def is_noticed(rows, metrics):
    return metrics.value("rdma_rail_up", rail="rxe0") == 0


def check_down(lab, audit, before):
    rows, _ = audit.wait(VICTIM, is_noticed, 15, "the rail is down")
    (finding,) = findings(lab, VICTIM)
    assert (finding["cause"], finding["severity"]) == ("local_port", "critical")
    assert finding["subject"] == "port:rxe0/1"
    assert "rxe0" in finding["text"] and "eth0" in finding["text"]
    status = lab.json(VICTIM, "/api/v1/status")
    assert (status["verdict"], status["cause"]) == ("failing", "local_port")
    assert status["rails"] == {"up": 0, "total": 1}
    assert health_status(lab, VICTIM) == 503
    skipped = grown(rows, before, "not_attempted", "local_port_down")
    rows, metrics = audit.wait(
        VICTIM,
        lambda rows, _: grown(rows, before, "not_attempted", "local_port_down") >= skipped + 20,
        20,
        "what comes due is not attempted",
    )
    # Nobody is missed for it.
    check_no_losses(rows, before)
    assert grown(rows, before, "aborts") == grown(rows, before, "aborts", "local_port_down")
    assert grown(rows, before, "aborts") <= MAX_IN_FLIGHT
    for row in rows.values():
        assert row["verdict"] in ("unknown", "ok"), (row["verdict"], row["reason"])
    assert metrics.samples("rdma_finding", cause="local_port")
    assert len(metrics.samples("rdma_finding")) == 1
    (port,) = device(lab, VICTIM)["ports"]
    assert port["state"] == "DOWN", port


def test_a_local_link_down_is_one_finding(lab):
    audit = Audit(lab)
    events = Events(lab, VICTIM)
    before, metrics = audit.look(VICTIM)
    asyncs = {
        name: metrics.value("rdma_async_events_total", event=name, **PORT)
        for name in ("port_err", "port_active")
    }
    downed = metrics.value("rdma_link_downed_total", **PORT)
    with link_down(lab, VICTIM):
        check_down(lab, audit, before)
    lab.wait_healthy()
    audit.wait(VICTIM, lambda _, m: m.value("rdma_rail_up", rail="rxe0") == 1, 20, "rail is up")
    wait_for(lambda: findings(lab, VICTIM) == [], 20, "no finding is left")
    _, metrics = audit.wait(
        VICTIM,
        lambda _, m: m.value("rdma_link_downed_total", **PORT) == downed + 1,
        20,
        "the device counted it",
    )
    for name, old in asyncs.items():
        assert metrics.value("rdma_async_events_total", event=name, **PORT) > old
    assert health_status(lab, VICTIM) == 200
    texts = events.texts(kind="rail", rail="rxe0")
    assert len(texts) >= 2 and texts[-1] == "up", texts
    assert metrics.value("rdma_worker_restarts_total", device="rxe0") is not None
