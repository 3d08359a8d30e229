"""Devices that come, go, and wear out their workers."""

import os
import resource
import signal
import time

from harness import PROBE, Daemon, Ratchet, check_books, wait_for

def state(d, device="rxe0"):
    return d.device(device)["worker"]["state"]


def test_exit_for_a_lost_device_waits_until_it_is_back():
    with Daemon() as d:
        d.wait_up()
        d.unplug("rxe0")
        d.script("rxe0", "exit 11")
        wait_for(lambda: state(d) in ("exited", "backoff"))
        wait_for(lambda: state(d) == "exited", 7, "exited")
        wait_for(lambda: d.peer("host2")["not_attempted"]["device_absent"] > 5, 7, "device_absent")
        check_books(d.peer("host2"))
        assert d.metric("rdma_rail_up", rail="rxe0") == 0
        assert d.metric("rdma_sent_pkts_total", device="rxe0") is None
        assert d.metric("rdma_finding", subject="device:rxe0", cause="local_nic") == 1
        assert "gone from this host" in d.device()["reason"]
        assert not [k for k in d.metrics() if ("device", "rxe0") in k[1]
                    and k[0] != "rdma_rail_info"], "series of a device that is gone"
        host = d.json("/api/v1/status")
        assert (host["verdict"], host["cause"]) == ("failing", "local_nic"), host
        (d.scripts / "rxe0").unlink()
        d.plug("rxe0")
        wait_for(lambda: state(d) == "up", what="up")
        d.wait_up()
        assert d.metric("rdma_rail_up", rail="rxe0") == 1
        assert d.metric("rdma_worker_restarts_total", device="rxe0") >= 1, "counts go on"


def test_want_of_descriptors_is_no_sign_that_devices_left():
    with Daemon() as d:
        d.wait_up()
        own = d.process.pid
        _, most = resource.prlimit(own, resource.RLIMIT_NOFILE)
        resource.prlimit(own, resource.RLIMIT_NOFILE, (3, most))
        # Longer than the time between two looks.
        time.sleep(6)
        resource.prlimit(own, resource.RLIMIT_NOFILE, (most, most))
        wait_for(d.ready, what="it serves again")
        assert state(d) == "up" and d.log().count("worker started") == 1, d.log()
        d.wait_up()


def test_device_that_leaves_sends_its_worker_off():
    with Daemon() as d:
        d.wait_up()
        pid = d.worker_pid()
        d.unplug("rxe0")
        wait_for(lambda: state(d) == "exited", what="exited")
        assert "stop" in d.told()
        assert not os.path.exists(f"/proc/{pid}")


def test_deaf_worker_of_a_gone_device_is_killed():
    with Daemon() as d:
        d.wait_up()
        d.script("rxe0", "deaf")
        d.unplug("rxe0")
        wait_for(lambda: state(d) == "exited", 12, "exited")
        assert "by us" in d.log()


def test_crashing_worker_is_restarted_ever_more_slowly():
    with Daemon() as d:
        d.wait_up()
        d.script("rxe0", "exit 12")
        time.sleep(9)
        d.script("rxe0")
        starts = d.log().count("worker started")
        # 1 + 2 + 4 s, a quarter less or more
        assert 3 <= starts <= 5, d.log()
        assert d.log().count("cannot use the RDMA stack") >= starts - 1
        d.wait_up(seconds=40)


def test_trouble_of_a_device_is_told_once():
    with Daemon(start=False) as d:
        d.script("rxe0", "trouble memlock limit is 64 KiB: set LimitMEMLOCK=")
        d.start()
        wait_for(lambda: d.log().count("memlock limit") >= 1)
        time.sleep(1)
        assert d.log().count("memlock limit") == 1
        assert any(e["kind"] == "device" for e in d.events())
        assert "memlock" in d.device()["reason"]
        # The next worker has the same trouble: nothing new.
        os.kill(d.worker_pid(), signal.SIGKILL)
        wait_for(lambda: d.log().count("worker is up") == 2)
        time.sleep(0.3)
        assert d.log().count("memlock limit") == 1
        # And the one after that has none.
        d.script("rxe0")
        os.kill(d.worker_pid(), signal.SIGKILL)
        d.wait_log("can be used again", 15)


def test_counters_that_hang_are_told_while_probing_goes_on():
    with Daemon() as d:
        d.wait_up()
        assert d.metric("rdma_sent_pkts_total", device="rxe0") == 1000
        d.script("rxe0", "uncounted")
        wait_for(lambda: d.metric("rdma_finding", subject="counters:rxe0") == 1, 20, "finding")
        assert d.metric("rdma_sent_pkts_total", device="rxe0") is None
        assert d.metric("rdma_worker_up", device="rxe0") == 1
        assert [row["verdict"] for row in d.peers()] == ["ok", "ok"]
        assert d.json("/api/v1/status")["verdict"] == "ok"
        assert any("counters cannot be read" in e["text"] for e in d.events("worker"))
        d.script("rxe0")
        wait_for(lambda: d.metric("rdma_finding", subject="counters:rxe0") is None, 5, "over")
        assert any("are read again" in e["text"] for e in d.events("worker"))


