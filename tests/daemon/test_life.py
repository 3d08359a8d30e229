"""Start, serve, tell the service manager, reload, stop."""

import os
import re
import signal
import socket
import subprocess
import time

import pytest

from harness import DAEMON, FAKE_WORKER, PROBE, TWO_PEERS, Daemon, free_port, wait_for


@pytest.fixture
def manager(tmp_path):
    """A socket as the service manager's: (environment, function that returns what came)."""
    path = str(tmp_path / "notify")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sock.bind(path)
    sock.setblocking(False)

    def received():
        messages = []
        while True:
            try:
                messages.append(sock.recv(4096).decode())
            except BlockingIOError:
                return messages

    yield {"NOTIFY_SOCKET": path}, received
    sock.close()


def accepted(told):
    """How many addresses the last accept list has: it comes in packets, its own ones apart."""
    total = 0
    for first, n in re.findall(r"accept first=(\d+) n=(\d+)", "\n".join(told)):
        total = int(n) + (0 if first == "1" else total)
    return total


def test_two_sessions_come_up_and_own_address_is_dropped():
    with Daemon() as d:
        d.wait_up()
        assert [r["peer"] for r in d.peers()] == ["host2", "host3"]
        status = d.json("/api/v1/status")
        assert status["host"] == "host1"
        assert status["verdict"] == "ok"
        assert status["sessions"] == {"up": 2, "total": 2}
        assert status["rails"] == {"up": 1, "total": 1}
        told = d.told()
        assert told[0].startswith("config host=")
        assert any("host=host1" in line for line in told)
        assert accepted(told) >= 3
        assert d.metric("rdma_session_up", peer="host2", rail="rxe0") == 1
        assert d.metric("rdma_peer_info", peer="host1") is None
        assert wait_for(lambda: d.metric("rdma_sent_pkts_total", device="rxe0")) == 1000


def test_each_operation_that_is_on_has_a_member_and_an_ok_verdict_needs_all():
    with Daemon(PROBE.replace("[counters]", "atomic_interval = 2s\n[counters]") + TWO_PEERS) as d:
        d.wait_up()
        assert set(d.peer("host2")["ops"]) == {"send", "ack", "read", "write", "atomic"}
        assert int(d.peer("host2")["ops"]["atomic"]["ok"]) >= 1
        for op in ("write", "atomic"):
            assert d.metric("rdma_probe_ok_total", peer="host2", op=op) >= 1
            assert d.metric("rdma_rail_probe_sent_total", rail="rxe0", op=op) >= 1


def test_operation_that_a_peer_lacks_is_told_once_and_no_loss():
    with Daemon(start=False) as d:
        d.script("rxe0", "lack write 2")
        d.start()
        d.wait_up()
        row = d.peer("host2")
        assert set(row["ops"]) == {"send", "ack", "read"}
        assert (row["verdict"], row["cause"]) == ("ok", "none")
        assert row["reason"] == "write is not run: the peer offers no memory to write to"
        time.sleep(2)
        texts = [e["text"] for e in d.events() if e["kind"] == "operation"]
        assert texts == ["write is not run: the peer offers no memory to write to"] * 2
        assert d.log().count("write is not run") == 2
        assert d.metric("rdma_probe_scheduled_total", peer="host2", op="write") is None
        # The peer was upgraded.
        d.script("rxe0")
        d.configure(PROBE.replace("write_interval = 100ms", "write_interval = 150ms") + TWO_PEERS)
        d.send_signal(signal.SIGHUP)
        wait_for(lambda: d.peer("host2")["ops"].get("write", {}).get("ok"))
        assert d.peer("host2")["reason"] == ""
        assert d.log().count("write is run now") == 2


def test_operation_that_the_device_lacks_is_told_once_for_all_peers():
    with Daemon(start=False) as d:
        d.script("rxe0", "lack write 1")
        d.start()
        d.wait_up()
        assert d.peer("host3")["reason"] == "write is not run: this device has no WRITE"
        time.sleep(1)
        assert d.log().count("write is not run") == 1
        assert [e["text"] for e in d.events() if e["kind"] == "operation"] == [
            "write is not run: this device has no WRITE"]


