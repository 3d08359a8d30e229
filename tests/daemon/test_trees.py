"""Every value of made-up trees of /sys as the real daemon tells it, standing still and in time."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

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

    def __init__(self, sysfs, config="", interval="100ms"):
        super().__init__(config=f"[counters]\ninterval = {interval}\n" + config, devices=(),
                         start=False)
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


def all_trees(root):
    """All trees in one root, their devices renamed apart."""
    for index, name in enumerate(sorted(make_trees.TREES)):
        make_trees.TREES[name][1](str(root.parent / name))
        devices = root.parent / name / "class/infiniband"
        for device in devices.iterdir() if devices.exists() else ():
            device.rename(root / "class/infiniband" / f"{device.name}_{index}")


def text_of(path):
    """First line of an attribute; None if there is none that can be read."""
    try:
        return path.read_text().split("\n")[0].strip()
    except OSError:
        return None


def fact_differences(samples, root):
    """States, rate and link layer of each port that are told otherwise than the files say."""
    infos = {(dict(labels)["device"], dict(labels)["port"]): dict(labels)
             for name, labels in samples if name == "rdma_port_info"}
    wrong = []
    for port in root.glob("class/infiniband/*/ports/*"):
        device = port.parent.parent.name
        labels = frozenset({("device", device), ("port", port.name)})
        rate = text_of(port / "rate")
        facts = {"rdma_port_state_id": text_of(port / "state").split(":")[0],
                 "rdma_port_physical_state_id": text_of(port / "phys_state").split(":")[0],
                 "rdma_port_rate_bytes_per_second":
                     rate and str(int(float(rate.split(" ")[0]) * 125000000))}
        wrong += [(device, port.name, name, value, samples.get((name, labels)))
                  for name, value in facts.items() if samples.get((name, labels)) != value]
        files = {"link_layer": port / "link_layer", "firmware": port.parent.parent / "fw_ver",
                 "board": port.parent.parent / "board_id"}
        info = infos.get((device, port.name), {})
        wrong += [(device, port.name, key, text_of(file), info.get(key))
                  for key, file in files.items() if (text_of(file) or "") != info.get(key)]
    return wrong


def test_every_value_of_every_vendor_is_told_once_and_right(root):
    """By one daemon, and with them what the ports say of themselves."""
    all_trees(root)
    files = counter_files(root)
    assert len({parts(path)[0] for path in files}) > 25 and len(files) > 900
    with Reader(root) as daemon:
        wait_told(daemon, root, "all values")
        assert fact_differences(daemon.exact(), root) == []


def test_files_that_cannot_be_read_are_named_once(tmp_path):
    make_trees.TREES["unreadable"][1](str(tmp_path))
    with Reader(tmp_path) as daemon:
        daemon.wait_log("port 2 rate (other)")
        daemon.wait_log("port 1 counters/VL15_dropped (other)")
        errors = "rdma_sysfs_read_errors_total"
        before = daemon.metric(errors, device="mlx5_1", port="1", reason="other")
        wait_for(lambda: daemon.metric(errors, device="mlx5_1", port="1",
                                       reason="other") > before + 1, what="more tries")
        told = [e for e in daemon.events("counters") if "VL15_dropped" in e["text"]]
        assert len(told) == 1, told


def test_how_a_port_is_set_up_is_told(tmp_path):
    make_trees.TREES["mlx5-config"][1](str(tmp_path))
    config = "[rail mlx5_0]\ndevice = mlx5_0\nexpected_rate = 200Gb/s\n"
    with Reader(tmp_path, config) as daemon:
        wait_for(lambda: daemon.metric("rdma_port_config_info", device="mlx5_0") == 1,
                 what="facts")
        assert daemon.metric("rdma_port_config_info", device="mlx5_0", port="1", numa_node="1",
                             default_roce_mode="RoCE v2", default_roce_tos="106", trust="") == 1
        for priority in range(8):
            for side, on in (("notification", {3}), ("reaction", {3, 4})):
                assert daemon.metric("rdma_port_ecn_enabled", device="mlx5_0", side=side,
                                     priority=str(priority)) == (priority in on)
        # A tree has no sockets: nothing is asked of this host in its place.
        assert "rdma_port_pfc_enabled" not in daemon.get("/metrics")[1]
        device = json.loads(daemon.get("/api/v1/devices")[1])["devices"][0]
        assert device["pci_address"] == "0000:03:00.0" and device["numa_node"] == 1
        assert device["pci_link"] == {"mega_transfers_per_second": 16000, "lanes": 8}
        assert device["pci_link_possible"]["lanes"] == 16
        facts = device["ports"][0]["facts"]
        assert facts["ecn_np_priorities"] == [3] and facts["ecn_rp_priorities"] == [3, 4]
        assert facts["default_roce_mode"] == "RoCE v2" and facts["default_roce_tos"] == 106
        assert facts["forced_tos"] == 96
        assert facts["cnp_dscp"] == 48 and facts["cnp_priority"] == 6
        assert daemon.metric("rdma_port_cnp_dscp", device="mlx5_0", port="1") == 48
        assert daemon.metric("rdma_port_cnp_priority", device="mlx5_0", port="1") == 6
        assert daemon.metric("rdma_port_forced_tos", device="mlx5_0", port="1") == 96
        assert facts["netdev_mtu_bytes"] == 4200 and facts["pfc_priorities"] is None
        findings = json.loads(daemon.get("/api/v1/findings")[1])["findings"]
        assert [f["subject"] for f in findings if f.get("rule") == "pcie_degraded"] \
            == ["pci:0000:03:00.0"]
        lanes = tmp_path / "devices/pci0000:00/0000:03:00.0/current_link_width"
        assert lanes.read_text() == "8\n"
        # No rail is opened in a tree, so nothing is known of the fabric.
        fabric = json.loads(daemon.get("/api/v1/status")[1])["fabric"]
        assert fabric["fingerprint"] is None


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


def test_a_host_without_rdma_is_served_and_takes_what_comes(root):
    with Reader(root) as daemon:
        assert daemon.json("/api/v1/devices")["devices"] == []
        assert daemon.get("/api/v1/health")[0] == 200
        before = daemon.log().count("\n")
        time.sleep(1)
        assert daemon.log().count("\n") == before
        make_trees.TREES["mlx5-roce"][1](str(root.parent / "later"))
        device = root.parent / "later/class/infiniband/mlx5_0"
        device.rename(root / "class/infiniband/mlx5_0")
        wait_told(daemon, root, "the device that came")


def test_who_asks_seldom_is_told_nothing_old(root):
    """Without rails main looks of its own accord every five seconds only."""
    make_trees.TREES["mlx5-roce"][1](str(root))
    ages = []
    with Reader(root, interval="30s") as daemon:
        wait_told(daemon, root, "all values")
        for _ in range(6):
            time.sleep(1.3)
            made = daemon.metric("rdma_pingmesh_snapshot_timestamp_seconds")
            ages.append(time.time() - made)
    assert max(ages) < 2.5, ages


class Scrapers:
    """A hundred scrapes a second from four clients; what went wrong, and the longest one."""

    def __init__(self, daemon):
        self.daemon, self.failed, self.took = daemon, [], []
        self.begin = self.seconds = 0
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.run) for _ in range(4)]

    def run(self):
        due = self.begin
        while not self.over.wait(max(0, due - time.monotonic())):
            due += 0.04
            begin = time.monotonic()
            try:
                status = self.daemon.get("/metrics")[0]
            except OSError as error:
                status = error
            if status != 200:
                self.failed.append(status)
            self.took.append(time.monotonic() - begin)

    def a_second(self):
        return len(self.took) / self.seconds

    def __enter__(self):
        self.begin = time.monotonic()
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()
        self.seconds = time.monotonic() - self.begin


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def read_errors(daemon):
    """{device: {(port, reason): errors}} of those that have any."""
    found = {}
    for (name, labels), value in daemon.metrics().items():
        of = dict(labels)
        if name == "rdma_sysfs_read_errors_total" and value:
            found.setdefault(of["device"], {})[(of["port"], of["reason"])] = value
    return found


def test_a_blocked_file_and_a_vanishing_device_move_nothing_else(root):
    """And a file that cannot be read, under a hundred scrapes a second."""
    good, partly, gone, bad = (Timeline(root.parent / name, script, root, f"_{name}")
                               for name, script in (("good", "ramps"), ("partly", "ramps"),
                                                    ("gone", "flapping"), ("bad", "text")))
    for timeline in (good, partly, gone, bad):
        timeline.play(0)
    with Reader(root) as daemon:
        wait_told(daemon, root, "all values")
        main, worker = daemon.process.pid, daemon.worker_pid("mlx5_0_good")
        before = descriptors(worker)
        blocked = bad.path("mlx4_0/ports/1/counters/symbol_error")
        blocked.unlink()
        os.mkfifo(blocked)  # opened for reading it waits for a writer, who never comes
        unreadable = partly.path("mlx5_0/ports/1/counters/symbol_error")
        unreadable.unlink()
        unreadable.mkdir()  # reading it fails for root as well
        leaving = gone.path("mlx5_0")
        with Scrapers(daemon) as scrapers:
            for step in range(1, 3):
                good.play(step)
                partly.play(step)
                leaving.rename(gone.aside / "left")
                for timeline in (good, partly):
                    wait_for(lambda t=timeline: not differs(daemon, t), what=f"step {step}")
                wait_for(lambda: daemon.metric("rdma_link_downed_total", device=leaving.name) is None,
                         what="a device that is gone from /metrics")
                (gone.aside / "left").rename(leaving)
                wait_for(lambda: daemon.metric("rdma_link_downed_total", device=leaving.name)
                         is not None, what="a device that is back")
            wait_for(lambda: daemon.metric("rdma_symbol_error_total", device="mlx4_0_bad", port="2")
                     is None, what="values that are too old to be told")
        assert scrapers.failed == [] and max(scrapers.took) < 5
        # A machine that has more to do may be slower, but not by as much as half.
        assert scrapers.a_second() > 50
        assert daemon.process.poll() is None and daemon.process.pid == main
        assert daemon.worker_pid("mlx5_0_good") == worker and descriptors(worker) <= before + 1
        assert daemon.metric("rdma_symbol_error_total", device="mlx5_0_partly") is None
        assert daemon.metric("rdma_symbol_error_total", device="mlx5_0_good") is not None
        errors = read_errors(daemon)
        assert "mlx5_0_good" not in errors, errors
        assert set(errors["mlx5_0_partly"]) == {("1", "other")}, errors


def differs(daemon, timeline):
    files = {path: text for path, text in counter_files(timeline.sys).items()
             if path.startswith(f"mlx5_0{timeline.suffix}/")}
    return differences(daemon.exact(), files)
