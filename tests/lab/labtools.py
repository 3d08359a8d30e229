"""The lab as a scenario uses it: hosts by number, commands in them, what their daemons tell."""

import contextlib
import fcntl
import os
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass

import pytest

from books import operations
from metrics import Metrics
from waiting import wait_for

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "lab" / "lib"))
import api  # noqa: E402

DEFAULT_PORT_BASE = 10480
# Booting under emulation and connecting, on a machine that also builds.
UP_TIMEOUT_S = 600
HEAL_TIMEOUT_S = 45
MAX_FAILED_UPS = 4

# What a scenario may have done to a host and not undone when it failed.
REPAIR = """
nft flush ruleset
for dev in eth0 eth1; do
	[ -e /sys/class/net/$dev ] || continue
	tc qdisc del dev $dev root 2>/dev/null
	ip link set dev $dev up
done
systemctl kill --kill-who=all -s CONT rdma-pingmesh
systemctl reset-failed
systemctl is-active -q rdma-pingmesh || systemctl restart rdma-pingmesh
"""


# A guest that is up still loads modules and starts what nobody waits for: on one processor that is
# enough to be late with probes.
SETTLE = "udevadm settle -t 60; timeout 60 systemctl is-system-running --wait; true"


@dataclass(frozen=True)
class Options:
    """How a lab is brought up; equal options can share one."""

    hosts: int = 3
    rails: int = 1
    kernel: str = "6.12"
    bare: bool = False

    def arguments(self):
        words = [str(self.hosts), "--rails", str(self.rails), "--kernel", self.kernel]
        return words + (["--bare"] if self.bare else [])


