"""A host that goes on as it was: nobody asks for memory."""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

import pytest
from harness import PROBE, TWO_PEERS, Daemon, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "data"))

import make_trees  # noqa: E402

REAL = os.environ["RDMA_PINGMESHD"]
LATELY = 15  # tests/tools/count_allocations.c
LOOKS_S = 6


class Counted(Daemon):
    """Every process of it tells how often it asked for memory."""

    def __init__(self, **how):
        self.accounts = tempfile.TemporaryDirectory(prefix="pingmesh-test-")
        env = {"LD_PRELOAD": os.environ["COUNT_ALLOCATIONS"], "ALLOCATIONS": self.accounts.name}
        super().__init__(env=env, **how)

    def __exit__(self, *how):
        super().__exit__(*how)
        self.accounts.cleanup()

    def calls(self, pid):
        """How many there were, and the bytes of the last ones."""
        raw = (pathlib.Path(self.accounts.name) / str(pid)).read_bytes()
        calls, *sizes = struct.unpack(f"{1 + LATELY}Q", raw)
        return calls, [sizes[n % LATELY] for n in range(max(0, calls - LATELY), calls)]


class Reader(Counted):
    """The real programs on a made-up tree."""

    def __init__(self):
        super().__init__(config="[counters]\ninterval = 200ms\n", devices=(), start=False)
        make_trees.TREES["mlx5-roce"][1](str(self.dir / "sys"))
        self.start()

    def popen(self, command, **how):
        return subprocess.Popen([REAL, *command[3:]], **how)

    def packets(self):
        return self.metric("rdma_port_rcv_packets_total", device="mlx5_0", port="1")


def put(path, value):
    """In place, as a counter's file stays the same one."""
    path.write_text(f"{value}\n")


def check_nothing_asked_for(daemon, pids, meanwhile):
    before = {pid: daemon.calls(pid)[0] for pid in pids}
    assert all(before.values()), before  # or it is not counted
    end = time.monotonic() + LOOKS_S
    while time.monotonic() < end:
        meanwhile()
        time.sleep(0.2)
    for pid in pids:
        calls, sizes = daemon.calls(pid)
        assert calls == before[pid], (pid, sizes[before[pid] - calls:])


def test_counters_that_grow_are_read_and_judged_without_new_memory():
    with Reader() as daemon:
        file = daemon.dir / "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_packets"
        grown = [int(file.read_text())]

        def grow():
            grown.append(grown[-1] + 1000)
            put(file, grown[-1])

        grow()
        wait_for(lambda: daemon.packets() == grown[-1], what="the value is told")
        time.sleep(2)  # the answers' memory is given back
        check_nothing_asked_for(daemon, (daemon.process.pid, daemon.worker_pid("mlx5_0")), grow)
        # It was not idle meanwhile.
        wait_for(lambda: daemon.packets() == grown[-1], what="the last value is told")


def test_sessions_are_looked_at_without_new_memory():
    with Counted(config=PROBE + TWO_PEERS) as daemon:

        def told():
            return sum(row["ops"]["send"]["ok"] for row in daemon.peers())

        daemon.wait_up()
        before = told()
        time.sleep(2)  # as above
        check_nothing_asked_for(daemon, (daemon.process.pid,), lambda: None)
        assert told() > before


@pytest.mark.parametrize("asked", ("/metrics", "/api/v1/health"))
def test_who_asks_is_seen_to_be_counted(asked):
    """Else the others prove nothing."""
    with Reader() as daemon:
        wait_for(lambda: daemon.packets() is not None, what="counters")
        with pytest.raises(AssertionError):
            check_nothing_asked_for(daemon, (daemon.process.pid,), lambda: daemon.get(asked))
