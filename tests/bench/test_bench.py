"""What the benchmarks and the lab's audit calculate from what hosts tell, without a lab.

Usage: test_bench.py ROOT
"""

import importlib.machinery
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path[:0] = [str(ROOT / folder) for folder in ("bench", "tests/lab", "lab/lib")]

import audit  # noqa: E402
import scrapes  # noqa: E402
from metrics import Metrics  # noqa: E402
from waiting import wait_for  # noqa: E402


def script(name):
    """A program without a suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "bench" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def exposition(rail, counts, seconds, op="send", delayed=0):
    """A rail's histogram with so many in the buckets of 1 ms, 10 ms and beyond."""
    labels = f'rail="{rail}",class="default",op="{op}"'
    cumulated, lines = 0, []
    for bound, count in zip(("0.001", "0.01", "+Inf"), counts):
        cumulated += count
        lines.append(f'rdma_rail_rtt_seconds_bucket{{{labels},le="{bound}"}} {cumulated}')
    lines.append(f"rdma_rail_rtt_seconds_sum{{{labels}}} {seconds}")
    lines.append(f"rdma_rail_rtt_seconds_count{{{labels}}} {cumulated}")
    lines.append(f"rdma_rail_probe_self_delayed_total{{{labels}}} {delayed}")
    return "\n".join(lines) + "\n"


class Scrapes(unittest.TestCase):
    def books(self, *texts):
        books = scrapes.Books()
        for text in texts:
            books.add(text)
        return books

    def test_buckets_of_several_rails_and_daemons_are_added(self):
        books = self.books(
            exposition("a", (5, 3, 2), 0.5) + exposition("b", (1, 0, 0), 0.1, delayed=4),
            exposition("a", (2, 0, 1), 0.4),
        )
        self.assertEqual(books.buckets["send"], {0.001: 8, 0.01: 3, float("inf"): 3})
        self.assertEqual(books.count("send"), 14)
        self.assertAlmostEqual(books.mean("send"), 1.0 / 14)
        self.assertEqual(books.self_delayed, 4)

    def test_operations_are_kept_apart(self):
        books = self.books(exposition("a", (5, 0, 0), 1) + exposition("a", (7, 0, 0), 2, op="ack"))
        self.assertEqual((books.count("send"), books.count("ack"), books.count("read")), (5, 7, 0))

    def test_only_what_came_between_two_readings_counts(self):
        side = scrapes.Books()
        before = self.books(exposition("a", (100, 50, 0), 9, delayed=3))
        after = self.books(exposition("a", (104, 51, 1), 9.6, delayed=5))
        side.merge(after, before)
        side.merge(after, before)
        self.assertEqual(side.buckets["send"], {0.001: 8, 0.01: 2, float("inf"): 2})
        self.assertAlmostEqual(side.seconds["send"], 1.2)
        self.assertEqual(side.self_delayed, 4)

    def test_a_quantile_lies_between_the_bounds_of_its_bucket(self):
        books = self.books(exposition("a", (50, 50, 0), 1))
        self.assertAlmostEqual(books.quantile("send", 0.25), 0.0005)
        self.assertAlmostEqual(books.quantile("send", 0.75), 0.0055)
        # Beyond the last bound nothing is known but that.
        self.assertEqual(self.books(exposition("a", (0, 1, 9), 1)).quantile("send", 0.99), 0.01)


class Audit(unittest.TestCase):
    def counters(self, text):
        return audit.counters_of(Metrics(text))

    def test_a_device_made_anew_may_count_from_0(self):
        text = (
            "# TYPE rdma_sent_pkts_total counter\n"
            'rdma_sent_pkts_total{device="rxe0",port="1"} 5\n'
        )
        self.assertEqual(self.counters(text), {})

    def test_what_this_program_counts_of_a_device_is_compared(self):
        text = (
            "# TYPE rdma_async_events_total counter\n"
            'rdma_async_events_total{device="rxe0",port="1",event="port_err"} 2\n'
            "# TYPE rdma_worker_restarts_total counter\n"
            'rdma_worker_restarts_total{device="rxe0"} 1\n'
        )
        self.assertEqual(sorted(self.counters(text).values()), [1, 2])

    def test_gauges_may_go_down_and_buckets_may_not(self):
        text = (
            "# TYPE rdma_rail_up gauge\n"
            'rdma_rail_up{rail="a"} 1\n'
            "# TYPE rdma_rail_rtt_seconds histogram\n"
            'rdma_rail_rtt_seconds_bucket{rail="a",le="+Inf"} 3\n'
            'rdma_rail_rtt_seconds_sum{rail="a"} 0.5\n'
            'rdma_rail_rtt_seconds_count{rail="a"} 3\n'
        )
        names = {key[0] for key in self.counters(text)}
        self.assertEqual(names, {"rdma_rail_rtt_seconds_bucket", "rdma_rail_rtt_seconds_count"})


