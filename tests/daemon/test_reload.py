"""Reload: unchanged sessions are not touched, changed ones follow, an error changes nothing."""

import os
import signal
import time

from harness import PROBE, TWO_PEERS, Daemon, Ratchet, check_books, wait_for


def reload(d, text="configuration reloaded"):
    count = d.log().count(text)
    d.send_signal(signal.SIGHUP)
    wait_for(lambda: d.log().count(text) > count, what=text)


def adds(d):
    return [line for line in d.told() if line.startswith("add")]


def series(d, *labels):
    """Those that have any of these."""
    return [(name, has) for name, has in d.metrics() if set(labels) & set(has)]


def removes(d):
    return [line for line in d.told() if line.startswith("remove")]


def test_reload_of_the_same_file_touches_no_session():
    with Daemon() as d:
        d.wait_up()
        ratchet = Ratchet()
        ratchet.look(d)
        before = adds(d)
        since = d.peer("host2")["since"]
        for _ in range(5):
            reload(d)
            ratchet.look(d)
        assert adds(d) == before and removes(d) == []
        assert d.peer("host2")["since"] == since
        assert d.metric("rdma_worker_restarts_total", device="rxe0") == 0
        assert d.metric("rdma_pingmesh_config_last_reload_successful") == 1


def test_bad_configuration_keeps_the_old_one_and_says_where():
    with Daemon() as d:
        d.wait_up()
        good = d.conf.read_text()
        hash_before = [k for k in d.metrics() if k[0] == "rdma_pingmesh_config_info"]
        d.conf.write_text(good + "[probe]\nsend_interval = soon\n")
        reload(d, "reload refused")
        assert f"{d.conf}:{len(good.splitlines()) + 2}:" in d.log()
        wait_for(lambda: d.metric("rdma_pingmesh_config_last_reload_successful") == 0)
        assert [k for k in d.metrics() if k[0] == "rdma_pingmesh_config_info"] == hash_before
        assert removes(d) == []
        assert any("refused" in e["text"] for e in d.events("reload"))
        d.conf.write_text(good)
        reload(d)
        wait_for(lambda: d.metric("rdma_pingmesh_config_last_reload_successful") == 1)
        d.wait_up()


def test_missing_file_keeps_the_old_configuration():
    with Daemon() as d:
        d.wait_up()
        d.conf.unlink()
        reload(d, "reload refused")
        d.wait_up()


def test_peers_come_and_go_and_the_others_keep_their_books():
    with Daemon() as d:
        d.wait_up()
        ratchet = Ratchet()
        ratchet.look(d)
        rail_before = d.metric("rdma_rail_probe_ok_total", rail="rxe0", op="send",
                               **{"class": "default"})
        assert series(d, ("peer", "host3"))
        d.configure(PROBE + TWO_PEERS.replace("host3/rxe0 10.99.0.3", "host4/rxe0 10.99.0.4"))
        reload(d)
        wait_for(lambda: [r["peer"] for r in d.peers()] == ["host2", "host4"])
        assert series(d, ("peer", "host3")) == []
        # main shows a peer as soon as it has told the worker, which writes down later what it was told
        wait_for(lambda: (len(removes(d)), len(adds(d))) == (1, 3), what="one peer for another")
        ratchet.look(d)
        # the totals of the rail survive the peer
        assert d.metric("rdma_rail_probe_ok_total", rail="rxe0", op="send",
                        **{"class": "default"}) >= rail_before
        # and a peer that returns starts at nothing
        ok = d.peer("host2")["ops"]["send"]["ok"]
        d.configure(PROBE + TWO_PEERS)
        reload(d)
        row = wait_for(lambda: d.peer("host3"))
        assert row["ops"]["send"]["ok"] < ok
        d.wait_up()
        assert (len(removes(d)), len(adds(d))) == (2, 4), "and nothing else was touched"


