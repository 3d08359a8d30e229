"""The package, as an administrator meets it: installed by apt into a guest that never had it."""

import subprocess

import pytest

from guest import main_pid
from labtools import TOP
from waiting import wait_for

HOST = "host1"
STATES = "systemctl is-active rdma-pingmesh; systemctl is-enabled rdma-pingmesh"

pytestmark = pytest.mark.lab(hosts=1, bare=True)


@pytest.fixture
def package(lab):
    """The package is installed and its service runs; it is purged afterwards."""
    built = subprocess.run(
        [TOP / "setup" / "build-deb"], stdout=subprocess.PIPE, text=True, check=True
    )
    lab.push(HOST, built.stdout.strip(), "/root/rdma-pingmesh.deb")
    lab.exec(HOST, "apt-get install -q -y /root/rdma-pingmesh.deb", timeout=120)
    yield lab
    lab.exec(HOST, "dpkg --purge rdma-pingmesh", timeout=120)


def test_installing_starts_the_service_as_its_own_user(package):
    assert package.exec(HOST, STATES).stdout.split() == ["active", "enabled"]
    users = package.exec(HOST, "ps -o user:20= -C rdma-pingmeshd").stdout.split()
    assert users and set(users) == {"rdma-pingmesh"}
    wait_for(lambda: package.get(HOST, "/-/ready")[0] == 200, 20, "ready")


def test_a_changed_configuration_survives_a_reinstallation(package):
    config = "/etc/rdma-pingmesh/rdma-pingmesh.conf"
    package.exec(HOST, f"printf '[peers]\\npeer = host2/rxe0 10.99.0.2\\n' > {config}")
    before = package.exec(HOST, f"cat {config}").stdout
    package.exec(HOST, "apt-get install --reinstall -q -y /root/rdma-pingmesh.deb", timeout=120)
    assert package.exec(HOST, f"cat {config}").stdout == before
    assert package.exec(HOST, STATES).stdout.split() == ["active", "enabled"]
    wait_for(lambda: len(package.rows(HOST)) == 1, 20, "a session to the peer in the configuration")


# The same files under an older version's name: what matters is what the package's scripts do.
OLDER = """
set -e
cd /root && rm -rf older && dpkg-deb -R rdma-pingmesh.deb older
sed -i 's/^Version: .*/Version: 0.0.1/' older/DEBIAN/control
dpkg-deb -b older rdma-pingmesh-older.deb
apt-get purge -q -y rdma-pingmesh
apt-get install -q -y ./rdma-pingmesh-older.deb
"""


def test_an_upgrade_restarts_the_service_and_keeps_the_configuration(package):
    config = "/etc/rdma-pingmesh/rdma-pingmesh.conf"
    package.exec(HOST, OLDER, timeout=180)
    assert version(package) == "0.0.1"
    package.exec(HOST, f"printf '[peers]\\npeer = host2/rxe0 10.99.0.2\\n' > {config}")
    package.exec(HOST, "rdma-pingmesh reload")
    before, main = package.exec(HOST, f"cat {config}").stdout, main_pid(package, HOST)
    package.exec(HOST, "apt-get install -q -y /root/rdma-pingmesh.deb", timeout=120)
    assert version(package) != "0.0.1"
    assert package.exec(HOST, f"cat {config}").stdout == before
    assert package.exec(HOST, STATES).stdout.split() == ["active", "enabled"]
    assert main_pid(package, HOST) != main
    wait_for(lambda: len(package.rows(HOST)) == 1, 20, "a session to the peer in the configuration")
    # Nothing of the older one goes on running.
    gone = package.exec(HOST, "ls -l /proc/[0-9]*/exe 2>/dev/null | grep rdma-pingmesh", check=False)
    assert "(deleted)" not in gone.stdout, gone.stdout


def version(package):
    return package.exec(HOST, "dpkg-query -W -f '${Version}' rdma-pingmesh").stdout


def test_purging_leaves_nothing_but_the_user(package):
    package.exec(HOST, "apt-get purge -q -y rdma-pingmesh", timeout=120)
    left = package.exec(
        HOST,
        "ls -d /etc/rdma-pingmesh /var/lib/rdma-pingmesh /run/rdma-pingmesh "
        "/usr/sbin/rdma-pingmesh* /usr/bin/rdma-pingmesh* /usr/libexec/rdma-pingmesh "
        "/lib/systemd/system/rdma-pingmesh* /usr/share/man/man*/rdma-pingmesh* "
        "/usr/share/bash-completion/completions/rdma-pingmesh* /usr/share/doc/rdma-pingmesh "
        "/usr/share/rdma-pingmesh",
        check=False,
    )
    assert left.stdout == ""
    assert package.exec(HOST, "pgrep -c rdma-pingmeshd", check=False).stdout.strip() == "0"
