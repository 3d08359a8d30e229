"""A workload's packets are lost on the way: the NICs of both ends tell it, the probes do not."""

import contextlib

from audit import Audit, Events, check_no_losses
from guest import ROCE_PORT, journal_cursor, journal_since
from rules import changes, own_rules, port_of, wait_finding, wait_no_finding, wait_state
from waiting import wait_for

SENDER, RECEIVER = "host1", "host2"
COUNTERS = {
    SENDER: {"rcvd_seq_err", "completer_retry_err"},
    RECEIVER: {"out_of_seq_request"},
}
LIMIT = 60  # the rule's own, in a minute
WINDOW_S = 60 + 5  # which begins and ends with a round
# A probe is small, and so is whatever answers: of what is as long as the path's MTU, each fiftieth.
LOSSY = f"""
table inet lab {{
	chain input {{
		type filter hook input priority 0
		ip saddr 10.99.0.1 udp dport {ROCE_PORT} meta length > 512 numgen inc mod 50 == 0 counter drop
	}}
}}
"""
WRITES = "ib_write_bw -d rxe0 -F -s 4096 -t 8 -D 120"
START = "systemd-run -q --collect --unit lab-load -p LimitMEMLOCK=infinity -p Nice=19 "


@contextlib.contextmanager
def workload(lab):
    """Somebody else writes from one host to the other, as much as it can."""
    lab.exec(RECEIVER, START + WRITES)
    try:
        wait_for(
            lambda: lab.exec(RECEIVER, "ss -Hltn 'sport = 18515'").stdout, 20, "its server listens"
        )
        lab.exec(SENDER, START + WRITES + " 10.99.0.2")
        try:
            yield
        finally:
            lab.exec(SENDER, "systemctl stop lab-load", check=False)
    finally:
        lab.exec(RECEIVER, "systemctl stop lab-load", check=False)


@contextlib.contextmanager
def lossy(lab, host):
    lab.exec(host, "nft -f -", stdin=LOSSY)
    try:
        yield
    finally:
        lab.exec(host, "nft delete table inet lab")


def counted(lab, host):
    """All counters of the port by name."""
    return {name: int(value) for name, value in port_of(lab, host)["counters"].items()}


def check_told(lab, host, before):
    """By whose counters, how many, in which time and against which limit."""
    finding = wait_finding(lab, host, "loss", "warning", 60)
    assert (finding["cause"], finding["subject"]) == ("path", "port:rxe0/1"), finding
    total, most = finding["evidence"][0], finding["evidence"][-1]
    assert total["value"] >= total["threshold"] == LIMIT, finding
    assert 0 < total["window_seconds"] <= WINDOW_S, finding
    assert most["name"] in COUNTERS[host], finding
    # No more than it grew by, and than may have been lost before, below the limit.
    grown = counted(lab, host)[most["name"]] - before[most["name"]]
    assert 0 < most["value"] < grown + LIMIT, (grown, finding)
    assert f"most by {most['name']}" in finding["text"], finding
    wait_state(lab, host, "loss", "warning")
    return finding


def test_losses_of_a_workload_are_told_at_both_ends(lab):
    audit = Audit(lab)
    hosts = (SENDER, RECEIVER)
    limits = {"loss_warning": None, "loss_critical": None, "hold": "1s"}
    with own_rules(lab, SENDER, **limits), own_rules(lab, RECEIVER, **limits):
        for host in hosts:
            # An earlier scenario may have lost some in the minute that is looked at.
            wait_state(lab, host, "loss", "ok", timeout=90)
        events = {host: Events(lab, host) for host in hosts}
        cursors = {host: journal_cursor(lab, host) for host in hosts}
        before = {host: counted(lab, host) for host in hosts}
        rows = {host: audit.look(host)[0] for host in hosts}
        with lossy(lab, RECEIVER), workload(lab):
            told = {host: check_told(lab, host, before[host]) for host in hosts}
        for host in hosts:
            wait_no_finding(lab, host, told[host], 100)
            wait_state(lab, host, "loss", "ok")
            check_no_losses(audit.look(host)[0], rows[host])
    for host in hosts:
        log = journal_since(lab, host, cursors[host])
        assert changes(log, "loss") == ["ok -> warning", "warning -> ok"]
        texts = events[host].texts(kind="health")
        assert [text for text in texts if text.startswith("port 1 loss ok -> warning")], texts
