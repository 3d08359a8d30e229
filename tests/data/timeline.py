#!/usr/bin/env python3
"""Play trees of make_trees.py in time: counters that ramp, wrap, begin anew, stand at their end,
answer text, are gone or come back, and devices that do.

    timeline.py --list                                the scripts and what each stands for
    timeline.py OUTDIR SCRIPT [--every 1] [--steps N] play one; OUTDIR/sys is for --sysfs-root

A track is a function of the step, 0, 1, ...: what the counter's file says then, or None while there
is no such file. So a test knows every value at every step, and also what has to be told of it.
"""

import argparse
import os
import pathlib
import shutil
import sys
import time

sys.dont_write_bytecode = True

import make_trees  # noqa: E402

NA = make_trees.NA
SCRIPTS = {}


# Tracks.


def still(value):
    return lambda step: value


def ramp(start, growth):
    return lambda step: start + growth * step


def wrapping(start, growth, bits=32):
    """Over the end of its width and on."""
    return lambda step: (start + growth * step) % 2**bits


def sticking(start, growth, bits):
    """Up to the end of its width, where it stays."""
    return lambda step: min(start + growth * step, 2**bits - 1)


def resetting(start, growth, at):
    """From nothing again at that step."""
    return lambda step: start + growth * step if step < at else growth * (step - at)


def stairs(*values):
    """One value a step, the last one for ever; for gauges, texts and bursts."""
    return lambda step: values[min(step, len(values) - 1)]


def absent(track, first, last):
    """The file is gone in the steps from first to last."""
    return lambda step: None if first <= step <= last else track(step)


# Scripts.


class Script:
    """name of a tree; {"device/ports/1/hw_counters/name": track}; {device: (first, last) step
    without it}; how many steps it takes, and how many resets of a device have to be seen."""

    def __init__(self, about, tree, tracks, gone=None, steps=8, resets=None):
        self.about, self.tree, self.tracks = about, tree, tracks
        self.gone, self.steps, self.resets = gone or {}, steps, resets or {}

    def present(self, device, step):
        first, last = self.gone.get(device, (1, 0))
        return not first <= step <= last


def script(name, about, tree, tracks, **how):
    SCRIPTS[name] = Script(about, tree, tracks, **how)


def at_port(device, port=1, **sources):
    """Tracks by path, from {source: {name: track}}."""
    return {f"{device}/ports/{port}/{source}/{name}": track
            for source, named in sources.items() for name, track in named.items()}


script("ramps", "steady growth in every directory, also beyond what a double holds", "mlx5-roce",
       at_port("mlx5_0",
               counters={"port_xmit_data": ramp(250000000123, 3125000000),
                         "port_rcv_data": ramp(2**55 + 1, 1),
                         "port_xmit_packets": ramp(1000001, 1000),
                         "port_rcv_packets": ramp(1000002, 999)},
               hw_counters={"np_cnp_sent": ramp(4711, 10),
                            "np_ecn_marked_roce_packets": ramp(18446744073, 20),
                            "out_of_sequence": ramp(0, 1),
                            "local_ack_timeout_err": still(7)}))
script("wraps", "counters of 32 bits over their end, one of 64 that passes there", "mlx5-roce",
       at_port("mlx5_0",
               hw_counters={"out_of_sequence": wrapping(2**32 - 30, 10),
                            "rx_write_requests": wrapping(2**32 - 3 * 2**28, 2**28),
                            "np_cnp_sent": ramp(2**32 - 30, 10)}))
script("resets", "a driver that is loaded again: all of its counters begin anew", "mlx5-ib",
       at_port("mlx5_0",
               counters={"port_xmit_data": resetting(230442669431839, 1000, 4),
                         "port_rcv_packets": resetting(5000000000, 10, 4),
                         "link_downed": resetting(3, 0, 4)},
               hw_counters={"out_of_sequence": resetting(1000, 5, 4)}),
       resets={"mlx5_0": 4})
script("saturation", "IB counters that stop at their width's end, and one cleared again",
       "saturated",
       at_port("mlx5_1",
               counters={"link_downed": sticking(252, 1, 8),
                         "symbol_error": sticking(2**16 - 3, 1, 16),
                         "excessive_buffer_overrun_errors": sticking(13, 1, 4),
                         "port_xmit_wait": sticking(2**32 - 2500, 1000, 32),
                         "port_xmit_discards": stairs(65535, 65535, 65535, 65535, 0, 1, 2)}),
       resets={"mlx5_1": 1})
script("flapping", "a link that goes down once a step for a while", "mlx5-ib",
       at_port("mlx5_0", counters={"link_downed": stairs(0, 1, 2, 3, 4, 4, 4, 4),
                                   "symbol_error": stairs(0, 0, 40, 80, 80, 80, 80, 80)}))
