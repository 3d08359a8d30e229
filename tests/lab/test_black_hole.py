"""RoCE packets vanish on one host's way in: that host is missed, nobody else."""

from audit import (
    INTERVAL_S,
    Audit,
    Events,
    check_only,
    check_untouched,
    findings,
)
from books import counts_of, operations
from guest import black_hole, dropped_packets, short_black_hole
from healing import Healing
from waiting import wait_for

VICTIM = "host3"
WATCHERS = ("host1", "host2")
# The retries of a queue pair last 3.8 s: a hole this short is survived.
SHORT_S = 1.5
ALL = ("send", "read", "write", "atomic")
# Two intervals and a deadline are 0.9 s; the rest is a busy machine and the way to the guests.
NOTICED_WITHIN_S = 6


def is_gone(rows, _metrics):
    return rows[VICTIM]["verdict"] == "failing" and rows[VICTIM]["state"] != "up"


def check_noticed(events, begin):
    """A black hole that is there at begin: two misses make it failing, seen in one look or in two."""
    verdicts = [
        (event["text"].split(":")[0], event["timestamp"])
        for event in events.new(kind="verdict", peer=VICTIM)
    ]
    failing = [at for change, at in verdicts if change.endswith("-> failing")]
    assert failing and failing[0] - begin < NOTICED_WITHIN_S, (begin, verdicts)


def missed(row):
    counts = [counts_of(op) for op in operations(row).values()]
    skipped = sum(row["not_attempted"][reason] for reason in ("not_connected", "qp_stalled"))
    return skipped + sum(count["failed"] - count["late"] for count in counts)


def shows_loss(before, row):
    """The ratio accounts for all that was missed since; its window is longer than that."""
    due = len(operations(row)) * row["window_seconds"] / INTERVAL_S
    since = missed(row) - missed(before)
    return since >= 30 and row["loss_ratio"] * due >= 0.8 * since


def now_at(lab, host):
    return float(lab.exec(host, "date +%s.%N").stdout)


def check_watcher_during(lab, audit, host, before, events, begin):
    rows, _ = audit.wait(host, is_gone, 25, f"{host} has lost {VICTIM}")
    row = rows[VICTIM]
    assert VICTIM in row["reason"] and row["cause"] in ("inconclusive", "remote_host"), row
    # With one other peer that is fine, this much can be told: it is not this host.
    assert "not this host" in row["reason"]
    new = {
        name: row["failures"][name] - before[VICTIM]["failures"][name] for name in row["failures"]
    }
    assert new["timeout"] + new["retry_exceeded"] >= 1, new
    assert sum(new.values()) == new["timeout"] + new["retry_exceeded"], new
    for other, other_row in rows.items():
        if other != VICTIM:
            assert (other_row["state"], other_row["verdict"]) == ("up", "ok")
            assert other_row["qpn"] == before[other]["qpn"]
    check_noticed(events, begin)
    (finding,) = findings(lab, host)
    assert (finding["subject"], finding["severity"]) == (f"peer:{VICTIM}", "warning")
    assert lab.json(host, "/api/v1/status")["verdict"] == "degraded"
    audit.wait(
        host,
        lambda rows, _: shows_loss(before[VICTIM], rows[VICTIM]),
        20,
        f"the loss to {VICTIM} shows",
    )


def check_victim_during(lab, audit):
    """All its peers at once are silent: it looks at itself first."""
    audit.wait(
        VICTIM,
        lambda rows, _: all(row["verdict"] == "failing" for row in rows.values()),
        25,
        f"{VICTIM} has lost everybody",
    )


