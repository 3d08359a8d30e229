"""The control socket and what is asked over it: reload, release, acquire."""

import json
import os
import signal
import socket
import stat
import time

import pytest

from harness import Daemon, Ratchet, check_books, wait_for


def state(d, device="rxe0"):
    return d.device(device)["worker"]["state"]


def deafen(d):
    d.script("rxe0", "deaf")
    time.sleep(0.5)  # the worker reads its script again


def connect(d):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(str(d.dir / "control"))
    s.settimeout(20)
    return s


def ask(d, packet):
    with connect(d) as s:
        s.send(packet)
        return json.loads(s.recv(1 << 18))


def succeeds(d, *words):
    done = d.command(*words)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


# --- reload ---


def test_reload_waits_for_its_result_and_prints_every_error_with_its_line():
    with Daemon() as d:
        d.wait_up()
        assert "configuration reloaded" in succeeds(d, "reload")
        good = d.conf.read_text()
        lines = len(good.splitlines())
        d.conf.write_text(good + "[probe]\nsend_interval = soon\nread_size = 3\nodd = 1\n")
        done = d.command("reload")
        assert done.returncode == 3 and done.stdout == "", done.stdout
        assert f"{d.conf}:{lines + 2}: " in done.stderr
        assert f"{d.conf}:{lines + 3}: " in done.stderr
        assert f"warning: {d.conf}:{lines + 4}: " in done.stderr
        assert "old configuration stays in force" in done.stderr
        d.conf.unlink()
        done = d.command("reload")
        assert done.returncode == 3 and str(d.conf) in done.stderr, done.stderr
        d.conf.write_text(good + "[daemon]\nname = other\n")
        assert "only after a restart: daemon.name" in succeeds(d, "reload")
        assert [row["state"] for row in d.peers()] == ["up", "up"]


# --- release and acquire ---


def test_released_device_is_free_and_nobody_is_alarmed():
    with Daemon() as d:
        d.wait_up()
        ratchet = Ratchet()
        ratchet.look(d)
        pid = d.worker_pid()
        told = succeeds(d, "release", "rxe0")
        assert "rdma-pingmesh acquire rxe0" in told
        # When the answer is there the process is gone, and with it all that it had open.
        assert not os.path.exists(f"/proc/{pid}")
        assert "stop" in d.told()
        assert state(d) == "released"
        rows = [r for r in d.peers() if r["state"] == "disabled"]
        assert len(rows) == 2 and all("rxe0 is released" in r["reason"] for r in rows), rows
        assert {r["verdict"] for r in rows} == {"unknown"}
        absent = d.peer("host2")["not_attempted"]["device_absent"]
        wait_for(lambda: d.peer("host2")["not_attempted"]["device_absent"] > absent + 5)
        ratchet.look(d)
        check_books(d.peer("host2"))
        host = d.json("/api/v1/status")
        assert host["verdict"] == "unknown" and "released" in host["reason"], host
        found = d.json("/api/v1/findings")["findings"]
        assert [(f["severity"], f["subject"]) for f in found] == [("warning", "device:rxe0")], found
        assert d.peer("host2")["failures"]["timeout"] == 0
        assert d.metric("rdma_worker_up", device="rxe0") == 0
        assert "is in use" in succeeds(d, "acquire", "rxe0")
        d.wait_up()
        ratchet.look(d)


def test_released_outlives_a_reload_and_the_device_itself_but_not_a_restart():
    with Daemon() as d:
        d.wait_up()
        succeeds(d, "release", "rxe0")
        succeeds(d, "reload")  # which looks for devices, too
        d.unplug("rxe0")  # as its driver is replaced
        succeeds(d, "reload")
        succeeds(d, "reload")
        d.plug("rxe0")
        succeeds(d, "reload")
        time.sleep(1.5)
        assert state(d) == "released" and d.log().count("worker started") == 1, d.log()
        d.stop()
        d.start()
        d.wait_up()


def test_acquire_of_a_device_that_is_away_waits_for_it():
    with Daemon() as d:
        d.wait_up()
        succeeds(d, "release", "rxe0")
        d.unplug("rxe0")
        wait_for(lambda: d.metric("rdma_worker_up", device="rxe0") is None, what="absent")
        assert "taken when it comes" in succeeds(d, "acquire", "rxe0")
        d.plug("rxe0")
        d.wait_up()


def test_deaf_worker_is_killed_for_a_release():
    with Daemon() as d:
        d.wait_up()
        deafen(d)
        succeeds(d, "release", "rxe0")
        assert "by us" in d.log() and state(d) == "released"


def test_release_of_a_worker_in_back_off_ends_it():
    with Daemon() as d:
        d.wait_up()
        d.script("rxe0", "exit 12")
        wait_for(lambda: state(d) == "backoff")
        succeeds(d, "release", "rxe0")
        starts = d.log().count("worker started")
        time.sleep(4)
        assert state(d) == "released" and d.log().count("worker started") == starts


