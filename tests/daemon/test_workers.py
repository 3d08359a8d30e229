"""Workers that die, freeze, lie and leave: reported, restarted, and every due probe booked once."""

import os
import re
import signal
import time

import pytest

from harness import PROBE, TWO_PEERS, Daemon, Ratchet, check_books, wait_for

TWO_RAILS = """
[peers]
peer = host1/rxe0 10.99.0.1
peer = host1/rxe1 10.99.1.1
peer = host2/rxe0 10.99.0.2
peer = host2/rxe1 10.99.1.2
"""


def state(d, device="rxe0"):
    return d.device(device)["worker"]["state"]


def due_since(row, name, begin, begin_row):
    """Probes that fell due between two looks, by time; a look is up to a second old."""
    return row["ops"][name]["scheduled"] - begin_row["ops"][name]["scheduled"]


def reasons(row):
    return {reason for reason, count in row["not_attempted"].items() if count}


def watch(d, ratchet, seconds, step=0.2):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ratchet.look(d)
        time.sleep(step)


def test_killed_worker_is_reported_replaced_and_its_books_go_on():
    with Daemon() as d:
        d.wait_up()
        ratchet = Ratchet()
        ratchet.look(d)
        first, begin = d.peer("host2"), time.monotonic()
        pid = d.worker_pid()
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: state(d) == "backoff")
        assert d.metric("rdma_worker_up", device="rxe0") == 0
        assert d.peer("host2")["cause"] == "monitor"
        watch(d, ratchet, 1)
        wait_for(lambda: state(d) == "up")
        d.wait_up()
        watch(d, ratchet, 2)
        last, end = d.peer("host2"), time.monotonic()
        assert d.worker_pid() != pid
        assert d.metric("rdma_worker_restarts_total", device="rxe0") == 1
        assert d.metric("rdma_worker_up", device="rxe0") == 1
        assert "signal 9" in d.log()
        for name in ("send", "read"):
            due = due_since(last, name, begin, first)
            assert abs(due - (end - begin) * 10) < 15, (due, end - begin)
            assert last["ops"][name]["not_attempted"] > 0
        assert reasons(last) == {"worker_stuck"}


def test_frozen_worker_is_stuck_since_it_froze_and_heals_by_itself():
    with Daemon() as d:
        d.wait_up()
        ratchet = Ratchet()
        pid = d.worker_pid()
        os.kill(pid, signal.SIGSTOP)
        frozen_at, begin, first = time.time(), time.monotonic(), d.peer("host2")
        wait_for(lambda: state(d) == "stuck", what="stuck")
        assert abs(d.device()["worker"]["since"] - frozen_at) < 2
        assert d.metric("rdma_worker_up", device="rxe0") == 0
        row = d.peer("host2")
        assert row["verdict"] == "unknown" and row["cause"] == "monitor"
        watch(d, ratchet, 4)
        # main derives what is due while the worker cannot
        assert d.peer("host2")["not_attempted"]["worker_stuck"] > 20
        os.kill(pid, signal.SIGCONT)
        wait_for(lambda: state(d) == "up", 4, "up")
        d.wait_up()
        watch(d, ratchet, 2)
        last, end = d.peer("host2"), time.monotonic()
        assert d.worker_pid() == pid
        assert d.metric("rdma_worker_restarts_total", device="rxe0") == 0
        for name in ("send", "read"):
            due = due_since(last, name, begin, first)
            assert abs(due - (end - begin) * 10) < 15, (due, end - begin)
        assert last["ops"]["send"]["failed"] == 0
        kinds = [e["text"] for e in d.events("worker")]
        assert any("stuck" in text for text in kinds)
        assert any("runs again" in text for text in kinds)


def test_worker_killed_while_frozen_loses_no_due_probe():
    with Daemon() as d:
        d.wait_up()
        ratchet = Ratchet()
        begin, first = time.monotonic(), d.peer("host3")
        os.kill(d.worker_pid(), signal.SIGSTOP)
        watch(d, ratchet, 4)
        os.kill(d.worker_pid(), signal.SIGKILL)
        watch(d, ratchet, 1)
        d.wait_up()
        watch(d, ratchet, 2)
        last, end = d.peer("host3"), time.monotonic()
        due = due_since(last, "send", begin, first)
        assert abs(due - (end - begin) * 10) < 15, (due, end - begin)


def test_everything_stopped_for_a_while_is_nobodys_loss():
    with Daemon() as d:
        d.wait_up()
        ratchet = Ratchet()
        ratchet.look(d)
        pids = [d.process.pid, d.worker_pid()]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(4)
        for pid in reversed(pids):
            os.kill(pid, signal.SIGCONT)
        d.wait_up()
        watch(d, ratchet, 2)
        row = d.peer("host2")
        check_books(row)
        assert row["ops"]["send"]["failed"] == 0
        assert row["not_attempted"]["worker_stuck"] > 10
        assert row["loss_ratio"] == 0
        # Old heartbeats prove nothing to one who slept himself.
        assert "stuck" not in d.log()


