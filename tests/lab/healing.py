"""How long a fault took to be told and to be healed, by the daemons' own events.

Each scenario that measures adds a line to what becomes build/lab/healing.tsv: what was done, on which kernel,
seconds from the fault to the first word about it, seconds from its end to the last "well again".
The table is shown when the tests end.
"""

import time

from audit import Events
from labtools import TOP

FILE = TOP / "build" / "lab" / "healing.tsv"
# What an operator learns a fault and its end by.
TOLD_BY = ("verdict", "rail", "worker", "session")
WELL = ("-> ok", "-> up", "up", "worker is up", "worker runs again")

measured = []


def is_well(event):
    """Whether the event is about something that is as it should be again."""
    head = event["text"].split(":")[0]
    return head == "up" or head.endswith(WELL[:2]) or head in WELL or head.endswith("read again")


def clock_offset(lab, host):
    """What to add to the guest's wall clock to have this machine's; good to a command's time."""
    begin = time.time()
    guest = float(lab.exec(host, "date +%s.%N").stdout)
    return (begin + time.time()) / 2 - guest


class Healing:
    """One fault: told by the watchers, ended, healed. All times are this machine's clock."""

    def __init__(self, lab, name, watchers, **about):
        """about: what the events must have, e.g. peer= of a fault that only one peer has."""
        self.lab = lab
        self.name = name
        self.about = about
        self.watchers = {host: Events(lab, host) for host in watchers}
        self.offsets = {host: clock_offset(lab, host) for host in watchers}
        self.begin = self.end = time.time()

    def begins(self):
        """The fault is made now."""
        self.begin = time.time()

    def ends(self, after=None):
        """The fault is undone now, or that many seconds after it began."""
        self.end = time.time() if after is None else self.begin + after

    def _times(self, wanted):
        for host, events in self.watchers.items():
            for event in events.new(**self.about):
                if event["kind"] in TOLD_BY and wanted(event):
                    yield event["timestamp"] + self.offsets[host]

    def record(self):
        """To be called when all is well again; (seconds to detect or None, seconds to heal)."""
        told = [t for t in self._times(lambda e: not is_well(e)) if t >= self.begin - 0.5]
        well = [t for t in self._times(is_well) if t >= self.end - 0.5]
        detect = max(0, min(told) - self.begin) if told else None
        heal = max(0, max(well) - self.end) if well else 0 if told else None
        note(self.lab, self.name, detect, heal)
        return detect, heal


def note(lab, name, detect, heal):
    """A line of the table, of seconds that were taken in another way; None: not measured."""
    measured.append((name, lab.options.kernel, detect, heal))


def lines():
    """The table as lines of tab-separated text."""
    yield "fault\tkernel\tdetect_s\theal_s"
    for name, kernel, *times in measured:
        yield "\t".join([name, kernel, *("-" if t is None else f"{t:.1f}" for t in times)])


def write():
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text("".join(line + "\n" for line in lines()))


def show(reporter):
    """The table in the terminal's summary."""
    rows = [line.split("\t") for line in lines()]
    width = max(len(row[0]) for row in rows)
    reporter.section("time to detect and to heal")
    for name, *rest in rows:
        reporter.line(f"{name:{width}}" + "".join(f"  {text:>8}" for text in rest))