def test_a_black_hole_costs_one_peer_and_heals(lab):
    audit = Audit(lab)
    events = {host: Events(lab, host) for host in WATCHERS}
    looks = {host: audit.look(host)[0] for host in WATCHERS}
    healing = Healing(lab, "black hole on the way into a host", WATCHERS, peer=VICTIM)
    healing.begins()
    with black_hole(lab, VICTIM):
        begins = {host: now_at(lab, host) for host in WATCHERS}
        for host in WATCHERS:
            check_watcher_during(lab, audit, host, looks[host], events[host], begins[host])
        check_victim_during(lab, audit)
        assert dropped_packets(lab, VICTIM) > 0
    healing.ends()
    lab.wait_healthy()
    healing.record()
    for host in WATCHERS:
        check_healed(lab, audit, host, events[host])


def check_healed(lab, audit, host, events):
    """Nothing is lost any more; the loss ratio looks back a minute and does not rise."""
    assert findings(lab, host) == []
    assert any("-> ok" in text for text in events.texts(kind="verdict", peer=VICTIM))
    before, _ = audit.look(host)

    def has_answered_more(rows, _metrics):
        old, new = (counts_of(r[VICTIM]["ops"]["send"]) for r in (before, rows))
        return new["ok"] >= old["ok"] + 10

    rows, _ = audit.wait(host, has_answered_more, 20, f"{VICTIM} answers {host}")
    assert rows[VICTIM]["loss_ratio"] <= before[VICTIM]["loss_ratio"] + 0.02


def test_a_short_black_hole_is_survived_and_what_was_in_it_is_late(lab):
    audit = Audit(lab)
    before = {host: audit.look(host)[0] for host in lab.hosts}
    assert short_black_hole(lab, VICTIM, SHORT_S) > 0

    def late(rows, op, host):
        old, new = (counts_of(r[VICTIM]["ops"][op]) for r in (before[host], rows))
        return new["late"] - old["late"]

    for host in WATCHERS:
        rows, metrics = audit.wait(
            host,
            lambda rows, _, host=host: sum(late(rows, op, host) for op in ALL) >= 1
            and rows[VICTIM]["verdict"] == "ok",
            30,
            f"{host} books as late what the hole held up",
        )
        row, old = rows[VICTIM], before[host][VICTIM]
        assert (row["qpn"], row["since"]) == (old["qpn"], old["since"])
        assert row["failures"]["timeout"] > old["failures"]["timeout"]
        assert metrics.sum("rdma_rail_probe_late_total", rail="rxe0") >= 1
    wait_for(lambda: findings(lab, WATCHERS[0]) == [], 20, "nothing is left to say")


ONE_WAY = """
table inet lab {
	chain input {
		type filter hook input priority 0
		ip saddr 10.99.0.1 udp dport 4791 counter drop
	}
}
"""


def test_one_direction_of_one_pair_dropped(lab):
    """The two miss each other, whoever sends; both are well with the third, and say so."""
    ends, third = ("host1", VICTIM), "host2"
    audit = Audit(lab)
    looks = {host: audit.look(host) for host in lab.hosts}
    healing = Healing(lab, "one direction between two hosts dropped", ends)
    healing.begins()
    lab.exec(VICTIM, "nft -f -", stdin=ONE_WAY)
    try:
        for host, peer in (ends, ends[::-1]):
            rows, _ = audit.wait(
                host,
                lambda rows, _, p=peer: rows[p]["state"] != "up"
                and rows[p]["verdict"] == "failing"
                and "not this host" in rows[p]["reason"],
                30,
                f"{host} misses {peer}, and knows that it is not itself",
            )
            check_only(rows[peer], looks[host][0][peer], "failures", "timeout", "retry_exceeded")
            assert lab.json(host, "/api/v1/status")["verdict"] == "degraded"
        assert dropped_packets(lab, VICTIM) > 0
    finally:
        lab.exec(VICTIM, "nft delete table inet lab")
    healing.ends()
    lab.wait_healthy()
    healing.record()
    for host, (before, _) in looks.items():
        rows, _ = audit.wait_on_schedule(host, looks[host])
        for peer, row in rows.items():
            if third in (host, peer):
                check_untouched(row, before[peer])
