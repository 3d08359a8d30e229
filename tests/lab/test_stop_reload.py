"""systemctl stop and reload, whatever the sessions are doing."""

import contextlib

import pytest

from audit import Audit, Events, check_no_losses, wait_reachable
from books import counts_of
from guest import (
    black_hole,
    journal_cursor,
    journal_since,
    own_config,
    prop,
    reload_service,
    stopped,
    timed,
    without_peer,
    without_peers,
    write_config,
)
from waiting import wait_for

VICTIM = "host1"
OTHER = "host2"
THIRD = "host3"
STOP_LIMIT_S = 5
MAX_STOPS = 5
BAD_FILE = "/etc/rdma-pingmesh/conf.d/99-lab.conf"
RELOADED = "rdma_pingmesh_config_last_reload_successful"


def states(lab, host=VICTIM):
    return {row["peer"]: row["state"] for row in lab.rows(host)}


@contextlib.contextmanager
def busy(_lab):
    yield


@contextlib.contextmanager
def idle(lab):
    with own_config(lab, VICTIM) as text:
        write_config(lab, VICTIM, without_peers(text))
        reload_service(lab, VICTIM)
        wait_for(lambda: lab.rows(VICTIM) == [], 20, "no session is left")
        yield


@contextlib.contextmanager
def connecting(lab):
    """The peer's port is there, and nothing comes back from it."""
    with black_hole(lab, OTHER):
        wait_for(lambda: states(lab)[OTHER] == "connecting", 30, "a connect into the void")
        yield


@contextlib.contextmanager
def peer_gone(lab):
    with stopped(lab, OTHER):
        wait_for(lambda: states(lab)[OTHER] == "backoff", 30, "the peer is missed")
        yield


SITUATIONS = [idle, connecting, peer_gone, busy]


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda s: s.__name__)
def test_stop_and_reload(lab, situation):
    with situation(lab):
        check_reload(lab)
        check_stop(lab)
        lab.exec(VICTIM, "systemctl start rdma-pingmesh")
        wait_reachable(lab, VICTIM)


def check_reload(lab):
    before = {row["peer"]: row for row in lab.rows(VICTIM)}
    status = lab.json(VICTIM, "/api/v1/status")
    when = "rdma_pingmesh_config_last_reload_success_timestamp_seconds"
    old = lab.metrics(VICTIM).value(when)
    seconds, code = timed(lab, VICTIM, "systemctl reload rdma-pingmesh")
    assert code == 0 and seconds < STOP_LIMIT_S, (code, seconds)
    wait_for(lambda: lab.metrics(VICTIM).value(when) > old, 10, "the configuration is read again")
    assert lab.metrics(VICTIM).value(RELOADED) == 1
    assert lab.json(VICTIM, "/api/v1/status")["instance"] == status["instance"]
    assert prop(lab, VICTIM, "ActiveState") == "active"
    for row in lab.rows(VICTIM):
        old_row = before[row["peer"]]
        if old_row["state"] == "up":
            assert (row["qpn"], row["since"]) == (old_row["qpn"], old_row["since"])


def check_stop(lab):
    seconds, code = timed(lab, VICTIM, "systemctl stop rdma-pingmesh")
    assert code == 0 and seconds < STOP_LIMIT_S, (code, seconds)
    assert prop(lab, VICTIM, "ActiveState") == "inactive"
    assert prop(lab, VICTIM, "Result") == "success"
    left = lab.exec(VICTIM, "pgrep -f '^(/usr/sbin/)?rdma-pingmeshd ' || true").stdout.split()
    assert left == [], left
    # Nothing of it is left in the kernel either.
    queues = lab.exec(VICTIM, "rdma resource show qp").stdout
    assert "type RC" not in queues, queues


def test_a_planned_stop_is_told_to_the_peers(lab):
    audit = Audit(lab)
    before = {host: audit.look(host) for host in lab.others(VICTIM)}
    events = {host: Events(lab, host) for host in before}
    with stopped(lab, VICTIM):
        for host, (rows, metrics) in before.items():
            check_told(audit, events[host], host, rows, metrics)


def check_told(audit, events, host, before, before_metrics):
    def refused(metrics):
        return metrics.value("rdma_connection_failures_total", rail="rxe0", reason="rejected")

    # It is still known after connections were refused.
    rows, _ = audit.wait(
        host,
        lambda rows, metrics: refused(metrics) >= refused(before_metrics) + 2
        and "goodbye" in rows[VICTIM]["reason"],
        20,
        lambda: f"{host} knows why: {audit.look(host)[0][VICTIM]['reason']}",
    )
    row = rows[VICTIM]
    assert "stopped on purpose" in row["reason"] and VICTIM in row["reason"]
    assert row["cause"] == "remote_host"
    check_no_losses(rows, before)
    texts = events.texts(kind="session", peer=VICTIM)
    assert any("goodbye" in text for text in texts), texts


