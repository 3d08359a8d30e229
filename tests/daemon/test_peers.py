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
