"""Peers of a file: read again when it changes, refused when it cannot be meant."""

import json
import os
import pathlib
import signal
import time

import pytest
from harness import PROBE, TWO_PEERS, Daemon, Ratchet, wait_for
from test_reload import adds, reload, removes

RELOADED = "rdma_pingmesh_config_last_reload_successful"
FROM_FILE = PROBE + "[peers]\nfile = peers.json\n"


def entry(number, **labels):
    labels = {"host": f"host{number}", "rail": "rxe0", **labels}
    return {"targets": [f"10.99.0.{number}"], "labels": labels}


def entries(*numbers):
    return [entry(n) for n in numbers]


def write_peers(d, content, name="peers.json"):
    """As programs should: beside it, then renamed."""
    text = content if isinstance(content, str) else json.dumps(content)
    temporary = d.dir / f".{name}.new"
    temporary.write_text(text)
    temporary.rename(d.dir / name)


def names(d):
    return [row["peer"] for row in d.peers()]


def wait_names(d, *wanted):
    wait_for(lambda: names(d) == list(wanted), what=f"peers {wanted}, not {names(d)}")


def start(content, config=FROM_FILE):
    d = Daemon(config, start=False)
    if content is not None:
        write_peers(d, content)
    d.start()
    return d


def test_peers_of_the_file_are_probed_and_carry_its_labels():
    with start([entry(1), entry(2, rack="r1", pod="p1"), entry(3)]) as d:
        d.wait_up()
        assert d.metric("rdma_peer_info", peer="host2", rack="r1", pod="p1",
                        address="10.99.0.2") == 1
        assert d.metric("rdma_peer_info", peer="host3", rack="", pod="") == 1
        assert d.json("/api/v1/status")["host"] == "host1"  # by its own address


def test_peers_of_lines_and_of_the_file_are_one_list():
    with start(entries(1, 3), FROM_FILE + "peer = host2/rxe0 10.99.0.2\n") as d:
        d.wait_up()
        assert names(d) == ["host2", "host3"]


def test_changed_file_is_followed_and_unchanged_peers_keep_connection_and_counts():
    with start(entries(1, 2, 3)) as d:
        d.wait_up()
        ratchet = Ratchet()
        ratchet.look(d)
        since = d.peer("host2")["since"]
        write_peers(d, entries(1, 2, 4))
        wait_names(d, "host2", "host4")
        assert d.peer("host2")["since"] == since
        assert len(removes(d)) == 1 and len(adds(d)) == 3
        ratchet.look(d)
        d.wait_up()
        assert "4 targets" not in d.log() and "3 targets" in d.log()
        # another label alone touches no session
        write_peers(d, [entry(1), entry(2, rack="r7"), entry(4)])
        wait_for(lambda: d.metric("rdma_peer_info", peer="host2", rack="r7"))
        assert len(removes(d)) == 1 and len(adds(d)) == 3


def test_file_written_in_place_is_followed():
    with start(entries(1, 2)) as d:
        d.wait_up(1)
        for number in (3, 4, 5):
            (d.dir / "peers.json").write_text(json.dumps(entries(1, 2, number)))
            wait_names(d, "host2", f"host{number}")


def swap_link(d, target):
    temporary = d.dir / "..data_tmp"
    temporary.symlink_to(target)
    temporary.rename(d.dir / "..data")


def test_swapped_symbolic_link_is_followed_as_in_a_config_map():
    d = Daemon(FROM_FILE, start=False)
    with d:
        for version, numbers in (("..1", (1, 2)), ("..2", (1, 3))):
            (d.dir / version).mkdir()
            (d.dir / version / "peers.json").write_text(json.dumps(entries(*numbers)))
        swap_link(d, "..1")
        (d.dir / "peers.json").symlink_to("..data/peers.json")
        d.start()
        wait_names(d, "host2")
        swap_link(d, "..2")
        wait_names(d, "host3")


