"""A real Prometheus scrapes the fabric, and its own linter has nothing to say."""

import contextlib
import json
import pathlib
import re
import socket
import subprocess
import urllib.parse
import urllib.request

from waiting import wait_for

CONFIG = """
global:
  scrape_interval: 1s
  scrape_timeout: 1s
  evaluation_interval: 5s
rule_files: [{rules}/*.r*.yml]
scrape_configs:
  - job_name: rdma-pingmesh
    static_configs:
      - targets: [{targets}]
"""

RULES = pathlib.Path(__file__).resolve().parents[2] / "etc/prometheus"
# Panels that a healthy lab has figures for. Others are empty while all is well, or tell of counters
# that rxe does not have.
FILLED = {
    "Sessions",
    "Loss by host and rail",
    "Hidden loss",
    "SEND, 99th percentile",
    "READ, 99th percentile",
    "Acknowledgement of a SEND",
    "Hosts, 99th percentile of READ",
    "Slow hosts",
    "Ports",
    "Worst delay of the main loop",
    "Probes delayed by this host itself",
    "CPU",
    "Series of a scrape",
}
# These need a quarter of a day, and a full hour.
LATER = {
    "instance_rail_op:rdma_rail_rtt_seconds:p99_day",
    "instance_device_port:rdma_port_rate_bytes_per_second:max_week",
}


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Prometheus:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"

    def get(self, path, **params):
        query = urllib.parse.urlencode(params)
        with urllib.request.urlopen(f"{self.url}{path}?{query}", timeout=10) as answer:
            return answer.read().decode()

    def is_ready(self):
        try:
            return "Ready" in self.get("/-/ready")
        except OSError:
            return False

    def query(self, text):
        """The result of an instant query as a list of (labels, value)."""
        answer = json.loads(self.get("/api/v1/query", query=text))
        assert answer["status"] == "success", answer
        return [
            (sample["metric"], float(sample["value"][1])) for sample in answer["data"]["result"]
        ]

    def values(self, text):
        return [value for _, value in self.query(text)]

    def targets(self):
        return json.loads(self.get("/api/v1/targets"))["data"]["activeTargets"]


@contextlib.contextmanager
def prometheus(lab, directory):
    targets = ", ".join(lab.url(host).removeprefix("http://") for host in lab.hosts)
    (directory / "prometheus.yml").write_text(CONFIG.format(targets=targets, rules=RULES))
    port = free_port()
    with (directory / "prometheus.log").open("w") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={directory}/prometheus.yml",
                f"--storage.tsdb.path={directory}/data",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        yield Prometheus(port)
    finally:
        process.terminate()
        process.wait(20)


def test_prometheus_scrapes_all_hosts(lab, tmp_path):
    hosts = len(lab.hosts)
    with prometheus(lab, tmp_path) as prom:
        wait_for(prom.is_ready, 60, "Prometheus is ready")
        # A scrape that a busy machine delays is no fault of what is scraped.
        enough = "count(sum_over_time(up[10s]) >= 5)"
        wait_for(lambda: prom.values(enough) == [hosts], 60, "five good scrapes of each host")
        wait_for(lambda: prom.values("count(up == 1)") == [hosts], 20, "all targets are up")
        assert [target["lastError"] for target in prom.targets()] == [""] * hosts
        log = (tmp_path / "prometheus.log").read_text()
        assert "level=error" not in log and "level=warn" not in log, log
        ask_what_operators_ask(prom, hosts)
        ask_every_rule(prom)
        ask_every_panel(prom)


def rules_of(prom):
    groups = json.loads(prom.get("/api/v1/rules"))["data"]["groups"]
    return [rule for group in groups for rule in group["rules"]]


def ask_every_rule(prom):
    """All are evaluated without an error, and what they record exists."""
    rules = rules_of(prom)
    assert len(rules) > 50
    for rule in rules:
        prom.query(rule["query"])
        assert not rule.get("lastError"), rule
    recorded = [rule["name"] for rule in rules if rule["type"] == "recording"]
    for name in set(recorded) - LATER:
        query = next(rule["query"] for rule in rules if rule["name"] == name)
        wait_for(lambda query=query: prom.query(query), 60, f"something to record as {name}")
    woken = prom.query('ALERTS{alertname=~"Rdma.*",alertstate="firing",severity="critical"}')
    assert woken == []


def panels():
    dashboard = json.loads((RULES / "rdma-pingmesh.dashboard.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            query = target["expr"].replace("$__rate_interval", "30s")
            yield panel["title"], re.sub(r"\$(instance|rail)\b", ".*", query)


def ask_every_panel(prom):
    seen = set()
    for title, query in panels():
        prom.query(query)
        seen.add(title)
        if title in FILLED:
            wait_for(lambda query=query: prom.query(query), 60, f"{title} has figures: {query}")
    assert FILLED <= seen


def ask_what_operators_ask(prom, hosts):
    sessions = hosts * (hosts - 1)
    assert prom.values("count(rdma_session_up == 1)") == [sessions]
    assert prom.values("count(rdma_session_verdict_id == 2)") == []
    by_peer = prom.query("sum by (peer) (rdma_session_up)")
    assert sorted(labels["peer"] for labels, _ in by_peer) == [f"host{i + 1}" for i in range(hosts)]
    rate = prom.values("sum by (instance, op) (rate(rdma_probe_ok_total[30s]))")
    assert len(rate) == 4 * hosts and all(value > 1 for value in rate), rate
    p99 = (
        "histogram_quantile(0.99, "
        'sum by (le, rail) (rate(rdma_rail_rtt_seconds_bucket{op="read"}[30s])))'
    )
    (value,) = prom.values(p99)
    assert 0 < value < 1
    assert prom.values("count(rdma_pingmesh_build_info)") == [hosts]
    # The label sets join as they are meant to.
    joined = "rdma_session_up * on (instance, rail) group_left (netdev) rdma_rail_info"
    assert {labels["netdev"] for labels, _ in prom.query(joined)} == {"eth0"}
    (least,) = prom.values("min(scrape_samples_scraped)")
    assert least > 200


def test_promtool_finds_nothing_to_say(lab):
    for host in lab.hosts:
        result = subprocess.run(
            ["promtool", "check", "metrics"],
            input=lab.metrics(host).text,
            text=True,
            capture_output=True,
            timeout=60,
        )
        assert (result.returncode, result.stdout + result.stderr) == (0, "")
