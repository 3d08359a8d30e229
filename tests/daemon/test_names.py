"""Host names in the list of peers: looked up by a helper, followed, and what a bad one costs."""

import os
import time

from harness import PROBE, TWO_PEERS, Daemon, Ratchet, wait_for
from test_peers import FROM_FILE, entry, names, wait_names, write_peers
from test_reload import adds, reload, removes

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
