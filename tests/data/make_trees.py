#!/usr/bin/env python3
"""Make trees that look like /sys of hosts with RDMA devices.

    make_trees.py OUTDIR [--only NAME ...]   one directory a tree, to be used as --sysfs-root
    make_trees.py --list                     their names and what each stands for

Values are chosen so that a test can know them: the counters of a set count from its first value
by one in the order of tests/data/names.py, and what matters to a case is given by name.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True

import names  # noqa: E402

ZERO_GID = ":".join(["0000"] * 8)
NA = "N/A (no PMA)"
TREES = {}


def tree(name, about):
    """Register a function that fills a Tree as the tree of that name."""

    def register(fill):
        TREES[name] = (about, fill)
        return fill

    return register


def ip4_gid(address):
    a, b, c, d = (int(part) for part in address.split("."))
    return f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"


def counting(counter_names, first=0, **given):
    """{name: value}: first, first + 1, ... and the given values in their place."""
    values = {name: first + i for i, name in enumerate(counter_names)}
    unknown = set(given) - set(values)
    if unknown:
        raise KeyError(f"not among the counters: {sorted(unknown)}")
    return values | given


def all_of(counter_names, value=0, **given):
    return {name: value for name in counter_names} | given


class Directory:
    """A directory of the tree; text without a newline gets one, bytes are written as they are."""

    def __init__(self, path):
        self.path = path

    def put(self, name, content):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = content if isinstance(content, bytes) else f"{content}\n".encode()
        with open(path, "wb") as file:
            file.write(data)

    def put_all(self, files, below=""):
        for name, content in files.items():
            self.put(os.path.join(below, name), content)

    def link(self, name, target):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)

    def mkdir(self, name):
        os.makedirs(os.path.join(self.path, name), exist_ok=True)


class Device(Directory):
    def __init__(self, root, name, fw="22.41.1000", board=None, hca=None, node_type="1: CA",
                 guid="b8ce:f603:0012:3456"):
        super().__init__(os.path.join(root, "class/infiniband", name))
        self.root = root
        self.put("fw_ver", fw)
        self.put("node_type", node_type)
        self.put("node_guid", guid)
        if board:
            self.put("board_id", board)
        if hca:
            self.put("hca_type", hca)

    def pci(self, address, netdevs=(), vf=False):
        """The PCI function behind it, with {netdev: dev_port}."""
        function = Directory(os.path.join(self.root, "devices/pci0000:00", address))
        function.put("vendor", "0x15b3")
        for netdev, dev_port in dict(netdevs).items():
            function.put(f"net/{netdev}/dev_port", dev_port)
        if vf:
            function.link("physfn", "../0000:03:00.0")
            Directory(os.path.join(self.root, "devices/pci0000:00/0000:03:00.0")).mkdir("net")
        self.link("device", f"../../../devices/pci0000:00/{address}")

    def device_counters(self, values, lifespan=10):
        self.put_all(values | {"lifespan": lifespan}, "hw_counters")

    def port(self, number=1, layer="Ethernet", rate="100 Gb/sec (4X EDR)", state="4: ACTIVE",
             phys="5: LinkUp"):
        return Port(self, number, layer, rate, state, phys)


class Port(Directory):
    def __init__(self, device, number, layer, rate, state, phys):
        super().__init__(os.path.join(device.path, "ports", str(number)))
        self.put("state", state)
        self.put("phys_state", phys)
        self.put("rate", rate)
        if layer is not None:
            self.put("link_layer", layer)

    def counters(self, values, ext=None):
        self.put_all(values, "counters")
        if ext:
            self.put_all(ext, "counters_ext")

    def hw(self, values, lifespan=10):
        self.put_all(values | {"lifespan": lifespan}, "hw_counters")

    def gid(self, index, gid, kind=None, netdev=None):
        self.put(f"gids/{index}", gid)
        if kind:
            self.put(f"gid_attrs/types/{index}", kind)
        if netdev:
            self.put(f"gid_attrs/ndevs/{index}", netdev)

    def iwarp_gid(self, netdev):
        """A MAC address, and the kernel has no name for its kind but this."""
        self.gid(0, "0200:5e10:0001:0000:0000:0000:0000:0000", "IB/RoCE v1", netdev)

    def roce_gids(self, address, netdev, mac="0ac0:ebff:fe00:0001"):
        """What mlx5 makes of one IPv4 address: link-local and IPv4, each as v1 and v2."""
        for index, gid in enumerate([f"fe80:0000:0000:0000:{mac}", ip4_gid(address)]):
            self.gid(2 * index, gid, "IB/RoCE v1", netdev)
            self.gid(2 * index + 1, gid, "RoCE v2", netdev)
        self.gid(4, ZERO_GID)
        self.gid(5, ZERO_GID)


def mlx5_roce(root, name, pci="0000:03:00.0", netdev="ens1f0np0", address="10.1.0.6"):
    """A ConnectX with every Q and congestion counter; congestion is what was seen of late."""
    device = Device(root, name, board="MT_0000000356", hca="MT4125")
    device.pci(pci, {netdev: 0})
    port = device.port()
    port.counters(all_of(names.PMA_EXTENDED, port_xmit_data=250000000123,
                         port_rcv_data=345091702026, port_xmit_packets=1000001,
                         port_rcv_packets=1000002))
    port.hw(counting(names.MLX5_Q, 100) | counting(
        names.MLX5_CONGESTION, 200, np_cnp_sent=4711, np_ecn_marked_roce_packets=18446744073))
    port.roce_gids(address, netdev)
    return device, port


def rxe(root, name, netdev, up=True, address="10.0.2.15"):
    """Soft-RoCE: no counters/, no board, an empty firmware version, its netdev as parent."""
    device = Device(root, name, fw="", guid="0a00:27ff:fe00:0001")
    device.put("parent", netdev)
    if up:
        port = device.port(rate="2.5 Gb/sec (1X SDR)")
    else:
        port = device.port(rate="2.5 Gb/sec (1X SDR)", state="1: DOWN", phys="3: Disabled")
    port.hw(counting(names.RXE, 1), lifespan=12)
    if up:
        port.gid(0, "fe80:0000:0000:0000:0a00:27ff:fe00:0001", "RoCE v2", netdev)
        port.gid(1, ip4_gid(address), "RoCE v2", netdev)
    port.gid(2, ZERO_GID)


@tree("mlx5-config", "ConnectX with ECN switches, rdma_cm defaults and half of its PCI lanes")
def _(root):
    device, _ = mlx5_roce(root, "mlx5_0")
    function = Directory(os.path.join(root, "devices/pci0000:00/0000:03:00.0"))
    for name, text in {"current_link_speed": "16.0 GT/s PCIe", "max_link_speed": "16.0 GT/s PCIe",
                       "current_link_width": "8", "max_link_width": "16",
                       "numa_node": "1"}.items():
        function.put(name, text)
    netdev = Directory(os.path.join(root, "class/net/ens1f0np0"))
    netdev.put("mtu", "4200")
    for priority in range(8):
        netdev.put(f"ecn/roce_np/enable/{priority}", int(priority == 3))
        netdev.put(f"ecn/roce_rp/enable/{priority}", int(priority in (3, 4)))
    netdev.put("ecn/roce_np/cnp_dscp", 48)
    netdev.put("ecn/roce_np/cnp_802p_prio", 6)
    defaults = Directory(os.path.join(root, "kernel/config/rdma_cm/mlx5_0/ports/1"))
    defaults.put("default_roce_mode", "RoCE v2")
    defaults.put("default_roce_tos", "106")
    device.put("tc/1/traffic_class", "Global tclass=96\nsrc_ip=10.0.0.1 tclass=0")


@tree("mlx5-roce", "ConnectX on Ethernet with all Q and congestion counters")
def _(root):
    mlx5_roce(root, "mlx5_0")


@tree("renamed", "the same hardware under the name that udev gives it")
def _(root):
    mlx5_roce(root, "rocep1s0f0")


@tree("mlx5-ib", "ConnectX on InfiniBand")
def _(root):
    device = Device(root, "mlx5_0", fw="28.41.1000", board="MT_0000000838", hca="MT4129")
    device.pci("0000:1a:00.0", {"ib0": 0, "ib0.8001": 0})
    port = device.port(layer="InfiniBand", rate="400 Gb/sec (4X NDR)")
    port.counters(all_of(names.PMA_EXTENDED, port_rcv_data=230539874932483,
                         port_xmit_data=230442669431839, port_xmit_wait=2489603687))
    port.hw(counting(names.MLX5_Q, 300))
    port.gid(0, "fe80:0000:0000:0000:b8ce:f603:0012:3456", "IB/RoCE v1")


@tree("mlx5-switchdev", "representor counters of a ConnectX in switchdev mode")
def _(root):
    port = Device(root, "mlx5_0").port()
    port.hw(counting(["vport_" + n for n in names.MLX5_Q], 500))


@tree("mlx4-two-ports", "two IB ports; the second one's link_layer ends in a blank line")
def _(root):
    device = Device(root, "mlx4_0", fw="2.31.5050", board="SM_1141000001000", hca="MT4099")
    device.pci("0000:05:00.0", {"ib0": 0, "ib1": 1})
    for number in (1, 2):
        port = device.port(number, layer="InfiniBand", rate="40 Gb/sec (4X QDR)")
        port.counters(counting(names.PMA, 10 * number))
    port.put("link_layer", b"InfiniBand\n\n")


@tree("mlx4-vf", "a virtual function: no PMA, but diagnostic counters")
def _(root):
    device = Device(root, "mlx4_0", fw="2.42.5000", hca="MT4100")
    device.pci("0000:03:00.4", {"eth1": 0}, vf=True)
    port = device.port(rate="10 Gb/sec (4X SDR)")
    port.counters(all_of(names.PMA_EXTENDED, NA))
    port.hw(counting(names.MLX4_DIAG, 0))


@tree("i40iw-no-pma", "an iWARP NIC of an old kernel: text for numbers, rate without speed name")
def _(root):
    device = Device(root, "i40iw0", fw="0.2", board="I40IW Board ID", node_type="4: RNIC")
    port = device.port(rate="10 Gb/sec (4X)")
    port.counters(all_of(names.PMA, NA))


@tree("legacy-ext", "counters_ext of kernels before 4.5; port 2 has only some counters")
def _(root):
    device = Device(root, "mlx4_0", fw="2.31.5050", board="SM_1141000001000", hca="MT4099")
    ext = counting(names.COUNTERS_EXT, 70, port_xmit_data_64=8589934592, port_rcv_data_64=4631917)
    port = device.port(1, layer="InfiniBand", rate="40 Gb/sec (4X QDR)")
    port.counters(all_of(names.PMA, port_xmit_data=4294967295, port_xmit_wait=4294967295), ext)
    port = device.port(2, layer="InfiniBand", rate="40 Gb/sec (4X QDR)")
    port.counters(all_of(["link_downed", "port_xmit_data", "port_rcv_data"], 0), ext)


@tree("irdma", "the same set at device level and at the port, in mixed case")
def _(root):
    device = Device(root, "iwp3s0f0", fw="1.60", node_type="4: RNIC")
    device.pci("0000:b1:00.0", {"ens3f0": 0})
    device.device_counters(counting(names.IRDMA, 1000))
    port = device.port(rate="25 Gb/sec (1X EDR)")
    port.hw(counting(names.IRDMA, 1000))
    port.iwarp_gid("ens3f0")


@tree("irdma-two-gids", "RoCE v2 entries only, the IPv4 one at index 1")
def _(root):
    port = Device(root, "rocep0s4").port(rate="200 Gb/sec (4X HDR)")
    port.gid(0, "fe80:0000:0000:0000:4001:c0ff:fea8:4004", "RoCE v2", "eth0")
    port.gid(1, ip4_gid("192.168.64.4"), "RoCE v2", "eth0")


@tree("bnxt_re", "hw_counters only, among them gauges; no counters/")
def _(root):
    device = Device(root, "bnxt_re0", fw="229.0.139.0", hca="NetXtreme-E")
    port = device.port()
    port.hw(counting(names.BNXT_RE, 0, rx_bytes=7521781137064, active_qps=3, watermark_qps=9))
    for index, kind in enumerate(["IB/RoCE v1", "RoCE v2"] * 2):
        prefix = "fe80:0000:0000:0000" if index < 2 else "fd93:0000:0000:0000"
        port.gid(index, prefix + ":0000:0000:0000:0001", kind, "ens1f0np0")


@tree("efa", "link layer unknown, counters at both levels, no RC")
def _(root):
    device = Device(root, "rdmap0s31", fw="0.0.0.0", node_type="7: unspecified")
    device.device_counters(counting(names.EFA_DEVICE, 0), lifespan=12)
    port = device.port(layer="Unknown")
    port.hw(counting(names.EFA_PORT, 50, rx_bytes=7521781137064), lifespan=12)


@tree("no-link-layer", "the same without the file link_layer")
def _(root):
    Device(root, "rdmap0s31", fw="0.0.0.0").port(layer=None).hw(counting(names.EFA_PORT, 50))


@tree("mana", "one name in the sets of both levels, gauges in one")
def _(root):
    device = Device(root, "mana_0")
    device.device_counters(counting(names.MANA_DEVICE, 0, rate_inc_events=11))
    port = device.port(rate="200 Gb/sec (4X HDR)")
    port.hw(counting(names.MANA_PORT, 0, rate_inc_events=22, current_rate=96))


@tree("hns", "counters of hns")
def _(root):
    Device(root, "hns_0").port(rate="200 Gb/sec (4X HDR)").hw(counting(names.HNS, 0))


@tree("erdma", "counters of erdma")
def _(root):
    Device(root, "erdma_0").port().hw(counting(names.ERDMA, 0))


@tree("cxgb4", "counters at device level only; a port without address is INIT")
def _(root):
    device = Device(root, "cxgb4_0", fw="1.27.5.0", board="1425.6401", hca="cxgb4",
                    node_type="4: RNIC")
    device.device_counters(counting(names.CXGB4, 30))
    device.port(state="2: INIT")


@tree("hfi1", "Omni-Path: names with commas")
def _(root):
    device = Device(root, "hfi1_0", fw="1.27.0",
                    board="HPE 100Gb 1-port OP101 QSFP28 x16 PCIe Gen3 with I")
    device.device_counters(counting(names.HFI1_DEVICE, 40))
    port = device.port(layer="InfiniBand")
    port.counters(all_of(names.PMA, port_rcv_data=345091702026, port_xmit_data=273558326543))
    port.hw(counting(names.HFI1_PORT, 60))


@tree("qedr", "RoCE NIC whose driver has no counters of any kind")
def _(root):
    device = Device(root, "qedr0", fw="8.59.1.0", hca="QL41000")
    device.pci("0000:65:00.0", {"ens5f0": 0})
    port = device.port(rate="25 Gb/sec (1X EDR)")
    port.roce_gids("10.4.0.8", "ens5f0")


@tree("rxe", "Soft-RoCE")
def _(root):
    rxe(root, "enp0s3rxe", "enp0s3")


@tree("rxe-down", "Soft-RoCE on a netdev that is down")
def _(root):
    rxe(root, "rxe0", "eth0", up=False)


@tree("siw", "software iWARP: no counters of any kind")
def _(root):
    device = Device(root, "siw0", fw="", node_type="4: RNIC")
    device.put("parent", "eth0")
    device.port(rate="2.5 Gb/sec (1X SDR)").iwarp_gid("eth0")


@tree("saturated", "counters that reached the end of their width")
def _(root):
    port = Device(root, "mlx5_1").port(layer="InfiniBand", rate="400 Gb/sec (4X NDR)")
    port.counters(all_of(
        names.PMA_EXTENDED, link_downed=255, port_xmit_discards=65535,
        excessive_buffer_overrun_errors=15, port_xmit_wait=4294967295,
        port_rcv_switch_relay_errors=255, link_error_recovery=254))


@tree("reset-before", "a device before its driver is loaded again")
def _(root):
    port = Device(root, "mlx5_0").port()
    port.counters({"port_xmit_data": 123456789012, "link_downed": 3})


@tree("reset-after", "and after")
def _(root):
    port = Device(root, "mlx5_0").port()
    port.counters({"port_xmit_data": 7, "link_downed": 0})


@tree("bond", "a bonded device whose PCI function shows its first leg")
def _(root):
    device = Device(root, "mlx5_bond_0", fw="32.38.3056", board="MT_0000000884", hca="MT41692")
    device.pci("0000:03:00.0", {"ens1f0np0": 0})
    port = device.port(rate="200 Gb/sec (2X NDR)")
    port.counters(all_of(names.PMA_EXTENDED, port_rcv_data=230539874932483))
    port.hw(counting(names.MLX5_Q, 0))
    port.roce_gids("10.2.0.7", "bond0")


@tree("bond-legs", "two bonded devices that are one, and a third with a netdev of the same bond")
def _(root):
    device = Device(root, "mlx5_bond_0", fw="32.38.3056", board="MT_0000000884", hca="MT41692")
    device.pci("0000:03:00.0", {"ens1f0np0": 0})
    port = device.port(rate="200 Gb/sec (2X NDR)")
    port.counters(all_of(names.PMA_EXTENDED, port_rcv_data=7))
    port.hw(counting(names.MLX5_Q, 0))
    port.roce_gids("10.2.0.7", "bond0")
    rxe(root, "rxe0", "ens1f1np1")
    Directory(os.path.join(root, "class/net/bond0")).put("bonding/slaves", "ens1f0np0 ens1f1np1")
    for leg in "ens1f0np0", "ens1f1np1":
        path = os.path.join(root, "class/net", leg)
        os.makedirs(path)
        os.symlink("../bond0", os.path.join(path, "master"))
        Directory(path).put("operstate", "up")


@tree("gid-holes", "empty slots between GIDs, where types and ndevs cannot be read")
def _(root):
    port = Device(root, "mlx5_0").port()
    full = {0: ("fe80:0000:0000:0000:0000:0000:0000:0001", "IB/RoCE v1"),
            1: ("fe80:0000:0000:0000:0000:0000:0000:0001", "RoCE v2"),
            4: (ip4_gid("10.3.0.8"), "RoCE v2"), 8: (ip4_gid("10.3.0.9"), "RoCE v2")}
    for index in range(9):
        if index in full:
            port.gid(index, *full[index], netdev="eth4")
        else:
            port.gid(index, ZERO_GID)


@tree("guid-zero", "a device whose firmware gave it no GUID")
def _(root):
    Device(root, "mlx5_0", guid="0000:0000:0000:0000").port()


@tree("unreadable", "a counter, a rate and a directory that answer errors")
def _(root):
    device = Device(root, "mlx5_1")
    port = device.port(1)
    port.counters(counting(names.PMA, 0))
    os.unlink(os.path.join(port.path, "counters/VL15_dropped"))
    port.mkdir("counters/VL15_dropped")
    port = device.port(2)
    port.counters(counting(names.PMA, 20))
    os.unlink(os.path.join(port.path, "rate"))
    port.link("rate", "rate")
    port.link("hw_counters", "hw_counters")


@tree("odd-counters", "texts that are no counter values, and some that are")
def _(root):
    port = Device(root, "mlx5_0").port()
    port.hw({"zero": 0, "u32_max": 4294967295, "u64_max": 18446744073709551615,
             "blanks": " 42 ", "no_newline": b"43", "no_pma": NA, "empty": b"",
             "negative": -1, "letters": "12abc", "hex": "0x10", "too_big": 2**64,
             "two": "1 2", "nul": b"4\x002\n", "long": "1" * 5000})
    port.counters({"port_xmit_data": 18446744073709551615})


@tree("no-rdma", "a host without any RDMA")
def _(root):
    Directory(os.path.join(root, "class")).mkdir("net")


@tree("mixed", "a host with devices of several kinds")
def _(root):
    mlx5_roce(root, "mlx5_0")
    mlx5_roce(root, "mlx5_1", "0000:03:00.1", "ens1f1np1", "10.1.1.6")
    rxe(root, "rxe0", "eth0")
    TREES["bnxt_re"][1](root)
    TREES["hfi1"][1](root)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outdir", nargs="?", metavar="OUTDIR")
    parser.add_argument("--list", action="store_true", help="list the trees and exit")
    parser.add_argument("--only", nargs="+", choices=sorted(TREES), metavar="NAME")
    args = parser.parse_args()
    if args.list:
        for name, (about, _) in TREES.items():
            print(f"{name:16} {about}")
        return 0
    if not args.outdir:
        parser.error("OUTDIR is missing: where to put the trees?")
    for name in args.only or TREES:
        root = os.path.join(args.outdir, name)
        if os.path.exists(root):
            sys.exit(f"make_trees.py: {root} exists already; remove it or give another OUTDIR")
        os.makedirs(root)
        TREES[name][1](root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