@contextlib.contextmanager
def only_boot():
    """Guests compute while they boot: two labs that do so at once take twice as long, and measure
    their clocks wrong."""
    path = TOP / "build" / "lab" / "boot.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Lab:
    """One lab at one port base, brought up when it is first needed."""

    def __init__(self, port_base=None):
        self.port_base = int(port_base or os.environ.get("LAB_PORT_BASE", DEFAULT_PORT_BASE))
        self.options = None
        self.failed_ups = 0

    # Life

    def require(self, options):
        """Make sure that a lab with these options is up and healthy."""
        if self.options != options:
            self.up(options)
        if not options.bare and not self.is_healthy():
            self.repair()

    def up(self, options):
        self.down()
        try:
            with only_boot():
                self._command("up", *options.arguments(), timeout=UP_TIMEOUT_S)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            self.failed_ups += 1
            # Each further scenario would wait as long in vain.
            if self.failed_ups >= MAX_FAILED_UPS:
                pytest.exit(f"lab/up failed {self.failed_ups} times, see above", returncode=1)
            raise
        self.options = options
        for host in self.hosts:
            self.exec(host, SETTLE, timeout=180)

    def down(self):
        self.options = None
        self._command("down", timeout=60)

    def _command(self, name, *arguments, timeout):
        """Run lab/NAME; its progress goes to where the test runner's goes."""
        words = [str(TOP / "lab" / name), *arguments, "--port-base", str(self.port_base)]
        subprocess.run(words, check=True, timeout=timeout, stdin=subprocess.DEVNULL)

    # Hosts

    @property
    def hosts(self):
        return [f"host{i}" for i in range(1, self.options.hosts + 1)]

    def others(self, host):
        return [other for other in self.hosts if other != host]

    def url(self, host, path=""):
        return f"http://127.0.0.1:{self.port_base + int(host[4:])}{path}"

    def exec(self, host, cmd, check=True, timeout=60, stdin=None):
        """Run a shell line (str) or a program with arguments (list) as root in a guest.

        Returns a CompletedProcess with text. A failure under check is an AssertionError that shows
        the output.
        """
        words = [cmd] if isinstance(cmd, str) else list(cmd)
        result = subprocess.run(
            [str(TOP / "lab" / "exec"), "--port-base", str(self.port_base), host, *words],
            input=stdin or "",
            text=True,
            capture_output=True,
            timeout=timeout,
        )
        assert not check or result.returncode == 0, (
            f"{host}: {cmd!r} ended with {result.returncode}\n{result.stdout}{result.stderr}"
        )
        return result

    def push(self, host, src, dst):
        self._copy("push", host, src, dst)

    def pull(self, host, src, dst):
        self._copy("pull", host, src, dst)

    def _copy(self, name, *arguments):
        port = ["--port-base", str(self.port_base)]
        words = [str(TOP / "lab" / name), *port, *map(str, arguments)]
        result = subprocess.run(
            words, stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=120
        )
        assert result.returncode == 0, f"{words}: {result.returncode}\n{result.stderr}"

    def power(self, what, host):
        """Cut a host's power (off), give it back (on), or both at once (cycle)."""
        words = [str(TOP / "lab" / "lib" / "power"), "--port-base", str(self.port_base), what, host]
        subprocess.run(words, check=True, timeout=UP_TIMEOUT_S, stdin=subprocess.DEVNULL)

    # Daemons

    def json(self, host, path):
        """The parsed answer to a GET of e.g. /api/v1/peers; raises api.Unreachable."""
        return api.get_json(self.url(host, path))

    def get(self, host, path, headers=None):
        """(status, headers, body as bytes) of a GET, also when the status is an error."""
        request = urllib.request.Request(self.url(host, path), headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=api.TIMEOUT_S) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def metrics(self, host):
        status, _, body = self.get(host, "/metrics")
        assert status == 200, f"{host}: /metrics answers {status}"
        return Metrics(body.decode())

    def rows(self, host):
        return self.json(host, "/api/v1/peers")["peers"]

    def row(self, host, peer, rail="rxe0"):
        """The row of the session that host keeps to peer on that rail."""
        found = [row for row in self.rows(host) if (row["peer"], row["rail"]) == (peer, rail)]
        assert len(found) == 1, f"{host}: {len(found)} sessions to {peer} on {rail}"
        return found[0]

    def faults(self, host):
        """What keeps a host from being healthy, as lines of text."""
        try:
            rows = self.rows(host)
        except api.Unreachable as error:
            return [str(error)]
        expected = (self.options.hosts - 1) * self.options.rails
        faults = [] if len(rows) == expected else [f"{host}: {len(rows)} of {expected} sessions"]
        for row in rows:
            missing = [name for name, op in operations(row).items() if int(op["ok"]) == 0]
            if (row["state"], row["verdict"]) != ("up", "ok") or missing:
                faults.append(
                    f"{host} -> {row['peer']} {row['rail']}: {row['state']}, {row['verdict']}, "
                    f"{row['cause']}, {row['reason']}, never succeeded: {missing}"
                )
        return faults

    def all_faults(self):
        return [fault for host in self.hosts for fault in self.faults(host)]

    def is_healthy(self):
        return not self.all_faults()

    def wait_healthy(self, timeout=HEAL_TIMEOUT_S):
        """Wait until every session of every host is up with verdict ok."""
        wait_for(
            self.is_healthy,
            timeout,
            lambda: "all sessions up and ok: " + "; ".join(self.all_faults()),
        )

    def repair(self):
        """Undo what a failed scenario may have left; a fresh lab if that does not help."""
        try:
            self.wait_healthy(5)
            return
        except AssertionError:
            pass
        try:
            for host in self.hosts:
                self.exec(host, REPAIR)
            self.wait_healthy()
        except (AssertionError, subprocess.TimeoutExpired):
            self.up(self.options)
            self.wait_healthy()

    def journal(self, host, lines=2000):
        unit = ["-u", "rdma-pingmesh"]
        words = ["journalctl", "-o", "short-precise", "--no-pager", "-n", str(lines), *unit]
        return self.exec(host, words).stdout

    def save_evidence(self, directory):
        """Keep what a person needs to see why a scenario failed."""
        directory.mkdir(parents=True, exist_ok=True)
        for host in self.hosts:
            for name, collect in (
                ("journal.log", lambda h=host: self.exec(h, "journalctl -o short-precise").stdout),
                ("dmesg.log", lambda h=host: self.exec(h, "dmesg").stdout),
                ("peers.json", lambda h=host: self.get(h, "/api/v1/peers")[2].decode()),
                ("devices.json", lambda h=host: self.get(h, "/api/v1/devices")[2].decode()),
                ("metrics.prom", lambda h=host: self.get(h, "/metrics")[2].decode()),
            ):
                try:
                    text = collect()
                except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
                    text = f"not to be had: {error}\n"
                (directory / f"{host}-{name}").write_text(text)