class Counters(unittest.TestCase):
    def test_cpu_is_that_of_a_process_and_all_below_it(self):
        counters = script("counters")
        busy = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while 1: pass'])"
        parent = subprocess.Popen([sys.executable, "-c", busy])
        try:
            wait_for(lambda: len(counters.family(parent.pid)) == 2, 20, "the child")
            before = counters.cpu_ns(parent.pid)
            wait_for(lambda: counters.cpu_ns(parent.pid) > before + 5e7, 60, "CPU of the child")
        finally:
            for pid in reversed(counters.family(parent.pid)):
                os.kill(pid, signal.SIGKILL)
            parent.wait()

    def test_series_are_those_of_the_exporter_itself(self):
        counters = script("counters")
        exporter = counters.Exporter.__new__(counters.Exporter)
        exporter.prefix = ("node_infiniband",)
        text = b"# TYPE node_infiniband_info gauge\nnode_infiniband_info 1\nnode_scrape 1\n"
        with mock.patch.object(exporter, "fetch", lambda: counters.gzip.compress(text)):
            self.assertEqual(exporter.series(), 1)


class Soak(unittest.TestCase):
    def heal(self, *healthy, timeout=60):
        """healing_time() where each look sees the next of these."""
        soak, seen = script("soak"), list(healthy)
        waited = []
        with mock.patch("time.sleep"):
            took = soak.healing_time(lambda: seen.pop(0) if seen else healthy[-1],
                                     lambda: waited.append(len(seen)), timeout=timeout)
        return took, waited

    def test_what_is_not_felt_yet_has_not_healed(self):
        took, waited = self.heal(True, True, False, True)
        self.assertIsNotNone(took)
        self.assertEqual(waited, [1])  # asked only after the fault was seen

    def test_a_fault_that_nobody_feels_has_no_healing_time(self):
        self.assertEqual(self.heal(True, timeout=0.01), (None, []))

    def collectors(self, cpu_ms):
        """Of one host that used so many milliseconds of CPU in each minute."""
        soak = script("soak")
        lab = mock.Mock(hosts=["host1"])
        collectors = soak.Collectors(lab)
        used = 0
        for minute, ms in enumerate(cpu_ms):
            used += ms * 1e6
            collectors.add({"host1": mock.Mock(cpu_ns=used, at=60 * minute, rss=[5], fds=[9])})
        return collectors

    def switch_on(self, refused=""):
        """What the hosts are told, where the daemon says that of the kernel's log."""
        lab = mock.Mock(hosts=["host1", "host2"])
        lab.exec.return_value.stdout = refused
        script("soak").collect_everything(lab)
        return lab.exec.call_args_list

    def test_all_readers_are_switched_on_on_every_host(self):
        calls = self.switch_on()
        for host in ("host1", "host2"):
            text = "".join(call.kwargs.get("stdin", "") for call in calls if call.args[0] == host)
            for line in ("interval = 1s", "kernel_log = yes", "DeviceAllow=/dev/kmsg r"):
                self.assertIn(line, text)

    def test_a_reader_that_the_daemon_may_not_have_is_a_failure(self):
        with self.assertRaisesRegex(AssertionError, "host1: the kernel log is not followed"):
            self.switch_on("the kernel log is not followed")

    def test_cpu_that_grows_fails_and_a_busy_start_does_not(self):
        self.collectors([9000, 9000] + [600] * 12).report()
        with self.assertRaisesRegex(AssertionError, "CPU of host1 grew"):
            self.collectors([600] * 8 + [900] * 6).report()


if __name__ == "__main__":
    unittest.main()
