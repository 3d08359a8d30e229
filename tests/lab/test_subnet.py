"""Two NICs of a host in one subnet: each rail is measured over its own, and that is warned of."""

import contextlib

import pytest

from audit import Audit, check_untouched
from guest import journal_cursor, journal_since, own_config, write_config
from rules import finding_of, wait_finding, wait_no_finding
from waiting import wait_for

HOSTS = ("host1", "host2")
# As an address of rail 0's subnet on the NIC of rail 1; by destination alone, the route is eth0's.
SECOND = "10.99.0.20{}"
CONFLUX = """
sysctl -q -w net.ipv4.conf.all.arp_ignore=0 net.ipv4.conf.all.arp_announce=0
ip address add {0}/24 dev eth1
ip address del 10.99.1.{1}/24 dev eth1
"""
APART = """
ip address add 10.99.1.{1}/24 dev eth1
ip address del {0}/24 dev eth1
"""
MIN_PACKETS = 20  # of two seconds of probes


def wrong_devices(metrics, rail):
    return metrics.value("rdma_connection_failures_total", rail=rail, reason="wrong_device") or 0


def in_one_subnet(text):
    for number in (1, 2):
        text = text.replace(f"10.99.1.{number}\n", SECOND.format(number) + "\n")
    return text


def route_of(lab, host, address):
    return lab.exec(host, ["ip", "route", "get", address]).stdout


@contextlib.contextmanager
def one_subnet(lab):
    for host in HOSTS:
        lab.exec(host, CONFLUX.format(SECOND.format(host[4:]), host[4:]))
    try:
        yield
    finally:
        for host in HOSTS:
            lab.exec(host, APART.format(SECOND.format(host[4:]), host[4:]))


def packets_sent(lab, host, device):
    path = f"/sys/class/infiniband/{device}/ports/1/hw_counters/sent_pkts"
    return int(lab.exec(host, ["cat", path]).stdout)


@pytest.mark.lab(hosts=2, rails=2)
def test_two_nics_in_one_subnet_are_each_measured_over_their_own(lab):
    """rdma_cm binds a connection to the device that has its source address (core/cma.c)."""
    audit = Audit(lab)
    before = {host: {r["rail"]: r for r in lab.rows(host)} for host in HOSTS}
    assert not any(finding_of(lab, host, "same_subnet") for host in HOSTS)
    cursors = {host: journal_cursor(lab, host) for host in HOSTS}
    with own_config(lab, HOSTS[0]) as first, own_config(lab, HOSTS[1]) as second, one_subnet(lab):
        for host, text in zip(HOSTS, (first, second)):
            write_config(lab, host, in_one_subnet(text))
            lab.exec(host, "systemctl reload rdma-pingmesh")
        for host, peer in (HOSTS, HOSTS[::-1]):
            check_over_its_own(lab, audit, host, SECOND.format(peer[4:]))
            check_untouched(lab.row(host, peer, "rxe0"), before[host]["rxe0"])
            warned = journal_since(lab, host, cursors[host]).count("are in one subnet")
            assert warned == 1, warned
        told = {host: check_told(lab, host) for host in HOSTS}
    for host in HOSTS:
        wait_no_finding(lab, host, told[host], 45)
    lab.wait_healthy()


def check_told(lab, host):
    """A finding that names both rails and what to set, and makes the host no worse."""
    finding = wait_finding(lab, host, "same_subnet", "warning")
    assert (finding["cause"], finding["subject"]) == ("configuration", "rails:rxe0+rxe1"), finding
    for word in ("eth0", "eth1", "arp_ignore=0", "arp_announce=0"):
        assert word in finding["text"], finding
    wait_for(lambda: is_well(lab, host), 20, f"{host} is no worse for it")
    return finding


def is_well(lab, host):
    return lab.json(host, "/api/v1/status")["verdict"] == "ok"


def rail_of(lab, host, rail):
    (row,) = [row for row in lab.rows(host) if row["rail"] == rail]
    return row


def check_over_its_own(lab, audit, host, address):
    def is_well():
        row = rail_of(lab, host, "rxe1")
        return (row["address"], row["state"], row["verdict"]) == (address, "up", "ok")

    wait_for(is_well, 45, lambda: f"{host} is well: {rail_of(lab, host, 'rxe1')}")
    # What went by the routing table alone would take the other NIC.
    assert "dev eth0" in route_of(lab, host, address)
    sent = packets_sent(lab, host, "rxe1")
    wait_for(
        lambda: packets_sent(lab, host, "rxe1") - sent >= MIN_PACKETS,
        15,
        "it leaves by its own NIC",
    )
    _, metrics = audit.look(host)
    assert wrong_devices(metrics, "rxe1") == wrong_devices(metrics, "rxe0") == 0
