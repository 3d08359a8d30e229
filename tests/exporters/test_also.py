"""Counters under the names of other exporters ([counters] also_as), as the real exporter writes them.

node_exporter itself is compared with the daemon in tests/daemon/test_compatibility.py; rdma_exporter
is not in Debian, so what it tells stands in tests/data/rdma_exporter_names.tsv.
"""

import csv
import os
import pathlib
import re
import subprocess

import pytest
from prometheus_client.parser import text_string_to_metric_families as parse_text

TOOL = os.environ["SYNTHETIC_METRICS"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ROOT / "tests" / "data" / "rdma_exporter_names.tsv"
HOST = ("--netdev", "--vendors")


def expose(*options):
    return subprocess.run([TOOL, *options], check=True, capture_output=True).stdout.decode()


def samples_of(text):
    """{(name, frozenset of labels): value}"""
    return {(s.name, frozenset(s.labels.items())): s.value
            for family in parse_text(text) for s in family.samples}


def rows():
    lines = [line for line in NAMES.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def labels_of(row):
    """(keys alone, {key: value})"""
    words = row["labels"].split(" ")
    return ({word.partition("=")[0] for word in words},
            dict(word.split("=") for word in words if "=" in word))


@pytest.fixture(scope="module")
def also():
    return expose(*HOST, "--also")


def test_nothing_of_it_is_told_unless_asked_for():
    text = expose(*HOST)
    assert "node_infiniband" not in text and "_exporter" not in text


def test_all_of_ours_stays_as_it_is(also):
    ours = expose(*HOST).splitlines()
    assert [line for line in also.splitlines() if line in set(ours)] == ours


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["name"])
def test_each_name_of_rdma_exporter_is_there_with_its_labels(also, row):
    keys, fixed = labels_of(row)
    found = [dict(labels) for name, labels in samples_of(also)
             if name == row["metric"] and fixed.items() <= dict(labels).items()]
    assert found, row
    assert all(set(labels) == keys for labels in found), (row, found)
    family = row["metric"]
    assert f"# TYPE {family} {row['type']}\n" in also


def test_values_of_rdma_exporter_are_the_files_unscaled(also):
    samples = samples_of(also)
    some = 0
    for (name, labels), value in samples.items():
        # odd0's legacy counters are told by their wide form, which is another file.
        if re.fullmatch(r"rdma_port_(xmit|rcv)_data_total", name) and ("device", "odd0") not in labels:
            assert samples[(name.replace("_total", "_bytes_total"), labels)] == 4 * value
            some += 1
    assert some


def test_a_name_that_is_ours_is_told_once_and_by_us(also):
    """A gauge of ours stays one, though rdma_exporter takes all for counters."""
    assert "# TYPE rdma_active_qps gauge\n" in also
    assert "rdma_active_qps_total" not in also
    assert len(re.findall(r"^# TYPE rdma_port_info ", also, re.M)) == 1


def test_names_are_cleaned_as_it_does(also):
    names = {name for name, _ in samples_of(also)}
    assert "rdma_vl15_dropped_total" in names
    assert {"rdma_rxecnmrkd_total", "rdma_sdmaidint1_32_total"} <= names
    assert not [labels for name, labels in samples_of(also)  # that one is ours, of sessions
                if name == "rdma_probe_ok_total" and "device" in dict(labels)]


def test_other_names_take_only_the_room_that_is_left():
    ours = len(samples_of(expose(*HOST)))
    limited = expose(*HOST, "--also", "--max-series", str(ours))
    assert samples_of(expose(*HOST)).keys() <= samples_of(limited).keys()
    dropped = re.search(r"^rdma_pingmesh_series_dropped (\d+)$", limited, re.M)
    everything = len(samples_of(expose(*HOST, "--also")))
    assert 0 < int(dropped[1]) <= everything - ours + 16


def test_node_exporter_s_names_of_congestion(also):
    names = {name for name, _ in samples_of(also)}
    assert {"node_infiniband_np_cnp_packets_sent_total", "node_infiniband_info",
            "node_infiniband_port_data_received_bytes_total"} <= names
