"""Events outlive the daemon that told them: kept on disk, numbered on, whatever the disk does."""

import concurrent.futures
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request

import pytest

from harness import COMMAND, PROBE, TWO_PEERS, Daemon, wait_for

@pytest.fixture
def state(tmp_path):
    path = tmp_path / "state"
    path.mkdir()
    return path


def kept(state):
    """All events in the files, oldest first, each by its number; what is no event is left out."""
    events = {}
    for name in ("events.3.jsonl", "events.2.jsonl", "events.1.jsonl", "events.jsonl"):
        path = state / name
        for line in path.read_bytes().split(b"\n") if path.exists() else []:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if "seq" in event:
                assert event["seq"] not in events, event
                events[event["seq"]] = event
    return events


def helper_pid(daemon):
    out = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(daemon.process.pid)],
                         capture_output=True, text=True, check=False).stdout
    found = [line.split()[0] for line in out.splitlines() if "--journal-helper" in line]
    return int(found[0]) if found else None


def last(daemon):
    return daemon.json("/api/v1/events")["last_seq"]


def wait_kept(daemon, state):
    wait_for(lambda: max(kept(state), default=0) >= last(daemon), what="all is kept")


def texts(daemon, kind):
    return [e["text"] for e in daemon.events(kind)]


def test_numbers_go_on_over_a_restart_and_nothing_is_lost(state):
    with Daemon(state=state) as d:
        d.wait_up()
        wait_kept(d, state)
        before = d.json("/api/v1/events")
        assert texts(d, "daemon")[0].startswith("started: version")
        assert d.stop()[0] == 0
        on_disk = kept(state)
        assert sorted(on_disk) == list(range(1, max(on_disk) + 1))
        assert [on_disk[n]["text"] for n in sorted(on_disk) if on_disk[n]["kind"] == "daemon"][1:] \
            == ["stopping: SIGTERM", "stopped"]
        for event in before["events"]:
            assert on_disk[event["seq"]]["text"] == event["text"]
        d.start()
        d.wait_up()
        after = d.json("/api/v1/events")
        assert after["journal"] == before["journal"] and after["instance"] != before["instance"]
        started = [e for e in after["events"] if e["text"].startswith("started")]
        assert started[-1]["seq"] == max(on_disk) + 1


def test_what_was_told_before_kill_is_kept(state):
    """Killed in a storm of events, again and again."""
    with Daemon(state=state) as d:
        for _ in range(5):
            d.wait_up()
            d.script("rxe0", "exit 12")
            time.sleep(1.2)
            d.script("rxe0")
            for _ in range(30):
                d.send_signal(signal.SIGHUP)
                time.sleep(0.005)
            told = d.json("/api/v1/events")
            d.process.kill()
            d.process.wait()
            on_disk = wait_for(lambda: max(kept(state), default=0) >= told["last_seq"]
                               and kept(state), 5, "what was told is kept")
            assert sorted(on_disk) == list(range(1, max(on_disk) + 1))
            for event in told["events"]:
                assert on_disk[event["seq"]]["text"] == event["text"]
            d.start()


def test_a_second_daemon_on_the_directory_says_so_and_goes_on_in_memory(state):
    with Daemon(state=state) as first, Daemon(state=state, start=False) as second:
        first.wait_up()
        second.start()
        second.wait_log("another daemon keeps its events there")
        second.wait_up()
        found = [f for f in second.json("/api/v1/findings")["findings"]
                 if f["subject"] == "host:journal"]
        assert "another daemon" in found[0]["text"] and found[0]["cause"] == "monitor"
        assert second.metric("rdma_pingmesh_journal_kept") == 0
        assert first.metric("rdma_pingmesh_journal_kept") == 1
        assert second.json("/api/v1/status")["verdict"] == "ok"
        told = second.json("/api/v1/events")
        assert first.stop()[0] == 0
        # It is taken over, and who reads is told that numbers are others.
        wait_for(lambda: second.metric("rdma_pingmesh_journal_kept") == 1, 60)
        now = second.json("/api/v1/events")
        assert now["journal"] != told["journal"]
        wait_kept(second, state)
        assert set(e["text"] for e in told["events"]) <= set(
            e["text"] for e in kept(state).values())
        assert not [f for f in second.json("/api/v1/findings")["findings"]
                    if f["subject"] == "host:journal"]


