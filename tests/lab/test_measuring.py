"""A healthy fabric: every host measures every other and answers it, and the books are exact."""

import time

from audit import Audit, findings, wait_counters
from books import counts_of, operations
from waiting import wait_for

SCRAPES = 100
SESSION = ("peer", "rail", "peer_rail", "class")


def test_every_host_measures_every_other(lab):
    for host in lab.hosts:
        status = lab.json(host, "/api/v1/status")
        assert (status["host"], status["verdict"], status["cause"]) == (host, "ok", "none")
        assert status["sessions"] == {"up": 2, "total": 2}
        assert status["rails"] == {"up": 1, "total": 1}
        assert findings(lab, host) == []
        rows = lab.rows(host)
        assert sorted(row["peer"] for row in rows) == lab.others(host)
        for row in rows:
            check_measured(row)


def check_measured(row):
    assert (row["state"], row["verdict"], row["cause"]) == ("up", "ok", "none"), row
    assert (row["rail"], row["peer_rail"], row["class"]) == ("rxe0", "rxe0", "default")
    assert row["address"] == "10.99.0." + row["peer"][4:]
    assert row["local_gid"] != row["remote_gid"]
    assert row["qpn"] and row["remote_qpn"] and row["udp_source_port"]
    assert set(row["ops"]) == {"send", "read", "write", "atomic", "ack"}
    for op in row["ops"].values():
        assert 0 < op["p50_seconds"] <= op["p99_seconds"]
    for op in operations(row).values():
        assert int(op["ok"]) > 0
        assert op["last_success_timestamp"] >= row["since"]


def test_both_ends_of_a_session_name_the_same_pair_of_queues(lab):
    for host in lab.hosts:
        for row in lab.rows(host):
            shown = lab.exec(row["peer"], f"rdma resource show qp lqpn {row['remote_qpn']}").stdout
            assert f"rqpn {row['qpn']} " in shown and "state RTS" in shown


def test_every_host_answers_every_other(lab):
    audit = Audit(lab)
    before = {host: wait_counters(lab, host) for host in lab.hosts}

    def has_answered(host):
        def compare(_rows, now):
            # Its own SENDs and the echoes that it gives: with both halves, twice its own.
            sent = "rdma_rdma_sends_total"
            return now.value(sent) - before[host].value(sent) > 20

        return compare

    for host in lab.hosts:
        _, metrics = audit.wait(host, has_answered(host), 30, f"{host} sends and answers")
        assert metrics.value("rdma_worker_qps", device="rxe0", role="active") == 2
        assert metrics.value("rdma_worker_qps", device="rxe0", role="passive") == 2


def test_counters_of_the_device_are_there(lab):
    for host in lab.hosts:
        metrics = wait_counters(lab, host)
        port = {"device": "rxe0", "port": "1"}
        for name in ("sent_pkts", "rcvd_pkts", "rdma_sends", "rdma_recvs"):
            assert metrics.value(f"rdma_{name}_total", **port) > 0, name
        for name in ("retry_exceeded_err", "send_err", "link_downed", "out_of_seq_request"):
            assert metrics.value(f"rdma_{name}_total", **port) is not None, name
        assert metrics.value("rdma_port_state_id", **port) == 4
        counters = lab.json(host, "/api/v1/devices")["devices"][0]["ports"][0]["counters"]
        in_guest = lab.exec(host, "ls /sys/class/infiniband/rxe0/ports/1/hw_counters").stdout
        assert set(counters) == set(in_guest.split()) - {"lifespan"}


def of_one_snapshot(lab, host):
    """(rows, metrics) of the same second."""

    def fetch():
        answer, metrics = lab.json(host, "/api/v1/peers"), lab.metrics(host)
        shown = metrics.value("rdma_pingmesh_snapshot_timestamp_seconds")
        return (answer["peers"], metrics) if abs(shown - answer["timestamp"]) < 1e-3 else None

    return wait_for(fetch, 20, "two documents of one snapshot", period=0)


def test_metrics_and_json_tell_the_same(lab):
    for host in lab.hosts:
        rows, metrics = of_one_snapshot(lab, host)
        for row in rows:
            labels = {name: row[name] for name in SESSION}
            assert metrics.value("rdma_session_up", **labels) == 1
            assert metrics.value("rdma_session_verdict_id", **labels) == 0
            for name, op in operations(row).items():
                for count in ("scheduled", "ok", "failed"):
                    shown = metrics.value(f"rdma_probe_{count}_total", op=name, **labels)
                    assert shown == int(op[count]), (labels, name, count)
                rtt = {"op": name, "quantile": "0.5", **labels}
                assert metrics.value("rdma_probe_rtt_seconds", **rtt) == op["p50_seconds"]
        # No peer has left since the daemon began: the rail has what its sessions have.
        for op in ("send", "read", "write", "atomic"):
            mine = [counts_of(row["ops"][op]) for row in rows]
            for count in ("scheduled", "sent", "ok", "late", "self_delayed"):
                total = metrics.value(f"rdma_rail_probe_{count}_total", rail="rxe0", op=op)
                assert total >= sum(counts[count] for counts in mine), (host, op, count)


def test_a_hundred_scrapes_keep_the_books(lab):
    audit = Audit(lab)
    begin = {host: audit.look(host)[0] for host in lab.hosts}
    for _ in range(SCRAPES // len(lab.hosts) + 1):
        for host in lab.hosts:
            audit.look(host)
        # A snapshot is a second old at most: see many of them.
        time.sleep(0.2)
    for host in lab.hosts:
        rows, _ = audit.look(host)
        for peer, row in rows.items():
            for op in ("send", "read", "write", "atomic"):
                old, new = counts_of(begin[host][peer]["ops"][op]), counts_of(row["ops"][op])
                assert new["ok"] > old["ok"]