def test_other_probe_settings_rebuild_the_sessions_and_the_counts_go_on():
    with Daemon() as d:
        d.wait_up()
        ratchet = Ratchet()
        ratchet.look(d)
        before = d.peer("host2")["ops"]["send"]["ok"]
        d.configure(PROBE.replace("100ms", "50ms").replace("80ms", "40ms") + TWO_PEERS)
        reload(d)
        wait_for(lambda: len(adds(d)) == 4)
        # what is in flight is nobody's loss: reason `reload`
        assert all(line.endswith("reason=2") for line in removes(d))
        told = d.told()
        config = max(i for i, l in enumerate(told) if "send=50000000" in l)
        assert max(i for i, l in enumerate(told) if l.startswith("remove")) < config
        assert min(i for i, l in enumerate(told) if l.startswith("add") and i > 6) > config
        d.wait_up()
        begin, first = time.monotonic(), d.peer("host2")
        for _ in range(15):
            ratchet.look(d)
            time.sleep(0.2)
        last = d.peer("host2")
        assert last["ops"]["send"]["ok"] > before
        due = last["ops"]["send"]["scheduled"] - first["ops"]["send"]["scheduled"]
        assert abs(due - (time.monotonic() - begin) * 20) < 30
        check_books(last)


def test_operation_switched_off_has_no_member():
    with Daemon() as d:
        d.wait_up()
        d.configure(PROBE.replace("read_interval = 100ms", "read_interval = off") + TWO_PEERS)
        reload(d)
        wait_for(lambda: "read" not in d.peer("host2")["ops"])
        wait_for(lambda: len(adds(d)) == 4)
        wait_for(lambda: d.peer("host2")["verdict"] == "ok")


def test_other_address_of_a_peer_rebuilds_its_session_only():
    with Daemon() as d:
        d.wait_up()
        d.configure(PROBE + TWO_PEERS.replace("10.99.0.3", "10.99.0.33"))
        reload(d)
        wait_for(lambda: d.peer("host3")["address"] == "10.99.0.33")
        wait_for(lambda: len(adds(d)) == 3)
        assert len(removes(d)) == 1
        d.wait_up()


def check_round_trips(metrics):
    """Each rail's histogram has the round trips that the books have, of every class there was."""
    counts = {labels: value for (name, labels), value in metrics.items()
              if name == "rdma_rail_rtt_seconds_count" and ("op", "ack") not in labels}
    assert counts
    for labels, count in counts.items():
        ok, late, delayed = (metrics[(f"rdma_rail_probe_{name}_total", labels)]
                             for name in ("ok", "late", "self_delayed"))
        assert count == ok + late - delayed, labels
    return counts


def test_other_classes_start_fresh_workers():
    with Daemon() as d:
        d.wait_up()
        ratchet = Ratchet()
        ratchet.look(d)
        d.configure(PROBE + TWO_PEERS + "[class lossless]\ntos = 104\n[class bulk]\ntos = 0\n")
        reload(d)
        wait_for(lambda: sorted(r["class"] for r in d.peers()) ==
                 ["bulk", "bulk", "lossless", "lossless"])
        d.wait_up(4)
        assert d.metric("rdma_worker_restarts_total", device="rxe0") == 1
        ratchet.look(d)
        counts = check_round_trips(d.metrics())
        # what the old worker counted last belongs to the class that it had, not to its successor
        assert {dict(labels)["class"] for labels, count in counts.items() if count} == {
            "default", "lossless", "bulk"}
        # gone with its sessions is the class's name for new probes, not what it counted
        assert d.metric("rdma_rail_probe_ok_total", rail="rxe0", op="send",
                        **{"class": "default"}) > 0


def test_keys_that_need_a_restart_are_named():
    with Daemon() as d:
        d.wait_up()  # its own address, and with it its name, comes with the first rail
        d.configure(PROBE + TWO_PEERS + "[limits]\nqps_per_device = 64\n[daemon]\nname = other\n")
        reload(d)
        line = [l for l in d.log().splitlines() if "only after a restart" in l][0]
        assert "limits.qps_per_device" in line and "daemon.name" in line
        assert d.json("/api/v1/status")["host"] == "host1"


def test_no_peers_left_is_valid():
    with Daemon() as d:
        d.wait_up()
        d.configure(PROBE)
        reload(d)
        wait_for(lambda: d.peers() == [])
        wait_for(lambda: len(removes(d)) == 2)
        assert d.json("/api/v1/status")["sessions"] == {"up": 0, "total": 0}


def test_device_excluded_by_reload_is_let_go_and_taken_up_again():
    with Daemon() as d:
        d.wait_up()
        pid = d.worker_pid()
        d.configure(PROBE + "exclude = rxe*\n" + TWO_PEERS)
        reload(d)
        wait_for(lambda: not os.path.exists(f"/proc/{pid}"))
        wait_for(lambda: d.device() is None)
        wait_for(lambda: d.peers() == [])
        assert d.metric("rdma_rail_up", rail="rxe0") is None
        d.configure(PROBE + TWO_PEERS)
        reload(d)
        wait_for(lambda: d.device() and d.device()["worker"]["state"] == "up")
        d.wait_up()


