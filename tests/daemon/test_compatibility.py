"""The same made-up trees read by Debian's node_exporter and by the daemon ([counters] also_as), compared
series by series. docs/COMPATIBILITY.md explains each difference; one that is not in here fails."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import pytest
from harness import free_port, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "data"))

import make_trees  # noqa: E402
from test_trees import Reader, number  # noqa: E402
from timeline import counter_files  # noqa: E402

NODE_EXPORTER = shutil.which("prometheus-node-exporter")
# Trees of which node_exporter tells something. Of any other host it tells nothing at all, for one of
# its devices has no board_id or no counters/, or one file answers otherwise than it expects.
TOLD = {"bond", "hfi1", "i40iw-no-pma", "legacy-ext", "mlx4-two-ports", "mlx5-config",
        "mlx5-ib", "mlx5-roce", "renamed"}
# Told by it since 1.11, so not by Debian 12's.
HW_NAMES = re.compile(r"node_infiniband_(duplicate_requests_packets|implied_nak_seq_errors|"
                      r"local_ack_timeout_errors|np_|out_of_|packet_sequence_errors|re[qs]p?_|"
                      r"rnr_nak_|roce_|rp_cnp_|rx_)")


def samples_of(text):
    """{(name, frozenset of labels): value} of the InfiniBand collector."""
    samples = {}
    for line in text.splitlines():
        if line.startswith("node_infiniband_"):
            series, value = line.rsplit(" ", 1)
            name, _, labels = series.partition("{")
            samples[(name, frozenset(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)))] = float(value)
    return samples


def headers_of(text):
    """{family: type}"""
    return dict(re.findall(r"^# TYPE (node_infiniband_\S+) (\S+)$", text, re.M))


def node_exporter(sysfs):
    port = free_port()
    process = subprocess.Popen(
        [NODE_EXPORTER, f"--path.sysfs={sysfs}", "--collector.disable-defaults",
         "--collector.infiniband", f"--web.listen-address=127.0.0.1:{port}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def scrape():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return None

    try:
        return wait_for(scrape, what="an answer of node_exporter")
    finally:
        process.kill()
        process.wait()


class Trees:
    """All trees, their devices renamed apart, each by itself and linked into one root."""

    def __init__(self, directory):
        self.root = directory / "sys"
        self.each, self.devices = {}, {}
        classes = self.root / "class/infiniband"
        classes.mkdir(parents=True)
        for index, name in enumerate(sorted(make_trees.TREES)):
            tree = directory / name
            make_trees.TREES[name][1](str(tree))
            self.each[name], self.devices[name] = tree, set()
            found = tree / "class/infiniband"
            for device in sorted(found.iterdir()) if found.exists() else ():
                renamed = device.rename(found / f"{device.name}_{index}")
                (classes / renamed.name).symlink_to(renamed)
                self.devices[name].add(renamed.name)

    def of(self, name, samples):
        return {key: value for key, value in samples.items()
                if dict(key[1])["device"] in self.devices[name]}


@pytest.fixture(scope="module")
def trees():
    with tempfile.TemporaryDirectory(prefix="pingmesh-trees-") as path:
        yield Trees(pathlib.Path(path))


@pytest.fixture(scope="module")
def ours(trees):
    """/metrics when all devices have been read."""
    config = "also_as = node_exporter, rdma_exporter\n"
    every = set().union(*trees.devices.values())
    with Reader(trees.root, config) as daemon:
        def text():
            got = daemon.get("/metrics")[1]
            told = {dict(labels)["device"] for name, labels in samples_of(got)
                    if name == "node_infiniband_info"}
            return got if told == every else None

        yield wait_for(text, seconds=60, what="all devices")


@pytest.fixture(scope="module")
def theirs(trees):
    return {name: node_exporter(tree) for name, tree in trees.each.items()}


def test_a_host_of_which_node_exporter_tells_nothing_is_told_by_us(trees, ours, theirs):
    assert {name for name, text in theirs.items() if samples_of(text)} == TOLD
    for name in set(trees.each) - TOLD - {"no-rdma"}:
        assert trees.of(name, samples_of(ours)), name


def test_every_series_of_node_exporter_is_told_with_its_value(trees, ours, theirs):
    for name in sorted(TOLD):
        mine, other = trees.of(name, samples_of(ours)), samples_of(theirs[name])
        assert {key: mine.get(key) for key in other} == other, name


def test_what_we_tell_besides_are_names_that_came_later(trees, ours, theirs):
    for name in sorted(TOLD):
        more = trees.of(name, samples_of(ours)).keys() - samples_of(theirs[name]).keys()
        assert [key for key in more if not HW_NAMES.match(key[0])] == [], name


def test_types_are_the_same(ours, theirs):
    mine = headers_of(ours)
    for text in theirs.values():
        assert headers_of(text).items() <= mine.items()


def clean(name):
    return re.sub(r"[^a-z0-9_]", "_", name.lower())


def test_every_counter_of_a_port_has_its_name_of_rdma_exporter(trees, ours):
    """counters/ and hw_counters/ are told as it does, but for gauges, which stay gauges."""
    samples = {}
    for line in ours.splitlines():
        if not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            name, _, labels = series.partition("{")
            samples[(name, frozenset(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)))] = value
    gauges = set(re.findall(r"^# TYPE rdma_(\S+) gauge$", ours, re.M))
    missing = set()
    for tree in trees.each.values():
        for path, text in counter_files(tree).items():
            words = path.split("/")
            name = words[-1]
            value = number(text)
            if words[1] != "ports" or words[-2] == "counters_ext" or value is None or \
                    name == "lifespan" or name in gauges:
                continue
            key = (f"rdma_{clean(name)}_total",
                   frozenset({("device", words[0]), ("port", words[2])}))
            if key not in samples:
                missing.add((key[0], path))
            elif int(samples[key]) != value:
                other = tree / "class/infiniband" / words[0] / "ports" / words[2]
                assert (other / "counters_ext" / f"{name}_64").exists(), (path, text, samples[key])
    assert missing == set()
