"""The HTTP server over real sockets, with clients as they come: good, slow, rude and many."""

import gzip
import json
import os
import socket
import struct
import subprocess
import threading
import time

import pytest

from web import JSON, OPENMETRICS, TEXT, Client, Server

IDLE_MAX = 10  # seconds that the server waits for a request


@pytest.fixture(scope="module")
def server():
    s = Server("reload", "--rails", "3", "--peers", "5", "--vendors")
    yield s
    assert s.stop() == 0


@pytest.fixture
def big():
    s = Server("-", "--rails", "8", "--peers", "64")
    yield s
    assert s.stop() == 0


def closed_within(sock, seconds):
    """Reads until the server closes the connection."""
    sock.settimeout(seconds)
    try:
        while sock.recv(65536):
            pass
    except ConnectionResetError:
        pass
    except socket.timeout:
        return False
    return True


@pytest.mark.parametrize("path,content_type", [
    ("/", "text/html; charset=utf-8"),
    ("/page.js", "text/javascript; charset=utf-8"),
    ("/metrics", TEXT),
    ("/-/healthy", "text/plain; charset=utf-8"),
    ("/-/ready", "text/plain; charset=utf-8"),
    ("/api/v1/status", JSON),
    ("/api/v1/peers", JSON),
    ("/api/v1/devices", JSON),
    ("/api/v1/findings", JSON),
    ("/api/v1/events", JSON),
    ("/api/v1/health", JSON),
])
def test_get_and_head_agree(server, path, content_type):
    got, head = server.get(path), server.get(path, "HEAD")
    assert (got.status, head.status) == (200, 200)
    assert got.headers["content-type"] == head.headers["content-type"] == content_type
    assert got.headers["x-content-type-options"] == "nosniff"
    assert len(got.body) > 0
    if content_type == JSON:
        assert {"schema", "timestamp", "snapshot_age_seconds", "instance"} <= set(got.json)
    # Metrics and ages differ from one moment to the next, the page does not.
    if path in ("/", "/page.js", "/-/healthy"):
        assert head.headers["content-length"] == str(len(got.body))


def test_the_page_allows_nothing_from_elsewhere(server):
    page = server.get("/")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert b"http://" not in page.body and b"https://" not in page.body


def test_openmetrics_when_asked(server):
    accept = ("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,"
              "*/*;q=0.1")
    got = server.get("/metrics", Accept=accept)
    assert got.headers["content-type"] == OPENMETRICS
    assert got.body.endswith(b"# EOF\n")


def test_gzip_when_asked(server):
    got = server.get("/metrics", Accept_Encoding="gzip")
    assert got.headers["content-encoding"] == "gzip"
    assert b"\nrdma_probe_ok_total{" in gzip.decompress(got.body)
    assert "content-encoding" not in server.get("/metrics", Accept_Encoding="identity").headers
    assert server.get("/metrics", "HEAD", Accept_Encoding="gzip").headers["content-encoding"]


def test_errors_are_json_with_their_status(server):
    got = server.get("/nothing")
    assert (got.status, got.code) == (404, "not_found")
    got = server.get("/api/v1/mesh")
    assert (got.status, got.code) == (404, "not_built")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"):
        got = server.get("/metrics", method)
        assert (got.status, got.code) == (405, "method")
        assert got.headers["allow"] == "GET, HEAD"
    got = server.get("/-/reload")
    assert (got.status, got.headers["allow"]) == (405, "POST")
    got = server.get("/api/v1/peers?verdict=fine")
    assert (got.status, got.code) == (400, "bad_parameter")
    assert "verdict" in got.json["error"]["message"]


@pytest.mark.parametrize("query", [
    "pear=x", "limit=0", "limit=-1", "limit=1&limit=2", "peer=", "peer=a%00b", "cursor=00",
    "peer=%ff", "%00=1", "&".join(f"a{i}=1" for i in range(20)), "verdict", "rail=a%2Fb%2Fc",
])
def test_bad_parameters_are_refused(server, query):
    got = server.get("/api/v1/peers?" + query)
    assert (got.status, got.code) == (400, "bad_parameter")


def test_parameters_of_scrapers_are_ignored(server):
    assert server.get("/metrics?collect[]=all&x=y").status == 200


def test_filters_and_pages_over_one_connection(server):
    with Client(server.connect()) as client:
        everything = client.ask("/api/v1/peers").json["peers"]
        assert len(everything) == 15
        failing = client.ask("/api/v1/peers?verdict=failing&rail=mlx5_1").json["peers"]
        assert [(r["peer"], r["rail"]) for r in failing] == [("host003", "mlx5_1")]
        paged, cursor = [], ""
        while cursor is not None:
            page = client.ask(f"/api/v1/peers?limit=4{cursor and '&cursor=' + cursor}").json
            paged += page["peers"]
            cursor = page["next_cursor"]
        assert [(r["peer"], r["rail"]) for r in paged] == [(r["peer"], r["rail"]) for r in everything]