def test_link_into_another_directory_is_followed():
    d = Daemon(FROM_FILE, start=False)
    with d:
        (d.dir / "far").mkdir()
        (d.dir / "far/list.json").write_text(json.dumps(entries(1, 2)))
        (d.dir / "peers.json").symlink_to("far/list.json")
        d.start()
        wait_names(d, "host2")
        (d.dir / "far/new").write_text(json.dumps(entries(1, 3)))
        (d.dir / "far/new").rename(d.dir / "far/list.json")
        wait_names(d, "host3")


def file_helper(d):
    """The pid of the process that reads the peer file."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = stat.read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        if name == "pingmesh-file" and int(rest.split()[1]) == d.process.pid:
            return int(stat.parent.name)
    return None


def file_findings(d):
    return [f for f in d.json("/api/v1/findings")["findings"] if f["subject"].startswith("file:")]


def test_reload_while_the_file_system_hangs_says_so_and_nothing_waits():
    with start(entries(1, 2)) as d:
        d.wait_up(1)
        assert file_findings(d) == []
        pid = file_helper(d)
        os.kill(pid, signal.SIGSTOP)
        write_peers(d, entries(1, 2, 3))
        for _ in range(2):
            done = d.command("reload")
            assert done.returncode != 0
            assert "file system does not answer" in done.stdout + done.stderr
        assert d.get("/-/healthy")[0] == 200
        assert d.metric(RELOADED) == 0
        [finding] = file_findings(d)
        assert finding["subject"] == f"file:{d.dir}/peers.json"
        assert finding["cause"] == "local_host" and finding["severity"] == "warning"
        assert names(d) == ["host2"]
        d.wait_up(1)
        os.kill(pid, signal.SIGCONT)
        wait_names(d, "host2", "host3")
        wait_for(lambda: d.metric(RELOADED) == 1)
        wait_for(lambda: file_findings(d) == [])
        assert removes(d) == []


def test_file_system_that_begins_to_hang_is_found_without_a_reload():
    with start(entries(1, 2)) as d:
        d.wait_up(1)
        pid = file_helper(d)
        os.kill(pid, signal.SIGSTOP)
        write_peers(d, entries(1, 3))
        wait_for(lambda: file_findings(d), 60)
        assert names(d) == ["host2"]
        os.kill(pid, signal.SIGCONT)
        wait_names(d, "host3")
        wait_for(lambda: file_findings(d) == [])


def test_helper_of_the_peer_file_that_ends_is_replaced():
    with start(entries(1, 2)) as d:
        d.wait_up(1)
        pid = file_helper(d)
        os.kill(pid, signal.SIGKILL)
        write_peers(d, entries(1, 3))
        wait_names(d, "host3")
        assert file_helper(d) not in (None, pid)
        d.configure(PROBE + TWO_PEERS)
        reload(d)
        wait_for(lambda: file_helper(d) is None)


def test_stop_does_not_wait_for_a_file_system_that_hangs():
    with start(entries(1, 2)) as d:
        d.wait_up(1)
        os.kill(file_helper(d), signal.SIGSTOP)
        status, seconds = d.stop()
        assert status == 0 and seconds < 3


BAD_FILES = {
    "cut off": '[{"targets": ["10.99.0.2"], "lab',
    "no list": '{"targets": ["10.99.0.2"]}',
    "empty": "",
}


@pytest.mark.parametrize("content", BAD_FILES.values(), ids=BAD_FILES.keys())
def test_file_that_cannot_be_parsed_keeps_the_old_list(content):
    with start(entries(1, 2, 3)) as d:
        d.wait_up()
        assert d.metric(RELOADED) == 1
        write_peers(d, content)
        wait_for(lambda: d.metric(RELOADED) == 0)
        assert names(d) == ["host2", "host3"] and removes(d) == []
        assert f"{d.dir}/peers.json" in d.log()
        assert any("peers.json" in e["text"] for e in d.events("reload"))
        # a reload of everything is refused for it too, with the reason
        reload(d, "reload refused")
        assert removes(d) == []
        write_peers(d, entries(1, 2, 4))
        wait_for(lambda: d.metric(RELOADED) == 1)
        wait_names(d, "host2", "host4")


def test_deleted_file_keeps_the_list_until_it_is_back():
    with start(entries(1, 2)) as d:
        d.wait_up(1)
        (d.dir / "peers.json").unlink()
        wait_for(lambda: d.metric(RELOADED) == 0)
        assert names(d) == ["host2"]
        write_peers(d, entries(1, 2))
        wait_for(lambda: d.metric(RELOADED) == 1)
        assert names(d) == ["host2"] and removes(d) == []


def test_missing_file_at_start_is_waited_for():
    with start(None) as d:
        assert d.metric(RELOADED) == 0 and d.peers() == []
        assert "peers.json: cannot be read: No such file" in d.log()
        write_peers(d, entries(1, 2))
        d.wait_up(1)
        assert d.metric(RELOADED) == 1


def test_bad_target_costs_itself_and_is_counted():
    content = entries(1, 2, 3)
    content[2]["targets"] = ["fe80::3"]
    with start(content) as d:
        d.wait_up(1)
        assert names(d) == ["host2"]
        assert d.metric("rdma_pingmesh_peer_file_bad_targets") == 1
        assert d.metric(RELOADED) == 1
        assert "peers.json: entry 3, target 'fe80::3': 'fe80::3' is link-local" in d.log()
        write_peers(d, entries(1, 2, 3))
        d.wait_up()
        assert d.metric("rdma_pingmesh_peer_file_bad_targets") == 0


def test_list_that_lost_more_than_half_is_refused_unless_allowed():
    with start(entries(*range(1, 10))) as d:
        d.wait_up(8)
        write_peers(d, entries(1, 2, 3, 4))
        wait_for(lambda: d.metric(RELOADED) == 0)
        assert len(names(d)) == 8 and removes(d) == []
        assert "4 targets are left of 9" in d.log() and "allow_shrink" in d.log()
        # exactly half is a list
        write_peers(d, entries(1, 2, 3, 4, 5))
        wait_for(lambda: d.metric(RELOADED) == 1)
        assert len(names(d)) == 4
        write_peers(d, [])
        wait_for(lambda: d.metric(RELOADED) == 0)
        assert len(names(d)) == 4
        d.configure(FROM_FILE + "allow_shrink = yes\n")
        reload(d)
        wait_for(lambda: d.peers() == [])
        assert d.metric(RELOADED) == 1


def test_few_targets_may_shrink_but_not_to_nothing():
    with start(entries(1, 2, 3, 4)) as d:
        d.wait_up(3)
        write_peers(d, entries(1))
        wait_for(lambda: d.peers() == [])
        write_peers(d, [])
        wait_for(lambda: d.metric(RELOADED) == 0)


def test_another_file_or_none_is_the_operators_word():
    with start(entries(*range(1, 10))) as d:
        d.wait_up(8)
        write_peers(d, entries(1, 2), "other.json")
        d.configure(FROM_FILE.replace("peers.json", "other.json"))
        reload(d)
        wait_names(d, "host2")
        write_peers(d, entries(1, 2, 3), "other.json")
        wait_names(d, "host2", "host3")
        d.configure(PROBE + TWO_PEERS)
        reload(d)
        write_peers(d, entries(1, 5), "other.json")
        time.sleep(0.5)
        assert names(d) == ["host2", "host3"]


def test_descriptors_stay_flat_over_many_versions():
    with start(entries(1, 2)) as d:
        d.wait_up(1)

        def fds():
            return len(os.listdir(f"/proc/{d.process.pid}/fd"))

        before = fds()
        for number in range(3, 13):
            write_peers(d, entries(1, 2, number))
            wait_names(d, *sorted(("host2", f"host{number}")))
            write_peers(d, "[" if number % 2 else entries(1, 2))
            wait_for(lambda: d.metric(RELOADED) == (number + 1) % 2)
            reload(d, "reload refused" if number % 2 else "configuration reloaded")
        assert abs(fds() - before) <= 1


# --- host names ---

NAMED = PROBE + """[peers]
resolve_interval = 1s
peer = host1/rxe0 10.99.0.1
peer = host2/rxe0
peer = host3/rxe0 10.99.0.3
"""


def write_hosts(d, *lines):
    temporary = d.dir / ".hosts.new"
    temporary.write_text("".join(line + "\n" for line in lines))
    temporary.rename(d.dir / "hosts")


def start_named(*lines, config=NAMED, mode="probe"):
    d = Daemon(config, mode=mode, start=False)
    d.env["FAKE_HOSTS"] = str(d.dir / "hosts")
    write_hosts(d, *lines)
    d.start()
    return d


def helper_pids(d):
    """Of the process that looks up names."""
    found = []
    for pid in os.listdir("/proc"):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
            with open(f"/proc/{pid}/stat", "rb") as f:
                parent = int(f.read().rsplit(b")", 1)[1].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if parent == d.process.pid and b"--resolver" in words:
            found.append(int(pid))
    return found


def test_host_name_is_looked_up_and_followed_when_its_address_changes():
    with start_named("host2 10.99.0.2") as d:
        d.wait_up()
        assert d.peer("host2")["address"] == "10.99.0.2"
        since = d.peer("host3")["since"]
        ratchet = Ratchet()
        ratchet.look(d)
        write_hosts(d, "host2 10.99.0.22")
        wait_for(lambda: d.peer("host2")["address"] == "10.99.0.22")
        d.wait_up()
        assert len(adds(d)) == 3 and len(removes(d)) == 1
        assert d.peer("host3")["since"] == since
        ratchet.look(d)  # it is the same peer: its counts went on


def test_template_makes_the_names():
    config = NAMED + "address = {host}-{rail}.example\n"
    with start_named("host2-rxe0.example 10.99.0.2", config=config) as d:
        d.wait_up()


def test_name_that_cannot_be_resolved_costs_itself_and_says_so():
    with start_named("other 10.99.0.2") as d:
        d.wait_up(1)
        row = wait_for(lambda: d.peer("host2"))
        wait_for(lambda: d.peer("host2")["verdict"] == "failing")
        row = d.peer("host2")
        assert row["state"] == "backoff" and row["address"] is None
        assert row["cause"] == "configuration"
        assert "host name host2: Name or service not known" in row["reason"]
        assert row["not_attempted"]["not_connected"] > 0
        assert row["ops"]["send"]["sent"] == 0
        assert d.peer("host3")["verdict"] == "ok"
        assert d.metric("rdma_pingmesh_names_failing") == 1
        write_hosts(d, "host2 10.99.0.2")
        d.wait_up()
        assert d.metric("rdma_pingmesh_names_failing") == 0


def test_how_long_a_verdict_holds_is_configured_and_taken_at_a_reload():
    """One that nobody can reach, and then somebody."""
    with start_named("other 10.99.0.2", config=NAMED + "[verdict]\nfailing_after = 100\n") as d:
        d.wait_up(1)
        wait_for(lambda: d.peer("host2")["verdict"] == "degraded")
        misses = d.peer("host2")["not_attempted"]["not_connected"]
        # Some of each operation, so that two of one were in a row.
        wait_for(lambda: d.peer("host2")["not_attempted"]["not_connected"] >= misses + 10)
        assert d.peer("host2")["verdict"] == "degraded"
        d.configure(NAMED + "[verdict]\nok_after = 100\n")
        reload(d)
        wait_for(lambda: d.peer("host2")["verdict"] == "failing")
        write_hosts(d, "host2 10.99.0.2")
        wait_for(lambda: d.peer("host2")["ops"]["send"]["ok"] >= 8)
        assert d.peer("host2")["verdict"] == "degraded"
        assert "not yet 100 times in a row" in d.peer("host2")["reason"]
        d.configure(NAMED)
        reload(d)
        wait_for(lambda: d.peer("host2")["verdict"] == "ok", what="three of each are enough")


def test_name_that_fails_later_keeps_its_address():
    with start_named("host2 10.99.0.2") as d:
        d.wait_up()
        write_hosts(d)
        wait_for(lambda: d.metric("rdma_pingmesh_names_failing") == 1)
        assert "its last address stays in use" in d.log()
        time.sleep(1)
        d.wait_up()
        assert removes(d) == []


def test_own_name_that_leads_to_loopback_is_this_host():
    config = NAMED.replace("host1/rxe0 10.99.0.1", "host1/rxe0")
    with start_named("host1 127.0.1.1", "host2 10.99.0.2", config=config) as d:
        d.wait_up()
        assert names(d) == ["host2", "host3"]
        assert d.json("/api/v1/status")["host"] == "host1"


def test_of_several_addresses_one_of_the_rails_family_is_used():
    with start_named("host2 fd00::2", "host2 10.99.0.2", "host2 10.99.0.22") as d:
        wait_for(lambda: d.peer("host2") and d.peer("host2")["address"] == "10.99.0.2")
        d.wait_up()


def test_address_that_nobody_can_use_is_refused_by_name():
    with start_named("host2 fe80::2") as d:
        wait_for(lambda: d.peer("host2") and d.peer("host2")["verdict"] == "failing")
        assert "host name host2: its address is link-local" in d.peer("host2")["reason"]


def test_name_server_that_hangs_holds_up_nothing():
    config = NAMED + "peer = host4/rxe0\n"
    with start_named("host2 hang", "host4 10.99.0.4", config=config) as d:
        d.wait_up(2)
        # it is missed after some seconds
        wait_for(lambda: d.peer("host2") and d.peer("host2")["state"] == "backoff")
        assert "no answer yet" in wait_for(lambda: d.peer("host2")["reason"])
        reload(d)
        assert d.peer("host3")["verdict"] == "ok" and d.peer("host4")["verdict"] == "ok"
        status, seconds = d.stop()
        assert status == 0 and seconds < 4
        wait_for(lambda: helper_pids(d) == [])


def test_helper_that_dies_is_replaced_and_addresses_stay():
    with start_named("host2 10.99.0.2") as d:
        d.wait_up()
        (pid,) = helper_pids(d)
        os.kill(pid, 9)
        d.wait_log("the helper that looks up names ended (signal 9)")
        wait_for(lambda: helper_pids(d) not in ([], [pid]))
        write_hosts(d, "host2 10.99.0.22")
        wait_for(lambda: d.peer("host2")["address"] == "10.99.0.22")
        # and one that dies of a certain name, again and again
        write_hosts(d, "host2 die")
        d.wait_log("ended (exit 7)")
        d.wait_up()
        assert d.peer("host2")["address"] == "10.99.0.22"


def test_helper_runs_only_while_there_are_names():
    with start_named("host2 10.99.0.2") as d:
        d.wait_up()
        assert len(helper_pids(d)) == 1
        d.configure(PROBE + TWO_PEERS)
        reload(d)
        wait_for(lambda: helper_pids(d) == [])
        d.configure(NAMED)
        reload(d)
        wait_for(lambda: len(helper_pids(d)) == 1)
        d.wait_up()


def test_reload_of_the_same_names_touches_no_session():
    with start_named("host2 10.99.0.2") as d:
        d.wait_up()
        for _ in range(3):
            reload(d)
        time.sleep(0.5)
        assert removes(d) == [] and len(adds(d)) == 2


def test_names_of_the_file_are_looked_up_too():
    d = Daemon(FROM_FILE, start=False)
    d.env["FAKE_HOSTS"] = str(d.dir / "hosts")
    write_hosts(d, "node2.example 10.99.0.2")
    write_peers(d, [entry(1), {"targets": ["node2.example:9100"],
                               "labels": {"host": "host2", "rail": "rxe0", "rack": "r2"}}])
    d.start()
    with d:
        d.wait_up(1)
        assert d.metric("rdma_peer_info", peer="host2", address="10.99.0.2", rack="r2") == 1


def test_names_that_lead_to_one_address_are_probed_once():
    config = NAMED + "peer = host4/rxe0\n"
    with start_named("host2 10.99.0.2", "host4 10.99.0.2", config=config) as d:
        d.wait_up()
        assert names(d) == ["host2", "host3"]
        write_hosts(d, "host2 10.99.0.2", "host4 10.99.0.4")
        d.wait_up(3)
        write_hosts(d, "host2 10.99.0.2", "host4 10.99.0.3")  # which is host3's
        wait_names(d, "host2", "host3")
        assert d.peer("host3")["verdict"] == "ok"


# --- what is told of sessions ---

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
