"""What being scraped does to the round trips: the same daemons with ten scrapes a second and without,
in turns, so that both sides of the ratio saw the same machine."""

import re
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field

from fabric import Failed

SCRAPES_A_SECOND = 10
QUANTILE = 0.99
OPS = ("send", "ack", "read", "write", "atomic")
BUCKET = re.compile(r'rdma_rail_rtt_seconds_bucket\{.*?\bop="(\w+)".*?\ble="([^"]+)"\} (\S+)')
SUM = re.compile(r'rdma_rail_rtt_seconds_sum\{.*?\bop="(\w+)".*?\} (\S+)')
SELF_DELAYED = re.compile(r"rdma_rail_probe_self_delayed_total\{.*\} (\S+)")


def fetch(url):
    """As Prometheus asks for it: packed, over a connection of its own. What came over the wire."""
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read()


@dataclass
class Books:
    """Totals of all daemons: of each operation its buckets (not cumulated, by bound) and seconds."""

    buckets: dict = field(default_factory=dict)
    seconds: dict = field(default_factory=dict)
    self_delayed: float = 0

    @classmethod
    def read(cls, urls):
        books = cls()
        for url in urls:
            with urllib.request.urlopen(url, timeout=30) as answer:
                books.add(answer.read().decode())
        return books

    def add(self, text):
        below = 0.0
        for op, bound, value in BUCKET.findall(text):
            bound, value = float(bound), float(value)
            counts = self.buckets.setdefault(op, {})
            # The bounds of one series follow each other, and a series begins at the least.
            below = 0.0 if bound == min(counts, default=bound) else below
            counts[bound] = counts.get(bound, 0) + value - below
            below = value
        for op, value in SUM.findall(text):
            self.seconds[op] = self.seconds.get(op, 0) + float(value)
        self.self_delayed += sum(map(float, SELF_DELAYED.findall(text)))

    def merge(self, after, before):
        """Adds what was counted between two readings."""
        for op, counts in after.buckets.items():
            mine, old = self.buckets.setdefault(op, {}), before.buckets.get(op, {})
            for bound, value in counts.items():
                mine[bound] = mine.get(bound, 0) + value - old.get(bound, 0)
            seconds = after.seconds[op] - before.seconds.get(op, 0)
            self.seconds[op] = self.seconds.get(op, 0) + seconds
        self.self_delayed += after.self_delayed - before.self_delayed

    def count(self, op):
        return sum(self.buckets.get(op, {}).values())

    def mean(self, op):
        return self.seconds[op] / self.count(op)

    def quantile(self, op, share):
        """Between the bounds of its bucket by proportion, as histogram_quantile() does it."""
        rank, below, lower = share * self.count(op), 0, 0.0
        for bound, value in sorted(self.buckets[op].items()):
            if value and below + value >= rank:
                return lower if bound == float("inf") else lower + (bound - lower) * (rank - below) / value
            below, lower = below + value, bound
        return lower


class Scraper:
    """Scrapes each URL so many times a second while it is entered.

    By as many clients, each once a second: one that waits for a slow answer holds up none of the others.
    """

    def __init__(self, urls):
        self.urls = urls
        self.done = self.failed = self.bytes = 0
        self.lock = threading.Lock()

    def __enter__(self):
        self.end = threading.Event()
        self.threads = [
            threading.Thread(target=self.run, args=(url, i / SCRAPES_A_SECOND))
            for url in self.urls
            for i in range(SCRAPES_A_SECOND)
        ]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        for thread in self.threads:
            thread.join()

    def run(self, url, delay):
        due = time.monotonic() + delay
        while not self.end.wait(max(0.0, due - time.monotonic())):
            self.scrape(url)
            # One that came late is not made up for: that would be a burst.
            due = max(due + 1, time.monotonic())

    def scrape(self, url):
        try:
            size = len(fetch(url))
        except (OSError, urllib.error.URLError):
            with self.lock:
                self.failed += 1
            return
        with self.lock:
            self.done, self.bytes = self.done + 1, self.bytes + size


@dataclass
class Result:
    quiet: Books
    scraped: Books
    scrapes: int
    failed: int
    kilobytes: float  # one scrape
    rate: float  # of one daemon, a second


def measure(urls, seconds, rounds, progress):
    """Rounds of two phases of so many seconds each, quiet first in every other one."""
    sides = {False: Books(), True: Books()}
    scraper = Scraper(urls)
    for number in range(rounds):
        for scraped in (False, True) if number % 2 == 0 else (True, False):
            progress(f"round {number + 1} of {rounds}: {'scraped' if scraped else 'quiet'}, {seconds} s")
            before = Books.read(urls)
            if scraped:
                with scraper:
                    time.sleep(seconds)
            else:
                time.sleep(seconds)
            sides[scraped].merge(Books.read(urls), before)
    if not scraper.done or not all(side.count("send") for side in sides.values()):
        raise Failed("no scrape or no probe succeeded")
    return Result(
        quiet=sides[False],
        scraped=sides[True],
        scrapes=scraper.done,
        failed=scraper.failed,
        kilobytes=scraper.bytes / scraper.done / 1024,
        rate=scraper.done / (rounds * seconds * len(urls)),
    )


def report(result):
    yield (
        f"Round trips with {result.rate:.1f} scrapes a second of each daemon ({result.scrapes} in all, "
        f"{result.failed} failed, {result.kilobytes:.0f} kB packed) and without"
    )
    yield f"{'':6} {'probes':>15} {'mean, us':>15} {'ratio':>6} {'p99, us':>15} {'ratio':>6}"
    for op in OPS:
        if not result.quiet.count(op) or not result.scraped.count(op):
            continue
        sides = (result.scraped, result.quiet)
        means = [side.mean(op) * 1e6 for side in sides]
        tails = [side.quantile(op, QUANTILE) * 1e6 for side in sides]
        yield (
            f"{op:6} {sides[0].count(op):7.0f} {sides[1].count(op):7.0f}"
            f" {means[0]:7.0f} {means[1]:7.0f} {means[0] / means[1]:6.2f}"
            f" {tails[0]:7.0f} {tails[1]:7.0f} {tails[0] / tails[1]:6.2f}"
        )
    yield (
        f"left out as delayed by the daemon itself: {result.scraped.self_delayed:.0f} scraped, "
        f"{result.quiet.self_delayed:.0f} quiet"
    )
