"""HTTP as the installed and confined service serves it: TLS and users, sockets of the service
manager, and a journal that goes away."""

import contextlib
import ctypes
import pathlib
import sys

import pytest

from guest import journal_cursor, journal_since, main_pid, own_config, reload_service, write_config
from labtools import TOP
from waiting import wait_for

sys.path.insert(0, str(TOP / "tests" / "exporters"))
from certificates import Authority  # noqa: E402

HOST = "host2"
DIR = "/etc/rdma-pingmesh/tls"
USER, PASSWORD = "prometheus", "lab password"


def put(lab, text, path, mode="640"):
    lab.exec(HOST, f"cat > {path}.new && chgrp rdma-pingmesh {path}.new && chmod {mode} {path}.new "
                   f"&& mv {path}.new {path}", stdin=text)


def install(lab, pair):
    put(lab, pathlib.Path(pair[0]).read_text(), f"{DIR}/cert.pem", "644")
    put(lab, pathlib.Path(pair[1]).read_text(), f"{DIR}/key.pem")


def ask(lab, path, *words):
    """Status that curl gets in the guest; 0: no answer."""
    shown = lab.exec(HOST, ["curl", "-s", "-m", "10", "-o", "/dev/null", "-w", "%{http_code}",
                            "--cacert", f"{DIR}/ca.pem", *words, f"https://localhost:10479{path}"],
                     check=False)
    return int(shown.stdout or 0)


def shown_name(lab):
    return lab.exec(HOST, f"curl -sv -m 10 -o /dev/null --cacert {DIR}/ca.pem "
                          "https://localhost:10479/-/healthy 2>&1 | grep subject", check=False).stdout


def hash_of(password):
    libcrypt = ctypes.CDLL("libcrypt.so.1")
    libcrypt.crypt.restype = libcrypt.crypt_gensalt.restype = ctypes.c_char_p
    salt = libcrypt.crypt_gensalt(b"$y$", ctypes.c_ulong(5), None, 0)
    return libcrypt.crypt(password.encode(), salt).decode()


@contextlib.contextmanager
def protected(lab, tmp_path):
    ca = Authority(tmp_path)
    pairs = ca.issue("first"), ca.issue("second")
    try:
        with own_config(lab, HOST) as text:
            lab.exec(HOST, f"mkdir -p -m 755 {DIR}")
            put(lab, ca.cert.read_text(), f"{DIR}/ca.pem", "644")
            put(lab, f"{USER}:{hash_of(PASSWORD)}\n", f"{DIR}/users")
            put(lab, f"{USER}:{PASSWORD}\n", f"{DIR}/login", "600")
            install(lab, pairs[0])
            # The machine's own requests come from the guest's gateway, by plain HTTP: they wait.
            write_config(lab, HOST, text + f"\n[http]\ntls_cert = {DIR}/cert.pem\n"
                                           f"tls_key = {DIR}/key.pem\nauth_file = {DIR}/users\n")
            reload_service(lab, HOST)
            yield pairs
    finally:
        lab.exec(HOST, f"rm -rf {DIR}")


def test_tls_and_users_within_the_sandbox(lab, tmp_path):
    with protected(lab, tmp_path) as pairs:
        wait_for(lambda: ask(lab, "/-/healthy") == 200, 20, "TLS is served")
        assert ask(lab, "/metrics") == 401
        assert ask(lab, "/metrics", "-u", f"{USER}:wrong") == 401
        wait_for(lambda: ask(lab, "/metrics", "-u", f"{USER}:{PASSWORD}") == 200, 20,
                 "the right password opens")
        words = ["rdma-pingmesh", "status", "--url", "https://localhost:10479", "--cacert",
                 f"{DIR}/ca.pem", "--login", f"{DIR}/login"]
        done = lab.exec(HOST, words, check=False)
        assert done.returncode in (0, 1), done.stderr
        assert "CN=first" in shown_name(lab).replace(" ", "")
        install(lab, pairs[1])
        wait_for(lambda: "CN=second" in shown_name(lab).replace(" ", ""), 30,
                 "the new certificate is shown")
        lab.exec(HOST, "systemctl restart rdma-pingmesh")
        wait_for(lambda: ask(lab, "/metrics", "-u", f"{USER}:{PASSWORD}") == 200, 20,
                 "the same after a restart")
    lab.wait_healthy()


SCRAPE_WHILE_RESTARTING = """
systemctl restart rdma-pingmesh &
while kill -0 $! 2>/dev/null; do
	curl -s -m 30 -o /dev/null -w '%{http_code} ' http://127.0.0.1:10479/-/ready
done
curl -s -m 30 -o /dev/null -w '%{http_code} ' http://127.0.0.1:10479/-/ready
"""


@pytest.fixture
def socket_unit(lab):
    assert "disabled" in lab.exec(HOST, "systemctl is-enabled rdma-pingmesh.socket",
                                  check=False).stdout
    lab.exec(HOST, "systemctl stop rdma-pingmesh.service && "
                   "systemctl start rdma-pingmesh.socket rdma-pingmesh.service")
    yield
    lab.exec(HOST, "systemctl stop rdma-pingmesh.socket rdma-pingmesh.service; "
                   "systemctl start rdma-pingmesh.service")
    lab.wait_healthy()


def test_a_restart_refuses_no_scrape_when_the_service_manager_holds_the_port(lab, socket_unit):
    before = main_pid(lab, HOST)
    statuses = lab.exec(HOST, SCRAPE_WHILE_RESTARTING, timeout=180).stdout.split()
    print(" ".join(statuses))
    assert main_pid(lab, HOST) != before
    # One that was accepted by the old process may be cut; none is refused.
    assert statuses.count("000") <= 1, statuses
    assert set(statuses) <= {"200", "503", "000"} and statuses[-1] == "200"


def test_a_journal_that_is_restarted_takes_nothing_down(lab):
    pid = main_pid(lab, HOST)
    cursor = journal_cursor(lab, HOST)
    lab.exec(HOST, "systemctl restart systemd-journald")
    reload_service(lab, HOST)
    wait_for(lambda: "configuration reloaded" in journal_since(lab, HOST, cursor), 20,
             "what is said afterwards is in the journal")
    assert main_pid(lab, HOST) == pid
