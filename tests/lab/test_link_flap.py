"""A link that flaps: one loss is none, two are a warning, five critical, told until it is well."""

import time

from audit import Events
from guest import journal_cursor, journal_since
from rules import ROUND_S, changes, finding_of, own_rules, wait_finding, wait_no_finding, wait_state
from waiting import wait_for

VICTIM = "host3"
PORT = {"device": "rxe0", "port": "1"}
FLAP = """
for i in $(seq {}); do
	ip link set dev eth0 down; sleep 1
	ip link set dev eth0 up; date +%s.%N; sleep 1
done
"""
RECOVERY_S = 15  # long enough to see what stands meanwhile
SLACK_S = 1  # of who looks at the clock


def downed(lab):
    return lab.metrics(VICTIM).value("rdma_link_downed_total", **PORT)


def flap(lab, times):
    """Returns when the link was up for good, by the guest's clock."""
    return float(lab.exec(VICTIM, FLAP.format(times)).stdout.split()[-1])


def check_told(lab, severity, losses, limit):
    finding = wait_finding(lab, VICTIM, "link_flap", severity)
    assert (finding["cause"], finding["subject"]) == ("local_port", "port:rxe0/1"), finding
    assert f"rxe0/1 went down {losses} times in five minutes" in finding["text"], finding
    evidence = {"name": "link_downed", "value": losses, "threshold": limit, "window_seconds": 300}
    assert finding["evidence"] == [evidence], finding
    wait_state(lab, VICTIM, "link_flap", severity)
    return finding


def check_one_is_none(lab):
    before = downed(lab)
    flap(lab, 1)
    wait_for(lambda: downed(lab) == before + 1, 20, "the loss of the link is counted")
    wait_state(lab, VICTIM, "link_flap", "ok")
    assert finding_of(lab, VICTIM, "link_flap") is None


def test_a_link_that_flaps_is_told_until_it_was_well(lab):
    # What the link did before is forgotten with the service.
    lab.exec(VICTIM, "systemctl restart rdma-pingmesh")
    lab.wait_healthy()
    limits = {"link_flap_warning": None, "link_flap_critical": None}
    with own_rules(lab, VICTIM, **limits, recovery=f"{RECOVERY_S}s"):
        events, cursor = Events(lab, VICTIM), journal_cursor(lab, VICTIM)
        check_one_is_none(lab)
        flap(lab, 1)
        check_told(lab, "warning", 2, 2)
        well = flap(lab, 3)
        finding = check_told(lab, "critical", 5, 5)
        wait_no_finding(lab, VICTIM, finding, RECOVERY_S + 30)
        over = lab.json(VICTIM, "/api/v1/status")["timestamp"]
        assert over - well >= RECOVERY_S - SLACK_S, (over, well)
        wait_state(lab, VICTIM, "link_flap", "ok")
        # Five minutes still know of it: some rounds on, that has brought nothing back.
        time.sleep(3 * ROUND_S)
        log = journal_since(lab, VICTIM, cursor)
    assert changes(log, "link_flap") == ["ok -> warning", "warning -> critical", "critical -> ok"]
    begin = "port 1 link_flap ok -> warning: the link of rxe0/1 went down 2 times"
    assert [text for text in events.texts(kind="health") if text.startswith(begin)]
