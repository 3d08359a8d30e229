"""What the daemon costs on hosts that probe each other: CPU per probe, wake-ups, memory."""

import time
import urllib.request
from dataclasses import dataclass

from fabric import Failed

# name;user and system ticks;voluntary switches;resident kB, of each thread of each process of
# the service; the first process is main. In a guest, by what every Debian has.
TASKS = r"""
main=$(systemctl show -P MainPID rdma-pingmesh)
echo "hz $(getconf CLK_TCK)"
for pid in $main $(cat /proc/$main/task/$main/children); do
	rss=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid/status)
	for task in /proc/$pid/task/*; do
		switches=$(sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' $task/status)
		cpu=$(awk '{ print $1 }' $task/schedstat)
		echo "task $pid ${task##*/} $cpu $switches $rss $(cat $task/comm)"
	done
done
"""

# CPU nanoseconds of a wake-up that does nothing: what the machine itself charges, which under
# emulation is most of what the daemon's threads show.
EMPTY_WAKE_UPS = 200
EMPTY = rf"""
perl -e '
sub cpu {{ open my $f, "<", "/proc/self/schedstat" or die; return (split " ", <$f>)[0] }}
my $before = cpu();
select undef, undef, undef, 0.03 for 1..{EMPTY_WAKE_UPS};
print cpu() - $before'
"""


@dataclass
class Task:
    pid: int
    tid: int
    cpu_ns: int
    switches: int
    rss_kb: int
    name: str


@dataclass
class Sample:
    """One host at one instant."""

    at: float
    tasks: list
    sent: float  # probes of this host so far
    worker_cpu_s: float
    main_cpu_s: float

    @property
    def main_pid(self):
        return self.tasks[0].pid


def metric_sum(text, name):
    found = [
        float(line.rsplit(" ", 1)[1])
        for line in text.splitlines()
        if line.startswith((name + "{", name + " "))
    ]
    if not found:
        raise Failed(f"/metrics has no {name}")
    return sum(found)


def take(fabric, host):
    lines = fabric.exec(host, TASKS).splitlines()
    with urllib.request.urlopen(fabric.url(host, "/metrics"), timeout=10) as answer:
        text = answer.read().decode()
    tasks = [
        Task(*map(int, words[1:6]), " ".join(words[6:]))
        for words in map(str.split, lines)
        if words[0] == "task"
    ]
    return Sample(
        at=time.monotonic(),
        tasks=tasks,
        sent=metric_sum(text, "rdma_rail_probe_sent_total"),
        worker_cpu_s=metric_sum(text, "rdma_worker_cpu_seconds_total"),
        main_cpu_s=metric_sum(text, "process_cpu_seconds_total"),
    )


def measure(fabric, seconds, progress):
    """Samples (before, after) of each host, and the microseconds of an empty wake-up."""
    progress(f"letting the daemons run for {seconds} s")
    before = {host: take(fabric, host) for host in fabric.hosts}
    time.sleep(seconds)
    after = {host: take(fabric, host) for host in fabric.hosts}
    for host in fabric.hosts:
        if [t.tid for t in before[host].tasks] != [t.tid for t in after[host].tasks]:
            raise Failed(f"{host}: a process of the service was replaced meanwhile")
        if after[host].sent <= before[host].sent:
            raise Failed(f"{host}: no probes were sent")
    empty_us = int(fabric.exec(fabric.hosts[0], EMPTY)) / EMPTY_WAKE_UPS / 1e3
    return list(zip(before.values(), after.values())), empty_us


def grown(pairs, value):
    return sum(value(after) - value(before) for before, after in pairs)


def thread_rows(pairs):
    """(process and thread, wake-ups a second, milliseconds of CPU a second), means of the hosts."""
    hosts = len(pairs)
    span = grown(pairs, lambda s: s.at) / hosts
    sums = {}
    for before, after in pairs:
        for old, new in zip(before.tasks, after.tasks):
            process = "main" if new.pid == after.main_pid else "worker"
            name = "control" if process == "worker" and new.pid == new.tid else new.name
            entry = sums.setdefault((process, name), [0, 0])
            entry[0] += new.switches - old.switches
            entry[1] += new.cpu_ns - old.cpu_ns
    for (process, name), (switches, cpu_ns) in sums.items():
        yield process, name, switches / hosts / span, cpu_ns / hosts / span / 1e6


def resident_mb(pairs, is_main):
    """Largest of the hosts, at the end."""
    return max(
        max(task.rss_kb for task in after.tasks if (task.pid == after.main_pid) == is_main)
        for _, after in pairs
    ) / 1024


def report(pairs, empty_us):
    hosts = len(pairs)
    span = grown(pairs, lambda s: s.at) / hosts
    probes = grown(pairs, lambda s: s.sent)
    worker = grown(pairs, lambda s: s.worker_cpu_s)
    main = grown(pairs, lambda s: s.main_cpu_s)
    yield (
        f"Daemons on {hosts} hosts, {span:.0f} s: each sent {probes / hosts / span:.1f} probes a second"
        " and answered as many"
    )
    yield f"worker: {worker / probes * 1e6:.0f} us CPU per probe, sending and answering together"
    yield f"main: {main / hosts / span * 1e3:.2f} ms CPU a second"
    yield f"resident: main {resident_mb(pairs, True):.1f} MB, worker {resident_mb(pairs, False):.1f} MB"
    yield f"{'process':8} {'thread':16} {'wake-ups/s':>10} {'CPU ms/s':>9}"
    for process, name, wakeups, cpu in thread_rows(pairs):
        yield f"{process:8} {name:16} {wakeups:10.1f} {cpu:9.2f}"
    yield (
        f"wake-ups a second in all: {sum(row[2] for row in thread_rows(pairs)):.1f};"
        f" one that does nothing costs {empty_us:.0f} us CPU here"
    )
