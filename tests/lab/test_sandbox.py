"""The service's confinement: its user, its capabilities, and what it says of too little memlock."""

import re

from audit import findings, wait_reachable
from guest import drop_in, journal_cursor, journal_since, main_pid, timed, worker_pid
from labtools import TOP
from waiting import wait_for

HOST = "host2"
STOP_LIMIT_S = 5


def told_exposure():
    """What docs/OPERATIONS.md promises; 0 is a service that may do nothing, 10 one that may do all."""
    text = " ".join((TOP / "docs" / "OPERATIONS.md").read_text().split())
    return float(re.search(r"systemd-analyze security rdma-pingmesh` says ([\d.]+)", text).group(1))


def test_the_service_is_as_confined_as_the_documents_say(lab):
    words = ["systemd-analyze", "security", "--no-pager", "rdma-pingmesh"]
    last = lab.exec(HOST, words, check=False).stdout.strip().splitlines()[-1]
    exposure = float(last.split(": ")[1].split()[0])
    print(f"systemd-analyze security: {exposure}")
    assert exposure <= told_exposure(), last


def test_no_process_of_it_is_root_or_has_a_capability(lab):
    for pid in (main_pid(lab, HOST), worker_pid(lab, HOST)):
        lines = lab.exec(HOST, ["cat", f"/proc/{pid}/status"]).stdout.splitlines()
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        assert lab.exec(HOST, f"stat -c %U /proc/{pid}").stdout.strip() == "rdma-pingmesh"
        assert set(status["Uid"].split()) == {lab.exec(HOST, "id -u rdma-pingmesh").stdout.strip()}
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(status[name], 16) == 0, (pid, name, status[name])
        assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"


def test_a_worker_is_confined_more_than_main(lab):
    def filters(pid):
        words = ["sed", "-n", r"s/^Seccomp_filters:\s*//p", f"/proc/{pid}/status"]
        return int(lab.exec(HOST, words).stdout)

    assert filters(worker_pid(lab, HOST)) == filters(main_pid(lab, HOST)) + 1


def test_too_little_memlock_is_named_with_what_to_set(lab):
    cursor = journal_cursor(lab, HOST)
    with drop_in(lab, HOST, "[Service]\nLimitMEMLOCK=64K\n"):
        wait_reachable(lab, HOST)
        text = wait_for(lambda: complaint(lab, cursor), 20, "the journal names the limit")
        assert "RLIMIT_MEMLOCK" in text and "LimitMEMLOCK" in text, text
        assert "64 KiB" in text or "65536" in text, text
        # The part that needs no memory goes on.
        wait_for(
            lambda: lab.metrics(HOST).value("rdma_port_state_id", device="rxe0", port="1") == 4,
            20,
            "facts of the port are told",
        )
        texts = wait_for(lambda: [f["text"] for f in findings(lab, HOST)], 20, "a finding")
        assert any("MEMLOCK" in text for text in texts), texts
        wait_for(
            lambda: lab.json(HOST, "/api/v1/status")["verdict"] == "degraded",
            20,
            "the host is not ok",
        )
        seconds, code = timed(lab, HOST, "systemctl stop rdma-pingmesh")
        assert code == 0 and seconds < STOP_LIMIT_S, (code, seconds)
    lab.wait_healthy()
    wait_for(lambda: findings(lab, HOST) == [], 20, "with the limit raised nothing is left to say")


def complaint(lab, cursor):
    lines = journal_since(lab, HOST, cursor).splitlines()
    return next((line for line in lines if "MEMLOCK" in line), None)
