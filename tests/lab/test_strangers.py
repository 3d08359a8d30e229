"""Who is not of the mesh, or misbehaves in it: strangers cost little and leave nothing, hosts that die
without a word neither, and a host without the shared secret learns nothing."""

import contextlib
import subprocess

import pytest

from audit import Events, findings
from guest import ROCE_PORT, journal_cursor, journal_since, own_config, stopped, write_config
from labtools import TOP
from waiting import wait_for

HOST = "host1"
OTHER = "host2"
GUEST = "host3"
ADDRESSES = {"host1": "10.99.0.1", "host2": "10.99.0.2", "host3": "10.99.0.3"}
STRANGE = "10.99.0.77"
PROGRAM = "/tmp/stranger"
SECRET = "/etc/rdma-pingmesh/secret"
SOURCES = ("tests/tools/stranger.c", "probes/wire.c", "core/names.c")


@pytest.fixture(scope="module")
def program():
    out = TOP / "build" / "lab" / "stranger"
    words = ["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{TOP}"]
    words += ["-o", str(out), *(str(TOP / source) for source in SOURCES), "-lrdmacm", "-libverbs"]
    subprocess.run(words, check=True)
    return out


class Stranger:
    """The program as it runs in the guest; ended with the block."""

    def __init__(self, lab, program, *words):
        self.lab = lab
        lab.push(GUEST, program, PROGRAM)
        line = " ".join([PROGRAM, *map(str, words)])
        lab.exec(GUEST, f"rm -f {PROGRAM}.out; setsid {line} > {PROGRAM}.out 2>&1 < /dev/null &")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        self.lab.exec(GUEST, f"pkill -KILL -f '^{PROGRAM} ' || true")

    def output(self):
        return self.lab.exec(GUEST, ["cat", f"{PROGRAM}.out"]).stdout

    def count(self, word):
        """The last number that it printed after the word."""
        said = [line.split()[1] for line in self.output().splitlines() if line.startswith(word)]
        return int(said[-1]) if said else 0

    def wait(self, word, n, timeout):
        wait_for(lambda: self.count(word) >= n, timeout, lambda: f"{word} {n}: {self.output()[-300:]}")


@contextlib.contextmanager
def second_address(lab):
    lab.exec(GUEST, f"ip addr add {STRANGE}/24 dev eth0")
    try:
        yield
    finally:
        lab.exec(GUEST, f"ip addr del {STRANGE}/24 dev eth0")


def passive(lab, host=HOST):
    return lab.metrics(host).value("rdma_worker_qps", device="rxe0", role="passive")


def since(lab, host=HOST):
    return {row["peer"]: (row["state"], row["qpn"]) for row in lab.rows(host)}


def test_a_flood_of_strangers_is_refused_and_told_in_few_words(lab, program):
    before, cursor, events = since(lab), journal_cursor(lab, HOST), Events(lab, HOST)
    with second_address(lab):
        with Stranger(lab, program, STRANGE, ADDRESSES[HOST], "flood", 300) as stranger:
            stranger.wait("rejected", 300, 120)
    wait_for(lambda: events.texts(kind="refused"), 10, "the journal tells of it")
    assert STRANGE in events.texts(kind="refused")[0]
    assert journal_since(lab, HOST, cursor).count("is refused") <= 12
    assert since(lab) == before
    assert passive(lab) == 2


@pytest.mark.parametrize("manner", ["garbage", "half", "long", "mute"])
def test_a_listed_address_that_says_no_hello_is_dropped(lab, program, manner):
    before = since(lab)
    with Stranger(lab, program, ADDRESSES[GUEST], ADDRESSES[HOST], manner) as stranger:
        stranger.wait("closed", 1, 40)
    wait_for(lambda: passive(lab) == 2, 30, "nothing is left of it")
    assert since(lab) == before


DROP_STRANGER = f"""
table inet lab {{
	chain input {{
		type filter hook input priority 0
		ip saddr {STRANGE} udp dport {ROCE_PORT} counter drop
	}}
}}
"""