def test_island_one_dead_worker_leaves_the_other_alone():
    with Daemon(PROBE + TWO_RAILS, devices=("rxe0", "rxe1"), start=False) as d:
        d.script("rxe0", "rail rxe0 10.99.0.1 up")
        d.script("rxe1", "rail rxe1 10.99.1.1 up")
        d.start()
        d.wait_up()
        d.script("rxe0", "rail rxe0 10.99.0.1 up", "crash")
        wait_for(lambda: state(d) == "backoff")
        assert state(d, "rxe1") == "up"
        rows = {r["rail"]: r for r in d.peers()}
        assert rows["rxe1"]["verdict"] == "ok"
        assert rows["rxe0"]["cause"] == "monitor"
        assert d.told("rxe1").count("stop") == 0


def test_lying_worker_harms_no_counter_and_no_other():
    with Daemon(PROBE + TWO_RAILS, devices=("rxe0", "rxe1"), start=False) as d:
        d.script("rxe0", "rail rxe0 10.99.0.1 up")
        d.script("rxe1", "rail rxe1 10.99.1.1 up")
        d.start()
        d.wait_up()
        ratchet = Ratchet()
        ratchet.look(d)
        d.script("rxe0", "rail rxe0 10.99.0.1 up", "rows", "garbage")
        watch(d, ratchet, 3)
        d.wait_log("made no sense")
        assert d.process.poll() is None
        assert {r["rail"]: r for r in d.peers()}["rxe1"]["verdict"] == "ok"


def test_books_that_cannot_be_true_are_a_finding_and_a_few_lines():
    with Daemon() as d:
        d.wait_up()
        d.script("rxe0", "rows")
        wait_for(lambda: d.peer("host2")["verdict"] == "unknown", what="a doubted session")
        assert d.peer("host2")["cause"] == "monitor"
        found = [f for f in d.json("/api/v1/findings")["findings"] if f["subject"] == "worker:rxe0"]
        assert [f["cause"] for f in found] == ["monitor"]
        assert "host2" in found[0]["text"] and "larger than can be" in found[0]["text"]
        assert d.metric("rdma_finding", cause="monitor", severity="warning", subject="worker:rxe0")
        d.wait_log("the worker's books of host2, rail rxe0 are not believed: a count of send is")
        assert [e["peer"] for e in d.events("worker")
                if "not believed" in e["text"]] == ["host2", "host3"]
        told = d.log().count("are not believed")
        d.script("rxe0", "answer all")
        d.wait_log("are believed again")
        wait_for(lambda: d.peer("host2")["verdict"] == "ok", what="believed again")
        assert d.log().count("are not believed") == told == 2


def test_a_session_that_the_worker_does_not_have_is_added_until_it_has():
    with Daemon(start=False) as d:
        d.script("rxe0", "refuse")
        d.start()
        wait_for(lambda: sum(line.startswith("add") for line in d.told()) >= 4, what="tries")
        assert {row["state"] for row in d.peers()} == {"idle"}
        d.script("rxe0")
        d.wait_up(2)
        for row in d.peers():
            check_books(row)


def test_a_removed_session_is_let_go_of_when_its_row_alone_says_so():
    with Daemon(start=False) as d:
        d.script("rxe0", "refuse")
        d.start()
        wait_for(lambda: any(line.startswith("add") for line in d.told()), what="a try")
        d.configure(PROBE + "[peers]\npeer = host2/rxe0 10.99.0.2\n")
        d.send_signal(signal.SIGHUP)
        wait_for(lambda: [row["peer"] for row in d.peers()] == ["host2"], what="one peer is left")
        d.script("rxe0")
        d.wait_up(1)


def test_two_devices_with_one_rail_name_are_told():
    with Daemon(devices=("rxe0", "rxe1"), start=False) as d:
        d.script("rxe1", "rail rxe0 10.99.1.1 up")
        d.start()
        d.wait_log("which another port has")


def test_rail_down_is_one_event_and_no_loss_of_peers():
    with Daemon() as d:
        d.wait_up()
        d.script("rxe0", "rail rxe0 10.99.0.1 down")
        wait_for(lambda: d.metric("rdma_rail_up", rail="rxe0") == 0)
        findings = d.json("/api/v1/findings")["findings"]
        assert [f["cause"] for f in findings] == ["local_port"]
        assert findings[0]["severity"] == "critical"
        assert {r["cause"] for r in d.peers()} == {"local_port"}
        assert [e["text"] for e in d.events("rail")][-1].startswith("down")


