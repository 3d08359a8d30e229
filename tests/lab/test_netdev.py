"""What the kernel tells of netdevs by ethtool, DCB and devlink, from drivers that are there: virtio's
of the fabric, and a bond of two veth whose legs are read in its place."""

import contextlib

from audit import device, findings, wait_reachable
from guest import journal_cursor, journal_since
from rules import own_rules, port_of, wait_finding
from waiting import wait_for

HOST = "host1"
ADDRESS = "10.99.7.1"
MAKE_BOND = f"""
set -e
modprobe -a bonding veth
ip link add v0 type veth peer name v1
ip link add v2 type veth peer name v3
ip link add bond7 type bond mode active-backup miimon 100
for leg in v0 v2; do ip link set dev $leg master bond7; done
for netdev in v1 v3 bond7; do ip link set dev $netdev up; done
ip address add {ADDRESS}/24 dev bond7
rdma link add rxeb type rxe netdev bond7
"""
# The device that went is what the service would tell of for a while.
END_BOND = """
rdma link del rxeb
for netdev in bond7 v0 v2; do ip link del $netdev; done
modprobe -r bonding veth
systemctl restart rdma-pingmesh
"""
# Another reader of the same statistics, in the one language that every guest has.
STATISTICS = r"""
use strict;
socket(my $socket, 2, 2, 0) or die "socket: $!";
sub ask {
	my ($request) = @_;
	ioctl($socket, 0x8946, pack("a16 P x16", $ARGV[0], $request)) or die "$ARGV[0]: $!";
	return $request;
}
my $n = unpack("x180 L", ask(pack("L x192", 3)));
my @names = unpack("x12" . " Z32" x $n, ask(pack("L3 x" . 32 * $n, 0x1b, 1, $n)));
my @values = unpack("x8 Q$n", ask(pack("L2 x" . 8 * $n, 0x1d, $n)));
print "$names[$_] $values[$_]\n" for 0 .. $n - 1;
"""
NO_COUNTERS = {"peer_ifindex"}  # of veth: settings are not told


def statistics(lab, netdev):
    shown = lab.exec(HOST, ["perl", "-", netdev], stdin=STATISTICS).stdout
    found = {name: int(value) for name, value in (line.split() for line in shown.splitlines())}
    assert found, netdev
    return {name: value for name, value in found.items() if name not in NO_COUNTERS}


def check_told(told, before, now):
    """All that the driver has, each between what the other reader saw before and after."""
    assert set(told) == set(now), set(told) ^ set(now)
    for name, value in told.items():
        assert before[name] <= int(value) <= now[name], (name, before[name], value, now[name])


def test_statistics_of_a_netdev_are_those_of_its_driver(lab):
    before = statistics(lab, "eth0")

    def moved():
        return int(port_of(lab, HOST)["netdev_counters"].get("tx_kicks", 0)) > before["tx_kicks"]

    wait_for(moved, 30, f"a round that is newer than {before}")
    told = port_of(lab, HOST)["netdev_counters"]
    check_told(told, before, statistics(lab, "eth0"))
    value = lab.metrics(HOST).value("rdma_netdev_tx_kicks_total", device="rxe0", port="1")
    assert before["tx_kicks"] < value <= statistics(lab, "eth0")["tx_kicks"]


# What a NIC with DCB would say.
OF_DCB = (
    "pfc_priorities",
    "trust",
    "priority_classes",
    "dscp_priorities",
    "class_max_rates_bytes_per_second",
)


def check_unknown(lab, name):
    """Neither driver has DCB, devlink or link modes of a partner: that is told as not known."""
    port = port_of(lab, HOST, name)
    facts, rules = port["facts"], port["rules"]
    assert [facts[fact] for fact in OF_DCB] == [None] * len(OF_DCB), facts
    assert (facts["partner_rate_bytes_per_second"], facts["common_lanes"]) == (None, None), facts
    assert (device(lab, HOST, name)["health"], rules["firmware_stuck"]) == ([], "not_applicable")
    told = {sample.name for f in lab.metrics(HOST).families.values() for sample in f.samples}
    for prefix in ("rdma_port_pfc_", "rdma_port_class_", "rdma_devlink_"):
        assert not [series for series in told if series.startswith(prefix)], prefix


def test_what_a_driver_cannot_say_is_unknown_and_no_trouble(lab):
    cursor = journal_cursor(lab, HOST)
    lab.exec(HOST, "systemctl restart rdma-pingmesh")
    lab.wait_healthy()
    wait_for(lambda: port_of(lab, HOST)["facts"], 30, "a round of counters")
    check_unknown(lab, "rxe0")
    log = journal_since(lab, HOST, cursor).lower()
    assert "worker is up" in log
    assert not any(word in log for word in ("dcb", "devlink", "ethtool")), log


