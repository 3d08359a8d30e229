"""What /metrics promises to those who read it: linted, parsed and counted by others' programs.

SYNTHETIC_METRICS names the tool that writes a made-up host's exposition with the real exporter.
"""

import os
import pathlib
import re
import subprocess

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

TOOL = os.environ["SYNTHETIC_METRICS"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
BIG = ("--rails", "8", "--peers", "64")
SESSIONS = 8 * 64
OPS = 3
SERIES_MAX = 18000
REST_ABOUT, REST_SLACK = 2400, 500
EXAMPLE = ROOT / "docs" / "example.prom"
METRICS_MD = ROOT / "docs" / "METRICS.md"
# Options under which every family of ours has a sample.
EVERYTHING = ("--hostile", "--ops", "send,read,write,atomic", "--per-peer", "histogram",
              "--loopback", "--netdev")
# And those under other exporters' names.
ALSO = (*EVERYTHING, "--vendors", "--also")
SESSION_LABELS = {"peer", "rail", "peer_rail", "class"}


def expose(*options):
    return subprocess.run([TOOL, *options], check=True, capture_output=True).stdout.decode()


def samples(text):
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def lint(text):
    done = subprocess.run(["promtool", "check", "metrics"], input=text.encode(), capture_output=True)
    return done.returncode, (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("options", [BIG, ("--vendors", "--hostile"), ("--fresh",), EVERYTHING,
                                     ("--per-peer", "worst"), ("--max-series", "500")])
def test_promtool_has_no_complaint(options):
    assert lint(expose(*options)) == (0, "")


@pytest.mark.parametrize("options", [BIG, ("--vendors", "--hostile"), ("--fresh",), EVERYTHING,
                                     ALSO])
def test_openmetrics_is_parsed_and_tells_the_same(options):
    text = expose(*options)
    openmetrics = expose(*options, "--openmetrics")
    families = list(parse_openmetrics(openmetrics))
    assert openmetrics.endswith("\n# EOF\n")
    assert sum(len(f.samples) for f in families) == len(samples(text))
    assert samples(text) == samples(openmetrics)
    assert all(f.documentation for f in families)


def test_series_stay_below_the_promise():
    rows = samples(expose(*BIG))
    assert len(rows) < SERIES_MAX
    rest = len(rows) - SESSIONS * (8 * OPS + 4)
    assert abs(rest - REST_ABOUT) <= REST_SLACK


@pytest.mark.parametrize("ops", ["send", "send,read", "send,read,write,atomic"])
def test_series_follow_the_formula(ops):
    def count(peers):
        return len(samples(expose("--rails", "8", "--peers", str(peers), "--ops", ops)))

    per_session = 8 * len(ops.split(",")) + 4
    assert count(20) - count(10) == 8 * 10 * per_session


def test_le_is_identical_in_both_formats_and_shortest():
    def bounds(text):
        return re.findall(r'le="([^"]*)"', text)

    text = bounds(expose(*BIG))
    assert text == bounds(expose(*BIG, "--openmetrics"))
    assert text[:26] == [
        "2e-06", "3e-06", "4e-06", "5e-06", "6e-06", "8e-06", "1e-05", "1.2e-05", "1.5e-05",
        "2e-05", "3e-05", "5e-05", "7.5e-05", "0.0001", "0.0002", "0.0005", "0.001", "0.002",
        "0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "+Inf"]


@pytest.mark.parametrize("options", [BIG, ("--vendors", "--hostile"), ALSO])
def test_families_are_contiguous_and_series_unique(options):
    text = expose(*options)
    announced = re.findall(r"^# TYPE (\S+)", text, re.M)
    assert len(announced) == len(set(announced))
    assert announced == re.findall(r"^# HELP (\S+)", text, re.M)
    series = [line.rsplit(" ", 1)[0] for line in samples(text)]
    assert len(series) == len(set(series))


def test_nothing_but_plain_lines():
    text = expose("--vendors", "--hostile")
    assert text.endswith("\n")
    assert not re.search(r"[ \t]$", text, re.M)
    assert not re.search(r"(?i)\b(nan|inf)\b$", text, re.M)
    assert "e+" not in "".join(line.rsplit(" ", 1)[1] for line in samples(text))


def test_labels_of_sessions_are_these_four():
    for family in parse_text(expose()):
        if family.name.startswith(("rdma_probe_", "rdma_session_")):
            for sample in family.samples:
                assert set(sample.labels) - {"op", "quantile", "le"} == SESSION_LABELS


def test_the_example_is_what_the_exporter_writes():
    assert EXAMPLE.read_text() == expose("--rails", "2", "--peers", "2")


def documented():
    """Names in the first cells of the tables of METRICS.md."""
    names = set()
    for line in METRICS_MD.read_text().splitlines():
        if line.startswith("| `"):
            names.update(re.findall(r"`((?:rdma|process)_[a-z0-9_]+)`", line.split("|")[1]))
    return names


def test_every_family_is_documented_and_nothing_else():
    text = expose(*EVERYTHING)
    names = set(re.findall(r"^# TYPE (\S+)", text, re.M))
    # Families of the vendors' counters are documented by rule, and the known ones by name.
    vendors = {f.name + ("_total" if f.type == "counter" else "") for f in parse_text(text)
               if re.match(r"The driver's ", f.documentation)}
    assert documented() - vendors == names - vendors
