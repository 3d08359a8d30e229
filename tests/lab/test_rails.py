"""Two rails a host: sessions run by name on each, and a dead rail takes none of the other's."""

import pytest

from audit import Audit, check_no_losses, findings, wait_counters
from books import operations
from guest import link_down

VICTIM = "host1"
RAILS = {"rxe0": "10.99.0.", "rxe1": "10.99.1."}


@pytest.mark.lab(hosts=2, rails=2)
def test_rails_match_by_name(lab):
    for host in lab.hosts:
        (peer,) = lab.others(host)
        rows = {row["rail"]: row for row in lab.rows(host)}
        assert set(rows) == set(RAILS)
        for rail, row in rows.items():
            assert (row["peer"], row["peer_rail"], row["device"]) == (peer, rail, rail)
            assert row["address"] == RAILS[rail] + peer[4:]
            assert set(operations(row)) == {"send", "read", "write", "atomic"}
        metrics = lab.metrics(host)
        for rail in RAILS:
            assert metrics.value("rdma_rail_up", rail=rail) == 1
            (info,) = metrics.samples("rdma_rail_info", rail=rail)
            assert info.labels["netdev"] == "eth" + rail[3:]
            assert metrics.value("rdma_worker_up", device=rail) == 1
            wait_counters(lab, host, rail)


@pytest.mark.lab(hosts=2, rails=2)
def test_a_dead_rail_leaves_the_other_alone(lab):
    audit = Audit(lab)

    def by_rail(rows):
        return {row["rail"]: row for row in rows}

    before = by_rail(lab.rows(VICTIM))
    with link_down(lab, VICTIM, "eth1"):
        _, metrics = audit.wait(
            VICTIM, lambda _, m: m.value("rdma_rail_up", rail="rxe1") == 0, 15, "the rail is down"
        )
        assert metrics.value("rdma_rail_up", rail="rxe0") == 1
        (finding,) = findings(lab, VICTIM)
        assert (finding["cause"], finding["subject"]) == ("local_port", "port:rxe1/1")
        status = lab.json(VICTIM, "/api/v1/status")
        assert (status["verdict"], status["rails"]) == ("failing", {"up": 1, "total": 2})
        sent = metrics.value("rdma_rail_probe_ok_total", rail="rxe0", op="send")
        audit.wait(
            VICTIM,
            lambda _, m: m.value("rdma_rail_probe_ok_total", rail="rxe0", op="send") > sent + 20,
            30,
            "the other rail goes on",
        )
        row = by_rail(lab.rows(VICTIM))["rxe0"]
        assert (row["verdict"], row["qpn"]) == ("ok", before["rxe0"]["qpn"])
        check_no_losses({"rxe0": row}, before)
    lab.wait_healthy()
    row = by_rail(lab.rows(VICTIM))["rxe0"]
    assert row["qpn"] == before["rxe0"]["qpn"]