def test_async_events_are_counted_over_workers():
    with Daemon() as d:
        d.wait_up()
        d.script("rxe0", "async 3")
        wait_for(lambda: d.events("async"))

        def total():
            return sum(v for (n, _), v in d.metrics().items() if n == "rdma_async_events_total")

        wait_for(lambda: total() == 1)
        d.script("rxe0")
        os.kill(d.worker_pid(), signal.SIGKILL)
        d.wait_up()
        assert total() == 1


@pytest.mark.parametrize("answer, causes", [("none", None), ("nic", {"remote_host"})])
def test_change_of_verdict_is_a_line_with_all_that_names_the_connection(answer, causes):
    with Daemon() as d:
        d.wait_up()
        d.script("rxe0", f"answer {answer}")
        wait_for(lambda: {r["verdict"] for r in d.peers()} == {"failing"}, what="failing")
        if causes:
            wait_for(lambda: {r["cause"] for r in d.peers()} == causes, what="cause")
        d.wait_log("-> failing")
        line = [l for l in d.log().splitlines() if "-> failing" in l and "peer=host2" in l][0]
        for part in ("device=rxe0", "rail=rxe0", "local_gid=::ffff:10.99.0.1", "remote_gid=::1",
                     "qpn=0x", "remote_qpn=0x0001", "udp_source_port=49", "last_error=[",
                     "reason=["):
            assert part in line, line
        assert re.search(r"last_error=\[(none\]|\d+\.\d s ago: )", line), line
        assert {e["peer"] for e in d.events("verdict")} == {"host2", "host3"}
        d.script("rxe0", "answer all")
        wait_for(lambda: {r["verdict"] for r in d.peers()} == {"ok"}, what="ok")


def test_duplicate_host_is_a_finding():
    with Daemon() as d:
        d.wait_up()
        for name in ("host2", "stranger"):  # on our list, and not
            d.script("rxe0", f"duplicate {name} 10.99.0.7 and 10.99.0.8 connect under one name")
            wait_for(lambda: any(f["subject"] == f"host:{name}" and f["cause"] == "configuration"
                                 for f in d.json("/api/v1/findings")["findings"]), what=name)


def finding_of(d, subject):
    return next((f for f in d.json("/api/v1/findings")["findings"] if f["subject"] == subject), None)


def test_a_peer_that_comes_without_the_secret_is_a_finding_and_a_stranger_is_not():
    with Daemon() as d:
        d.wait_up()
        d.script("rxe0", "refused 3 10.77.0.1 is refused: its address is not in the peer list")
        wait_for(lambda: d.events("refused"), what="event")
        assert finding_of(d, "peer:host2") is None
        d.script("rxe0", "refused 6 10.99.0.2 is refused: it has no shared secret")
        wait_for(lambda: finding_of(d, "peer:host2"), what="finding")
        assert finding_of(d, "peer:host2")["cause"] == "configuration"
        assert finding_of(d, "peer:host2")["severity"] == "warning"
        assert "secret_file" in finding_of(d, "peer:host2")["text"]


def test_a_stalled_rdma_cm_is_a_finding_until_it_answers():
    with Daemon() as d:
        d.wait_up()
        d.script("rxe0", "stalled 1")
        wait_for(lambda: finding_of(d, "rdma_cm:rxe0"), what="finding")
        assert finding_of(d, "rdma_cm:rxe0")["cause"] == "local_host"
        d.script("rxe0", "stalled 0")
        wait_for(lambda: not finding_of(d, "rdma_cm:rxe0"), what="the end of it")


def test_a_rotated_secret_reaches_the_workers_and_costs_no_connection(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("the-secret-of-last-year\n")
    secret.chmod(0o600)

    def keys():
        return [re.search(r"secret=(\w+)", line)[1] for line in d.told() if "secret=" in line]

    with Daemon(config=PROBE + TWO_PEERS + f"secret_file = {secret}\n") as d:
        d.wait_up()
        since = d.peer("host2")["since"]
        old = keys()[-1]
        secret.write_text("the-secret-of-this-year\n")
        d.send_signal(signal.SIGHUP)
        wait_for(lambda: keys()[-1] != old, what="the new secret at the worker")
        # All hosts of a mesh are never reloaded at once: what is connected stays meanwhile.
        assert not any(line.startswith("remove") for line in d.told())
        wait_for(lambda: d.peer("host2")["verdict"] == "ok", what="ok as before")
        assert d.peer("host2")["since"] == since
        assert d.metric("rdma_worker_restarts_total", device="rxe0") == 0


def test_the_secret_is_never_printed_and_a_bad_one_refuses_the_reload(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("top-secret-of-the-fabric\n")
    secret.chmod(0o600)
    with Daemon(config=PROBE + TWO_PEERS + f"secret_file = {secret}\n") as d:
        d.wait_up()
        secret.chmod(0o644)
        d.send_signal(signal.SIGHUP)
        d.wait_log("chmod 0640")
        assert "top-secret" not in d.log()
        assert all(p["state"] == "up" for p in d.peers())