def test_without_any_device_it_serves_and_says_why_once():
    with Daemon(devices=()) as d:
        time.sleep(2.5)
        assert d.get("/-/healthy")[0] == 200
        assert d.json("/api/v1/status")["verdict"] == "unknown"
        assert d.json("/api/v1/status")["host"] == socket.gethostname()
        assert d.json("/api/v1/devices")["devices"] == []
        assert d.log().count("no RDMA device") == 1
        assert d.get("/api/v1/health")[0] == 200


def test_without_the_class_directory_it_serves_too():
    with Daemon(devices=(), start=False) as d:
        d.classes.rmdir()
        d.start()
        assert d.get("/-/ready")[0] == 200
        assert "No such file" in d.log()


def test_device_that_comes_later_is_found():
    with Daemon(devices=()) as d:
        d.plug("rxe0")
        wait_for(lambda: d.device(), 7, "device")
        d.wait_up()


def test_other_sysfs_root_only_counts():
    with Daemon(mode="count") as d:
        wait_for(lambda: d.metric("rdma_sent_pkts_total", device="rxe0") == 1000)
        assert d.peers() == []
        assert not any(line.startswith("add") for line in d.told())


def test_excluded_devices_are_never_opened():
    with Daemon(PROBE + "exclude = mlx5_* rxe1\n" + TWO_PEERS,
                devices=("rxe0", "rxe1", "mlx5_7")) as d:
        d.wait_up()
        assert [x["device"] for x in d.json("/api/v1/devices")["devices"]] == ["rxe0"]
        assert d.told("rxe1") == [] and d.told("mlx5_7") == []


def test_peers_without_rail_go_by_route_and_the_unreachable_are_told():
    peers = "[peers]\npeer = near 127.0.0.9\npeer = far 192.0.2.77\n"
    with Daemon(PROBE + peers, devices=("rxe0", "rxe1"), start=False) as d:
        d.script("rxe0", "rail rxe0 127.0.0.1 up")
        d.script("rxe1", "rail rxe1 10.255.255.1 up")
        d.start()
        d.wait_up(1)
        assert [(r["peer"], r["rail"], r["peer_rail"]) for r in d.peers()] == [("near", "rxe0", "")]
        d.wait_log("1 listed addresses cannot be reached")


def test_single_rail_takes_peers_without_rail_whatever_the_route():
    with Daemon(PROBE + "[peers]\npeer = far 192.0.2.77\n") as d:
        d.wait_up(1)
        assert d.peers()[0]["rail"] == "rxe0"


def test_ready_comes_last_and_stopping_first(manager):
    env, received = manager
    with Daemon(env=env) as d:
        d.wait_up()
        messages = received()
        assert messages.count("READY=1") == 1
        assert any("2 of 2 sessions up" in m for m in messages)
        received()
        assert d.stop()[0] == 0
        assert "STOPPING=1" in received()


def test_reload_is_told_with_its_time(manager):
    env, received = manager
    with Daemon(env=env) as d:
        received()
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        d.send_signal(signal.SIGHUP)
        d.wait_log("configuration reloaded")
        messages = wait_for(lambda: received(), what="messages")
        time.sleep(0.2)
        messages += received()
        reloading = [m for m in messages if m.startswith("RELOADING=1\nMONOTONIC_USEC=")]
        assert len(reloading) == 1
        assert before <= int(reloading[0].rsplit("=", 1)[1]) <= before + 10_000_000
        assert messages.index("READY=1") > messages.index(reloading[0])


@pytest.mark.parametrize("usec, least", [(500_000, 6), (2_000_000, 2)])
def test_watchdog_is_fed_twice_in_its_time(manager, usec, least):
    env, received = manager
    with Daemon(env=dict(env, WATCHDOG_USEC=str(usec)), devices=()) as d:
        received()
        time.sleep(2.1)
        assert received().count("WATCHDOG=1") >= least
        # A main that stands still feeds nobody.
        d.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        received()
        time.sleep(1.5)
        assert received() == []
        d.send_signal(signal.SIGCONT)
        wait_for(lambda: "WATCHDOG=1" in received(), what="food again")