@pytest.fixture
def small_disk(tmp_path):
    path = tmp_path / "disk"
    path.mkdir()
    if os.geteuid() != 0 or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k,mode=0755", "none", str(path)],
            check=False).returncode:
        pytest.skip("needs to mount")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def fill(path):
    with open(path / "ballast", "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"x" * 4096)
        except OSError:
            pass


def reload_often(d, times):
    for i in range(times):
        d.configure(PROBE + f"# {i}\n" + TWO_PEERS)
        d.command("reload")


def test_a_full_disk_costs_nothing_that_memory_holds(small_disk):
    with Daemon(state=small_disk) as d:
        d.wait_up()
        wait_kept(d, small_disk)
        fill(small_disk)
        reload_often(d, 15)
        for _ in range(30):
            d.script("rxe0", "exit 12")
            reload_often(d, 1)
            if d.metric("rdma_pingmesh_journal_kept") == 0:
                break
        wait_for(lambda: d.metric("rdma_pingmesh_journal_kept") == 0)
        assert any("No space left" in t for t in texts(d, "journal"))
        assert "No space left" in d.log()
        (small_disk / "ballast").unlink()
        d.script("rxe0")
        wait_for(lambda: d.metric("rdma_pingmesh_journal_kept") == 1, 60)
        wait_for(lambda: "events are kept again" in texts(d, "journal"))
        told = {event["seq"] for event in d.json("/api/v1/events")["events"]}
        wait_for(lambda: told <= set(kept(small_disk)), what="all that was told is kept")
        assert d.metric("rdma_pingmesh_journal_lost_total") == 0


def test_a_read_only_disk_is_told_and_all_else_works(small_disk):
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with Daemon(state=small_disk) as d:
        d.wait_up()
        assert d.metric("rdma_pingmesh_journal_kept") == 0
        assert any("Read-only file system" in t for t in texts(d, "journal"))
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
        wait_for(lambda: d.metric("rdma_pingmesh_journal_kept") == 1, 60)
        wait_kept(d, small_disk)
        assert any("started" in e["text"] for e in kept(small_disk).values())


def test_a_disk_that_hangs_holds_up_nobody(state):
    with Daemon(state=state) as d:
        d.wait_up()
        helper = helper_pid(d)
        os.kill(helper, signal.SIGSTOP)
        reload_often(d, 3)
        wait_for(lambda: d.metric("rdma_pingmesh_journal_kept") == 0, 30)
        assert "the disk does not answer" in d.log()
        assert d.get("/-/healthy")[0] == 200
        assert d.metric("rdma_pingmesh_loop_lag_seconds") < 1
        os.kill(helper, signal.SIGCONT)
        wait_for(lambda: d.metric("rdma_pingmesh_journal_kept") == 1)
        wait_kept(d, state)
        os.kill(helper, signal.SIGSTOP)
        reload_often(d, 1)
        status, seconds = d.stop()
        os.kill(helper, signal.SIGCONT)
        assert status == 0 and seconds < 4


def test_a_helper_that_dies_is_replaced(state):
    with Daemon(state=state) as d:
        d.wait_up()
        before = last(d)
        os.kill(helper_pid(d), signal.SIGKILL)
        d.wait_log("the helper that writes them ended")
        reload_often(d, 2)
        wait_for(lambda: d.metric("rdma_pingmesh_journal_kept") == 1, 30)
        wait_kept(d, state)
        assert sorted(kept(state)) == list(range(1, last(d) + 1)) and last(d) > before


def test_files_that_somebody_removed_are_made_anew_with_what_memory_holds(state):
    with Daemon(state=state) as d:
        d.wait_up()
        wait_kept(d, state)
        (state / "events.jsonl").unlink()
        reload_often(d, 1)
        wait_for(lambda: (state / "events.jsonl").exists(), 30)
        wait_kept(d, state)
        assert sorted(kept(state)) == list(range(1, last(d) + 1))


def test_a_damaged_file_costs_the_damaged_lines(state):
    (state / "events.jsonl").write_bytes(os.urandom(5000) + b'\n{"seq":12,"time_ns":1,"ki')
    with Daemon(state=state) as d:
        d.wait_up()
        assert min(kept(state)) == 13
        assert d.metric("rdma_pingmesh_journal_kept") == 1


def test_without_a_directory_events_are_in_memory():
    with Daemon() as d:
        d.wait_up()
        assert "events are kept in memory alone" in d.log()
        assert d.metric("rdma_pingmesh_journal_kept") is None
        assert helper_pid(d) is None
        assert d.events("daemon")


def write_history(state, count, text="event", first=1):
    """As a daemon of before would have left it; two files of it."""
    def line(n):
        return json.dumps({"seq": n, "time_ns": n * 10**9, "kind": "rail" if n % 10 else "async",
                           "device": f"rxe{n % 3}", "rail": "", "peer": "",
                           "text": f"{text} {n}"}, separators=(",", ":")) + "\n"

    head = '{"journal":"00000000000000aa","boot":"none","version":"0","time_ns":1}\n'
    half = first + count // 2
    (state / "events.1.jsonl").write_text(head + "".join(map(line, range(first, half))))
    (state / "events.jsonl").write_text(head + "".join(map(line, range(half, first + count))))


def test_events_are_paged_over_restarts(state):
    write_history(state, 5000)
    with Daemon(state=state) as d:
        d.wait_up()
        answer = d.json("/api/v1/events")
        assert answer["journal"] == "00000000000000aa" and answer["first_seq"] == 1
        seqs = [e["seq"] for e in answer["events"]]
        assert seqs == list(range(1, answer["last_seq"] + 1)) and len(seqs) > 5000
        assert answer["events"][4999]["text"] == "event 5000"
        assert answer["events"][5000]["text"].startswith("started")
        assert "the first time since the host booted" in answer["events"][5000]["text"]
        assert answer["next_since"] is None
        # In pieces, to the end.
        since, pieces = 0, []
        while since is not None:
            page = d.json(f"/api/v1/events?since={since}&limit=700")
            assert len(page["events"]) <= 700
            pieces += [e["seq"] for e in page["events"]]
            since = page["next_since"]
        assert pieces[:len(seqs)] == seqs
        # Filters reach as far.
        found = d.json("/api/v1/events?kind=async&device=rxe1&limit=5")
        assert [e["seq"] for e in found["events"]] == [10, 40, 70, 100, 130]
        assert d.json("/api/v1/events?device=none")["events"] == []
        assert min(e["seq"] for e in d.json("/api/v1/events?max_age=1h")["events"]) == 5001
        newest = d.json("/api/v1/events?last=3")
        assert [e["seq"] for e in newest["events"]] == list(
            range(newest["last_seq"] - 2, newest["last_seq"] + 1))
        assert d.get("/api/v1/events?max_age=soon")[0] == 400
        told = d.command("events", "--since", "4990").stdout.splitlines()
        assert told[0].startswith("4991 1970-01-01") and "event 4991" in told[0]
        assert d.command("events", "--since", "1h").stdout.splitlines()[0].startswith("5001 ")


def test_readers_that_leave_and_many_at_once_cost_nobody(state):
    write_history(state, 20000, "x" * 200)
    with Daemon(state=state) as d:
        d.wait_up()
        leaving = []
        for _ in range(20):
            s = socket.create_connection(("127.0.0.1", d.port))
            s.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
            leaving.append(s)
        for s in leaving[::2]:
            s.close()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: d.json("/api/v1/events?device=rxe1"), range(16)))
        for answer in answers:
            assert len([e for e in answer["events"] if e["text"].startswith("xx")]) == 6667
        assert d.metric("rdma_pingmesh_loop_lag_seconds") < 1
        for s in leaving[1::2]:
            s.close()
        assert d.stop()[0] == 0


