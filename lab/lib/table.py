"""Show the sessions of a lab as they are, and judge them at the end.

table.py --hosts N --rails N --port-base N [--seconds N]

Ends after --seconds with 0 if every session is up with verdict ok and every operation has
succeeded in it, else with 1 and the reasons. Without --seconds it goes on until it is interrupted.
"""

import argparse
import sys
import time

import api

CLEAR = "\033[H\033[J"
# A reader of a log wants fewer lines than a person at a terminal.
PERIOD_S = {True: 1, False: 5}
# One probe that missed its deadline makes a session "degraded" until three in a row succeeded. On a
# busy machine that can fall on the last second, so the end waits this long for it to heal.
SETTLE_S = 10


def operations(row):
    """The operations that are on and are scheduled: an acknowledgement has no schedule."""
    return {name: op for name, op in row["ops"].items() if name != "ack"}


def duration(seconds):
    if seconds is None:
        return "-"
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.1f} ms"


def loss(row):
    if row["loss_ratio"] is None:
        return "loss -"
    return f"loss {row['loss_ratio'] * 100:.1f}% in {row['window_seconds']:.0f} s"


def line(host, row):
    words = [
        f"{host} -> {row['peer']:<6} {row['rail']:<5} {row['state']:<10} {row['verdict']:<8}",
        f"{loss(row):<18}",
    ]
    for name, op in operations(row).items():
        words.append(
            f"{name} ok {op['ok']:<5} failed {op['failed']:<3} "
            f"p50 {duration(op['p50_seconds']):>7} p99 {duration(op['p99_seconds']):>8}"
        )
    if row["verdict"] != "ok":
        words.append(f"{row['cause']}: {row['reason']}")
    return "  ".join(words)


def faults_of(host, row):
    name = f"{host} -> {row['peer']} {row['rail']}"
    if row["state"] != "up":
        yield f"{name}: the session is {row['state']}"
    if row["verdict"] != "ok":
        yield f"{name}: the verdict is {row['verdict']}: {row['reason']}"
    for op_name, op in operations(row).items():
        if int(op["ok"]) == 0:
            yield f"{name}: no {op_name} has succeeded"
    if not operations(row):
        yield f"{name}: no operation is on"


class Lab:
    def __init__(self, hosts, rails, port_base):
        self.urls = {f"host{i}": f"http://127.0.0.1:{port_base + i}" for i in range(1, hosts + 1)}
        self.expected = (hosts - 1) * rails

    def look(self):
        """Return (lines to show, faults)."""
        lines, faults = [], []
        for host, url in self.urls.items():
            try:
                rows = api.get_json(f"{url}/api/v1/peers")["peers"]
            except api.Unreachable as error:
                lines.append(f"{host}: the daemon does not answer")
                faults.append(f"{host}: {error}")
                continue
            lines += [line(host, row) for row in rows]
            faults += [fault for row in rows for fault in faults_of(host, row)]
            if len(rows) != self.expected:
                faults.append(f"{host}: {len(rows)} sessions, {self.expected} are expected")
        return lines, faults


def show(lines, started, terminal):
    stamp = f"after {time.monotonic() - started:.0f} s"
    head = CLEAR if terminal else ""
    print(f"{head}{stamp}\n" + "\n".join(lines), flush=True)
    if terminal:
        print("Ctrl-C ends the demo.", flush=True)


def watch(lab, seconds):
    """Show the lab until the time is over; returns the faults of the last look."""
    terminal = sys.stdout.isatty()
    started = time.monotonic()
    while True:
        lines, faults = lab.look()
        show(lines, started, terminal)
        left = float("inf") if seconds is None else started + seconds - time.monotonic()
        if left <= 0 and (not faults or left < -SETTLE_S):
            return faults
        time.sleep(min(PERIOD_S[terminal], left) if left > 0 else 1)


def main():
    parser = argparse.ArgumentParser()
    for name in ("hosts", "rails", "port-base"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--seconds", type=int)
    args = parser.parse_args()
    try:
        faults = watch(Lab(args.hosts, args.rails, args.port_base), args.seconds)
    except KeyboardInterrupt:
        return 130
    for fault in faults:
        print(f"demo: error: {fault}", file=sys.stderr)
    if not faults:
        print("demo: every session is up with verdict ok and every operation has succeeded in it")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
