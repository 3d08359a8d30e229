"""TLS and users of the daemon: read at start and reload and when the files change."""

import base64
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "exporters"))
from certificates import Authority  # noqa: E402
from harness import PROBE, TWO_PEERS, Daemon, wait_for  # noqa: E402

REAL = os.environ["RDMA_PINGMESHD"]
PASSWORD = "correct-horse"


def hash_of(password):
    libcrypt = ctypes.CDLL("libcrypt.so.1")
    libcrypt.crypt.restype = libcrypt.crypt_gensalt.restype = ctypes.c_char_p
    return libcrypt.crypt(password.encode(), libcrypt.crypt_gensalt(b"$2b$", 5, None, 0)).decode()


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def pairs(ca):
    return ca.issue("first"), ca.issue("second")


class Protected(Daemon):
    def __init__(self, ca, pairs, config="", **how):
        super().__init__(start=False, **how)
        self.cert, self.key, self.users = (self.dir / name for name in ("cert", "key", "users"))
        self.tls = ssl.create_default_context(cafile=ca.cert)
        self.config = config
        self.write_users(f"prometheus:{hash_of(PASSWORD)}\n")
        self.install(pairs)
        self.configure(f"tls_cert = {self.cert}\ntls_key = {self.key}\n" + config + PROBE +
                       TWO_PEERS)

    def install(self, pair, step=0):
        for source, target, mode in ((pair[0], self.cert, 0o644), (pair[1], self.key, 0o640)):
            temporary = self.dir / "temporary"
            shutil.copy(source, temporary)
            temporary.chmod(mode)
            temporary.rename(target)
            time.sleep(step)

    def write_users(self, text):
        temporary = self.dir / "temporary"
        temporary.write_text(text)
        temporary.chmod(0o640)
        temporary.rename(self.users)

    def name(self):
        """Of the certificate that is shown."""
        with socket.create_connection(("127.0.0.1", self.port), 5) as s:
            with self.tls.wrap_socket(s, server_hostname="127.0.0.1") as t:
                return dict(p for e in t.getpeercert()["subject"] for p in e)["commonName"]

    def check(self):
        done = subprocess.run([REAL, "--check-config", "--config",
                               str(self.conf)], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr


def test_a_renewed_certificate_is_shown_without_restart_or_reload(ca, pairs):
    with Protected(ca, pairs[0]) as d:
        d.start()
        d.wait_up()
        assert d.name() == "first"
        # As an ACME client does it: one file after the other, and not at once.
        d.install(pairs[1], step=0.6)
        wait_for(lambda: d.name() == "second", what="the new certificate")
        d.wait_log("certificate read again")
        assert "refused" not in d.log()
        assert any("certificate read again" in e["text"] for e in d.events("reload"))
        assert all(r["verdict"] == "ok" for r in d.peers())


def test_a_bad_new_certificate_keeps_the_old_and_says_so(ca, pairs):
    with Protected(ca, pairs[0]) as d:
        d.start()
        shutil.copy(pairs[1][0], d.cert)
        d.wait_log(f"{d.cert} and {d.key}: the key is not that of the (first) certificate")
        assert d.name() == "first"
        wait_for(lambda: d.metric("rdma_pingmesh_config_last_reload_successful") == 0,
                 what="the metric tells")
        # A reload that finds them like that is refused as a whole.
        d.configure(f"tls_cert = {d.cert}\ntls_key = {d.key}\nallow_reload = yes\n" + TWO_PEERS)
        d.send_signal(signal.SIGHUP)
        d.wait_log("reload refused")
        assert d.get("/-/reload", data=b"")[0] == 403
        assert d.name() == "first"
        shutil.copy(pairs[1][1], d.key)
        wait_for(lambda: d.name() == "second", what="the new certificate")
        d.send_signal(signal.SIGHUP)
        d.wait_log("configuration reloaded")
        wait_for(lambda: d.metric("rdma_pingmesh_config_last_reload_successful") == 1,
                 what="the metric tells")
        assert d.get("/-/reload", data=b"")[0] == 200


def test_tls_comes_and_goes_by_reload(ca, pairs):
    with Protected(ca, pairs[0]) as d:
        d.start()
        assert d.name() == "first"
        d.configure(PROBE + TWO_PEERS)
        d.send_signal(signal.SIGHUP)
        d.wait_log("configuration reloaded")
        context, d.tls = d.tls, None
        assert d.get("/-/ready")[0] == 200
        d.configure(f"tls_cert = {d.cert}\ntls_key = {d.key}\nplain_loopback = yes\n" + TWO_PEERS)
        d.send_signal(signal.SIGHUP)
        wait_for(lambda: d.log().count("configuration reloaded") == 2, what="the second reload")
        assert d.get("/-/ready")[0] == 200
        d.configure(f"tls_cert = {d.cert}\ntls_key = {d.key}\n" + TWO_PEERS)
        d.send_signal(signal.SIGHUP)
        wait_for(lambda: d.log().count("configuration reloaded") == 3, what="the third reload")
        d.tls = context
        assert d.get("/-/ready")[0] == 200


def test_clients_need_a_certificate_of_the_ca(ca, pairs):
    with Protected(ca, pairs[0], f"tls_client_ca = {ca.cert}\n") as d:
        bare = ssl.create_default_context(cafile=ca.cert)
        d.tls.load_cert_chain(*ca.issue("scraper", "clientAuth"))
        d.start()
        assert d.get("/metrics")[0] == 200
        d.tls = bare
        with pytest.raises(OSError):
            d.get("/-/healthy")


def test_users_are_read_again_when_their_file_changes(ca, pairs):
    with Protected(ca, pairs[0]) as d:
        d.configure(f"tls_cert = {d.cert}\ntls_key = {d.key}\nauth_file = {d.users}\n" + PROBE +
                    TWO_PEERS)
        d.start()
        assert d.get("/metrics")[0] == 401
        d.headers = basic("prometheus", PASSWORD)
        d.wait_up()
        d.write_users(f"prometheus:{hash_of('another-one')}\n")
        wait_for(lambda: d.get("/metrics")[0] == 401, what="the old password is void")
        d.write_users("prometheus:another-one\n")
        d.wait_log(f"{d.users}:1: the hash is none of")
        d.headers = basic("prometheus", "another-one")
        wait_for(lambda: d.get("/metrics")[0] == 200, what="the new password opens")
        assert "another-one" not in d.log() and PASSWORD not in d.log() and "$2b$" not in d.log()


@pytest.mark.parametrize("break_it,what", [
    (lambda d: d.key.chmod(0o644), "key: its mode 0644 lets others read or change it: chmod 0640"),
    (lambda d: d.users.chmod(0o660), "users: its mode 0660 lets others read or change it"),
    (lambda d: d.cert.chmod(0o666), "cert: its mode 0666 lets others change it: chmod o-w"),
    (lambda d: d.cert.unlink(), "cert: No such file or directory"),
    (lambda d: d.users.write_text("x"), "users:1: must be USER:HASH"),
    (lambda d: d.key.write_bytes(b"\0" * 100), "key: is no PEM file"),
    (lambda d: d.cert.write_bytes(b"x" * (2 << 20)), "cert: is too long"),
    (lambda d: (d.key.unlink(), d.key.mkdir()), "key: is no regular file"),
    (lambda d: (d.key.unlink(), os.mkfifo(d.key, 0o600)), "key: is no regular file"),
    (lambda d: d.conf.write_text(d.conf.read_text().replace("tls_key", "# tls_key")),
     "[http] tls_cert and tls_key: the one needs the other"),
    (lambda d: d.conf.write_text("[http]\ntls_client_ca = /etc/ca\n"), "needs tls_cert and tls_key"),
    (lambda d: d.conf.write_text("[http]\nauth_file = users\n"),
     "pingmesh.conf:2: auth_file: 'users' must be an absolute path"),
])
def test_files_that_cannot_be_used_end_the_start_and_fail_the_check(ca, pairs, break_it, what):
    with Protected(ca, pairs[0]) as d:
        d.configure(f"tls_cert = {d.cert}\ntls_key = {d.key}\nauth_file = {d.users}\n")
        assert d.check() == (0, "")
        break_it(d)
        status, said = d.check()
        assert status == 78 and what.replace("pingmesh.conf:2: ", "") in said
        d.start()
        assert d.process.wait(timeout=20) == 78
        assert what in d.log()


def test_a_certificate_that_ends_soon_is_told(ca, pairs):
    with Protected(ca, pairs[0]) as d:
        d.start()
        d.wait_log("the certificate ends at")


def test_the_printed_configuration_has_paths_and_no_secrets(ca, pairs):
    with Protected(ca, pairs[0], "auth_file = /etc/users\nplain_loopback = yes\n") as d:
        done = subprocess.run([REAL, "--print-config", "--config",
                               str(d.conf)], capture_output=True, text=True, check=True)
        assert f"tls_key = {d.key}" in done.stdout and "auth_file = /etc/users" in done.stdout
        assert "plain_loopback = yes" in done.stdout
        assert "PRIVATE" not in done.stdout


def command(*words, env=None):
    done = subprocess.run([os.environ["PINGMESH"], *map(str, words)], capture_output=True, text=True,
                          env=dict(os.environ, **(env or {})), check=False)
    return done.returncode, done.stdout, done.stderr


def test_the_command_asks_a_protected_daemon(ca, pairs, tmp_path):
    login, netrc = tmp_path / "login", tmp_path / ".netrc"
    for path, text in ((login, f"prometheus:{PASSWORD}\n"),
                       (netrc, f"machine localhost login prometheus password {PASSWORD}\n")):
        path.write_text(text)
        path.chmod(0o600)
    with Protected(ca, pairs[0]) as d:
        d.configure(f"tls_cert = {d.cert}\ntls_key = {d.key}\ntls_client_ca = {ca.cert}\n"
                    f"auth_file = {d.users}\n" + PROBE + TWO_PEERS)
        cert, key = ca.issue("operator", "clientAuth")
        d.tls.load_cert_chain(cert, key)
        d.headers = basic("prometheus", PASSWORD)
        d.start()
        d.wait_up()
        url = ("--url", f"https://localhost:{d.port}")
        tls = ("--cacert", ca.cert, "--cert", cert, "--key", key)
        status, out, err = command("status", *url, *tls, "--login", login)
        assert (status, err) == (0, "") and "ok" in out
        assert command("peers", *url, *tls, "--netrc", env={"HOME": str(tmp_path)})[0] == 0
        assert command("status", env={
            "RDMA_PINGMESH_URL": url[1], "RDMA_PINGMESH_CACERT": str(ca.cert),
            "RDMA_PINGMESH_CERT": str(cert), "RDMA_PINGMESH_KEY": str(key),
            "RDMA_PINGMESH_LOGIN": str(login)})[0] == 0
        for words, what in (((*url, *tls), "it wants a user and a password: see --login"),
                            ((*url, "--login", login), "--cacert FILE names the CA"),
                            ((*url, "--cacert", ca.cert, "--login", login), "localhost"),
                            ((*url, *tls, "--login", "/nowhere"), "/nowhere: No such file"),
                            ((*url, "--cacert", "/nowhere"), "/nowhere: No such file"),
                            ((*url, *tls, "--login", key.parent), "Is a directory")):
            status, out, err = command("status", *words)
            assert (status, out) == (3, "") and what in err, err
            assert PASSWORD not in err
        login.chmod(0o644)
        assert "its mode lets others read it" in command("status", *url, *tls, "--login", login)[2]
        login.chmod(0o600)
        login.write_text("nothing\n")
        assert "USER:PASSWORD" in command("status", *url, *tls, "--login", login)[2]
