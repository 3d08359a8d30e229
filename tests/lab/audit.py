"""A look at all that a host tells, with everything asserted that must hold at every look."""

from books import check_books, check_never_backwards, operations
from labtools import api
from waiting import wait_for

RAIL = "rdma_rail_probe_"
INTERVAL_S = 0.2  # of each operation in the lab
MAX_UNEVEN = 5
MAX_BUSY = 2
# Counters with just these labels are the device's own: re-created, it counts from 0.
OF_DEVICES = {"device", "port"}


def check_rails(metrics):
    """Assert the books of each rail, class and operation."""
    scheduled = metrics.samples(RAIL + "scheduled_total")
    assert scheduled, "no rail has books"
    for sample in scheduled:
        labels = sample.labels

        def total(name):
            return metrics.sum(RAIL + name, **labels)

        sent, skipped = total("sent_total"), total("not_attempted_total")
        assert sample.value == sent + skipped, (labels, sample.value, sent, skipped)
        settled = total("ok_total") + total("failed_total") + total("aborted_total")
        assert sent == settled + total("in_flight"), (labels, sent, settled, total("in_flight"))
        measured = total("ok_total") + total("late_total") - total("self_delayed_total")
        count = metrics.value("rdma_rail_rtt_seconds_count", **labels)
        assert count == measured, (labels, count, measured)


def counters_of(metrics):
    """All counts by name and labels."""
    counts = {}
    for family in metrics.families.values():
        for sample in family.samples:
            if set(sample.labels) == OF_DEVICES:
                continue
            if family.type == "counter" or sample.name.endswith(("_bucket", "_count")):
                counts[sample.name, *sorted(sample.labels.items())] = sample.value
    return counts


def is_on_schedule(before, rows, metrics):
    """Whether what came due since that earlier look came due once, whatever happened meanwhile.

    For the last two seconds the books of a worker that is silent may be behind.
    """
    old_rows, old_metrics = before
    due = (snapshot_time(metrics) - snapshot_time(old_metrics)) / INTERVAL_S
    return all(
        abs(counted(row, op) - counted(old_rows[peer], op) - due) <= MAX_UNEVEN
        for peer, row in rows.items()
        for op in operations(row)
    )


def counted(row, op):
    return int(row["ops"][op]["scheduled"])


def check_no_losses(rows, before):
    """No session has failures that a fault of the fabric or of a peer would bring.

    A host of a busy machine may be a deadline late now and then: that is no sign of one.
    """
    for peer, row in rows.items():
        old = before[peer]["failures"]
        grown = {name: count - old[name] for name, count in row["failures"].items()}
        assert grown.pop("timeout") <= MAX_BUSY and not any(grown.values()), (peer, row["failures"])


def grown(row, before, kind="failures"):
    """By how much each reason of a session's failures, aborts or not_attempted grew; no zeros."""
    counts = {name: count - before[kind][name] for name, count in row[kind].items()}
    return {name: count for name, count in counts.items() if count}


def check_only(row, before, kind, *reasons):
    """Assert that nothing but these reasons grew; returns by how much."""
    counts = grown(row, before, kind)
    assert set(counts) <= set(reasons), (row["peer"], kind, counts)
    return counts


def check_untouched(row, before):
    """A session that had nothing to do with a fault: the same connection, and no losses."""
    assert (row["qpn"], row["since"]) == (before["qpn"], before["since"]), row["peer"]
    check_no_losses({row["peer"]: row}, {row["peer"]: before})


class Audit:
    """Remembers the last look at each host, so that the next one can be compared with it."""

    def __init__(self, lab):
        self.lab = lab
        self.last = {}

    def look(self, host):
        """Look at both documents; returns the rows by peer (of one rail) and the metrics."""
        answer = self.lab.json(host, "/api/v1/peers")
        metrics = self.lab.metrics(host)
        rows, counts = answer["peers"], counters_of(metrics)
        for row in rows:
            check_books(row)
        if metrics.samples(RAIL + "scheduled_total"):
            check_rails(metrics)
        instance, old_rows, old_counts = self.last.get(host, (None, [], {}))
        if instance == answer["instance"]:
            check_never_backwards(old_rows, rows)
            for key, old in old_counts.items():
                assert counts.get(key, old) >= old, (key, old, counts[key])
        self.last[host] = (answer["instance"], rows, counts)
        return {row["peer"]: row for row in rows}, metrics

    def wait(self, host, cond, timeout, what):
        """Look until cond(rows, metrics) holds; the books are asserted at each look.

        A false condition is awaited; books that are wrong fail at once.
        """
        last = []

        def holds():
            last[:] = self.look(host)
            return cond(*last)

        try:
            wait_for(raising_at_once(holds), timeout, what)
        except BooksWrong as error:
            raise AssertionError(f"{host}: {error}") from error
        return last

    def wait_on_schedule(self, host, before):
        """Until the host's books have caught up; before is the answer of an earlier look()."""
        return self.wait(
            host,
            lambda rows, metrics: is_on_schedule(before, rows, metrics),
            10,
            f"{host} has counted each probe once since {snapshot_time(before[1])}",
        )


class BooksWrong(Exception):
    """Not an AssertionError, for which wait_for would go on waiting."""


def raising_at_once(cond):
    def call():
        try:
            return cond()
        except AssertionError as error:
            raise BooksWrong(str(error)) from error

    return call


class Events:
    """The events of a host's journal since this was made."""

    def __init__(self, lab, host):
        self.lab = lab
        self.host = host
        self.begin = lab.json(host, "/api/v1/events?since=0")["last_seq"]

    def new(self, **wanted):
        """Those with these members, e.g. kind=, peer=; oldest first."""
        answer = self.lab.json(self.host, f"/api/v1/events?since={self.begin}")
        return [
            event
            for event in answer["events"]
            if event["seq"] > self.begin
            and all(event[name] == value for name, value in wanted.items())
        ]

    def texts(self, **wanted):
        return [event["text"] for event in self.new(**wanted)]


def snapshot_time(metrics):
    """When what was told was true, by the guest's clock."""
    return metrics.value("rdma_pingmesh_snapshot_timestamp_seconds")


def is_reachable(lab, host):
    try:
        return lab.json(host, "/api/v1/status")
    except api.Unreachable:
        return None


def wait_reachable(lab, host, timeout=30):
    return wait_for(lambda: is_reachable(lab, host), timeout, f"{host} answers")


def findings(lab, host):
    return lab.json(host, "/api/v1/findings")["findings"]


def device(lab, host, name="rxe0"):
    found = [d for d in lab.json(host, "/api/v1/devices")["devices"] if d["device"] == name]
    assert len(found) == 1, f"{host}: {len(found)} devices {name}"
    return found[0]


def wait_counters(lab, host, name="rxe0"):
    """Until the device's counters were read after traffic began; the metrics."""

    def fetch():
        metrics = lab.metrics(host)
        return metrics if metrics.value("rdma_sent_pkts_total", device=name, port="1") else None

    return wait_for(fetch, 20, f"{host} has read the counters of {name}")


def health_status(lab, host, fail_on="failing"):
    return lab.get(host, f"/api/v1/health?fail_on={fail_on}")[0]
