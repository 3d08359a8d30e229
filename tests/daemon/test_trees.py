"""Every value of made-up trees of /sys as the real daemon tells it, standing still and in time."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pytest
from harness import Daemon, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "data"))

import make_trees  # noqa: E402
from timeline import SCRIPTS, Timeline, counter_files  # noqa: E402

REAL = os.environ["RDMA_PINGMESHD"]
SETTINGS = {"lifespan"}
WORDS = re.compile(r"port_(xmit|rcv)_data(_64)?$")
WIDTHS = {"counters": {"link_downed": 8, "link_error_recovery": 8, "symbol_error": 16,
                       "port_rcv_errors": 16, "port_rcv_remote_physical_errors": 16,
                       "port_rcv_switch_relay_errors": 16, "port_xmit_discards": 16,
                       "port_xmit_constraint_errors": 8, "port_rcv_constraint_errors": 8,
                       "local_link_integrity_errors": 4, "excessive_buffer_overrun_errors": 4,
                       "VL15_dropped": 16, "port_xmit_wait": 32}}


class Reader(Daemon):
    """The real programs, reading a tree that a test has made."""

    def __init__(self, sysfs, config=""):
        super().__init__(config="[counters]\ninterval = 100ms\n" + config, devices=(), start=False)
        (self.dir / "sys/class/infiniband").rmdir()
        (self.dir / "sys/class").rmdir()
        (self.dir / "sys").rmdir()
        (self.dir / "sys").symlink_to(sysfs)
        self.start()

    def popen(self, command, **how):
        return subprocess.Popen([REAL, *command[3:]], **how)

    def exact(self):
        """{(name, frozenset of labels): the value's digits}: a double would hide the last of them."""
        samples = {}
        for line in self.get("/metrics")[1].splitlines():
            if line and not line.startswith("#"):
                series, value = line.rsplit(" ", 1)
                name, _, labels = series.partition("{")
                pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)
                samples[(name, frozenset(pairs))] = value
        return samples


def number(text):
    """What a counter's file says, or None if that is no plain number of 64 bits."""
    text = text[:-1] if text.endswith("\n") else text
    if not re.fullmatch(r" *[0-9]{1,20} *", text) or int(text) >= 2**64:
        return None
    return int(text)


def parts(path):
    """(device, port or "", source, name) of a counter's path."""
    words = path.split("/")
    return words[0], words[2] if words[1] == "ports" else "", words[-2], words[-1]


def wanted(files):
    """{path: number told} of the files: words as bytes, settings and narrow forms not at all."""
    told = {}
    for path, text in files.items():
        device, port, source, name = parts(path)
        value = number(text)
        wide = f"{device}/ports/{port}/counters_ext/{name}_64"
        if value is None or (name in SETTINGS and source == "hw_counters") or \
                (source == "counters" and wide in files):
            continue
        in_words = source != "hw_counters" and WORDS.match(name)
        told[path] = min(value * 4, 2**64 - 1) if in_words else value
    return told


def series_of(samples, path):
    """The series that tell a counter's file: names under which it may be told, whichever are there."""
    device, port, source, name = parts(path)
    base = name[:-3] if source == "counters_ext" and name.endswith("_64") else name
    if source != "hw_counters" and WORDS.match(name):
        base += "_bytes"
    scope = "" if port else "device_"
    labels = frozenset({("device", device)} | ({("port", port)} if port else set()))
    verbatim = frozenset({("device", device), ("port", port), ("name", name), ("source", source)})
    keys = [(f"rdma_{scope}{base}_total", labels), (f"rdma_{scope}{base}", labels),
            ("rdma_hw_stat_total", verbatim)]
    return [key for key in keys if key in samples]


def differences(samples, files):
    """What is told otherwise than the files say; [] when all is well."""
    wrong = []
    for path, value in wanted(files).items():
        found = series_of(samples, path)
        if len(found) != 1:
            # The same name from another source of the port may stand in the plain family.
            found = [key for key in found if key[0] == "rdma_hw_stat_total"] or found
        if len(found) != 1 or int(samples[found[0]]) != value:
            wrong.append((path, value, [(key, samples[key]) for key in found]))
    for path in set(files) - set(wanted(files)):
        device, port, source, name = parts(path)
        if number(files[path]) is None and f"{device}/ports/{port}/counters_ext/{name}_64" not in files:
            wrong += [(path, "absent", key) for key in series_of(samples, path)]
    return wrong


def saturated(files):
    """{(device, port, name)} of IB counters that stand at their end."""
    found = set()
    for path, text in files.items():
        device, port, source, name = parts(path)
        bits = WIDTHS.get(source, {}).get(name)
        if bits and number(text) == 2**bits - 1:
            found.add((device, port, name))
    return found


def flagged(samples):
    found = set()
    for name, labels in samples:
        if name == "rdma_saturated" and dict(labels)["name"] in WIDTHS["counters"]:
            found.add(tuple(dict(labels)[key] for key in ("device", "port", "name")))
    return found


def devices_of(root):
    return {path.name for path in (root / "class/infiniband").iterdir()}


def otherwise(daemon, root):
    """All that is told otherwise than the tree has it; [] when nothing is."""
    files = counter_files(root)
    samples = daemon.exact()
    told = {dict(labels)["device"] for name, labels in samples if name == "rdma_port_info"}
    wrong = differences(samples, files)
    if told != devices_of(root):
        wrong.append(("devices", told ^ devices_of(root)))
    if flagged(samples) != saturated(files):
        wrong.append(("saturated", flagged(samples) ^ saturated(files)))
    return wrong


def wait_told(daemon, root, what):
    last = []

    def told():
        last[:] = otherwise(daemon, root)
        return not last

    try:
        wait_for(told, seconds=40, what=what)
    except AssertionError as error:
        raise AssertionError(f"{error}: {last[:5]}") from error


@pytest.fixture
def root():
    with tempfile.TemporaryDirectory(prefix="pingmesh-trees-") as path:
        root = pathlib.Path(path) / "sys"
        (root / "class/infiniband").mkdir(parents=True)
        yield root


def test_every_value_of_every_vendor_is_told_once_and_right(root):
    """All trees in one root, their devices renamed apart, by one daemon."""
    for index, name in enumerate(sorted(make_trees.TREES)):
        make_trees.TREES[name][1](str(root.parent / name))
        devices = root.parent / name / "class/infiniband"
        for device in devices.iterdir() if devices.exists() else ():
            device.rename(root / "class/infiniband" / f"{device.name}_{index}")
    files = counter_files(root)
    assert len({parts(path)[0] for path in files}) > 25 and len(files) > 900
    with Reader(root) as daemon:
        wait_told(daemon, root, "all values")


def test_what_is_played_is_told_at_every_step(root):
    """All scripts in one root; those that end early stand still."""
    timelines = [Timeline(root.parent / name, name, root, f"_{index}")
                 for index, name in enumerate(SCRIPTS)]
    for timeline in timelines:
        timeline.play(0)
    with Reader(root) as daemon:
        for step in range(max(timeline.script.steps for timeline in timelines)):
            for timeline in timelines:
                timeline.play(min(step, timeline.script.steps - 1))
            wait_told(daemon, root, f"step {step}")
        for timeline in timelines:
            script = timeline.script
            for device in {track.split("/")[0] for track in script.tracks} - set(script.gone):
                assert daemon.metric("rdma_counters_reset_total", device=device + timeline.suffix) \
                    == script.resets.get(device, 0), (device, script.about)
