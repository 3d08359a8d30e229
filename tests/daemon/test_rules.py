"""Rules from the counters' files to findings, verdicts, metrics, log and journal: the real daemon on
a tree of /sys whose counters move."""

import os
import pathlib
import subprocess
import sys

import pytest
from harness import Daemon, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "data"))

import make_trees  # noqa: E402

REAL = os.environ["RDMA_PINGMESHD"]
CONFIG = """
[counters]
interval = 200ms
[rules]
recovery = 1s
"""
PORT = "mlx5_0/ports/1/"
SUBJECT = "port:mlx5_0/1"


class Ramping(Daemon):
    """The real programs on the tree of a NIC, of RoCE unless told; put() changes its files."""

    def __init__(self, config=CONFIG, tree="mlx5-roce", device="mlx5_0", prepare=None):
        super().__init__(config=config, devices=(), start=False)
        (self.dir / "sys/class/infiniband").rmdir()
        (self.dir / "sys/class").rmdir()
        (self.dir / "sys").rmdir()
        make_trees.TREES[tree][1](str(self.dir / "sys"))
        self.name = device
        if prepare:
            prepare(self.dir / "sys")
        self.start()
        wait_for(lambda: self.rule_state("link_flap") == "ok", what="the first rounds")

    def popen(self, command, **how):
        return subprocess.Popen([REAL, *command[3:]], **how)

    def put(self, name, value):
        path = self.classes / PORT / name
        temporary = self.classes / ".value"
        temporary.write_text(f"{value}\n")
        temporary.rename(path)

    def value(self, name):
        return int((self.classes / PORT / name).read_text())

    def ramp(self, name, by):
        self.put(name, self.value(name) + by)

    def first_port(self):
        ports = (self.device(self.name) or {}).get("ports")
        return ports[0] if ports else {}

    def rule_state(self, rule):
        return self.first_port().get("rules", {}).get(rule)

    def finding(self, rule):
        found = [f for f in self.json("/api/v1/findings")["findings"] if f.get("rule") == rule]
        assert len(found) < 2, found
        return found[0] if found else None

    def rule_id(self, rule):
        return self.metric("rdma_rule_state_id", device="mlx5_0", port="1", rule=rule)


@pytest.fixture
def ramping():
    with Ramping() as daemon:
        yield daemon


def test_a_link_that_flaps_is_found_told_everywhere_and_forgotten(ramping):
    d = ramping
    assert d.rule_id("link_flap") == 0 and d.first_port()["verdict"] == "ok"
    d.ramp("counters/link_downed", 1)
    wait_for(lambda: d.metric("rdma_link_downed_total", device="mlx5_0") ==
             d.value("counters/link_downed"), what="one loss of the link is told")
    assert d.finding("link_flap") is None
    d.ramp("counters/link_downed", 2)
    finding = wait_for(lambda: d.finding("link_flap"), what="the link flaps")
    assert finding["severity"] == "warning" and finding["subject"] == SUBJECT
    assert finding["cause"] == "local_port" and "3 times" in finding["text"]
    (evidence,) = finding["evidence"]
    assert evidence == {"name": "link_downed", "value": 3, "threshold": 2, "window_seconds": 300}
    wait_for(lambda: d.finding("link_flap") is None, what="it is well again for a second")
    wait_for(lambda: d.rule_id("link_flap") == 0 and d.first_port()["verdict"] == "ok", what="ok")
    # Five minutes remember what was before: that brings nothing back.
    rounds = "rdma_counters_last_success_timestamp_seconds"
    over = d.metric(rounds, device="mlx5_0")
    wait_for(lambda: d.metric(rounds, device="mlx5_0") > over + 1, what="five more rounds")
    texts = [e["text"] for e in d.events("health") if "link_flap" in e["text"]]
    assert len(texts) == 2, texts
    assert texts[0].startswith("port 1 link_flap ok -> warning: the link of mlx5_0/1 went down")
    assert texts[1] == "port 1 link_flap warning -> ok"
    d.wait_log("mlx5_0 port 1: link_flap warning -> ok")


