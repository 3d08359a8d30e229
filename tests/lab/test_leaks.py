"""Many reconnects leave nothing behind: not in the kernel, not in the processes, on no side."""

import pytest

from guest import main_pid, own_config, worker_pid

HOST = "host1"
CYCLES = 25  # of two sessions each
LONG_CYCLES = 500
LONG_S = 3000
WARM_UP = 10
MAX_GROWTH_KB = 500  # queues and the journal of events are touched as they go round

# Runs in the guest: each step waits for what it did, so that the count is exact.
SCRIPT = """
set -e
conf=/etc/rdma-pingmesh/rdma-pingmesh.conf
full=$(mktemp); none=$(mktemp)
cp $conf $full
grep -v '^peer = ' $full > $none
up='^rdma_rail_sessions{rail="rxe0",state="up"} '
is_up() { curl -s localhost:10479/metrics | grep -q "$up$1"; }
# 30 s; many of them would be a fault of their own.
wait_up() { for _ in $(seq 150); do is_up $1 && return 0; sleep 0.2; done; return 1; }
for i in $(seq CYCLES); do
	cp $none $conf; systemctl reload rdma-pingmesh; wait_up 0
	cp $full $conf; systemctl reload rdma-pingmesh; wait_up 2
done
rm $full $none
"""

CENSUS = """
rdma resource show | sed -n 's/.*rxe0: //p'
for pid in PIDS; do
	ls /proc/$pid/fd | wc -l
	awk '/^VmRSS/ { print $2 }' /proc/$pid/status
done
"""


def take_census(lab, host):
    """({kind of kernel object: count}, [descriptors of main and worker], [KiB of both])."""
    pids = f"{main_pid(lab, host)} {worker_pid(lab, host)}"
    lines = lab.exec(host, CENSUS.replace("PIDS", pids)).stdout.splitlines()
    words = lines[0].split()
    objects = dict(zip(words[::2], map(int, words[1::2])))
    numbers = [int(line) for line in lines[1:]]
    return objects, numbers[::2], numbers[1::2]


def attempts(lab):
    return lab.metrics(HOST).value("rdma_connection_attempts_total", rail="rxe0")


def reconnect(lab, cycles):
    lab.exec(HOST, SCRIPT.replace("CYCLES", str(cycles)), timeout=60 + 6 * cycles)
    lab.wait_healthy()


def check_nothing_is_left(lab, cycles):
    # What is made once and kept is there after the first few.
    with own_config(lab, HOST):
        reconnect(lab, WARM_UP)
        before = {host: take_census(lab, host) for host in lab.hosts}
        begin = attempts(lab)
        reconnect(lab, cycles)
        assert attempts(lab) - begin >= 2 * cycles
    after = {host: take_census(lab, host) for host in lab.hosts}
    for host in lab.hosts:
        objects, descriptors, memory = before[host]
        assert objects["qp"] == 5 and objects["cm_id"] == 5, objects
        assert after[host][0] == objects, host
        assert after[host][1] == descriptors, host
        print(f"{host}: KiB of main and worker {memory} -> {after[host][2]}")
        for old, new in zip(memory, after[host][2]):
            assert new <= old + MAX_GROWTH_KB, (host, memory, after[host][2])


def test_fifty_reconnects_leave_nothing_behind(lab):
    check_nothing_is_left(lab, CYCLES)


@pytest.mark.long
@pytest.mark.limit(LONG_S)
def test_a_thousand_reconnects_leave_nothing_behind(lab):
    check_nothing_is_left(lab, LONG_CYCLES)