def test_a_hanging_disk_costs_a_reader_its_past_and_a_stop_nothing(state):
    write_history(state, 2000)
    with Daemon(state=state) as d:
        d.wait_up()
        helper = helper_pid(d)
        os.kill(helper, signal.SIGSTOP)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(
                lambda: json.load(urllib.request.urlopen(
                    f"http://127.0.0.1:{d.port}/api/v1/events", timeout=40)))
            time.sleep(1)
            assert d.get("/-/healthy")[0] == 200
            events = answer.result()["events"]
        assert events and events[0]["seq"] > 2000
        # One that waits while the daemon stops.
        with socket.create_connection(("127.0.0.1", d.port)) as s:
            os.kill(helper, signal.SIGCONT)
            wait_for(lambda: d.metric("rdma_pingmesh_journal_kept") == 1)
            os.kill(helper, signal.SIGSTOP)
            s.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
            time.sleep(0.5)
            status, seconds = d.stop()
        os.kill(helper, signal.SIGCONT)
        assert status == 0 and seconds < 4


def test_the_command_follows_over_a_restart(state):
    with Daemon(state=state) as d:
        d.wait_up()
        env = dict(os.environ, RDMA_PINGMESH_URL=f"http://127.0.0.1:{d.port}")
        before = last(d)
        assert d.stop()[0] == 0
        d.start()
        with subprocess.Popen([COMMAND, "events", "--follow", "--since", str(before)], env=env,
                              stdout=subprocess.PIPE, text=True) as follower:
            first = follower.stdout.readline()
            assert int(first.split()[0]) == before + 1
            while "started" not in first:
                first = follower.stdout.readline()
            follower.kill()


def test_verdicts_of_host_and_device_and_a_changed_address_are_events(state):
    with Daemon(state=state) as d:
        d.wait_up()
        wait_for(lambda: "host unknown -> ok" in texts(d, "health"))
        assert "device unknown -> ok" in texts(d, "health")
        d.script("rxe0", "rail rxe0 10.99.0.77 up")
        wait_for(lambda: "address or GID changed (10.99.0.77): up" in texts(d, "rail"))
        d.script("rxe0", "exit 12")
        wait_for(lambda: any(t.startswith("device ok -> ") for t in texts(d, "health")))
        wait_for(lambda: any(t.startswith("host ok -> ") for t in texts(d, "health")))
