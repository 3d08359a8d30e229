"""Faults of a host and of what its service lives on. Each is a context manager that undoes itself."""

import contextlib
import os
import signal
import subprocess
import sys
import time

from labtools import TOP

# Both clocks of a healthy guest are as far apart as that at most.
CLOCK_SLACK_S = 5


# The machine


def socket_directory(lab):
    return f"/tmp/rdma-pingmesh-lab.{os.getuid()}.{lab.port_base}"


def monitor(lab, host, command):
    """Give one command to the monitor of the guest's QEMU; its answer."""
    words = [sys.executable, str(TOP / "lab/lib/monitor.py")]
    words += [f"{socket_directory(lab)}/{host}.monitor", command]
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=30).stdout


def qemu_pid(lab, host):
    with open(f"{socket_directory(lab)}/{host}.pid", encoding="ascii") as file:
        return int(file.read())


@contextlib.contextmanager
def paused(lab, host):
    """The guest stands still, and so do its clocks: to itself, nothing has happened."""
    monitor(lab, host, "stop")
    try:
        yield
    finally:
        monitor(lab, host, "cont")


@contextlib.contextmanager
def held(lab, host):
    """The guest stands still while its clocks go on: it wakes to find that time has passed."""
    os.kill(qemu_pid(lab, host), signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(qemu_pid(lab, host), signal.SIGCONT)


@contextlib.contextmanager
def own_clock(lab, host):
    """Whatever is done to the clock meanwhile, it is right again at the end."""
    try:
        yield
    finally:
        lab.exec(host, ["date", "-s", f"@{time.time():.3f}"])


def step_clock(lab, host, how):
    """how as date(1) takes it, e.g. "2 minutes ago"."""
    lab.exec(host, ["date", "-s", how])


# Counters

# A file system of copies of the counters on a disk that can be made to answer nothing: who has
# asked it is in a sleep that no signal ends.
SLOW_DISK = """
set -e
modprobe -a brd dm-mod
dmsetup create slow --table "0 8192 linear /dev/ram0 0"
mkfs.ext4 -q -O ^has_journal /dev/mapper/slow
mkdir -p /run/slow
mount -o noatime /dev/mapper/slow /run/slow
cp -r COUNTERS /run/slow/hw_counters
"""
# The service holds the files of sysfs open: when something changes on the port's netdev, it looks
# what is there by now.
TOUCH_LINK = "ip link set dev $(cat /sys/class/infiniband/rxe0/parent) alias seen$RANDOM"
# What is in memory would be answered from there.
STOP_DISK = """
set -e
mount --bind /run/slow/hw_counters COUNTERS
TOUCH
sync -f /run/slow
dmsetup suspend --noflush --nolockfs slow
echo 2 > /proc/sys/vm/drop_caches
echo 1 > /proc/sys/vm/drop_caches
"""
MEND_DISK = """
dmsetup resume slow
for tries in $(seq 100); do
	! mountpoint -q COUNTERS || umount COUNTERS
	! mountpoint -q /run/slow || umount /run/slow
	dmsetup remove slow && exit 0
	sleep 0.2
done
exit 1
"""


def counters_of_port(lab, host, device="rxe0"):
    """The directory as it is, without links: only that can be mounted over."""
    path = f"/sys/class/infiniband/{device}/ports/1/hw_counters"
    return lab.exec(host, ["readlink", "-f", path]).stdout.strip()


@contextlib.contextmanager
def silent_counter(lab, host, name):
    """Whoever opens that counter waits for ever, or until he is killed."""
    path = f"{counters_of_port(lab, host)}/{name}"
    mount = f"mkfifo -m 644 /run/silent && mount --bind /run/silent {path}"
    lab.exec(host, f"{mount} && {TOUCH_LINK}")
    try:
        yield
    finally:
        # Lazily, for who waits keeps it busy; the figure itself lets him go.
        lab.exec(host, f"umount -l {path}; timeout 2 cp {path} /run/silent; rm /run/silent")


@contextlib.contextmanager
def dead_disk_under_counters(lab, host):
    """Whoever asks for a counter of the port sleeps in the kernel, and no signal ends that."""

    def run(script):
        lab.exec(host, script.replace("COUNTERS", path).replace("TOUCH", TOUCH_LINK))

    path = counters_of_port(lab, host)
    run(SLOW_DISK)
    try:
        run(STOP_DISK)
        yield
    finally:
        run(MEND_DISK)


# The service


def threads_in_disk_sleep(lab, host, pid):
    """The names of that process' threads that sleep in a way that no signal ends."""
    shown = lab.exec(host, f"grep -hE '^(Name|State):' /proc/{pid}/task/*/status").stdout.split()
    # Name: rail State: S (sleeping) Name: ...
    names = [word for at, word in enumerate(shown) if shown[at - 1] == "Name:"]
    states = [word for at, word in enumerate(shown) if shown[at - 1] == "State:"]
    return [name for name, state in zip(names, states) if state == "D"]


@contextlib.contextmanager
def cpu_quota(lab, host, percent):
    """The service gets that much of a processor, as on a host with a tight cgroup."""
    lab.exec(host, f"systemctl set-property --runtime rdma-pingmesh CPUQuota={percent}%")
    try:
        yield
    finally:
        lab.exec(host, "systemctl set-property --runtime rdma-pingmesh CPUQuota=")


@contextlib.contextmanager
def few_descriptors(lab, host, pid, spare):
    """The process may open only that many more than it has."""
    lab.exec(host, f"n=$(ls /proc/{pid}/fd | wc -l) && prlimit -p {pid} --nofile=$((n + {spare})):")
    try:
        yield
    finally:
        lab.exec(host, f"prlimit -p {pid} --nofile=16384:")


STATE = "/var/lib/rdma-pingmesh"


@contextlib.contextmanager
def full_state(lab, host):
    """Not a byte is free where the service may keep state."""
    lab.exec(
        host,
        f"mount -t tmpfs -o size=16k,mode=750 none {STATE} && "
        f"chown rdma-pingmesh: {STATE} && cat /dev/zero > {STATE}/fill 2>/dev/null; test -s {STATE}/fill",
    )
    try:
        yield
    finally:
        lab.exec(host, f"umount -l {STATE}")


def make_state_read_only(lab, host):
    lab.exec(host, f"mount -o remount,ro {STATE}")


@contextlib.contextmanager
def stopped_process(lab, host, pid):
    lab.exec(host, f"kill -STOP {pid}")
    try:
        yield
    finally:
        lab.exec(host, f"kill -CONT {pid} 2>/dev/null || true")


# What the RDMA stack shows of itself


def verbs_node(lab, host, device):
    line = "for n in /sys/class/infiniband_verbs/uverbs*; do echo $(cat $n/ibdev) ${n##*/}; done"
    nodes = dict(words.split() for words in lab.exec(host, line).stdout.splitlines())
    return f"/dev/infiniband/{nodes[device]}"


@contextlib.contextmanager
def unreadable(lab, host, path):
    mode = lab.exec(host, ["stat", "-c", "%a", path]).stdout.strip()
    lab.exec(host, ["chmod", "000", path])
    try:
        yield
    finally:
        lab.exec(host, ["chmod", mode, path])


@contextlib.contextmanager
def without_rdma_cm(lab, host):
    """Devices, but no connection manager for programs: its module is not there. Ends a service."""
    lab.exec(
        host,
        "echo 'install rdma_ucm /bin/false' > /etc/modprobe.d/lab-no-cm.conf && "
        "systemctl stop rdma-pingmesh && rmmod rdma_ucm && systemctl start rdma-pingmesh",
    )
    try:
        yield
    finally:
        lab.exec(host, "rm /etc/modprobe.d/lab-no-cm.conf && modprobe rdma_ucm")