def test_a_port_that_goes_down_is_failing_and_then_only_told(ramping):
    d = ramping
    d.put("phys_state", "3: Disabled")
    d.put("state", "1: DOWN")
    wait_for(lambda: d.first_port()["verdict"] == "failing", what="down")
    finding = d.finding("link_down")
    assert finding["severity"] == "critical" and "is DOWN" in finding["text"]
    assert d.rule_id("link_down") == 2
    assert d.metric("rdma_port_verdict_id", device="mlx5_0", port="1") == 2
    assert d.metric("rdma_port_expected", device="mlx5_0", port="1") == 1
    assert d.first_port()["expected"] is True
    assert d.metric("rdma_device_verdict_id", device="mlx5_0") == 2
    assert d.metric("rdma_finding", cause="local_port", severity="critical", subject=SUBJECT) == 1
    shown = d.command("devices").stdout
    assert "failing" in shown and "the link of mlx5_0/1 is DOWN" in shown
    assert d.json("/api/v1/status")["verdict"] == "failing"
    d.put("phys_state", "5: LinkUp")
    d.put("state", "4: ACTIVE")
    wait_for(lambda: d.rule_id("link_down") != 2, what="up again")
    wait_for(lambda: d.finding("link_down") is None, what="forgotten")
    assert d.first_port()["verdict"] == "ok"


def test_a_port_that_was_never_up_counts_for_nothing(ramping):
    d = ramping
    d.stop()
    d.put("state", "1: DOWN")
    d.start()
    labels = {"device": "mlx5_0", "port": "1"}
    wait_for(lambda: d.metric("rdma_port_expected", **labels) == 0, what="its first round")
    assert d.first_port()["expected"] is False
    assert d.rule_state("link_down") == "not_applicable" and d.rule_id("link_down") is None
    assert d.finding("link_down") is None
    d.put("state", "4: ACTIVE")
    wait_for(lambda: d.metric("rdma_port_expected", **labels) == 1, what="it came up once")
    assert d.rule_state("link_down") == "ok"


def test_losses_are_found_and_a_reload_takes_the_rule_away(ramping):
    d = ramping

    def losing():
        d.ramp("hw_counters/out_of_sequence", 40)
        return d.finding("loss")

    finding = wait_for(losing, what="losses")
    assert finding["cause"] == "path" and "out_of_sequence" in finding["text"]
    assert finding["evidence"][0]["value"] >= finding["evidence"][0]["threshold"] == 60
    assert d.first_port()["verdict"] == "degraded" and d.first_port()["cause"] == "path"
    assert d.first_port()["rates"]["loss.rx_out_of_seq"]["10s"] > 1
    d.configure(CONFIG + "loss = off\n")
    d.send_signal(1)
    wait_for(lambda: d.finding("loss") is None, what="nobody asks any more")
    assert d.rule_state("loss") == "not_applicable" and d.rule_id("loss") is None


def test_what_the_nic_has_no_counters_for_is_not_applicable(ramping):
    assert ramping.rule_state("firmware_stuck") == "not_applicable"
    assert ramping.rule_id("firmware_stuck") is None
    assert ramping.rule_state("pfc_storm") == "not_applicable"
    assert ramping.rule_id("pfc_storm") is None
    wait_for(lambda: ramping.rule_state("congestion") == "ok", what="its counters are known")


def test_a_bond_that_goes_on_without_a_leg_is_found():
    def cut(root):
        (root / "class/net/ens1f1np1/operstate").write_text("lowerlayerdown\n")

    with Ramping(tree="bond-legs", device="mlx5_bond_0", prepare=cut) as d:
        finding = wait_for(lambda: d.finding("link_degraded"), what="a leg has no link")
        assert finding["subject"] == "port:mlx5_bond_0/1" and "ens1f1np1" in finding["text"]
        assert {leg["netdev"]: leg["up"] for leg in d.first_port()["facts"]["legs"]} == {
            "ens1f0np0": True, "ens1f1np1": False}
        port = {"device": "mlx5_bond_0", "port": "1"}
        assert d.metric("rdma_port_leg_up", netdev="ens1f0np0", **port) == 1
        assert d.metric("rdma_port_leg_up", netdev="ens1f1np1", **port) == 0


def test_a_port_slower_than_the_configuration_expects_is_found(ramping):
    d = ramping
    assert d.first_port()["rate_bytes_per_second"] == 12.5e9
    assert d.rule_state("link_degraded") == "not_applicable"
    d.configure(CONFIG + "[rails]\nexpected_rate = 200Gb/s\n")
    d.send_signal(1)
    finding = wait_for(lambda: d.finding("link_degraded"), what="half of what is expected")
    assert finding["subject"] == SUBJECT and "100" in finding["text"] and "200" in finding["text"]
    assert d.metric("rdma_port_expected_rate_bytes_per_second", device="mlx5_0", port="1") == 25e9
    d.put("rate", "200 Gb/sec (4X HDR)")
    wait_for(lambda: d.finding("link_degraded") is None, what="as it should be")
