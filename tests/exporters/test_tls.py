"""TLS of the HTTP server: certificates that change, clients that must have one."""

import socket
import ssl
import struct
import threading
import time

import pytest

from certificates import Authority, openssl
from web import Client, Server


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def first(ca):
    return ca.issue("first")


@pytest.fixture(scope="module")
def second(ca):
    return ca.issue("second")


@pytest.fixture
def server():
    s = Server("reload", "--rails", "4", "--peers", "32")
    yield s
    assert s.stop() == 0


def context(ca, own=None, version=None):
    c = ssl.create_default_context(cafile=ca.cert)
    if own:
        c.load_cert_chain(*own)
    if version:
        c.minimum_version = c.maximum_version = version
    return c


def connect(server, ca, **how):
    receive_buffer = how.pop("receive_buffer", None)
    return context(ca, **how).wrap_socket(server.connect(receive_buffer=receive_buffer),
                                          server_hostname="127.0.0.1")


def name_of(sock):
    return dict(pair for entry in sock.getpeercert()["subject"] for pair in entry)["commonName"]


def get(server, ca, path="/metrics", **how):
    with Client(connect(server, ca, **how)) as client:
        return client.ask(path)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_everything_is_served_over_tls(server, ca, first, version):
    assert server.protect(*first) == "ok"
    with Client(connect(server, ca, version=version)) as client:
        for path in ("/metrics", "/api/v1/peers", "/", "/-/healthy", "/nothing"):
            got = client.ask(path)
            assert got.status == (404 if path == "/nothing" else 200)
            assert len(got.body) > 5
        assert len(client.ask("/api/v1/peers").json["peers"]) == 128
        for _ in range(3):
            client.send("/api/v1/status")
        assert [client.read().status for _ in range(3)] == [200] * 3


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_old_versions_of_tls_are_refused(server, ca, first):
    assert server.protect(*first) == "ok"
    old = context(ca)
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        old.wrap_socket(server.connect(), server_hostname="127.0.0.1")
    assert get(server, ca).status == 200


def test_plain_requests_to_a_tls_port_get_nothing(server, ca, first):
    assert server.protect(*first) == "ok"
    with Client(server.connect()) as client:
        client.send("/metrics")
        with pytest.raises(ConnectionResetError):
            client.read()
    assert get(server, ca).status == 200


def test_loopback_may_stay_plain(server, ca, first):
    assert server.protect(*first, plain="loopback") == "ok"
    assert server.get("/metrics").status == 200
    assert server.protect(*first) == "ok"
    with pytest.raises((ConnectionResetError, ValueError, IndexError)):
        server.get("/metrics")
    assert get(server, ca).status == 200
    assert server.protect() == "ok"
    assert server.get("/metrics").status == 200


def test_a_new_certificate_is_shown_to_new_clients_and_old_connections_finish(server, ca, first,
                                                                            second):
    assert server.protect(*first) == "ok"
    old = connect(server, ca)
    slow = connect(server, ca, receive_buffer=4096)
    slow.sendall(b"GET /api/v1/peers HTTP/1.1\r\nHost: x\r\n\r\n")
    with Client(old) as client:
        assert client.ask("/-/ready").status == 200
        assert name_of(old) == "first"
        assert server.protect(*second) == "ok"
        with connect(server, ca) as new:
            assert name_of(new) == "second"
        # Answered under the old one, and told that this was the last answer.
        last = client.ask("/metrics")
        assert (last.status, last.headers["connection"].lower()) == (200, "close")
        assert len(last.body) > 1000
        assert old.recv(1) == b""
    with Client(slow) as client:
        assert len(client.read().json["peers"]) == 128


def test_many_changes_close_only_the_oldest_connections(server, ca, first, second):
    kept = []
    before = server.fds()
    for i in range(7):
        assert server.protect(*(first, second)[i % 2]) == "ok"
        kept.append(connect(server, ca))
    time.sleep(1.5)  # the sweep comes once a second
    with Client(kept[-2]) as client:
        assert client.ask("/-/ready").status == 200
    with pytest.raises((ConnectionResetError, BrokenPipeError, ssl.SSLError)):
        Client(kept[0]).ask("/-/ready")
    for sock in kept:
        sock.close()
    deadline = time.monotonic() + 15
    while server.fds() > before + 8 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert server.fds() <= before + 8


def test_a_password_that_is_still_being_checked_outlives_its_certificate(server, ca, first, second,
                                                                          tmp_path):
    users = tmp_path / "users"
    # Cost 14: more than a second.
    users.write_text("a:$2b$14$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZabcde\n")
    assert server.protect(*first, users=users) == "ok"
    with Client(connect(server, ca)) as client:
        client.send("/metrics", Authorization="Basic YTpi")
        time.sleep(0.2)
        for i in range(6):
            assert server.protect(*(second, first)[i % 2], users=users) == "ok"
        assert client.read().status == 401
    assert get(server, ca, "/-/healthy").status == 200


