"""README's section on installing, followed word for word on hosts that know nothing of it."""

import re
import shlex

import pytest

from audit import wait_reachable
from guest import CONFIG
from labtools import TOP
from waiting import wait_for

DEB = "rdma-pingmesh_*.deb"


def install_section():
    """(the lines to type, the smallest configuration) as README has them."""
    section = re.search(r"(?s)\n## Install\n(.*?)\n## ", (TOP / "README.md").read_text()).group(1)
    commands = re.search(r"(?s)```sh\n(.*?)```", section).group(1)
    config = re.search(r"(?s)```ini\n(.*?)```", section).group(1)
    lines = [shlex.join(shlex.split(line, comments=True)) for line in commands.splitlines()]
    # A glob must stay one.
    return [line.replace(f"'./{DEB}'", f"./{DEB}") for line in lines if line], config


def follow(lab, host, commands, config):
    """Type every line; the editor is the one step that a script does in another way."""
    for line in commands:
        if line.startswith("editor "):
            assert line == f"editor {CONFIG}"
            lab.exec(host, f"cat >> {CONFIG}", stdin=config)
        elif line.startswith("rdma-pingmesh status"):
            wait_reachable(lab, host)
        elif line.startswith("apt-get "):
            lab.exec(host, f"cd /root && {line} -y", timeout=120)
        else:
            lab.exec(host, line)


@pytest.mark.lab(bare=True)
def test_readme_installs_a_working_fabric(lab):
    commands, config = install_section()
    assert [line.split()[0] for line in commands] == [
        "apt-get",
        "editor",
        "systemctl",
        "rdma-pingmesh",
    ]
    (deb,) = (TOP / "build" / "deb").glob(DEB)
    for host in lab.hosts:
        assert lab.exec(host, "which rdma-pingmeshd", check=False).returncode != 0
        lab.push(host, deb, f"/root/{deb.name}")
        follow(lab, host, commands, config)
    for host in lab.hosts:
        wait_for(
            lambda host=host: lab.exec(host, commands[-1], check=False).returncode == 0,
            60,
            lambda host=host: lab.exec(host, commands[-1], check=False).stdout,
        )
        assert "2 of 2" in lab.exec(host, commands[-1]).stdout
