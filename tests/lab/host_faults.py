"""Faults of a host and of what its service lives on. Each is a context manager that undoes itself."""

import contextlib
import os
import signal
import subprocess
import sys
import time

from labtools import TOP

# Both clocks of a healthy guest are as far apart as that at most.
CLOCK_SLACK_S = 5


# The machine


def socket_directory(lab):
    return f"/tmp/rdma-pingmesh-lab.{os.getuid()}.{lab.port_base}"


def monitor(lab, host, command):
    """Give one command to the monitor of the guest's QEMU; its answer."""
    words = [sys.executable, str(TOP / "lab/lib/monitor.py")]
    words += [f"{socket_directory(lab)}/{host}.monitor", command]
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=30).stdout


def qemu_pid(lab, host):
    with open(f"{socket_directory(lab)}/{host}.pid", encoding="ascii") as file:
        return int(file.read())


@contextlib.contextmanager
def paused(lab, host):
    """The guest stands still, and so do its clocks: to itself, nothing has happened."""
    monitor(lab, host, "stop")
    try:
        yield
    finally:
        monitor(lab, host, "cont")


@contextlib.contextmanager
def held(lab, host):
    """The guest stands still while its clocks go on: it wakes to find that time has passed."""
    os.kill(qemu_pid(lab, host), signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(qemu_pid(lab, host), signal.SIGCONT)


@contextlib.contextmanager
def own_clock(lab, host):
    """Whatever is done to the clock meanwhile, it is right again at the end."""
    try:
        yield
    finally:
        lab.exec(host, ["date", "-s", f"@{time.time():.3f}"])


def step_clock(lab, host, how):
    """how as date(1) takes it, e.g. "2 minutes ago"."""
    lab.exec(host, ["date", "-s", how])
