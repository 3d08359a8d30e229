"""A fleet of hosts, each with the series of docs/example.prom: quiet, nothing is told; broken, one
thing once.

promtool evaluates all rules together over what Prometheus would have scraped.

Usage: prometheus_fleet.py ROOT
"""

import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

ROOT = None
HOSTS = [f"host{n:03}" for n in range(1, 5)]
BREAKS, ASKED, MINUTES = 10, 25, 30  # minutes: when it breaks, when alerts are looked at, in all
# A SEND or a READ in each second to each of three peers.
PROBES, PEERS = 60, 3
HEALTHY_PEER = "host002"


def example():
    """(family, labels, value) of each sample of the example that is not about a peer in trouble."""
    for line in (ROOT / "docs/example.prom").read_text().splitlines():
        sample = re.fullmatch(r"([a-z_0-9]+)(?:\{(.*)\})? (\S+)", line)
        if not sample or sample[1] == "rdma_finding":
            continue
        labels = dict(re.findall(r'(\w+)="([^"]*)"', sample[2] or ""))
        if labels.get("peer", HEALTHY_PEER) == HEALTHY_PEER:
            yield sample[1], labels, float(sample[3])


def growth(family, labels):
    """What a healthy host's series gains in a minute."""
    if family.endswith("_timestamp_seconds"):
        return 60
    if re.fullmatch("rdma_probe_(scheduled|ok)_total|rdma_probe_rtt_seconds_count", family):
        return PROBES
    if family == "rdma_probe_rtt_seconds_sum":
        return PROBES * 10e-6
    if re.fullmatch("rdma_rail_probe_(scheduled|sent|ok)_total", family):
        return PROBES * PEERS
    if family == "rdma_rail_rtt_seconds_bucket":
        return PROBES * PEERS if float(labels["le"]) >= 10e-6 else 0
    return 0


class Series(dict):
    """labels (with the family as __name__): [value of each minute], None where there was none."""

    def add(self, family, labels, values):
        self[tuple(sorted({"__name__": family, "job": "rdma-pingmesh", **labels}.items()))] = values

    def find(self, family, **labels):
        wanted = {"__name__": family, **labels}.items()
        found = [key for key in self if wanted <= set(key)]
        assert found, (family, labels)
        return found

    def change(self, family, values, **labels):
        """From when it breaks on: values, or what a function makes of those there are."""
        for key in self.find(family, **labels):
            new = values(self[key]) if callable(values) else [values] * MINUTES
            self[key] = self[key][:BREAKS] + new[BREAKS:MINUTES]


def stops(values):
    return [values[BREAKS]] * MINUTES


def goes(step):
    """On from where it is, by so much a minute."""
    return lambda values: [values[BREAKS] + step * (n - BREAKS) for n in range(MINUTES)]


def for_a_minute(value):
    return lambda values: values[:BREAKS] + [value] + values[BREAKS + 1:]


def fleet():
    s = Series()
    for host in HOSTS:
        instance = {"instance": f"{host}:10479"}
        s.add("up", instance, [1] * MINUTES)
        for family, labels, value in example():
            step = growth(family, labels)
            values = [value + step * n for n in range(MINUTES)]
            for peer in [p for p in HOSTS if p != host] if "peer" in labels else [None]:
                s.add(family, {**labels, **instance, **({"peer": peer} if peer else {})}, values)
    return s


def text_of(values):
    """promtool's notation, in which a series that ends has to be told that it ended."""
    words, ended = [], False
    for value in values:
        words.append(repr(value) if value is not None else "_" if ended else "stale")
        ended = value is None
    return " ".join(words)


def name_of(key):
    labels = ",".join(f"{name}={json.dumps(value)}" for name, value in key if name != "__name__")
    return f"{dict(key)['__name__']}{{{labels}}}"


