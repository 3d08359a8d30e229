"""Our READ and SEND in a closed loop against ib_read_lat and ibv_srq_pingpong, both in event mode,
between the same two guests, in turns."""

import json
import re
import statistics
from dataclasses import dataclass, field

from fabric import Failed

SERVER, CLIENT = "host1", "host2"
SERVER_ADDRESS = "10.99.0.1"
SIZE = 64
RIVAL_PORT = 18600
PROGRAM = "/root/closed_loop"

# Wait until what was started serves; the guests are slow, and how slow depends on the machine.
WAIT_LISTEN = (
    f"for i in $(seq 100); do ss -Hltn 'sport = :{RIVAL_PORT}' | grep -q . && exit 0; sleep 0.1; done;"
    " cat /root/rival.log; exit 1"
)


@dataclass
class Contest:
    """One operation against its rival: microseconds, one value a round."""

    op: str
    rival: str
    ours: list = field(default_factory=list)
    ours_period: list = field(default_factory=list)
    theirs: list = field(default_factory=list)
    cpu: list = field(default_factory=list)
    remarks: dict = field(default_factory=dict)

    def ratios(self, values):
        return [ours / theirs for ours, theirs in zip(values, self.theirs)]


def gid_index(fabric, host):
    """Where the RoCE v2 GID of the fabric address stands: neither rival finds it by itself."""
    lines = fabric.exec(
        host,
        "cd /sys/class/infiniband/rxe0/ports/1 && for i in $(seq 0 31); do"
        " echo $i $(cat gids/$i gid_attrs/types/$i 2>/dev/null); done",
    )
    for line in lines.splitlines():
        if "ffff:0a63" in line and "RoCE v2" in line:
            return line.split()[0]
    raise Failed(f"{host}: rxe0 has no RoCE v2 GID of a fabric address")


def run_rival(fabric, command, gids):
    """command(gid index) -> words of the rival; what its client prints."""
    fabric.exec(
        SERVER,
        f"nohup setsid timeout 120 {command(gids[SERVER])} > /root/rival.log 2>&1 < /dev/null & "
        + WAIT_LISTEN,
    )
    return fabric.exec(CLIENT, f"{command(gids[CLIENT])} {SERVER_ADDRESS} 2>&1")


def ib_read_lat(fabric, count, gids):
    """Mean from post to next post, the two largest left out: that is how perftest counts."""
    text = run_rival(
        fabric, lambda gid: f"ib_read_lat -e -F -d rxe0 -x {gid} -s {SIZE} -n {count} -p {RIVAL_PORT}", gids
    )
    for line in text.splitlines():
        words = line.split()
        if words[:2] == [str(SIZE), str(count)]:
            return float(words[5])
    raise Failed(f"ib_read_lat printed no result: {text[-500:]}")


def srq_pingpong(fabric, count, gids):
    """Time of the whole run over its iterations; each is a message there and one back."""
    text = run_rival(
        fabric,
        lambda gid: f"ibv_srq_pingpong -e -q 1 -d rxe0 -g {gid} -s {SIZE} -n {count} -p {RIVAL_PORT}",
        gids,
    )
    found = re.search(r"([0-9.]+) usec/iter", text)
    if not found:
        raise Failed(f"ibv_srq_pingpong printed no result: {text[-500:]}")
    return float(found[1])


def run_ours(fabric, contest, count):
    text = fabric.exec(
        CLIENT, f"{PROGRAM} --count {count} --size {SIZE} {contest.op} {SERVER_ADDRESS}"
    )
    result = json.loads(text)
    stream = result[contest.op]
    # Against perftest by its own rule; the pingpong leaves nothing out.
    contest.ours.append(stream["mean_trimmed_us" if contest.op == "read" else "mean_us"])
    contest.ours_period.append(result["period_us"])
    contest.cpu.append(result["cpu_us"])
    for name in ("not_attempted", "self_delayed", "late", "retransmits_suspected"):
        contest.remarks[name] = contest.remarks.get(name, 0) + result[name]


def play_round(fabric, contests, count, gids, ours_first):
    rivals = {"read": ib_read_lat, "send": srq_pingpong}
    for contest in contests:
        if ours_first:
            run_ours(fabric, contest, count)
        contest.theirs.append(rivals[contest.op](fabric, count, gids))
        if not ours_first:
            run_ours(fabric, contest, count)


def measure(fabric, program, rounds, count, progress):
    """The contests after so many rounds. Order changes from round to round, so that a machine that
    slowly gets busier favours nobody."""
    contests = [Contest("read", "ib_read_lat"), Contest("send", "ibv_srq_pingpong")]
    for host in fabric.hosts:
        fabric.push(host, program, PROGRAM)
    gids = {host: gid_index(fabric, host) for host in fabric.hosts}
    fabric.exec(
        SERVER,
        f"nohup setsid {PROGRAM} serve > /root/serve.log 2>&1 < /dev/null &"
        " for i in $(seq 100); do grep -q serving /root/serve.log && exit 0; sleep 0.1; done;"
        " cat /root/serve.log; exit 1",
    )
    for number in range(rounds):
        play_round(fabric, contests, count, gids, number % 2 == 0)
        progress(
            f"round {number + 1} of {rounds}: "
            + ", ".join(f"{c.op} {c.ours[-1]:.0f} against {c.theirs[-1]:.0f} us" for c in contests)
        )
    return contests


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}..{max(values):.2f})"


def report(contests, count):
    yield f"Round trips, {len(contests[0].ours)} rounds of {count} probes, {SIZE} bytes, event mode"
    yield f"{'':5} {'ours us':>9} {'rival us':>9}  {'ratio: median (range)':24} {'whole loop':24} rival"
    for c in contests:
        yield (
            f"{c.op:5} {statistics.median(c.ours):9.1f} {statistics.median(c.theirs):9.1f}  "
            f"{spread(c.ratios(c.ours)):24} {spread(c.ratios(c.ours_period)):24} {c.rival}"
        )
    for c in contests:
        told = ", ".join(f"{name} {n}" for name, n in c.remarks.items() if n)
        yield f"{c.op}: {statistics.median(c.cpu):.0f} us CPU of the prober each; {told or 'all ok'}"