def test_events_go_on_from_a_number(server):
    first = server.get("/api/v1/events").json
    assert len(first["events"]) >= 20
    assert server.get("/-/reload", "POST").status == 200
    later = server.get(f"/api/v1/events?since={first['last_seq']}").json
    assert [e["kind"] for e in later["events"]] == ["reload"]


def test_reload_is_refused_to_pages_of_other_sites(server):
    got = server.get("/-/reload", "POST", Origin="http://evil.example")
    assert (got.status, got.code) == (403, "foreign_origin")


def test_reload_tells_what_is_wrong():
    s = Server("reload_fails")
    got = s.get("/-/reload", "POST")
    assert got.status == 500
    assert got.json["error"]["message"] == "test.conf:3: 'fast' is not a duration"
    assert s.stop() == 0


def test_reload_needs_to_be_allowed():
    s = Server()
    assert s.get("/-/reload", "POST").code == "reload_disabled"
    assert s.stop() == 0


def test_a_stale_snapshot_is_unhealthy_and_still_served():
    s = Server("stale")
    assert s.get("/-/healthy").status == 503
    assert s.get("/metrics").status == 200
    assert s.get("/api/v1/status").json["snapshot_age_seconds"] >= 10
    assert s.stop() == 0


def test_while_starting_everything_says_so():
    s = Server("starting")
    for path in ("/metrics", "/-/healthy", "/-/ready", "/api/v1/peers"):
        got = s.get(path)
        assert (got.status, got.code) == (503, "starting")
    assert s.get("/").status == 200
    assert s.stop() == 0


def test_http_1_0_is_answered_and_closed(server):
    with server.connect() as s:
        s.sendall(b"GET /api/v1/peers HTTP/1.0\r\n\r\n")
        data = b""
        while piece := s.recv(65536):
            data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    assert b" 200 " in head.splitlines()[0]
    assert len(json.loads(body)["peers"]) == 15


def test_pipelined_requests_are_answered_in_order(server):
    with Client(server.connect()) as client:
        for path in ("/-/healthy", "/api/v1/status", "/nothing", "/-/ready"):
            client.send(path)
        assert [client.read().status for _ in range(4)] == [200, 200, 404, 200]


@pytest.mark.parametrize("garbage", [
    b"\x00\x01\x02\xff\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n\x16\x03\x01\x02\x00garbage\r\n\r\n",
    b"GET / HTTP/1.1\r\nno colon here\r\n\r\n",
    b"POST /-/reload HTTP/1.1\r\nHost: x\r\nContent-Length: nonsense\r\n\r\n",
    b"POST /-/reload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /-/reload HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
])
def test_garbage_hurts_nobody(server, garbage):
    with server.connect() as s:
        s.sendall(garbage)
        s.shutdown(socket.SHUT_WR)
        assert closed_within(s, 15)
    assert server.get("/-/healthy").status == 200