def test_a_bad_new_certificate_is_named_and_the_old_one_stays(server, ca, first, second, tmp_path):
    assert server.protect(*first) == "ok"
    nothing, encrypted, binary = (tmp_path / name for name in ("nothing", "encrypted", "binary"))
    nothing.write_text("")
    binary.write_bytes(b"\x00\x01\xff" * 50)
    openssl("ec", "-in", first[1], "-aes128", "-passout", "pass:x", "-out", encrypted)
    for cert, key, client_ca, what in (
            (first[0], second[1], "-", "the key is not that of the (first) certificate"),
            (first[1], first[1], "-", f"{first[1]}: is no PEM file of certificates"),
            (first[0], first[0], "-", f"{first[0]}: is no PEM file of a private key"),
            (nothing, first[1], "-", f"{nothing}: is empty"),
            (first[0], binary, "-", f"{binary}: is no PEM file"),
            (first[0], encrypted, "-", f"{encrypted}: the key is encrypted"),
            (first[0], first[1], first[1], f"{first[1]}: is no PEM file of certificates")):
        assert what in server.protect(cert, key, client_ca)
        with connect(server, ca) as sock:
            assert name_of(sock) == "first"


def test_clients_need_a_certificate_when_told_so(server, ca, first, tmp_path):
    stranger = Authority(tmp_path, "stranger")
    assert server.protect(*first, client_ca=ca.cert) == "ok"
    own = ca.issue("scraper", "clientAuth")
    assert get(server, ca, own=own).status == 200
    # Without one; of another authority; of the right one, but a server's.
    for bad in (None, stranger.issue("other", "clientAuth"), ca.issue("third", "serverAuth")):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with pytest.raises((ssl.SSLError, ConnectionResetError, BrokenPipeError)):
                get(server, ca, own=bad, version=version)
    assert get(server, ca, own=own).status == 200
    assert server.protect(*first) == "ok"
    assert get(server, ca).status == 200


def test_a_scrape_gets_through_handshakes_that_never_end(server, ca, first):
    assert server.protect(*first) == "ok"
    rude = []
    for i in range(270):
        s = server.connect()
        s.sendall((b"", b"\x16\x03\x01", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")[i % 3])
        rude.append(s)
    assert get(server, ca).status == 200
    for s in rude:
        s.close()


def test_clients_that_reset_or_send_garbage_leave_nothing_behind(server, ca, first):
    assert server.protect(*first) == "ok"
    before = server.fds()
    for i in range(600):
        s = server.connect()
        if i % 3 == 0:
            s.sendall(b"\x16\x03\x01\x00\x05\xff\xff\xff\xff\xff" * 20)
            s.close()
            continue
        if i % 3 == 1:
            s.sendall(b"GET / HTTP/1.1\r\n\r\n")
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
    assert get(server, ca).status == 200
    deadline = time.monotonic() + 15
    while server.fds() > before + 1 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert server.fds() <= before + 1


def test_stopping_in_the_middle_of_tls_is_quick(ca, first):
    s = Server("-", "--rails", "8", "--peers", "64")
    assert s.protect(*first) == "ok"
    slow = connect(s, ca, receive_buffer=4096)
    slow.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    half = s.connect()
    half.sendall(b"\x16\x03\x01\x02")
    time.sleep(0.3)
    start = time.monotonic()
    assert s.stop() == 0
    assert time.monotonic() - start < 5
    slow.close()
    half.close()


def first_words(ca):
    """The hello of a usual client."""
    own, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    half = context(ca).wrap_bio(own, out, server_hostname="127.0.0.1")
    with pytest.raises(ssl.SSLWantReadError):
        half.do_handshake()
    return out.read()


def test_a_usual_client_is_not_asked_for_another_key_share(server, ca, first):
    """That would cost each scrape a round trip more."""
    assert server.protect(*first) == "ok"
    with server.connect() as s:
        s.sendall(first_words(ca))
        first_answer = s.recv(64)
    hello_retry = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891")  # RFC 8446 4.1.3
    assert first_answer[0] == 0x16
    assert hello_retry not in first_answer


def test_a_hello_in_pieces_is_served(server, ca, first):
    assert server.protect(*first) == "ok"
    with server.connect() as s:
        for byte in first_words(ca):
            s.sendall(bytes([byte]))
        assert s.recv(1) == b"\x16"


def test_a_storm_of_handshakes_does_not_hold_up_the_loop(server, ca, first):
    """The worst gap between two answers of a connection that exists, while others shake hands."""
    assert server.protect(*first, plain="all") == "ok"
    stop = threading.Event()

    def storm():
        c = context(ca)
        while not stop.is_set():
            try:
                c.wrap_socket(server.connect(), server_hostname="127.0.0.1").close()
            except OSError:
                pass

    threads = [threading.Thread(target=storm) for _ in range(8)]
    with Client(connect(server, ca)) as client:
        for t in threads:
            t.start()
        worst, end = 0, time.monotonic() + 3
        while time.monotonic() < end:
            start = time.monotonic()
            assert client.ask("/-/healthy").status == 200
            worst = max(worst, time.monotonic() - start)
        stop.set()
        for t in threads:
            t.join()
    print(f"worst gap {worst:.3f} s")
    assert worst < 2
