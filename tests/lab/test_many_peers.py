"""A hundred peers of one host: all connect at once, and what is sent to them is spread evenly."""

import contextlib

import pytest

from audit import Audit, wait_reachable
from guest import main_pid, own_config, reload_service, without_peers, write_config
from waiting import wait_for

PROBER = "host1"
RESPONDER = "host2"
PEERS = 100
RELOADS = 10
INTERVAL_S = 2  # long, so that a guest can serve a hundred
# Of ten equal parts of the interval each should have a tenth of the sessions.
PARTS = 10
MAX_IN_PART = 3 * PEERS // PARTS
MAX_EMPTY = 2  # a guest that did not run for a while sends a part later
PHASE_SLACK_S = 0.1
MAX_OFF_PHASE = PEERS // 10  # what a busy guest sends late


def addresses():
    return [f"10.99.0.{100 + i}" for i in range(PEERS)]


def config_of(text):
    """The lab's, with a hundred peers in place of its own; the prober's own address stays."""
    lines = without_peers(text).replace("= 200ms", f"= {INTERVAL_S}s")
    peers = "".join(f"peer = peer{i}/rxe0 {a}\n" for i, a in enumerate(addresses()))
    return f"{lines}peer = {PROBER}/rxe0 10.99.0.1\n{peers}"


@contextlib.contextmanager
def a_hundred_addresses(lab):
    batch = "".join(f"address add {a}/24 dev eth0\n" for a in addresses())
    lab.exec(RESPONDER, "ip -batch -", stdin=batch)
    try:
        yield
    finally:
        lab.exec(RESPONDER, "ip -batch -", stdin=batch.replace(" add ", " del "))


def ups(lab):
    return [row for row in lab.rows(PROBER) if row["state"] == "up"]


def wait_all_up(lab):
    wait_for(lambda: len(ups(lab)) == PEERS, 60, lambda: f"all up: {len(ups(lab))} are")


def check_no_losses_before_up(lab):
    """Connecting is not a loss."""
    for row in ups(lab):
        assert row["failures"]["retry_exceeded"] == 0, row
    metrics = lab.metrics(PROBER)
    attempts = metrics.value("rdma_connection_attempts_total", rail="rxe0")
    # A storm that defeats itself would need many tries each.
    assert attempts <= 3 * PEERS, attempts


def phases(lab):
    """When in the interval each peer was last sent to."""
    sent = {row["peer"]: row["ops"]["send"]["last_attempt_timestamp"] for row in ups(lab)}
    return {peer: at % INTERVAL_S for peer, at in sent.items() if at}


def check_spread(found):
    parts = [0] * PARTS
    for phase in found.values():
        parts[int(phase / INTERVAL_S * PARTS) % PARTS] += 1
    print(f"sessions in each tenth of the interval: {parts}")
    assert max(parts) <= MAX_IN_PART and parts.count(0) <= MAX_EMPTY, parts


def distance(one, other):
    around = abs(one - other)
    return min(around, INTERVAL_S - around)


@pytest.mark.limit(300)
def test_a_hundred_peers_are_probed_evenly_also_after_reloads(lab):
    with a_hundred_addresses(lab), own_config(lab, RESPONDER) as theirs:
        write_config(lab, RESPONDER, theirs.replace("= 200ms", f"= {INTERVAL_S}s"))
        reload_service(lab, RESPONDER)
        with own_config(lab, PROBER) as text:
            write_config(lab, PROBER, config_of(text))
            lab.exec(PROBER, "systemctl restart rdma-pingmesh")
            wait_reachable(lab, PROBER)
            wait_all_up(lab)
            check_no_losses_before_up(lab)
            wait_for(lambda: len(phases(lab)) == PEERS, 60, "each was sent to")
            before = phases(lab)
            check_spread(before)
            check_after_reloads(lab, before)


def off_phase(lab, before):
    now = phases(lab)
    return [peer for peer in before if distance(before[peer], now[peer]) > PHASE_SLACK_S]


def check_after_reloads(lab, before):
    pid = main_pid(lab, PROBER)
    qpns = {row["peer"]: row["qpn"] for row in ups(lab)}
    for _ in range(RELOADS):
        reload_service(lab, PROBER)
    lab.exec(PROBER, ["sleep", str(2 * INTERVAL_S)])
    Audit(lab).look(PROBER)
    # A host that had to wait for its processor sends late once; the next time it is in place.
    wait_for(
        lambda: len(off_phase(lab, before)) <= MAX_OFF_PHASE,
        20,
        lambda: f"all keep their phase but {off_phase(lab, before)}",
    )
    assert {row["peer"]: row["qpn"] for row in ups(lab)} == qpns
    assert main_pid(lab, PROBER) == pid
