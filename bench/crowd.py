"""Many peers in one guest: a Soft-RoCE device on a dummy interface with 250 addresses, and daemons
that share it. No packet leaves the guest, so what is measured is the daemon and the kernel.

A prober with one address reaches as many peers as a responder listens on addresses (a GID index
above 255 does not connect, hence 250); more sessions by several classes.
"""

import json
import time

from fabric import Failed

ADDRESSES = 250
DEVICE = "rxe9"
NETDEV = "dummy9"
PROBER = "10.98.1.1"
FIRST_PORT = 11000
OPS = ("send", "read", "write")
LAB_PORT = 10479  # of a guest, which the lab forwards

NETWORK = f"""
modprobe -a crc32_generic rdma_rxe dummy
[ -e /sys/class/net/{NETDEV} ] && exit 0
ip link add {NETDEV} type dummy
ip link set {NETDEV} up
ip address add {PROBER}/24 dev {NETDEV}
for i in $(seq 1 {ADDRESSES - 1}); do echo "address add 10.98.0.$i/24 dev {NETDEV}"; done | ip -b -
rdma link add {DEVICE} type rxe netdev {NETDEV}
"""

# Of every process of a service: name, resident kB, open descriptors.
COST = """
for pid in $(cat /sys/fs/cgroup/system.slice/%s.service/cgroup.procs); do
	echo "$(cat /proc/$pid/comm) $(sed -n 's/^VmRSS:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$pid/status) \
$(ls /proc/$pid/fd | wc -l)"
done
"""


def address(i):
    return f"10.98.0.{i}"


class Daemon:
    """One daemon of several in a guest, as a transient service."""

    def __init__(self, crowd, name, text, number):
        self.crowd, self.name, self.text = crowd, name, text
        self.port, self.listen = FIRST_PORT + number, "127.0.0.1"

    def serve_outside(self):
        """At the lab's URL of the guest, for one daemon of it."""
        self.port, self.listen = LAB_PORT, "0.0.0.0"

    def start(self):
        self.crowd.exec(
            f"cat > /etc/{self.name}.conf << 'END'\n{self.text}\n"
            f"[daemon]\nname = {self.name}\n[http]\nlisten = {self.listen}:{self.port}\nEND\n"
            f"systemctl reset-failed {self.name} 2>/dev/null\n"
            f"systemd-run -q --unit={self.name} -p Type=notify -p LimitMEMLOCK=256M"
            f" -p LimitNOFILE=16384 -p KillMode=process -p TimeoutStopSec=8"
            f" /usr/local/sbin/rdma-pingmeshd --config /etc/{self.name}.conf"
        )

    def stop(self):
        """Seconds that it took."""
        begin = time.monotonic()
        self.crowd.exec(f"systemctl stop {self.name}")
        return time.monotonic() - begin

    def kill(self):
        self.crowd.exec(f"systemctl kill --kill-who=all -s KILL {self.name}", check=False)

    def get(self, path):
        return self.crowd.exec(f"curl -sS -m 60 http://127.0.0.1:{self.port}{path}")

    def status(self):
        return json.loads(self.get("/api/v1/status"))

    def peers(self):
        return json.loads(self.get("/api/v1/peers"))["peers"]

    def states(self):
        counts = {}
        for row in self.peers():
            counts[row["state"]] = counts.get(row["state"], 0) + 1
        return counts

    def cost(self):
        """(name, resident kB, descriptors) of its processes."""
        lines = self.crowd.exec(COST % self.name).splitlines()
        return [(" ".join(w[:-2]), int(w[-2]), int(w[-1])) for w in map(str.split, lines)]

    def wait_up(self, sessions, seconds):
        """Seconds until that many sessions are up."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            up = self.status()["sessions"]["up"]
            if up >= sessions:
                return time.monotonic() - begin
            time.sleep(0.5)
        raise Failed(f"{self.name}: {up} of {sessions} sessions are up after {seconds} s: {self.states()}")


class Crowd:
    """A guest made ready. run(line, check) runs a line of shell in it and returns what it prints."""

    def __init__(self, run):
        self.run = run
        self.exec(NETWORK)

    def exec(self, line, check=True):
        return self.run(line, check)

    def qps(self):
        return len(self.exec(f"rdma resource show qp link {DEVICE}/1").splitlines())

    def daemon(self, name, text, number):
        return Daemon(self, name, text, number)

    def responder(self, number=0, **limits):
        """Answers on all addresses but the prober's, and opens nothing."""
        text = f"[rail fabric]\ndevice = {DEVICE}\nsubnet = 10.98.0.0/24\n[peers]\naccept = any\n"
        return self.daemon("responder", text + keys("limits", limits), number)

    def prober(self, peers, classes, number=1, interval="5s", **limits):
        text = f"[rail fabric]\ndevice = {DEVICE}\nsubnet = 10.98.1.0/24\n"
        text += "".join(f"[class {name}]\ntos = {tos}\n" for name, tos in classes)
        text += keys("probe", {f"{op}_interval": interval for op in OPS})
        text += keys("limits", limits) + "[peers]\naccept = any\n"
        text += "".join(f"peer = peer{i}/fabric {address(i)}\n" for i in range(1, peers + 1))
        return self.daemon("prober", text, number)

    def neighbour(self, i, count, interval="5s"):
        """Number i of count daemons with one address each, all in each other's list."""
        text = f"[rail fabric]\ndevice = {DEVICE}\nsubnet = {address(i)}/32\n"
        text += keys("probe", {f"{op}_interval": interval for op in OPS}) + "[peers]\n"
        text += "".join(f"peer = near{n}/fabric {address(n)}\n" for n in range(1, count + 1))
        return self.daemon(f"near{i}", text, 10 + i)


def keys(section, values):
    if not values:
        return ""
    return f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in values.items())