def ask(series, query):
    """What an instant query answers at the minute ASKED, as promtool writes it."""
    # promtool tells what it got where that is not what was expected.
    document = {
        "rule_files": [f"{ROOT}/etc/prometheus/rdma-pingmesh.{part}.yml"
                       for part in ("recording", "rules")],
        "evaluation_interval": "1m",
        "tests": [{
            "interval": "1m",
            "input_series": [{"series": name_of(key), "values": text_of(values)}
                             for key, values in series.items()],
            "promql_expr_test": [{
                "expr": f"{query} or vector(-1)",
                "eval_time": f"{ASKED}m",
                "exp_samples": [],
            }],
        }],
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        done = subprocess.run(["promtool", "test", "rules", file.name], capture_output=True,
                              text=True, timeout=100)
    got = re.search(r"got: (.*)", done.stdout + done.stderr)
    assert got, done.stdout + done.stderr
    return got[1]


def firing(series):
    """[(alert, host)] of all alerts there are."""
    told = re.findall(r"\{([^}]*alertname=[^}]*)\}", ask(series, 'ALERTS{alertstate="firing"}'))
    labels = [dict(re.findall(r'(\w+)="([^"]*)"', each)) for each in told]
    return sorted((each["alertname"], each.get("host", "")) for each in labels)


def lose_peer(s, host, **rail):
    """What the others see of a host (or of one rail of it) that does not answer any more."""
    for observer in [h for h in HOSTS if h != host]:
        me = {"instance": f"{observer}:10479"}
        s.change("rdma_session_verdict_id", 2, peer=host, **me, **rail)
        s.change("rdma_session_up", 0, peer=host, **me, **rail)
        s.change("rdma_probe_ok_total", stops, peer=host, **me, **rail)
        s.change("rdma_rail_probe_ok_total", goes(PROBES * (PEERS - 1)), **me, **rail)
        s.change("rdma_rail_probe_not_attempted_total", goes(PROBES), reason="not_connected", **me,
                 **rail)


def calculate(formula, **sizes):
    """ "7 x H + 1" with H: a sum of products."""
    return sum(math.prod(sizes[word] if word in sizes else int(word) for word in term.split(" x "))
               for term in formula.split(" + "))


class Fleet(unittest.TestCase):
    def test_a_quiet_fleet_is_told_nothing_of(self):
        self.assertEqual(firing(fleet()), [])

    def test_recorded_series_are_as_many_as_the_documents_say(self):
        told = (ROOT / "docs/METRICS.md").read_text()
        formula = re.search(r"(?m)^    (7 x H .*?)  +1,000 hosts of 8 rails: ([0-9,]+)$", told)
        self.assertEqual(calculate(formula[1], H=1000, R=8), int(formula[2].replace(",", "")))
        got = ask(fleet(), 'count({__name__=~".+:rdma_.+:.+"})')
        of_a_day = 2 * len(HOSTS) * 2  # six hours later
        self.assertEqual(float(re.match(r"\{\} (\S+)", got)[1]),
                         calculate(formula[1], H=len(HOSTS), R=2) - of_a_day, got)

    def test_a_host_that_dies_is_one_alert_and_its_daemon_another(self):
        s = fleet()
        for key in s:
            if ("instance", "host004:10479") in key:
                gone = 0 if ("__name__", "up") in key else None
                s[key] = s[key][:BREAKS] + [gone] * (MINUTES - BREAKS)
        lose_peer(s, "host004")
        self.assertEqual(firing(s),
                         [("RdmaDaemonDown", "host004"), ("RdmaRemoteHostBad", "host004")])

    def test_a_port_that_goes_down_is_told_by_its_host_and_by_the_others_once(self):
        s, me = fleet(), {"instance": "host004:10479", "rail": "mlx5_0"}
        s.change("rdma_rail_up", 0, **me)
        s.change("rdma_session_verdict_id", None, **me)
        for op in ("scheduled", "ok"):
            s.change(f"rdma_rail_probe_{op}_total", stops if op == "ok" else lambda v: v, **me)
        s.change("rdma_rail_probe_not_attempted_total", goes(PROBES * PEERS),
                 reason="local_port_down", **me)
        s.add("rdma_finding", {"instance": me["instance"], "cause": "local_port",
                               "severity": "critical", "subject": "port:mlx5_0/1"},
              [None] * BREAKS + [1] * (MINUTES - BREAKS))
        lose_peer(s, "host004", rail="mlx5_0")
        self.assertEqual(firing(s), [("RdmaRailLost", "host004"), ("RdmaRemoteRailBad", "host004")])

    def test_a_host_that_is_cut_off_accuses_nobody_else(self):
        s, me = fleet(), {"instance": "host004:10479"}
        s.change("rdma_session_verdict_id", 2, **me)
        s.change("rdma_session_up", 0, **me)
        lose_peer(s, "host004")
        self.assertEqual(firing(s),
                         [("RdmaHostIsolated", "host004"), ("RdmaRemoteHostBad", "host004")])

    def test_a_worker_that_starts_anew_wakes_nobody(self):
        s, me = fleet(), {"instance": "host003:10479"}
        s.change("rdma_worker_up", for_a_minute(0), device="mlx5_0", **me)
        s.change("rdma_worker_restarts_total", goes(0), device="mlx5_0", **me)
        for key in s.find("rdma_worker_restarts_total", device="mlx5_0", **me):
            s[key] = [value + (n >= BREAKS) for n, value in enumerate(s[key])]
        s.change("rdma_rail_up", for_a_minute(0), rail="mlx5_0", **me)
        s.change("rdma_session_up", for_a_minute(0), rail="mlx5_0", **me)
        s.change("rdma_session_verdict_id", for_a_minute(None), rail="mlx5_0", **me)
        s.change("rdma_out_of_sequence_total", for_a_minute(None), device="mlx5_0", **me)
        self.assertEqual(firing(s), [])

    def test_a_fleet_that_falls_apart_is_one_alert(self):
        s = fleet()
        s.change("rdma_session_verdict_id", 2)
        s.change("rdma_probe_ok_total", stops)
        s.change("rdma_rail_probe_ok_total", stops)
        told = firing(s)
        self.assertEqual([each for each in told if each[0] != "RdmaLoss"], [("RdmaFabricDown", "")])


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