def test_watchdog_is_fed_at_once_after_a_pause(manager):
    env, received = manager
    # Its timer, of 4 s, comes just before the fourth tick: both are due when main wakes.
    with Daemon(env=dict(env, WATCHDOG_USEC="12000000"), devices=()) as d:
        time.sleep(3.4)
        d.send_signal(signal.SIGSTOP)
        time.sleep(4)
        received()
        d.send_signal(signal.SIGCONT)
        wait_for(lambda: "WATCHDOG=1" in received(), 2.5, "food")


def test_no_watchdog_when_unset_or_of_another_process(manager):
    env, received = manager
    for more in ({}, {"WATCHDOG_USEC": "300000", "WATCHDOG_PID": "1"}):
        with Daemon(env=dict(env, **more), devices=()):
            time.sleep(1.2)
            assert "WATCHDOG=1" not in received()


def test_workers_do_not_inherit_the_service_managers_variables(manager):
    env, _ = manager
    with Daemon(env=dict(env, WATCHDOG_USEC="30000000")) as d:
        d.wait_up()
        environment = open(f"/proc/{d.worker_pid()}/environ").read()
        assert "NOTIFY_SOCKET" not in environment and "WATCHDOG" not in environment


def test_workers_inherit_no_descriptor_but_their_two():
    with Daemon(devices=("rxe0", "rxe1")) as d:
        d.wait_up()
        for device in ("rxe0", "rxe1"):
            fds = sorted(int(fd) for fd in os.listdir(f"/proc/{d.worker_pid(device)}/fd"))
            assert fds == [0, 1, 2, 3, 4]


def test_port_in_use_is_an_error_that_names_it():
    port = free_port()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with Daemon(port=port, start=False) as d:
            status = subprocess.run(
                [DAEMON, FAKE_WORKER, "probe", "--config", str(d.conf), "--sysfs-root",
                 str(d.dir / "sys")], env=d.env, capture_output=True, timeout=10, check=False)
            assert status.returncode == 1
            assert str(port) in status.stderr.decode()


def test_bad_configuration_exits_with_file_and_line():
    with Daemon("[probe]\nsend_interval = soon\n", start=False) as d:
        status = subprocess.run([DAEMON, FAKE_WORKER, "probe", "--config", str(d.conf)],
                                env=d.env, capture_output=True, timeout=10, check=False)
        assert status.returncode == 78
        assert f"{d.conf}:4:" in status.stderr.decode()


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT])
def test_stop_says_goodbye_to_the_workers(signo):
    with Daemon() as d:
        d.wait_up()
        pid = d.worker_pid()
        status, seconds = d.stop(signo)
        assert status == 0 and seconds < 2.5  # patience would be 3.5 s
        assert d.told()[-1] == "stop"
        assert not os.path.exists(f"/proc/{pid}")


def test_stop_does_not_wait_for_a_deaf_or_frozen_worker():
    with Daemon(devices=("rxe0", "rxe1")) as d:
        d.wait_up()
        d.script("rxe0", "deaf")
        time.sleep(0.3)
        os.kill(d.worker_pid("rxe1"), signal.SIGSTOP)
        pids = [d.worker_pid(x) for x in ("rxe0", "rxe1")]
        status, seconds = d.stop()
        assert status == 0 and 3.3 < seconds < 5
        assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)


def test_second_signal_ends_the_patience():
    with Daemon() as d:
        d.wait_up()
        d.script("rxe0", "deaf")
        time.sleep(0.3)
        d.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        status, seconds = d.stop()
        assert status == 0 and seconds < 2.5  # patience would be 3.5 s


def test_stop_while_workers_are_in_back_off():
    with Daemon() as d:
        d.wait_up()
        d.script("rxe0", "exit 12")
        wait_for(lambda: d.device()["worker"]["state"] == "backoff")
        status, seconds = d.stop()
        assert status == 0 and seconds < 2.5  # patience would be 3.5 s


def test_health_page_tells_a_standing_main_by_its_snapshot_only():
    with Daemon() as d:
        d.wait_up()
        os.kill(d.worker_pid(), signal.SIGSTOP)
        time.sleep(4)
        assert d.get("/-/healthy")[0] == 200
        assert d.json("/api/v1/status")["snapshot_age_seconds"] < 3