@pytest.mark.parametrize("request_, statuses", [
    (b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: no\r\n\r\n", (400,)),
    (b"POST /-/reload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", (400,)),
    (b"GET /metrics HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 40000 + b"\r\n\r\n", (413, 431)),
    (b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", (413, 414, 431)),
], ids=["length", "chunk", "header", "path"])
def test_what_never_reaches_us_is_answered_by_the_library_and_closed(server, request_, statuses):
    with Client(server.connect()) as client:
        client.sock.sendall(request_)
        got = client.read()
        assert got.status in statuses
        assert len(got.body) == int(got.headers["content-length"])
        assert got.headers["connection"].lower() == "close"
        assert closed_within(client.sock, 5)
    assert server.get("/-/healthy").status == 200


def test_long_headers_are_refused_as_json(server):
    for got in (server.get("/metrics", X_Big="a" * 17000),
                server.get("/api/v1/peers?" + "a=" + "b" * 17000),
                server.get("/" + "%2e" * 6000)):
        assert (got.status, got.code) == (431, "header_too_large")
    assert server.get("/metrics?" + "&".join(f"match[]=x{i}" for i in range(300))).status == 200


@pytest.mark.parametrize("path", [
    "/../etc/passwd", "/..", "//", "/.", "/%2e%2e/%2e%2e/etc/shadow", "/api/v1/../v1/status",
    "/metrics/", "/metrics%00", "/metrics%00.html", "/%", "/%zz", "/%2", "/metrics%20", "/METRICS",
    "/page.js/../page.css", "/api/v1/status%0d%0aX-Evil:%201", "/%ff%fe", "/-/healthy;x=1",
    "/api%2fv1%2fpeers/%2e%2e", "/" + "a/" * 500,
])
def test_paths_that_are_none_are_not_found(server, path):
    got = server.get(path)
    assert (got.status, got.code) == (404, "not_found")
    assert "x-evil" not in got.headers


def test_headers_too_big_are_refused(server):
    with Client(server.connect()) as client:
        client.send("/metrics", X_Big="a" * 100000)
        assert client.read().status in (413, 431, 414)
    with Client(server.connect()) as client:
        client.send("/" + "a" * 100000)
        assert client.read().status in (413, 414, 431)


def test_a_small_body_is_read_and_thrown_away(server):
    with Client(server.connect()) as client:
        client.sock.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
        assert client.read().status == 200
        assert client.ask("/-/ready").status == 200


def test_an_endless_body_is_cut_off(server):
    with server.connect() as s:
        s.sendall(b"POST /-/reload HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            for _ in range(1000):
                s.sendall(b"x" * 100000)


def test_clients_that_reset_leave_nothing_behind(server):
    before = server.fds()
    for _ in range(10000):
        s = server.connect()
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
    assert server.get("/-/healthy").status == 200
    deadline = time.monotonic() + 5
    while server.fds() > before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert server.fds() <= before


def timed_scrape(server):
    start = time.monotonic()
    got = server.get("/metrics")
    assert got.status == 200
    return time.monotonic() - start


def test_a_scrape_gets_through_300_idle_connections(server):
    idle = [server.connect() for _ in range(300)]
    assert timed_scrape(server) < 5  # starved, it would be the 10 s of a time-out
    # The limit holds: the longest idle ones were closed.
    assert closed_within(idle[0], 1)
    assert server.fds() < 200
    for s in idle:
        s.close()


def test_a_scrape_gets_through_clients_that_never_read(big):
    rude = []
    for _ in range(270):
        s = big.connect(receive_buffer=4096)
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 4)
        rude.append(s)
    assert timed_scrape(big) < 5
    assert timed_scrape(big) < 5
    for s in rude:
        s.close()


def test_the_slow_are_closed_in_time_and_cost_nothing(big):
    """One who says nothing, one who drips a header, one who drips a body, one who never reads."""
    silent, header, body = big.connect(), big.connect(), big.connect()
    rude = big.connect(receive_buffer=4096)
    rude.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
    header.sendall(b"GET /metrics HTTP/1.1\r\nX-Drip: ")
    body.sendall(b"POST /-/reload HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
    stop = threading.Event()

    def drip(s):
        try:
            while not stop.wait(0.5):
                s.sendall(b"a")
        except OSError:
            pass

    drippers = [threading.Thread(target=drip, args=(s,)) for s in (header, body)]
    for d in drippers:
        d.start()
    cpu, start = big.cpu_seconds(), time.monotonic()
    assert closed_within(silent, IDLE_MAX + 4)
    assert time.monotonic() - start > IDLE_MAX - 2
    assert closed_within(header, 4)
    assert closed_within(body, 4)
    stop.set()
    for d in drippers:
        d.join()
    time.sleep(2)
    # What the rude one did not take was dropped: far less than it asked for comes.
    rude.settimeout(5)
    taken = 0
    try:
        while piece := rude.recv(1 << 20):
            taken += len(piece)
    except ConnectionResetError:
        pass
    assert taken < 50 * 2_000_000
    # The made-up host itself is remade every second; more than that would be spinning.
    assert big.cpu_seconds() - cpu < 0.7 * (time.monotonic() - start)


def test_no_descriptors_left_is_survived_without_spinning():
    s = Server()
    limit = s.fds() + 10
    subprocess.run(["prlimit", f"--pid={s.process.pid}", f"--nofile={limit}"], check=True)
    crowd = [s.connect() for _ in range(100)]
    cpu, start = s.cpu_seconds(), time.monotonic()
    time.sleep(2)
    assert s.cpu_seconds() - cpu < 0.5 * (time.monotonic() - start)
    for c in crowd:
        c.close()
    assert s.get("/-/healthy").status == 200
    assert s.stop() == 0


def test_stopping_while_a_scrape_is_slow_is_quick():
    s = Server("-", "--rails", "8", "--peers", "64")
    slow = s.connect(receive_buffer=4096)
    slow.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    streaming = s.connect(receive_buffer=4096)
    streaming.sendall(b"GET /api/v1/peers HTTP/1.1\r\nHost: x\r\n\r\n")
    time.sleep(0.3)
    start = time.monotonic()
    assert s.stop() == 0
    assert time.monotonic() - start < 5
    slow.close()
    streaming.close()


def test_a_hundred_scrapes_cost_one_rendering_a_second(big):
    big.get("/metrics")
    start = time.monotonic()
    with Client(big.connect()) as client:
        for _ in range(100):
            assert client.ask("/metrics", Accept_Encoding="gzip").status == 200
    assert time.monotonic() - start < 10
