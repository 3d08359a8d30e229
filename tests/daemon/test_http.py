"""Where main listens and what it does with clients that misbehave."""

import os
import re
import resource
import signal
import socket
import struct
import subprocess
import time

import pytest

from harness import Daemon, free_port, wait_for


def listening(family=socket.AF_INET, address="127.0.0.1"):
    s = socket.socket(family)
    s.bind((address, 0))
    s.listen(64)
    return s


class Activated(Daemon):
    """Started with sockets as a service manager passes them."""

    def __init__(self, sockets, **how):
        self.sockets = sockets
        super().__init__(start=False, **how)

    def popen(self, command, **how):
        # Moved out of the way first: the numbers may be taken by each other.
        lifted = [os.dup(os.dup(s.fileno())) for s in self.sockets]

        def pass_sockets():
            for i, fd in enumerate(lifted):
                os.dup2(fd, 100 + i)
            for i, _ in enumerate(lifted):
                os.dup2(100 + i, 3 + i)

        shell = f"export LISTEN_PID=$$ LISTEN_FDS={len(lifted)}; exec \"$@\""
        return subprocess.Popen(["sh", "-c", shell, "sh", *command], preexec_fn=pass_sockets,
                                pass_fds=range(3, 3 + len(lifted)), **how)


def test_sockets_of_the_service_manager_are_served_instead_of_listen():
    first, second = listening(), listening(socket.AF_INET6, "::1")
    with Activated([first, second], devices=()) as d:
        configured, d.port = d.port, first.getsockname()[1]
        d.start()
        assert d.get("/-/ready")[0] == 200
        with socket.create_connection(("::1", second.getsockname()[1]), 5) as s:
            s.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
            assert b" 200 " in s.recv(4096)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", configured), 5)
        d.wait_log("serving 2 sockets of the service manager")
        assert d.stop()[0] == 0
        # The port outlives the daemon: a client waits for the next one, and is not refused.
        socket.create_connection(("127.0.0.1", d.port), 5).close()
        d.start()
        assert d.get("/-/ready")[0] == 200


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_STREAM])
def test_a_passed_socket_that_does_not_listen_ends_the_start(kind):
    with Activated([socket.socket(socket.AF_INET, kind)], devices=()) as d:
        d.start()
        assert d.process.wait(timeout=20) == 1
        d.wait_log("does not listen for TCP")


def test_a_port_in_use_ends_the_start_and_is_named():
    with listening() as taken:
        with Daemon(devices=(), port=taken.getsockname()[1], start=False) as d:
            d.start()
            assert d.process.wait(timeout=20) == 1
            d.wait_log(f"cannot listen on 127.0.0.1:{d.port}: the port is in use by another program")


def test_an_address_that_comes_later_is_served_then(request):
    """127.0.0.0/8 is all there; one of TEST-NET is not, until it is put on lo."""
    port = free_port()
    with Daemon("", devices=(), start=False) as d:
        d.configure(f"listen = 192.0.2.77:{port}\nlisten = [::1]:{port}\n")
        d.start()
        d.wait_log(f"cannot listen on 192.0.2.77:{port} yet")
        added = subprocess.run(["ip", "addr", "add", "192.0.2.77/32", "dev", "lo"], check=False)
        if added.returncode:
            pytest.skip("an address cannot be added here")
        request.addfinalizer(lambda: subprocess.run(
            ["ip", "addr", "del", "192.0.2.77/32", "dev", "lo"], check=False))

        def answers():
            try:
                socket.create_connection(("192.0.2.77", port), 5).close()
                return True
            except OSError:
                return False

        wait_for(answers, what="the address is served")
        socket.create_connection(("::1", port), 5).close()


def cpu_seconds(d):
    fields = open(f"/proc/{d.process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fds(d):
    return len(os.listdir(f"/proc/{d.process.pid}/fd"))


def test_without_descriptors_nothing_spins_and_probing_goes_on():
    with Daemon() as d:
        d.wait_up()
        before = {r["peer"]: r["ops"]["send"]["ok"] for r in d.peers()}
        resource.prlimit(d.process.pid, resource.RLIMIT_NOFILE, (fds(d) + 8, 16384))
        crowd = [socket.create_connection(("127.0.0.1", d.port), 5) for _ in range(100)]
        time.sleep(0.5)
        cpu, start = cpu_seconds(d), time.monotonic()
        time.sleep(3)
        used = (cpu_seconds(d) - cpu) / (time.monotonic() - start)
        for s in crowd:
            s.close()
        wait_for(lambda: d.get("/-/healthy")[0] == 200, what="it answers again")
        # Accepting as fast as it fails would be 1.
        assert used < 0.3
        for row in d.peers():
            assert row["ops"]["send"]["ok"] > before[row["peer"]] + 10
            assert row["ops"]["send"]["failed"] == 0
        assert d.log().count("\n") < 60


def test_descriptors_above_1024_are_served():
    low, high = resource.getrlimit(resource.RLIMIT_NOFILE)
    if high < 2048:
        pytest.skip("the limit of this system is too low")
    # What is open in the daemon lies in the way: it inherits 1,100 descriptors.
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, high))
    ballast = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
    try:
        with Daemon(start=False) as d:
            d.popen = lambda command, **how: subprocess.Popen(command, pass_fds=ballast, **how)
            d.start()
            d.wait_up()
            with socket.create_connection(("127.0.0.1", d.port), 5):
                wait_for(lambda: max(map(int, os.listdir(f"/proc/{d.process.pid}/fd"))) > 1024,
                         what="a descriptor above 1024")
                assert d.get("/metrics")[0] == 200
            assert d.stop()[0] == 0
    finally:
        for fd in ballast:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (low, high))


