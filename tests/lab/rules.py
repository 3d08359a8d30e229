"""What a rule says, wherever an operator may look: findings, metrics, states of ports, journal."""

import contextlib
import re

from audit import device, findings
from guest import own_config, reload_service, write_config
from waiting import wait_for

LABELS = ("cause", "severity", "subject")
STATES = {"ok": 0, "warning": 1, "critical": 2}
ROUND_S = 2  # under own_rules


def finding_of(lab, host, rule):
    """The rule's finding, None while it has none."""
    found = [finding for finding in findings(lab, host) if finding.get("rule") == rule]
    assert len(found) <= 1, found
    return found[0] if found else None


def is_in_metrics(lab, host, finding):
    labels = {name: finding[name] for name in LABELS}
    return lab.metrics(host).value("rdma_finding", **labels) == 1


def wait_finding(lab, host, rule, severity, timeout=30):
    """Until the rule has a finding of that severity, in JSON and metrics alike; returns it."""

    def told():
        finding = finding_of(lab, host, rule)
        is_so = finding and finding["severity"] == severity and is_in_metrics(lab, host, finding)
        return finding if is_so else None

    what = f"{rule} is a {severity} of {host}"
    return wait_for(told, timeout, lambda: f"{what}: {findings(lab, host)}")


def wait_no_finding(lab, host, finding, timeout):
    """Until that finding is gone from both."""
    wait_for(
        lambda: finding_of(lab, host, finding["rule"]) is None
        and not is_in_metrics(lab, host, finding),
        timeout,
        lambda: f"{finding['rule']} is no finding of {host} any more: {findings(lab, host)}",
    )


def port_of(lab, host, name="rxe0"):
    """The device's one port; an AssertionError while its counters are too old to be told."""
    ports = device(lab, host, name)["ports"]
    assert len(ports) == 1, f"{host}: {len(ports)} ports of {name} are told"
    return ports[0]


def wait_state(lab, host, rule, state, name="rxe0", timeout=30):
    """Until the rule has that state at the device's port, in JSON and metrics alike."""
    labels = {"device": name, "port": "1", "rule": rule}

    def is_so():
        told = lab.metrics(host).value("rdma_rule_state_id", **labels)
        return port_of(lab, host, name)["rules"][rule] == state and told == STATES[state]

    wait_for(is_so, timeout, f"{rule} of {name} is {state} at {host}")


def changes(log, rule, name="rxe0"):
    """The rule's changes of state by the service's log, e.g. "ok -> warning"."""
    return re.findall(rf"{name} port 1: {rule} (\w+ -> \w+)", log)


@contextlib.contextmanager
def own_rules(lab, host, **keys):
    """Other values in [rules], None being the daemon's own, and a round of counters each 2 s."""
    with own_config(lab, host) as text:
        for key in keys:
            text = re.sub(rf"(?m)^{key} = .*\n", "", text)
        lines = "".join(f"{key} = {value}\n" for key, value in keys.items() if value)
        section = f"[counters]\ninterval = {ROUND_S}s\n[rules]\n{lines}"
        write_config(lab, host, text.replace("[rules]\n", section))
        reload_service(lab, host)
        yield