@pytest.mark.limit(400)
def test_300_silent_deaths_leave_no_queue_pair(lab, program):
    before = since(lab)
    with own_config(lab, HOST) as text, second_address(lab):
        write_config(lab, HOST, text.replace("[peers]", "[peers]\naccept = any"))
        lab.exec(HOST, "systemctl reload rdma-pingmesh")
        # Freed 45 s after their last word: the first ones while the last ones still come.
        with Stranger(lab, program, STRANGE, ADDRESSES[HOST], "hello", 300, 15000) as stranger:
            stranger.wait("up", 300, 240)
            most = passive(lab)
            lab.exec(HOST, "nft -f -", stdin=DROP_STRANGER)
        try:
            assert most > 2
            wait_for(lambda: passive(lab) == 2, 120, lambda: f"{passive(lab)} queue pairs are left")
        finally:
            lab.exec(HOST, "nft delete table inet lab")
    assert since(lab) == before


@pytest.mark.limit(300)
@pytest.mark.parametrize(
    "manner, reason", [("close", "closes them at once"), ("garble", "first message")]
)
def test_a_peer_that_makes_fools_of_us_is_left_alone(lab, program, manner, reason):
    name = "rdma_connection_attempts_total"
    with stopped(lab, GUEST):
        with Stranger(lab, program, ADDRESSES[GUEST], "-", manner):
            wait_for(lambda: reason in lab.row(HOST, GUEST)["reason"], 40,
                     lambda: f"reason: {lab.row(HOST, GUEST)['reason']}")
            row = lab.row(HOST, GUEST)
            assert row["verdict"] == "failing"
            begun = lab.metrics(HOST).value(name, rail="rxe0")
            lab.exec(HOST, ["sleep", "15"])
            # No hot loop: by then the back-off is seconds long.
            assert lab.metrics(HOST).value(name, rail="rxe0") - begun <= 15
            assert lab.row(HOST, OTHER)["state"] == "up"
    lab.wait_healthy()


# The shared secret


def set_secret(lab, host, text, secret):
    """None: it has none. What is connected stays, so the service begins anew."""
    if secret:
        lab.exec(host, f"umask 077; cat > {SECRET}; chown root:rdma-pingmesh {SECRET}; "
                       f"chmod 0640 {SECRET}", stdin=secret + "\n")
        text = text.replace("[peers]", f"[peers]\nsecret_file = {SECRET}")
    write_config(lab, host, text)
    lab.exec(host, "rdma-pingmeshd --check-config && systemctl restart rdma-pingmesh")


def state_of(lab, host, peer):
    row = lab.row(host, peer)
    return row["state"] if row else None


def wait_up(lab, host, peer):
    wait_for(lambda: state_of(lab, host, peer) == "up", 40, f"{host} reaches {peer}")


def wait_finding(lab, host, peer, text):
    def found():
        return [f for f in findings(lab, host)
                if f["subject"] == f"peer:{peer}" and f["cause"] == "configuration"
                and text in f["text"]]

    wait_for(found, 40, lambda: f"{host}: a finding about {peer} with {text!r}: "
                                f"{findings(lab, host)}")


@pytest.mark.limit(400)
def test_who_does_not_share_the_secret_is_refused_and_a_finding_on_both_sides(lab):
    good, bad = "the-secret-of-this-fabric", "another-secret-altogether"
    with contextlib.ExitStack() as stack:
        text = {host: stack.enter_context(own_config(lab, host)) for host in lab.hosts}
        set_secret(lab, HOST, text[HOST], good)
        set_secret(lab, OTHER, text[OTHER], good)
        set_secret(lab, GUEST, text[GUEST], bad)
        wait_up(lab, HOST, OTHER)
        wait_up(lab, OTHER, HOST)
        wait_finding(lab, HOST, GUEST, "secret")
        wait_finding(lab, GUEST, HOST, "secret")
        assert "up" not in (state_of(lab, HOST, GUEST), state_of(lab, GUEST, HOST))
        for host in lab.hosts:
            assert good not in lab.journal(host) and bad not in lab.journal(host)
        set_secret(lab, GUEST, text[GUEST], None)
        wait_for(lambda: "wants a shared secret" in (lab.row(GUEST, HOST) or {}).get("reason", ""),
                 40, "the refused one knows why")
        wait_for(lambda: "no shared secret" in lab.row(HOST, GUEST)["reason"], 40, "and the other")
        set_secret(lab, GUEST, text[GUEST], good)
        for host in lab.hosts:
            for peer in lab.others(host):
                wait_up(lab, host, peer)
    for host in lab.hosts:
        lab.exec(host, ["rm", "-f", SECRET])