def test_acquire_ends_the_back_off_of_a_worker_that_crashes_in_a_loop():
    with Daemon() as d:
        d.wait_up()
        d.script("rxe0", "exit 12")
        wait_for(lambda: d.log().count("cannot use the RDMA stack") >= 4, 30, "four crashes")
        wait_for(lambda: state(d) == "backoff")  # of 6 s and more
        done = d.command("acquire", "rxe0")
        assert done.returncode == 3 and "started again" in done.stderr, done.stderr
        (d.scripts / "rxe0").unlink()
        begin = time.monotonic()
        assert "is in use" in succeeds(d, "acquire", "rxe0")
        assert time.monotonic() - begin < 4
        d.wait_up()


def test_release_and_acquire_again_and_again_end_where_they_should():
    with Daemon(devices=("rxe0", "rxe1")) as d:
        wait_for(lambda: state(d) == "up" and state(d, "rxe1") == "up")
        for _ in range(5):
            succeeds(d, "release", "rxe0")
            succeeds(d, "acquire", "rxe0")
        succeeds(d, "release", "rxe0")
        succeeds(d, "release", "rxe0")
        assert (state(d), state(d, "rxe1")) == ("released", "up")
        assert d.metric("rdma_worker_restarts_total", device="rxe1") == 0


def test_device_that_is_not_known_is_refused_with_those_that_are():
    with Daemon() as d:
        d.wait_up()
        for verb in ("release", "acquire"):
            done = d.command(verb, "mlx5_0")
            assert done.returncode == 3 and "rxe0" in done.stderr, done.stderr


# --- hostile clients ---


def test_socket_is_for_its_user_alone():
    with Daemon() as d:
        mode = os.stat(d.dir / "control").st_mode
        assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600
        if os.geteuid() != 0:
            pytest.skip("another user is needed")
        os.chmod(d.dir, 0o755)
        os.chmod(d.dir / "control", 0o666)  # whatever the file says
        done = d.command("reload", user=65534, group=65534, extra_groups=[])
        assert done.returncode == 3 and "neither root nor" in done.stderr, done.stderr
        assert "reloaded" not in d.log()


def test_nonsense_is_answered_and_harms_nothing():
    with Daemon() as d:
        for packet in (b"x", b"\0", b"\n", b"reload\0", b"reload now", b"release", b"release ",
                       b"release ../../etc", b"release \xff\xfe", b"acquire " + 247 * b"x",
                       1000 * b"reload ", 100000 * b"y"):
            answer = ask(d, packet)
            assert answer["schema"] == 1 and answer["ok"] is False, packet
        assert ask(d, b"reload\n")["ok"] is True


def test_silent_and_gone_clients_keep_nobody_out():
    with Daemon() as d:
        d.wait_up()
        deafen(d)
        with connect(d) as gone:
            gone.send(b"release rxe0")  # and leaves before the answer
        silent = [connect(d) for _ in range(40)]
        assert ask(d, b"reload")["ok"] is True
        # Who says nothing is dropped, also when nobody else comes.
        for s in silent:
            assert s.recv(10) == b""
            s.close()
        wait_for(lambda: state(d) == "released")
        fds = len(os.listdir(f"/proc/{d.process.pid}/fd"))
        for _ in range(200):
            connect(d).close()
        wait_for(lambda: len(os.listdir(f"/proc/{d.process.pid}/fd")) <= fds, what="no leak")


def test_answers_that_are_not_read_do_not_stop_the_daemon():
    with Daemon() as d:
        held = []
        for _ in range(30):
            s = connect(d)
            s.send(b"reload")
            held.append(s)
        assert d.ready() and ask(d, b"reload")["ok"] is True
        for s in held:
            s.close()


# --- the path ---


def test_socket_left_by_a_killed_daemon_is_replaced_and_a_live_ones_is_not():
    with Daemon() as d:
        d.process.send_signal(signal.SIGKILL)
        d.process.wait()
        assert (d.dir / "control").exists()
        d.start()
        assert ask(d, b"reload")["ok"] is True
        with Daemon(start=False) as second:
            (second.dir / "control").symlink_to(d.dir / "control")
            second.start()
            second.wait_log("no control socket")
        link = d.dir / "link"
        link.symlink_to(d.dir / "control")
        assert ask(d, b"reload")["ok"] is True
        d.stop()
        assert not (d.dir / "control").exists()


def test_file_in_the_sockets_place_is_left_alone():
    with Daemon(start=False) as d:
        (d.dir / "control").write_text("precious")
        d.start()
        d.wait_log("no control socket")
        d.stop()
        assert (d.dir / "control").read_text() == "precious"
