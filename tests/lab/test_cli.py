"""What a person types on the host, and what a browser or a load balancer asks for."""

import gzip
import json

from guest import black_hole, stopped
from waiting import wait_for

HOST = "host1"
OTHER = "host2"
LISTS = {"peers": "peers", "devices": "devices", "events": "events"}


def cli(lab, *words):
    return lab.exec(HOST, ["rdma-pingmesh", *words], check=False)


def status_when_well(lab, *words):
    """A probe that a busy machine was late with makes a host degraded for three more of them."""

    def said():
        shown = cli(lab, "status", *words)
        return shown if shown.returncode == 0 else None

    return wait_for(said, 20, lambda: cli(lab, "status", *words))


def test_commands_tell_a_healthy_host(lab):
    status = status_when_well(lab)
    assert HOST in status.stdout and "ok" in status.stdout
    assert "2 of 2" in status.stdout
    peers = cli(lab, "peers")
    assert peers.returncode == 0
    for peer in lab.others(HOST):
        (line,) = [text for text in peers.stdout.splitlines() if text.startswith(peer)]
        assert "rxe0" in line and "up" in line and "ok" in line
    devices = cli(lab, "devices")
    assert devices.returncode == 0 and "rxe0" in devices.stdout and "ACTIVE" in devices.stdout
    events = cli(lab, "events")
    assert events.returncode == 0 and "worker" in events.stdout


def test_json_of_the_commands_is_json(lab):
    status = status_when_well(lab, "--json")
    assert json.loads(status.stdout)["host"] == HOST
    for command, member in LISTS.items():
        shown = cli(lab, command, "--json")
        assert shown.returncode == 0
        document = json.loads(shown.stdout)
        assert document["schema"] == 1 and document[member], command


def test_exit_codes_follow_the_verdict(lab):
    with black_hole(lab, OTHER):
        wait_for(
            lambda: lab.json(HOST, "/api/v1/status")["verdict"] == "degraded",
            20,
            "a peer is missed",
        )
        status = cli(lab, "status")
        assert status.returncode == 1 and "degraded" in status.stdout
        assert OTHER in status.stdout
        assert cli(lab, "peers").returncode == 0


def test_a_silent_daemon_and_wrong_words_have_codes_of_their_own(lab):
    assert cli(lab, "status", "--nonsense").returncode == 64
    assert cli(lab, "nonsense").returncode == 64
    elsewhere = cli(lab, "status", "--url", lab_url_of_another_host(lab))
    assert elsewhere.returncode == 0 and OTHER in elsewhere.stdout
    with stopped(lab, HOST):
        for command in ("status", "peers", "devices", "events"):
            result = cli(lab, command)
            assert result.returncode == 3 and result.stderr.strip(), command


def lab_url_of_another_host(_lab):
    return f"http://10.99.0.{OTHER[4:]}:10479"


def test_a_browser_and_a_load_balancer_are_served(lab):
    status, headers, body = lab.get(HOST, "/")
    assert status == 200 and headers["Content-Type"].startswith("text/html")
    assert b"rdma-pingmesh" in body
    for path in ("/-/healthy", "/-/ready", "/api/v1/health", "/api/v1/health?fail_on=degraded"):
        assert lab.get(HOST, path)[0] == 200, path
    status, _, body = lab.get(HOST, "/nonsense")
    assert status == 404 and json.loads(body)["error"]["code"]
    status, headers, body = lab.get(HOST, "/metrics", {"Accept-Encoding": "gzip"})
    assert status == 200 and headers["Content-Encoding"] == "gzip"
    assert b"rdma_probe_ok_total" in gzip.decompress(body)
    status, headers, body = lab.get(HOST, "/metrics", {"Accept": "application/openmetrics-text"})
    assert "openmetrics" in headers["Content-Type"] and body.endswith(b"# EOF\n")