def test_what_a_planned_stop_finds_in_flight_is_no_loss(lab):
    audit = Audit(lab)
    watcher = OTHER
    before, _ = audit.look(watcher)

    def left():
        aborts = audit.look(watcher)[0][VICTIM]["aborts"]
        return aborts["peer_leaving"] - before[VICTIM]["aborts"]["peer_leaving"]

    # With answers this slow something is in flight most of the time; try until it is.
    with slow_answers(lab, watcher):
        for _ in range(MAX_STOPS):
            with stopped(lab, VICTIM):
                wait_for(lambda: states(lab, watcher)[VICTIM] != "up", 20, "the session is over")
            if left():
                break
            wait_for(lambda: states(lab, watcher)[VICTIM] == "up", 30, "the session is back")
    assert left() >= 1


@contextlib.contextmanager
def slow_answers(lab, host):
    lab.exec(host, "tc qdisc add dev eth0 root netem delay 80ms")
    try:
        yield
    finally:
        lab.exec(host, "tc qdisc del dev eth0 root")


def test_a_bad_configuration_is_refused_and_the_old_one_kept(lab):
    audit = Audit(lab)
    before, metrics = audit.look(VICTIM)
    config = metrics.samples("rdma_pingmesh_config_info")[0].labels["hash"]
    events, cursor = Events(lab, VICTIM), journal_cursor(lab, VICTIM)
    lab.exec(VICTIM, f"cat > {BAD_FILE}", stdin="[probe]\nsend_interval = often\n")
    try:
        lab.exec(VICTIM, "systemctl reload rdma-pingmesh", check=False)
        audit.wait(VICTIM, lambda _, m: m.value(RELOADED) == 0, 10, "the reload is refused")
        text = journal_since(lab, VICTIM, cursor)
        assert f"{BAD_FILE}:2" in text and "old configuration stays in force" in text, text
        assert any("refused" in told for told in events.texts(kind="reload"))
        check = lab.exec(VICTIM, "rdma-pingmeshd --check-config", check=False)
        assert check.returncode != 0 and f"{BAD_FILE}:2" in check.stdout + check.stderr
        rows, metrics = audit.look(VICTIM)
        assert metrics.samples("rdma_pingmesh_config_info")[0].labels["hash"] == config
        for peer, row in rows.items():
            assert (row["state"], row["qpn"]) == ("up", before[peer]["qpn"])
        assert prop(lab, VICTIM, "ActiveState") == "active"
    finally:
        lab.exec(VICTIM, f"rm {BAD_FILE} && systemctl reload rdma-pingmesh")
    audit.wait(VICTIM, lambda _, m: m.value(RELOADED) == 1, 10, "the good one is taken again")


def test_a_reload_that_changes_peers_leaves_the_others_alone(lab):
    audit = Audit(lab)
    events = Events(lab, VICTIM)
    before, _ = audit.look(VICTIM)
    kept = before[OTHER]["qpn"], before[OTHER]["since"]
    with own_config(lab, VICTIM) as text:
        write_config(lab, VICTIM, without_peer(text, THIRD))
        reload_service(lab, VICTIM)
        rows, metrics = audit.wait(
            VICTIM, lambda rows, _: THIRD not in rows, 20, "the peer's session leaves"
        )
        assert (rows[OTHER]["qpn"], rows[OTHER]["since"]) == kept
        assert metrics.samples("rdma_probe_scheduled_total", peer=THIRD) == []
        assert metrics.samples("rdma_peer_info", peer=THIRD) == []
    rows, _ = audit.wait(
        VICTIM,
        lambda rows, _: rows.get(THIRD, {}).get("verdict") == "ok",
        30,
        "the peer that came back is up",
    )
    assert (rows[OTHER]["qpn"], rows[OTHER]["since"]) == kept
    for op in ("send", "read"):
        # The removed peer begins anew; the one that stayed has gone on.
        old, new = (counts_of(r[THIRD]["ops"][op])["scheduled"] for r in (before, rows))
        assert new < old, (op, old, new)
        old, new = (counts_of(r[OTHER]["ops"][op]) for r in (before, rows))
        assert new["ok"] > old["ok"] and new["aborted"] == old["aborted"]
        old, new = (r[OTHER]["not_attempted"]["not_connected"] for r in (before, rows))
        assert new == old
    assert len([text for text in events.texts(kind="reload") if text == "reloaded"]) == 2