def test_reload_while_the_worker_is_frozen_takes_effect_when_it_wakes():
    with Daemon() as d:
        d.wait_up()
        ratchet = Ratchet()
        ratchet.look(d)
        pid = d.worker_pid()
        os.kill(pid, signal.SIGSTOP)
        d.configure(PROBE + TWO_PEERS.replace("peer = host3/rxe0 10.99.0.3", ""))
        reload(d)
        wait_for(lambda: [r["peer"] for r in d.peers()] == ["host2"])
        ratchet.look(d)
        os.kill(pid, signal.SIGCONT)
        wait_for(lambda: len(removes(d)) == 1)
        d.wait_up(1)
        ratchet.look(d)


def test_reload_while_the_worker_is_away_keeps_rail_sessions_and_counts():
    with Daemon() as d:
        d.wait_up()
        ratchet = Ratchet()
        ratchet.look(d)
        os.kill(d.worker_pid(), signal.SIGKILL)
        wait_for(lambda: d.device()["worker"]["state"] == "backoff")
        reload(d)
        ratchet.look(d)
        assert len(d.peers()) == 2
        d.wait_up()
        ratchet.look(d)


def test_reload_drops_a_rail_whose_device_is_gone():
    with Daemon() as d:
        d.wait_up()
        assert series(d, ("rail", "rxe0")) and series(d, ("device", "rxe0"))
        d.unplug("rxe0")
        wait_for(lambda: d.device()["worker"]["state"] == "exited")
        assert d.metric("rdma_rail_up", rail="rxe0") == 0
        reload(d)
        wait_for(lambda: d.metric("rdma_rail_up", rail="rxe0") is None)
        assert series(d, ("rail", "rxe0"), ("device", "rxe0")) == []
        assert d.peers() == [] and d.device() is None
        d.plug("rxe0")
        d.wait_up()


def test_rows_are_used_again_when_sessions_left():
    limits = "[limits]\nqps_per_device = 8\n"
    many = "[peers]\n" + "".join(f"peer = host{i}/rxe0 10.99.0.{i}\n" for i in range(1, 9))
    with Daemon(PROBE + limits + many) as d:
        # half of 8 for own sessions; the rest is disabled with a reason
        wait_for(lambda: sum(r["state"] == "up" for r in d.peers()) == 4)
        disabled = [r for r in d.peers() if r["state"] == "disabled"]
        assert len(disabled) == 3
        assert all("qps_per_device" in r["reason"] for r in disabled)
        assert all(r["ops"]["send"]["scheduled"] == 0 for r in disabled)
        for round_ in range(6):
            base = 20 + 10 * round_
            d.configure(PROBE + limits + "[peers]\npeer = host1/rxe0 10.99.0.1\n" + "".join(
                f"peer = host{i}/rxe0 10.99.0.{i}\n" for i in range(base, base + 4)))
            reload(d)
            d.wait_up(4)


def test_fds_stay_flat_over_many_reloads_good_and_bad():
    with Daemon() as d:
        d.wait_up()
        good, bad, small = d.conf.read_text(), "[nonsense\n", None
        d.configure(PROBE + TWO_PEERS.replace("peer = host3/rxe0 10.99.0.3", ""))
        small = d.conf.read_text()

        def fds():
            return len(os.listdir(f"/proc/{d.process.pid}/fd"))

        before = None
        for _ in range(7):
            for text, says in ((good, "reloaded"), (bad, "refused"), (small, "reloaded")):
                d.conf.write_text(text)
                reload(d, "configuration reloaded" if says == "reloaded" else "reload refused")
            time.sleep(0.2)
            before = before or fds()
        assert abs(fds() - before) <= 1
        d.wait_up(1)


def test_post_reload_only_when_allowed():
    with Daemon() as d:
        d.wait_up()
        assert d.get("/-/reload", data=b"")[0] in (403, 404, 405)
        d.conf.write_text(d.conf.read_text().replace("[http]\n", "[http]\nallow_reload = yes\n"))
        reload(d)
        count = d.log().count("configuration reloaded")
        assert d.get("/-/reload", data=b"")[0] == 200
        assert d.log().count("configuration reloaded") == count + 1
        d.conf.write_text("[http]\nallow_reload = maybe\n")
        status, body = d.get("/-/reload", data=b"")
        assert status >= 400 and f"{d.conf}:2:" in body
