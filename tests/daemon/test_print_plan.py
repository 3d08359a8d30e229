"""--print-plan: what a host would probe, told without opening anything."""

import json
import os
import pathlib
import subprocess
import time

import pytest

DAEMON = os.environ["RDMA_PINGMESHD"]

PEERS = """[peers]
peer = host1/rxe0 10.99.0.1
peer = host1/rxe1 10.99.1.1
peer = host2/rxe0 10.99.0.2
peer = host2/rxe1 10.99.1.2
"""
RAILS = "[daemon]\nname = host1\n[rail rxe0]\ndevice = rxe0\n[rail rxe1]\ndevice = rxe1\n"


def gid_of(address):
    a, b, c, d = (int(part) for part in address.split("."))
    return f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"


def add_port(root, device, address, port=1, state="4: ACTIVE"):
    base = root / "class/infiniband" / device / "ports" / str(port)
    for name, text in (
        ("state", state),
        ("link_layer", "Ethernet"),
        ("gids/0", "fe80:0000:0000:0000:5054:00ff:fe00:0001"),
        ("gids/1", gid_of(address)),
        ("gid_attrs/types/0", "RoCE v2"),
        ("gid_attrs/types/1", "RoCE v2"),
        ("gid_attrs/ndevs/0", "eth0"),
        ("gid_attrs/ndevs/1", "eth0"),
    ):
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")


@pytest.fixture
def root(tmp_path):
    (tmp_path / "sys/class/infiniband").mkdir(parents=True)
    return tmp_path / "sys"


def run(tmp_path, config, root=None, *options):
    path = tmp_path / "plan.conf"
    path.write_text(config)
    words = [DAEMON, "--config", str(path), *options, "--print-plan"]
    if root:
        words += ["--sysfs-root", str(root)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def plan(tmp_path, config, root=None, *options):
    done = run(tmp_path, config, root, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_named_rails_need_no_device(tmp_path, root):
    assert plan(tmp_path, RAILS + PEERS, root) == [
        "rxe0 host2 rxe0 10.99.0.2 default 1s",
        "rxe1 host2 rxe1 10.99.1.2 default 1s",
    ]


def test_ports_of_the_tree_are_the_rails_and_tell_who_this_host_is(tmp_path, root):
    add_port(root, "rxe0", "10.99.0.2")
    add_port(root, "rxe1", "10.99.1.2")
    add_port(root, "down0", "10.99.2.2", state="1: DOWN")
    assert plan(tmp_path, PEERS + "peer = host3/down0 10.99.2.3\n", root) == [
        "rxe0 host1 rxe0 10.99.0.1 default 1s",
        "rxe1 host1 rxe1 10.99.1.1 default 1s",
    ]


def test_second_port_is_a_rail_of_its_own(tmp_path, root):
    add_port(root, "mlx5_0", "10.99.0.2")
    add_port(root, "mlx5_0", "10.99.1.2", port=2)
    config = "[peers]\npeer = a/mlx5_0 10.99.0.7\npeer = a/mlx5_0/2 10.99.1.7\n"
    assert plan(tmp_path, config, root) == [
        "mlx5_0 a mlx5_0 10.99.0.7 default 1s",
        "mlx5_0/2 a mlx5_0/2 10.99.1.7 default 1s",
    ]


def test_classes_and_the_shortest_interval(tmp_path, root):
    config = (RAILS + "[class bulk]\ntos = 0\n[class lossless]\ntos = 104\n"
              "[probe]\nsend_interval = 250ms\n" + PEERS)
    assert [line.split()[4:] for line in plan(tmp_path, config, root)] == [
        ["bulk", "250ms"], ["lossless", "250ms"]] * 2


def test_what_is_empty_is_a_dash(tmp_path, root):
    config = "[rail a]\nsubnet = 10.99.0.0/24\n[peers]\npeer = 10.99.0.2\npeer = x.invalid\n"
    done = run(tmp_path, config, root)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "a 10.99.0.2 - 10.99.0.2 default 1s", "a x.invalid - - default 1s"]
    assert "host name x.invalid: " in done.stderr


def test_subnet_tells_the_rail_of_an_endpoint_without_label(tmp_path, root):
    config = ("[rail a]\nsubnet = 10.99.0.0/24\n[rail b]\nsubnet = 10.99.1.0/24\n"
              "[peers]\npeer = 10.99.1.2\npeer = 10.99.0.2\npeer = 10.99.7.2\n")
    done = run(tmp_path, config, root)
    assert done.stdout.splitlines() == [
        "a 10.99.0.2 - 10.99.0.2 default 1s", "b 10.99.1.2 - 10.99.1.2 default 1s"]
    assert "1 listed addresses match no rail" in done.stderr


def test_peers_of_the_file_are_in_it(tmp_path, root):
    (tmp_path / "peers.json").write_text(json.dumps([
        {"targets": ["10.99.0.2"], "labels": {"host": "host2", "rail": "rxe0"}},
        {"targets": ["fe80::1"]}]))
    done = run(tmp_path, RAILS + "[peers]\nfile = peers.json\n", root)
    assert done.returncode == 0
    assert done.stdout == "rxe0 host2 rxe0 10.99.0.2 default 1s\n"
    assert "entry 2, target 'fe80::1'" in done.stderr


def test_order_is_the_same_whatever_that_of_the_list(tmp_path, root):
    lines = PEERS.splitlines()[1:]
    backwards = "[peers]\n" + "\n".join(reversed(lines)) + "\n"
    assert plan(tmp_path, RAILS + PEERS, root) == plan(tmp_path, RAILS + backwards, root)


def test_a_thousand_hosts_take_a_moment(tmp_path, root):
    peers = "[peers]\n" + "".join(
        f"peer = host{i}/rxe{r} 10.{r}.{i // 250}.{i % 250 + 1}\n"
        for i in range(1000) for r in range(8))
    rails = "[daemon]\nname = host0\n" + "".join(
        f"[rail rxe{r}]\ndevice = rxe{r}\n" for r in range(8))
    begin = time.monotonic()
    lines = plan(tmp_path, rails + peers, root, "--set", "limits.qps_per_device=4096")
    assert len(lines) == 999 * 8
    assert time.monotonic() - begin < 20


def test_nothing_to_probe_is_said(tmp_path, root):
    done = run(tmp_path, PEERS, root)
    assert done.returncode == 0 and done.stdout == ""
    assert "no rail" in done.stderr


def test_bad_configuration_is_no_plan(tmp_path, root):
    done = run(tmp_path, "[peers]\npeer = a b c\n", root)
    assert done.returncode == 78 and "plan.conf:2" in done.stderr
    done = run(tmp_path, "[peers]\nfile = nowhere.json\n", root)
    assert done.returncode == 78 and "nowhere.json: cannot be read" in done.stderr


def check(path):
    return subprocess.run([DAEMON, "--config", str(path), "--check-config"], capture_output=True,
                          text=True, timeout=60)


def test_check_config_fails_on_a_bad_peer_file_or_target(tmp_path):
    conf, peers = tmp_path / "c.conf", tmp_path / "peers.json"
    conf.write_text("[peers]\nfile = peers.json\n")
    assert check(conf).returncode == 78
    peers.write_text('[{"targets": ["10.0.0.1"]}]')
    assert check(conf).returncode == 0
    peers.write_text('[{"targets": ["10.0.0.1", ""]}]')
    done = check(conf)
    assert done.returncode == 78 and "peers.json: entry 1" in done.stderr
    example = pathlib.Path(__file__).parents[2] / "etc/peers.json"
    peers.write_text(example.read_text())
    assert check(conf).returncode == 0
