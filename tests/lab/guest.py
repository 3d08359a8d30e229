"""What a scenario asks of a guest and does to it: its service, processes, network, configuration.

Each fault is a context manager that undoes itself.
"""

import contextlib
import re

CONFIG = "/etc/rdma-pingmesh/rdma-pingmesh.conf"
DROP_IN = "/etc/systemd/system/rdma-pingmesh.service.d/lab.conf"
ROCE_PORT = 4791


# The service


def prop(lab, host, name):
    """A property of the unit as systemd shows it."""
    words = ["systemctl", "show", "--value", "-p", name, "rdma-pingmesh"]
    return lab.exec(host, words).stdout.strip()


def main_pid(lab, host):
    return int(prop(lab, host, "MainPID"))


def worker_pid(lab, host, device="rxe0"):
    """The process that has the device; an AssertionError when there is none, or more than one."""
    found = lab.exec(host, ["pgrep", "-f", f"^rdma-pingmeshd --worker .* {device}$"]).stdout.split()
    assert len(found) == 1, f"{host}: {len(found)} workers of {device}: {found}"
    return int(found[0])


def kill(lab, host, pid, signal):
    lab.exec(host, ["kill", "-s", signal, str(pid)])


def journal_since(lab, host, cursor):
    """The service's messages after that cursor of the journal."""
    words = ["journalctl", "-q", "-o", "cat", "-u", "rdma-pingmesh", f"--after-cursor={cursor}"]
    return lab.exec(host, words).stdout


def journal_cursor(lab, host):
    """Of the service's last message: where the entry is another's, journalctl skips one more of ours."""
    shown = lab.exec(host, "journalctl -q -n 1 -u rdma-pingmesh --show-cursor").stdout
    return re.search(r"cursor: (\S+)", shown).group(1)


def timed(lab, host, line):
    """Run a shell line in the guest; (seconds that it took by the guest's own clock, exit code)."""
    script = f"read a _ < /proc/uptime; {line}; rc=$?; read b _ < /proc/uptime; echo $a $b $rc"
    begin, end, code = lab.exec(host, script).stdout.split()[-3:]
    return float(end) - float(begin), int(code)


# Faults


@contextlib.contextmanager
def frozen(lab, host):
    """Every process of the service is stopped."""
    lab.exec(host, "systemctl kill --kill-who=all -s STOP rdma-pingmesh")
    try:
        yield
    finally:
        lab.exec(host, "systemctl kill --kill-who=all -s CONT rdma-pingmesh")


@contextlib.contextmanager
def link_down(lab, host, netdev="eth0"):
    lab.exec(host, ["ip", "link", "set", "dev", netdev, "down"])
    try:
        yield
    finally:
        lab.exec(host, ["ip", "link", "set", "dev", netdev, "up"])


# What goes out stays allowed: a drop there is an error that the sender's own device sees.
DROP_RULES = f"""
table inet lab {{
	chain input {{
		type filter hook input priority 0
		udp dport {ROCE_PORT} counter drop
	}}
}}
"""


def dropped_packets(lab, host):
    shown = lab.exec(host, "nft list table inet lab").stdout
    return int(re.search(r"counter packets (\d+)", shown).group(1))


@contextlib.contextmanager
def black_hole(lab, host):
    """All RoCE traffic to that host vanishes on its way in."""
    lab.exec(host, "nft -f -", stdin=DROP_RULES)
    try:
        yield
    finally:
        lab.exec(host, "nft delete table inet lab")


def short_black_hole(lab, host, seconds):
    """The same for some seconds of the guest's own time; returns how many packets were dropped."""
    line = f"nft -f - && sleep {seconds}; nft list table inet lab; nft delete table inet lab"
    shown = lab.exec(host, line, stdin=DROP_RULES).stdout
    return int(re.search(r"counter packets (\d+)", shown).group(1))


@contextlib.contextmanager
def stopped(lab, host):
    lab.exec(host, "systemctl stop rdma-pingmesh")
    try:
        yield
    finally:
        lab.exec(host, "systemctl start rdma-pingmesh")


# Configuration


def reload_service(lab, host):
    lab.exec(host, "systemctl reload rdma-pingmesh")


@contextlib.contextmanager
def own_config(lab, host):
    """Gives the text of the configuration; it is laid back and reloaded at the end."""
    text = lab.exec(host, ["cat", CONFIG]).stdout
    try:
        yield text
    finally:
        write_config(lab, host, text)
        lab.exec(host, "systemctl reload-or-restart rdma-pingmesh")


def write_config(lab, host, text):
    lab.exec(host, f"cat > {CONFIG}", stdin=text)


def without_peer(text, peer):
    """The configuration text without the lines of one peer."""
    return "".join(
        line for line in text.splitlines(keepends=True) if not line.startswith(f"peer = {peer}/")
    )


def without_peers(text):
    return re.sub(r"(?m)^peer = .*\n", "", text)


@contextlib.contextmanager
def drop_in(lab, host, text):
    """The service restarted with an addition to its unit."""
    lab.exec(host, f"mkdir -p $(dirname {DROP_IN}) && cat > {DROP_IN}", stdin=text)
    try:
        lab.exec(host, "systemctl daemon-reload && systemctl restart rdma-pingmesh")
        yield
    finally:
        lab.exec(
            host,
            f"rm -r $(dirname {DROP_IN}) && systemctl daemon-reload && "
            "systemctl restart rdma-pingmesh",
        )