@contextlib.contextmanager
def bond(lab):
    try:
        lab.exec(HOST, MAKE_BOND)
        yield
    finally:
        lab.exec(HOST, END_BOND)
        wait_reachable(lab, HOST)


def devices(lab):
    return [row["device"] for row in lab.json(HOST, "/api/v1/devices")["devices"]]


def is_up(lab):
    metrics = lab.metrics(HOST)
    worker = metrics.value("rdma_worker_up", device="rxeb")
    return "rxeb" in devices(lab) and worker == metrics.value("rdma_rail_up", rail="rxeb") == 1


def leg_series(lab):
    """The legs and statistics that /metrics has of the bond's device."""
    return {
        (sample.labels["netdev"], sample.name)
        for family in lab.metrics(HOST).families.values()
        for sample in family.samples
        if sample.name.startswith("rdma_leg_netdev_") and sample.labels["device"] == "rxeb"
    }


def wait_legs(lab, *legs):
    """Until the port has these legs, in facts, counters and metrics."""

    def is_so():
        port = port_of(lab, HOST, "rxeb")
        facts = port["facts"]
        wanted = {(leg, f"rdma_leg_netdev_{name}_total") for leg in legs for name in names}
        return (
            (facts["bond"], facts["bond_members"]) == ("bond7", list(legs))
            and [leg["netdev"] for leg in facts["legs"]] == list(legs)
            and {leg: set(counters) for leg, counters in port["leg_counters"].items()}
            == {leg: names for leg in legs}
            and leg_series(lab) == wanted
        )

    names = set(statistics(lab, legs[0]))
    what = f"the legs of bond7 are {legs}"
    wait_for(is_so, 60, lambda: f"{what}: {port_of(lab, HOST, 'rxeb')}")


def wait_verdict(lab, verdict):
    wait_for(
        lambda: port_of(lab, HOST, "rxeb")["verdict"] == verdict,
        30,
        lambda: f"rxeb is {verdict}: {port_of(lab, HOST, 'rxeb')}",
    )


def carrier(lab, netdev, state):
    """What becomes of a veth when its other end goes down or up."""
    lab.exec(HOST, ["ip", "link", "set", "dev", netdev, state])


def leg_up(lab, netdev):
    return lab.metrics(HOST).value("rdma_port_leg_up", device="rxeb", port="1", netdev=netdev)


def check_legs_without_link(lab):
    """One of two is borne and told, both are the port's end."""
    carrier(lab, "v1", "down")
    finding = wait_finding(lab, HOST, "link_degraded", "warning")
    assert (finding["cause"], finding["subject"]) == ("local_port", "port:rxeb/1"), finding
    assert finding["text"].startswith("1 of the 2 legs of bond7 (rxeb/1) has no link, v0:"), finding
    assert (leg_up(lab, "v0"), leg_up(lab, "v2")) == (0, 1)
    wait_verdict(lab, "degraded")
    carrier(lab, "v3", "down")
    finding = wait_finding(lab, HOST, "link_down", "critical")
    assert (finding["cause"], finding["subject"]) == ("local_port", "port:rxeb/1"), finding
    wait_verdict(lab, "failing")
    assert port_of(lab, HOST, "rxeb")["state"] == "DOWN"
    for netdev in ("v1", "v3"):
        carrier(lab, netdev, "up")
    wait_verdict(lab, "ok")
    assert (leg_up(lab, "v0"), leg_up(lab, "v2")) == (1, 1)


def test_a_bond_is_told_by_its_legs(lab):
    with bond(lab):
        wait_for(lambda: is_up(lab), 30, "the new device has a worker and a rail")
        wait_legs(lab, "v0", "v2")
        port = port_of(lab, HOST, "rxeb")
        assert (port["netdev"], port["address"], port["netdev_counters"]) == ("bond7", ADDRESS, {})
        for leg in ("v0", "v2"):
            check_told(port["leg_counters"][leg], statistics(lab, leg), statistics(lab, leg))
        check_unknown(lab, "rxeb")
        rules = port["rules"]
        assert (rules["link_down"], rules["pause_received"]) == ("ok", "not_applicable"), rules
        with own_rules(lab, HOST, hold="1s"):
            check_legs_without_link(lab)
        lab.exec(HOST, "ip link set dev v2 nomaster")
        wait_legs(lab, "v0")
    assert "rxeb" not in devices(lab)
    wait_for(lambda: findings(lab, HOST) == [], 30, lambda: f"no finding: {findings(lab, HOST)}")


