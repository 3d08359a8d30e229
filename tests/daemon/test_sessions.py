"""What is told of sessions: histograms, the worst ones, those of a rail with itself."""

import os
import time

from harness import PROBE, TWO_PEERS, Daemon, Ratchet, wait_for
from test_peers import names
from test_reload import adds, reload, removes

RTT_COUNT = "rdma_session_rtt_seconds_count"


def test_histogram_of_each_session_holds_every_round_trip_once():
    with Daemon(PROBE + "[metrics]\nper_peer = histogram\n" + TWO_PEERS) as d:
        d.wait_up()
        wait_for(lambda: d.metric(RTT_COUNT, peer="host2", op="send") >= 20)
        ratchet = Ratchet()
        ratchet.look(d)
        samples = d.metrics()

        def of_host2(name, **labels):
            wanted = {("peer", "host2"), ("op", "send"), *labels.items()}
            return [v for (n, pairs), v in samples.items() if n == name and wanted <= pairs][0]

        count = of_host2(RTT_COUNT)
        assert of_host2("rdma_session_rtt_seconds_bucket", le="+Inf") == count
        assert of_host2("rdma_session_rtt_seconds_bucket", le="0.0002") == 0
        assert of_host2("rdma_session_rtt_seconds_bucket", le="0.0005") == count  # 250 us each
        assert abs(of_host2("rdma_probe_rtt_seconds_count") - count) <= 1
        # a worker that dies takes nothing along, and a reload that changes the interval neither
        os.kill(d.worker_pid(), 9)
        wait_for(lambda: d.device()["worker"]["state"] == "backoff")
        ratchet.look(d)
        d.wait_up()
        wait_for(lambda: d.metric(RTT_COUNT, peer="host2", op="send") > count + 5)
        ratchet.look(d)
        d.configure(PROBE + TWO_PEERS)
        reload(d)
        wait_for(lambda: d.metric(RTT_COUNT, peer="host2", op="send") is None)


def test_worst_sessions_of_a_rail_are_told_alone():
    peers = "[peers]\n" + "".join(f"peer = host{i}/rxe0 10.99.0.{i}\n" for i in range(1, 14))
    with Daemon(PROBE + "[metrics]\nper_peer = worst\n" + peers) as d:
        d.wait_up(12)
        wait_for(lambda: len([1 for name, _ in d.metrics() if name == "rdma_session_up"]) == 8)
        assert len(d.peers()) == 12


def test_loopback_is_a_session_of_each_rail_outside_of_its_sums():
    config = PROBE.replace("[probe]\n", "[probe]\nloopback = yes\n") + TWO_PEERS
    with Daemon(config) as d:
        d.wait_up()
        wait_for(lambda: d.metric("rdma_loopback_up", rail="rxe0") == 1)
        wait_for(lambda: d.metric("rdma_loopback_probe_ok_total", rail="rxe0", op="send") > 5)
        assert "peer=host1/rxe0 loopback" in "\n".join(adds(d))
        assert names(d) == ["host2", "host3"]
        assert d.json("/api/v1/status")["sessions"] == {"up": 2, "total": 2}
        ratchet = Ratchet()
        ratchet.look(d)
        samples = d.metrics()
        of_peers = sum(v for (n, pairs), v in samples.items()
                       if n == "rdma_probe_ok_total" and ("op", "send") in pairs)
        of_rail = sum(v for (n, pairs), v in samples.items()
                      if n == "rdma_rail_probe_ok_total" and ("op", "send") in pairs)
        assert of_peers == of_rail
        count = [v for (n, pairs), v in samples.items()
                 if n == "rdma_rail_rtt_seconds_count" and ("op", "send") in pairs]
        assert count == [of_rail]
        assert d.metric("rdma_rail_sessions", rail="rxe0", state="up") == 2
        # without an address for a while: down, and its books go on
        d.script("rxe0", "rail rxe0 - down")
        wait_for(lambda: d.metric("rdma_rail_up", rail="rxe0") == 0)
        reload(d)
        time.sleep(1.5)
        ratchet.look(d)
        assert d.metric("rdma_loopback_probe_ok_total", rail="rxe0", op="send") > 5
        d.script("rxe0", "rail rxe0 10.99.0.1 up")
        wait_for(lambda: d.metric("rdma_rail_up", rail="rxe0") == 1)
        time.sleep(1.5)
        ratchet.look(d)
        assert removes(d) == []
        # off again: gone, and what it counted is nobody's
        d.configure(PROBE + TWO_PEERS)
        reload(d)
        wait_for(lambda: d.metric("rdma_loopback_up", rail="rxe0") is None)
        ratchet.look(d)
        assert len(removes(d)) == 1
