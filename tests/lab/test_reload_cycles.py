"""Twenty reloads, good, bad and with fewer peers in turn, leave everything as it was."""

import pytest

from audit import Audit, wait_reachable
from books import counts_of
from guest import CONFIG, main_pid, own_config, without_peer, worker_pid
from waiting import wait_for

HOST = "host1"
KEPT = "host2"
OTHER = "host3"
ROUNDS = 7  # of three reloads each
ROUNDS_S = 200

# Runs in the guest. The command waits for what a reload has come to and tells it.
SCRIPT = """
set -e
ups() { curl -s localhost:10479/metrics | sed -n 's/^rdma_rail_sessions{.*state="up"} //p'; }
wait_up() { for _ in $(seq 150); do [ "$(ups)" = $1 ] && return 0; sleep 0.2; done; return 1; }
for i in $(seq ROUNDS); do
	cp /run/lab-bad.conf CONFIG; if rdma-pingmesh reload; then exit 1; fi; wait_up 2
	cp /run/lab-shrunk.conf CONFIG; rdma-pingmesh reload; wait_up 1
	cp /run/lab-good.conf CONFIG; rdma-pingmesh reload; wait_up 2
done
"""
MAX_GROWTH_KB = 500  # queues and the journal of events are touched as they go round
CENSUS = """
for pid in PIDS; do ls /proc/$pid/task | wc -l; ls /proc/$pid/fd | wc -l; done
rdma resource show | sed -n 's/.*rxe0: //p'
"""
MEMORY = "for pid in PIDS; do sed -n 's/^VmRSS:\\s*//p' /proc/$pid/status; done"


def ask(lab, script):
    pids = f"{main_pid(lab, HOST)} {worker_pid(lab, HOST)}"
    return lab.exec(HOST, script.replace("PIDS", pids)).stdout.splitlines()


def census(lab):
    """Threads and descriptors of both processes, and what the kernel holds for them."""
    return ask(lab, CENSUS)


def memory(lab):
    """KiB of main and worker."""
    return [int(line.split()[0]) for line in ask(lab, MEMORY)]


def lay_files(lab, text):
    for name, content in (
        ("good", text),
        ("bad", text.replace("send_interval = 200ms", "send_interval = often")),
        ("shrunk", without_peer(text, OTHER)),
    ):
        lab.exec(HOST, f"cat > /run/lab-{name}.conf", stdin=content)


def reload_rounds(lab, count):
    """It must not go on in the guest when the scenario has given up."""
    script = SCRIPT.replace("CONFIG", CONFIG).replace("ROUNDS", str(count))
    lab.exec(HOST, f"timeout {ROUNDS_S} bash -s", stdin=script, timeout=ROUNDS_S + 10)


@pytest.mark.limit(300)
def test_twenty_reloads_good_bad_and_shrunk_leave_all_as_it_was(lab):
    lives = main_pid(lab, HOST), worker_pid(lab, HOST)
    with own_config(lab, HOST) as text:
        lay_files(lab, text)
        # What is made once and kept is there after the first few.
        reload_rounds(lab, 1)
        before, rows_before, kib = census(lab), Audit(lab).look(HOST)[0], memory(lab)
        reload_rounds(lab, ROUNDS)
        wait_reachable(lab, HOST)
        # A peer that was away begins new books.
        rows, _ = Audit(lab).look(HOST)
        wait_for(lambda: census(lab) == before, 20, lambda: f"as before: {before} {census(lab)}")
        print(f"KiB of main and worker: {kib} -> {memory(lab)}")
        assert all(new <= old + MAX_GROWTH_KB for old, new in zip(kib, memory(lab))), kib
    old, new = rows_before[KEPT], rows[KEPT]
    assert (new["qpn"], new["since"]) == (old["qpn"], old["since"])
    for name in ("send", "read"):
        was, now = counts_of(old["ops"][name]), counts_of(new["ops"][name])
        assert now["ok"] > was["ok"] and now["aborted"] == was["aborted"], (name, was, now)
    assert old["not_attempted"]["not_connected"] == new["not_attempted"]["not_connected"]
    assert (main_pid(lab, HOST), worker_pid(lab, HOST)) == lives
