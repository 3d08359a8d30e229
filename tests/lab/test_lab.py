"""The lab's own commands, as scenarios and people use them."""

import socket
import subprocess

from labtools import TOP

HOST = "host1"


def test_exec_keeps_streams_and_exit_code_apart(lab):
    result = lab.exec(HOST, "cat; echo to-stderr >&2; exit 7", check=False, stdin="to-stdout\n")
    assert (result.stdout, result.stderr, result.returncode) == ("to-stdout\n", "to-stderr\n", 7)


def test_exec_passes_several_words_as_they_are(lab):
    words = ["a  b", "$HOME", "it's", ""]
    result = lab.exec(HOST, ["printf", "[%s]", *words])
    assert result.stdout == "".join(f"[{word}]" for word in words)


def test_files_survive_push_and_pull(lab, tmp_path):
    source = tmp_path / "source"
    (source / "sub dir").mkdir(parents=True)
    (source / "sub dir" / "data").write_bytes(bytes(range(256)))
    lab.push(HOST, source, "/root/pushed")
    lab.pull(HOST, "/root/pushed", tmp_path / "back")
    assert (tmp_path / "back" / "sub dir" / "data").read_bytes() == bytes(range(256))
    lab.exec(HOST, "rm -r /root/pushed")


def test_hosts_have_the_promised_names_and_devices(lab):
    for number, host in enumerate(lab.hosts, 1):
        assert lab.exec(host, "hostname").stdout.strip() == host
        assert f"10.99.0.{number}/24" in lab.exec(host, "ip -br address show dev eth0").stdout
        assert "rxe0/1 state ACTIVE" in lab.exec(host, "rdma link show").stdout
        config = lab.exec(host, "cat /etc/rdma-pingmesh/rdma-pingmesh.conf").stdout
        assert config == lab.exec(lab.hosts[0], "cat /etc/rdma-pingmesh/rdma-pingmesh.conf").stdout


def test_a_second_lab_at_the_same_base_is_refused(lab):
    result = subprocess.run(
        [TOP / "lab" / "up", "1", "--bare", "--port-base", str(lab.port_base)],
        capture_output=True,
        text=True,
    )
    assert result.returncode != 0
    assert f"already up at port base {lab.port_base}" in result.stderr
    assert lab.exec(HOST, "hostname").stdout.strip() == HOST


def test_a_taken_port_is_named():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        port = sock.getsockname()[1]
        result = subprocess.run(
            [TOP / "lab" / "up", "2", "--bare", "--port-base", str(port - 2)],
            capture_output=True,
            text=True,
        )
    assert result.returncode == 1
    assert f"port {port} of 127.0.0.1 is taken" in result.stderr


def test_down_without_a_lab_has_nothing_to_do():
    result = subprocess.run([TOP / "lab" / "down", "--port-base", "30000"])
    assert result.returncode == 0
