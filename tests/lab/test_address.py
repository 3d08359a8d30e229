"""The fabric's address of a host goes, returns at another place of the GID table, moves, doubles."""

from audit import Audit, Events, check_only, check_untouched, findings, grown
from healing import Healing
from waiting import wait_for

VICTIM = "host3"
ADDRESS = "10.99.0.3/24"
SECOND = "10.99.0.103/32"  # of a subnet of its own, or it would take the first with it when it goes
WATCHERS = ("host1", "host2")


def address(lab, host, what, which):
    lab.exec(host, ["ip", "address", what, which, "dev", "eth0"])


def is_up(_rows, metrics):
    return metrics.value("rdma_rail_up", rail="rxe0") == 1


def gid_index(metrics):
    (info,) = metrics.samples("rdma_rail_info", rail="rxe0")
    return int(info.labels["gid_index"])


def check_without_address(lab, audit, before):
    """The host says that it is its own fault, and misses nobody."""
    rows, metrics = audit.wait(VICTIM, lambda _, m: not is_up(_, m), 15, "the rail is down")
    wait_for(
        lambda: lab.json(VICTIM, "/api/v1/status")["cause"] == "configuration",
        15,
        lambda: f"an address is missed: {findings(lab, VICTIM)}",
    )
    (finding,) = findings(lab, VICTIM)
    assert "eth0" in finding["text"] and "address" in finding["text"], finding
    assert lab.json(VICTIM, "/api/v1/status")["verdict"] == "failing"
    for peer, row in rows.items():
        check_only(row, before[peer], "aborts", "local_port_down")


def check_watcher(audit, host, look):
    rows, _ = audit.wait_on_schedule(host, look)
    before = look[0]
    check_only(rows[VICTIM], before[VICTIM], "failures", "timeout", "retry_exceeded")
    (other,) = set(rows) - {VICTIM}
    check_untouched(rows[other], before[other])


def test_an_address_returns_at_another_gid_index(lab):
    audit = Audit(lab)
    looks = {host: audit.look(host) for host in lab.hosts}
    before, metrics = looks[VICTIM]
    old = gid_index(metrics)
    healing = Healing(lab, "fabric address removed, back at another GID index", lab.hosts)
    healing.begins()
    address(lab, VICTIM, "del", ADDRESS)
    try:
        check_without_address(lab, audit, before)
        # Another address takes its place in the table, and is no rail of the list.
        address(lab, VICTIM, "add", SECOND)
    finally:
        address(lab, VICTIM, "add", ADDRESS)
    healing.ends()
    try:
        audit.wait(VICTIM, is_up, 15, "the rail is up")
        lab.wait_healthy()
        healing.record()
        rows, _ = audit.wait_on_schedule(VICTIM, looks[VICTIM])
        for peer, row in rows.items():
            check_only(row, before[peer], "failures", "timeout")
            skipped = grown(row, before[peer], "not_attempted")
            assert skipped.get("local_port_down"), skipped
        for host in WATCHERS:
            check_watcher(audit, host, looks[host])
        indexes = {row["address"]: row["local_gid"] for row in lab.rows(VICTIM)}
        assert len(set(indexes.values())) == 1, indexes
    finally:
        address(lab, VICTIM, "del", SECOND)
    lab.wait_healthy()
    assert gid_index(lab.metrics(VICTIM)) != old


def connections(lab, host):
    return {row["peer"]: (row["qpn"], row["since"]) for row in lab.rows(host)}


def gid_changes(metrics):
    return metrics.value("rdma_async_events_total", device="rxe0", port="1", event="gid_change")


def test_a_second_address_touches_no_session(lab):
    before = {host: connections(lab, host) for host in lab.hosts}
    audit = Audit(lab)
    for what in ("add", "del"):
        _, metrics = audit.look(VICTIM)
        changes, index = gid_changes(metrics), gid_index(metrics)
        address(lab, VICTIM, what, SECOND)
        audit.wait(
            VICTIM, lambda _, m, changes=changes: gid_changes(m) > changes, 15, "it is noticed"
        )
        # The scan that follows has looked at it when as much has been probed again.
        rows, metrics = audit.look(VICTIM)
        due = {peer: int(row["ops"]["send"]["scheduled"]) + 10 for peer, row in rows.items()}
        audit.wait(
            VICTIM,
            lambda rows, _, due=due: all(
                int(row["ops"]["send"]["scheduled"]) >= due[peer] for peer, row in rows.items()
            ),
            15,
            "probing goes on",
        )
        assert gid_index(metrics) == index
    assert {host: connections(lab, host) for host in lab.hosts} == before


def test_an_address_that_moved_to_another_host_is_told(lab):
    """What answers there is measured under the list's name, and who it is is said."""
    watcher, thief = WATCHERS
    audit = Audit(lab)
    looks = {host: audit.look(host) for host in lab.hosts}
    events = Events(lab, watcher)
    healing = Healing(lab, "address moved to another host, and back", [watcher], peer=VICTIM)
    healing.begins()
    address(lab, VICTIM, "del", ADDRESS)
    try:
        address(lab, thief, "add", ADDRESS.replace("/24", "/32"))
        # In place of the announcement that whoever moves an address sends.
        forget_neighbour(lab, watcher)
        audit.wait(VICTIM, lambda _, m: not is_up(_, m), 15, "its old host says that it is gone")
        audit.wait(
            watcher,
            lambda rows, _: rows[VICTIM]["since"] > looks[watcher][0][VICTIM]["since"]
            and rows[VICTIM]["state"] == "up",
            40,
            "its new host answers",
        )
        wait_for(
            lambda: [f["subject"] for f in findings(lab, watcher)] == [f"address:{ADDRESS[:-3]}"],
            30,
            lambda: f"one finding: {findings(lab, watcher)}",
        )
        (finding,) = findings(lab, watcher)
        assert finding["cause"] == "configuration" and thief in finding["text"], finding
        assert lab.json(watcher, "/api/v1/status")["verdict"] == "ok"
        assert any(f"answers as {thief}" in text for text in events.texts(kind="session"))
    finally:
        lab.exec(thief, ["ip", "address", "del", ADDRESS.replace("/24", "/32"), "dev", "eth0"])
        address(lab, VICTIM, "add", ADDRESS)
        forget_neighbour(lab, watcher)
    healing.ends()
    lab.wait_healthy()
    healing.record()
    wait_for(lambda: not any(findings(lab, host) for host in lab.hosts), 20, "no finding is left")
    for host, look in looks.items():
        rows, _ = audit.wait_on_schedule(host, look)
        for peer, row in rows.items():
            check_only(row, look[0][peer], "failures", "timeout", "retry_exceeded")
    assert any(f"answers as {VICTIM}" in text for text in events.texts(kind="session"))


def forget_neighbour(lab, host):
    lab.exec(host, ["ip", "neigh", "flush", "to", ADDRESS[:-3], "dev", "eth0"])