def test_ten_thousand_resets_leave_no_trace():
    with Daemon() as d:
        d.wait_up()
        lines, before = d.log().count("\n"), fds(d)
        for _ in range(10000):
            s = socket.create_connection(("127.0.0.1", d.port), 5)
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()
        assert d.get("/-/healthy")[0] == 200
        wait_for(lambda: fds(d) <= before, what="the descriptors are back")
        assert d.log().count("\n") < lines + 10
        assert all(r["verdict"] == "ok" for r in d.peers())


HOSTILE = b'a "quoted"\t<script>alert(1)</script> \\ \xff\xfe\xc3\x28 {x="y"} # EOF'


def test_hostile_texts_leave_every_answer_valid():
    """What a worker says goes into JSON, metrics and log; odd device names are no devices."""
    with Daemon(devices=("rxe0", 'qu"ote', "new\nline", "tab\t", "sp ace"), start=False) as d:
        os.mkdir(bytes(d.classes) + b"/\xff\xfe")
        (d.scripts / "rxe0").write_bytes(b"trouble " + HOSTILE + b"\n")
        d.start()
        wait_for(lambda: "quoted" in d.get("/api/v1/devices")[1], what="the trouble is told")
        assert [dev["device"] for dev in d.json("/api/v1/devices")["devices"]] == ["rxe0"]
        for path in ("status", "peers", "findings", "events", "health"):
            d.json(f"/api/v1/{path}")
        for line in d.get("/metrics")[1].splitlines():
            assert re.fullmatch(r'#.*|[a-z_0-9]+(\{(\w+="([^"\\\n]|\\.)*",?)*\})? \S+', line), line
        assert "<script>alert" not in d.get("/")[1]
        # One line each in the log, of nothing but text.
        assert all(c.isprintable() for line in d.log_path.read_bytes().split(b"\n")
                   for c in line.decode("ascii", "backslashreplace"))


@pytest.mark.parametrize("line", [
    b'peer = ho"st 10.99.0.9', b"peer = h\xff\xfest 10.99.0.9", b"peer = <b>/rxe0 10.99.0.9",
    b"peer = host9/r{x} 10.99.0.9", b"peer = host9/rxe0 10.99.0.9\\n", b'peer = "" 10.99.0.9',
    b"peer = host9\x01 10.99.0.9",
])
def test_a_hostile_peer_name_is_refused_by_line_and_the_old_list_stays(line):
    with Daemon() as d:
        d.wait_up()
        good = d.conf.read_bytes()
        d.conf.write_bytes(good + line + b"\n")
        d.send_signal(signal.SIGHUP)
        number = good.count(b"\n") + 1
        wait_for(lambda: f"pingmesh.conf:{number}: " in d.log(), what="the line is named")
        assert [r["peer"] for r in d.peers()] == ["host2", "host3"]
        assert d.metric("rdma_pingmesh_config_last_reload_successful") == 0


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """A locale that writes 0,5: made here, for few systems have it."""
    path = tmp_path_factory.mktemp("locale")
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(path / "de_DE.UTF-8")],
                          capture_output=True, check=False)
    if made.returncode > 1:
        pytest.skip("localedef has no de_DE: " + made.stderr.decode())
    return {"LC_ALL": "de_DE.UTF-8", "LOCPATH": str(path)}


def test_a_german_locale_brings_no_decimal_commas(german):
    with Daemon(env=german) as d:
        d.wait_up()
        wait_for(lambda: d.peer("host2")["ops"]["send"]["p50_seconds"], what="a median")
        assert 0 < d.peer("host2")["ops"]["send"]["p50_seconds"] < 1
        for line in d.get("/metrics")[1].splitlines():
            if not line.startswith("#"):
                float(line.rsplit(" ", 1)[1])
        assert not re.search(r"\d,\d", re.sub(r'\d,\s*"', "", d.get("/api/v1/status")[1]))


def test_a_slow_scrape_does_not_hold_up_the_stop():
    with Daemon() as d:
        d.wait_up()
        slow = []
        for path in ("/metrics", "/api/v1/peers", "/page.js"):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.connect(("127.0.0.1", d.port))
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 40)
            slow.append(s)
        time.sleep(0.5)
        status, seconds = d.stop()
        assert status == 0 and seconds < 5
        for s in slow:
            s.close()
