"""User and password: who is let in, and that guessing costs the others nothing."""

import base64
import ctypes
import socket
import threading
import time

import pytest

from web import Client, Server

COSTLY = 10  # bcrypt: a twentieth of a second and more


def hash_of(password, kind="$2b$", rounds=COSTLY):
    libcrypt = ctypes.CDLL("libcrypt.so.1")
    libcrypt.crypt.restype = libcrypt.crypt_gensalt.restype = ctypes.c_char_p
    salt = libcrypt.crypt_gensalt(kind.encode(), ctypes.c_ulong(rounds), None, 0)
    return libcrypt.crypt(password.encode(), salt).decode()


@pytest.fixture(scope="module")
def users(tmp_path_factory):
    path = tmp_path_factory.mktemp("users") / "users"
    path.write_text("# who may scrape\n"
                    f"prometheus:{hash_of('right')}\n"
                    f"sha:{hash_of('sha', '$6$', 5000)}\n"
                    f"yes:{hash_of('yes', '$y$', 5)}\n"
                    f"gost:{hash_of('gost', '$gy$', 5)}\n")
    return path


@pytest.fixture
def server(users):
    s = Server("reload", "--rails", "2", "--peers", "5")
    assert s.protect(users=users) == "ok"
    yield s
    assert s.stop() == 0


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def test_without_credentials_only_health_is_told(server):
    for path in ("/", "/metrics", "/api/v1/status", "/page.js", "/nothing", "/-/reload"):
        for method in ("GET", "POST"):
            got = server.get(path, method)
            assert (got.status, got.code) == (401, "unauthorized")
            assert got.headers["www-authenticate"].startswith('Basic realm="rdma-pingmesh"')
    for path in ("/-/healthy", "/-/ready"):
        assert server.get(path).status == 200
    assert server.get("/metrics", "HEAD").status == 401


@pytest.mark.parametrize("user", ["prometheus", "sha", "yes", "gost"])
def test_the_right_password_opens_every_path(server, user):
    who = basic(user, {"prometheus": "right"}.get(user, user))
    with Client(server.connect()) as client:
        for path in ("/metrics", "/", "/api/v1/peers"):
            assert client.ask(path, **who).status == 200
        assert client.ask("/nothing", **who).status == 404
        assert client.ask("/-/reload", "POST", **who).status == 200
        assert client.ask("/metrics", "HEAD", **who).status == 200


@pytest.mark.parametrize("header", [
    "Basic", "Basic !!", "Bearer abc", "Basic " + "A" * 4000, "Digest username=x",
    basic("", "right")["Authorization"], basic("prometheus\0", "right")["Authorization"],
    basic("prometheus", "right\0")["Authorization"],
])
def test_malformed_credentials_are_no_credentials(server, header):
    assert server.get("/metrics", Authorization=header).status == 401


def test_wrong_ones_are_denied_and_the_second_time_at_once(server):
    assert server.get("/metrics", **basic("prometheus", "wrong")).status == 401
    start = time.monotonic()
    for _ in range(20):
        assert server.get("/metrics", **basic("prometheus", "wrong")).status == 401
    assert time.monotonic() - start < 2  # computed each time, it would be more
    got = server.get("/metrics", **basic("prometheus", "other"))
    assert (got.status, got.headers.get("retry-after")) in ((429, "1"), (401, None))


def test_pipelined_requests_wait_for_the_check_and_come_in_order(server):
    with Client(server.connect()) as client:
        for path in ("/api/v1/status", "/-/healthy", "/nothing", "/metrics"):
            client.send(path, **basic("prometheus", "right"))
        assert [client.read().status for _ in range(4)] == [200, 200, 404, 200]


def test_many_at_once_with_the_right_password_are_one_check(server):
    clients = [Client(server.connect()) for _ in range(50)]
    for client in clients:
        client.send("/api/v1/status", **basic("prometheus", "right"))
    assert [client.read().status for client in clients] == [200] * 50


def test_a_flood_of_wrong_passwords_holds_up_nobody(server):
    """Known users and health are answered as before, and one CPU is not eaten."""
    assert server.get("/metrics", **basic("prometheus", "right")).status == 200
    stop = threading.Event()
    seen = []

    def guess(n):
        i = 0
        while not stop.is_set():
            try:
                with Client(server.connect(address=f"127.0.0.{n + 2}")) as client:
                    for _ in range(10):
                        i += 1
                        seen.append(client.ask("/metrics", **basic("prometheus", f"{n}.{i}")).status)
                        time.sleep(0.005)
            except (OSError, ValueError):
                pass

    guessers = [threading.Thread(target=guess, args=(n,)) for n in range(12)]
    for g in guessers:
        g.start()
    time.sleep(1)
    cpu, start, worst = server.cpu_seconds(), time.monotonic(), 0
    while time.monotonic() < start + 4:
        before = time.monotonic()
        assert server.get("/metrics", **basic("prometheus", "right")).status == 200
        assert server.get("/-/healthy").status == 200
        worst = max(worst, time.monotonic() - before)
        time.sleep(0.05)
    used = (server.cpu_seconds() - cpu) / (time.monotonic() - start)
    stop.set()
    for g in guessers:
        g.join()
    print(f"worst {worst:.3f} s, CPU {used:.2f}, {len(seen)} guesses, {seen.count(401)} checked")
    assert worst < 2
    assert set(seen) <= {401, 429} and 429 in seen
    assert used < 0.9


def test_users_change_while_requests_go_on(server, users, tmp_path):
    other = tmp_path / "other"
    other.write_text(f"prometheus:{hash_of('new')}\n")
    with Client(server.connect()) as client:
        assert client.ask("/metrics", **basic("prometheus", "right")).status == 200
        assert server.protect(users=other) == "ok"
        assert client.ask("/metrics", **basic("prometheus", "right")).status == 401
        time.sleep(1.1)
        assert client.ask("/metrics", **basic("prometheus", "new")).status == 200
        assert server.protect() == "ok"
        assert client.ask("/metrics").status == 200


def test_a_bad_file_of_users_is_named_by_line_and_the_old_ones_stay(server, tmp_path):
    bad = tmp_path / "bad"
    for text, what in (("a:plain\n", "bad:1: the hash is none of"), ("\n\nx\n", "bad:3: must be"),
                       ("", "bad: there is no user")):
        bad.write_text(text)
        assert what in server.protect(users=bad)
        assert server.get("/metrics").status == 401
        assert server.get("/metrics", **basic("prometheus", "right")).status == 200


def test_who_leaves_or_resets_during_the_check_leaves_nothing_behind(server):
    before = server.fds()
    for i in range(30):
        s = server.connect()
        Client(s).send("/metrics", **basic("prometheus", f"leaves{i}"))
        if i % 2:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.close()
    assert server.get("/-/healthy").status == 200
    deadline = time.monotonic() + 20
    while server.fds() > before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert server.fds() <= before


def test_stopping_in_the_middle_of_a_check_is_quick(tmp_path):
    slow = tmp_path / "slow"
    # Cost 16 takes seconds.
    slow.write_text("a:$2b$16$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZabcde\n")
    s = Server()
    assert s.protect(users=slow) == "ok"
    clients = [s.connect() for _ in range(3)]
    for i, c in enumerate(clients):
        Client(c).send("/metrics", **basic("a", f"{i}"))
    time.sleep(0.3)
    start = time.monotonic()
    assert s.stop() == 0
    assert time.monotonic() - start < 5