def test_use_of_workers_is_summed_over_all_of_a_device():
    with Daemon() as d:
        d.wait_up()
        assert wait_for(lambda: d.metric("rdma_worker_resident_memory_bytes", device="rxe0")) > 1e5
        before = wait_for(lambda: d.metric("rdma_worker_cpu_seconds_total", device="rxe0"), 20)
        os.kill(d.worker_pid(), signal.SIGKILL)
        wait_for(lambda: state(d) == "backoff")
        assert d.metric("rdma_worker_cpu_seconds_total", device="rxe0") >= before
        assert d.metric("rdma_worker_resident_memory_bytes", device="rxe0") is None
        d.wait_up()
        assert d.metric("rdma_worker_cpu_seconds_total", device="rxe0") >= before


# --- a configured rail whose device was never seen ---

NAMED_RAILS = "[daemon]\nname = host1\n[rail rxe0]\ndevice = rxe0\n[rail rxe1]\ndevice = rxe1\n"
RAIL_PEERS = PROBE + """[peers]
peer = host1/rxe0 10.99.0.1
peer = host1/rxe1 10.99.1.1
peer = host2/rxe0 10.99.0.2
peer = host2/rxe1 10.99.1.2
"""


def row_of(d, rail):
    found = [r for r in d.peers() if r["rail"] == rail]
    assert len(found) < 2
    return found[0] if found else None


def test_sessions_of_a_rail_that_was_never_seen_are_booked_as_device_absent():
    with Daemon(NAMED_RAILS + RAIL_PEERS) as d:
        d.wait_up(1)
        row = wait_for(lambda: row_of(d, "rxe1"))
        assert (row["peer"], row["state"], row["device"]) == ("host2", "idle", "rxe1")
        wait_for(lambda: row_of(d, "rxe1")["not_attempted"]["device_absent"] >= 10)
        row = row_of(d, "rxe1")
        assert {n for n, v in row["not_attempted"].items() if v} == {"device_absent"}
        assert row["verdict"] == "unknown" and "rail rxe1 is configured" in row["reason"]
        assert row["loss_ratio"] is None  # nothing that counts was due
        check_books(row)
        assert d.metric("rdma_rail_up", rail="rxe1") == 0
        assert d.metric("rdma_rail_sessions", rail="rxe1", state="idle") == 1
        assert d.metric("rdma_rail_probe_not_attempted_total", rail="rxe1", op="send",
                        reason="device_absent") > 0
        (finding,) = d.json("/api/v1/findings")["findings"]
        assert finding["subject"] == "rail:rxe1" and "so far" in finding["text"]


def test_absent_rail_comes_alive_with_its_device_and_survives_its_going():
    with Daemon(NAMED_RAILS + RAIL_PEERS) as d:
        d.wait_up(1)
        wait_for(lambda: row_of(d, "rxe1")
                 and row_of(d, "rxe1")["not_attempted"]["device_absent"] >= 5)
        ratchet = Ratchet()
        d.script("rxe1", "rail rxe1 10.99.1.1 up")
        for _ in range(2):
            d.plug("rxe1")
            wait_for(lambda: ratchet.look(d) or row_of(d, "rxe1")["verdict"] == "ok")
            d.unplug("rxe1")
            wait_for(lambda: d.metric("rdma_rail_up", rail="rxe1") == 0)
            absent = row_of(d, "rxe1")["not_attempted"]["device_absent"]
            wait_for(lambda: ratchet.look(d)
                     or row_of(d, "rxe1")["not_attempted"]["device_absent"] > absent)
        assert row_of(d, "rxe0")["verdict"] == "ok"


def test_schedule_of_an_absent_rail_follows_a_reload():
    with Daemon(NAMED_RAILS + RAIL_PEERS) as d:
        d.wait_up(1)
        wait_for(lambda: row_of(d, "rxe1")
                 and row_of(d, "rxe1")["not_attempted"]["device_absent"] >= 5)
        ratchet = Ratchet()
        ratchet.look(d)
        d.configure(NAMED_RAILS + RAIL_PEERS.replace("100ms", "50ms").replace("80ms", "40ms"))
        d.send_signal(signal.SIGHUP)
        d.wait_log("configuration reloaded")
        before = row_of(d, "rxe1")["not_attempted"]["device_absent"]
        wait_for(lambda: ratchet.look(d)
                 or row_of(d, "rxe1")["not_attempted"]["device_absent"] > before + 40)
