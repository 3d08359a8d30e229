"""One daemon with scripted workers, in a directory of its own: start, ask, provoke, stop."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

DAEMON = os.environ["PINGMESHD"]
FAKE_WORKER = os.environ["FAKE_WORKER"]
COMMAND = os.environ["PINGMESH"]

PROBE = """
[probe]
send_interval = 100ms
read_interval = 100ms
send_deadline = 80ms
read_deadline = 80ms
write_interval = 100ms
write_deadline = 80ms
[counters]
interval = 500ms
"""

TWO_PEERS = """
[peers]
peer = host1/rxe0 10.99.0.1
peer = host2/rxe0 10.99.0.2
peer = host3/rxe0 10.99.0.3
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(condition, seconds=25.0, what="condition"):
    """The first true value of condition(); fails with its last value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {seconds} s: {what}; last: {value!r}"
        time.sleep(0.05)


class Daemon:
    def __init__(self, config=PROBE + TWO_PEERS, devices=("rxe0",), mode="probe", env=None,
                 start=True, port=None, state=None):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="pingmesh-test-"))
        self.scripts = self.dir / "fake"
        self.scripts.mkdir()
        self.classes = self.dir / "sys/class/infiniband"
        self.classes.mkdir(parents=True)
        for device in devices:
            self.plug(device)
        self.port = port or free_port()
        self.conf = self.dir / "pingmesh.conf"
        self.configure(config)
        self.mode = mode
        self.state = state  # directory of the journal; None: in memory
        self.env = dict(os.environ, FAKE_WORKER_DIR=str(self.scripts), **(env or {}))
        self.log_path = self.dir / "log"
        self.tls = None  # an ssl.SSLContext: ask by https
        self.headers = {}
        self.process = None
        if start:
            self.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            print(self.log()[-20000:] if self.log_path.exists() else "no log")
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir)

    # --- the world ---

    def plug(self, device):
        (self.classes / device).mkdir()

    def unplug(self, device):
        (self.classes / device).rmdir()

    def configure(self, text):
        self.conf.write_text(f"[http]\nlisten = 127.0.0.1:{self.port}\n" + text)

    def script(self, device, *lines):
        temporary = self.scripts / f".{device}"
        temporary.write_text("".join(line + "\n" for line in lines))
        temporary.rename(self.scripts / device)

    def told(self, device="rxe0"):
        """What the worker was told: a line a wish."""
        path = self.scripts / f"{device}.log"
        return path.read_text().splitlines() if path.exists() else []

    # --- the process ---

    def popen(self, command, **how):
        return subprocess.Popen(command, **how)

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = self.popen(
                [DAEMON, FAKE_WORKER, self.mode, "--config", str(self.conf), "--sysfs-root",
                 str(self.dir / "sys"), "--control", str(self.dir / "control"),
                 "--state", str(self.state or "")],
                env=self.env, stdout=log, stderr=log)
        wait_for(lambda: self.process.poll() is not None or self.ready(), what="ready")

    def ready(self):
        try:
            return self.get("/-/ready")[0] == 200
        except OSError:
            return False

    def send_signal(self, signo):
        self.process.send_signal(signo)

    def stop(self, signo=signal.SIGTERM, seconds=8.0):
        """Exit status and how long it took."""
        begin = time.monotonic()
        self.send_signal(signo)
        status = self.process.wait(timeout=seconds)
        return status, time.monotonic() - begin

    def log(self):
        return self.log_path.read_text()

    def wait_log(self, text, seconds=25.0):
        wait_for(lambda: text in self.log(), seconds, f"{text!r} in the log:\n{self.log()}")

    def worker_pid(self, device="rxe0"):
        """Of the youngest worker of the device."""
        found = re.findall(rf"{device}: worker started, pid (\d+)", self.log())
        return int(found[-1])

    def command(self, *words, **how):
        """rdma-pingmesh asks this daemon."""
        env = dict(os.environ, RDMA_PINGMESH_URL=f"http://127.0.0.1:{self.port}",
                   RDMA_PINGMESH_CONTROL=str(self.dir / "control"))
        return subprocess.run([COMMAND, *words], env=env, capture_output=True, text=True,
                              timeout=60, **how)

    # --- HTTP ---

    def get(self, path, data=None):
        try:
            scheme = "https" if self.tls else "http"
            request = urllib.request.Request(f"{scheme}://127.0.0.1:{self.port}{path}", data=data,
                                             headers=self.headers)
            with urllib.request.urlopen(request, timeout=5, context=self.tls) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def json(self, path):
        status, body = self.get(path)
        assert status == 200, body
        return json.loads(body)

    def peers(self):
        return self.json("/api/v1/peers")["peers"]

    def peer(self, name):
        found = [row for row in self.peers() if row["peer"] == name]
        return found[0] if found else None

    def device(self, name="rxe0"):
        found = [d for d in self.json("/api/v1/devices")["devices"] if d["device"] == name]
        return found[0] if found else None

    def events(self, kind=None):
        events = self.json("/api/v1/events")["events"]
        return [e for e in events if kind in (None, e["kind"])]

    def metrics(self):
        """{(name, frozenset of labels): value}"""
        samples = {}
        for line in self.get("/metrics")[1].splitlines():
            if line.startswith("#") or not line:
                continue
            series, value = line.rsplit(" ", 1)
            name, _, labels = series.partition("{")
            pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)
            samples[(name, frozenset(pairs))] = float(value)
        return samples

    def metric(self, name, **labels):
        found = [v for (n, pairs), v in self.metrics().items()
                 if n == name and set(labels.items()) <= set(pairs)]
        assert len(found) < 2, f"{name} {labels} is not one series"
        return found[0] if found else None

    def wait_up(self, count=2, seconds=25.0):
        wait_for(lambda: sum(r["state"] == "up" and r["verdict"] == "ok" for r in self.peers())
                 == count, seconds, f"{count} sessions up and ok")


def check_books(row):
    """The identities of the books, exactly; the operations' figures for further checks."""
    for name, op in row["ops"].items():
        if name == "ack":
            continue
        assert op["scheduled"] == op["sent"] + op["not_attempted"], row
        assert op["sent"] == op["ok"] + op["failed"] + op["aborted"] + op["in_flight"], row
        assert op["late"] <= op["failed"] and op["self_delayed"] <= op["ok"], row
    return row["ops"]


class Ratchet:
    """Counters that must never go backwards, fed with one look after another."""

    GROWING = ("scheduled", "sent", "ok", "failed", "aborted", "not_attempted", "late")

    def __init__(self):
        self.last = {}

    def look(self, daemon):
        for row in daemon.peers():
            key = (row["peer"], row["rail"], row["class"])
            ops = check_books(row)
            for name in ("send", "read"):
                for field in self.GROWING:
                    before = self.last.get((key, name, field), 0)
                    assert ops[name][field] >= before, (key, name, field, before, row)
                    self.last[(key, name, field)] = ops[name][field]
        for (name, labels), value in daemon.metrics().items():
            if not name.endswith(("_total", "_count", "_sum", "_bucket")) or \
                    name.startswith(("process_", "rdma_rcvd", "rdma_sent")):
                continue
            before = self.last.get((name, labels), 0)
            assert value >= before, (name, sorted(labels), before, value)
            self.last[(name, labels)] = value