script("gauges", "values that rise and fall, and are none that began anew", "bnxt_re",
       at_port("bnxt_re0",
               hw_counters={"active_qps": stairs(3, 9, 2, 0, 0, 7, 1, 0),
                            "watermark_qps": stairs(9, 9, 9, 9, 9, 9, 9, 9),
                            "rx_bytes": ramp(7521781137064, 12500000000)}))
script("text", "a counter that answers text for a while, as a PMA that is gone does", "mlx4-two-ports",
       at_port("mlx4_0", 2,
               counters={"port_rcv_errors": stairs(20, 21, NA, NA, 22, 23),
                         "link_downed": stairs(21, 21)}), steps=6)
script("files-come-and-go", "counters that vanish and return, and one that is new", "mlx5-roce",
       at_port("mlx5_0",
               hw_counters={"rp_cnp_handled": absent(ramp(201, 3), 2, 4),
                            "brand_new": absent(ramp(5, 1), 0, 2),
                            "out_of_buffer": ramp(104, 1)}), steps=7)
script("devices-come-and-go", "a device that is removed and returns as new; another goes on",
       "mixed",
       at_port("mlx5_0", hw_counters={"out_of_sequence": ramp(105, 1)}) |
       at_port("mlx5_1", hw_counters={"out_of_sequence": resetting(105, 1, 5)}) |
       at_port("rxe0", hw_counters={"sent_pkts": ramp(1, 100)}),
       gone={"mlx5_1": (2, 4)}, steps=7)


class Timeline:
    """A script under way below a directory; .sys is the root of its tree. With a suffix its devices
    are renamed by it and put into the class of another root, so that several play in one."""

    def __init__(self, directory, name, root=None, suffix=""):
        self.script, self.suffix = SCRIPTS[name], suffix
        self.directory = pathlib.Path(directory)
        self.sys = pathlib.Path(root or self.directory / "sys")
        self.aside = self.directory / "aside"
        self.aside.mkdir(parents=True)
        made = self.directory / "sys"
        make_trees.TREES[self.script.tree][1](str(made))
        if made != self.sys:
            for device in (made / "class/infiniband").iterdir():
                device.rename(self.path(device.name))

    def path(self, track):
        device, slash, rest = track.partition("/")
        return self.sys / "class/infiniband" / (device + self.suffix + slash + rest)

    def put(self, path, value):
        """Whole or not at all, as sysfs does it."""
        if value is None:
            path.unlink(missing_ok=True)
            return
        temporary = self.aside / "value"
        temporary.write_text(f"{value}\n")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.replace(path)

    def put_devices(self, step):
        for device in self.script.gone:
            here, there = self.path(device), self.aside / device
            if self.script.present(device, step):
                if there.exists():
                    there.rename(here)
            elif here.exists():
                here.rename(there)

    def play(self, step):
        """Make the tree what it is at that step. A device that returns has its new values first."""
        for track, value in self.script.tracks.items():
            device = track.split("/")[0]
            path = self.path(track)
            if not path.parent.parent.exists():
                path = self.aside / track
            if self.script.present(device, step):
                self.put(path, value(step))
        self.put_devices(step)


def counter_files(root):
    """{path below class/infiniband: text} of all counters that are there now."""
    devices = pathlib.Path(root) / "class/infiniband"
    found = {}
    for path in list(devices.glob("*/ports/*/*/*")) + list(devices.glob("*/hw_counters/*")):
        if path.parent.name in ("counters", "counters_ext", "hw_counters") and path.is_file():
            found[str(path.relative_to(devices))] = path.read_bytes().decode(errors="replace")
    return found


def play(directory, name, every, steps):
    timeline = Timeline(directory, name)
    for step in range(steps or timeline.script.steps):
        if step:
            time.sleep(every)
        timeline.play(step)
        print(f"step {step}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outdir", nargs="?", metavar="OUTDIR")
    parser.add_argument("script", nargs="?", choices=sorted(SCRIPTS), metavar="SCRIPT")
    parser.add_argument("--list", action="store_true", help="list the scripts and exit")
    parser.add_argument("--every", type=float, default=1, help="seconds a step takes; default 1")
    parser.add_argument("--steps", type=int, help="how many; default: as the script needs")
    args = parser.parse_args()
    if args.list:
        for name, one in SCRIPTS.items():
            print(f"{name:20} {one.about}")
        return 0
    if not args.script:
        parser.error("OUTDIR or SCRIPT is missing")
    if os.path.exists(args.outdir):
        sys.exit(f"timeline.py: {args.outdir} exists already; remove it or give another OUTDIR")
    try:
        play(args.outdir, args.script, args.every, args.steps)
    except KeyboardInterrupt:
        shutil.rmtree(args.outdir)
    return 0


if __name__ == "__main__":
    sys.exit(main())
