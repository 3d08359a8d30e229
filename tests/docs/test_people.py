"""What people read and type: manual pages, completion, and that both know every option there is.

Usage: test_people.py ROOT MAN_DIR RDMA-PINGMESH RDMA-PINGMESHD CONFIG_TOOL
"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = MAN = COMMAND = DAEMON = CONFIG_TOOL = None
PAGES = ("rdma-pingmesh.1", "rdma-pingmeshd.8", "rdma-pingmesh.conf.5")


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def options_in_help(program):
    return set(re.findall(r"--[a-z][a-z-]+", output(program, "--help")))


def page_text(page):
    """The page's source with its escapes undone."""
    return re.sub(r"\\(-)|\\&", r"\1", (MAN / page).read_text())


def complete(function, *words):
    """What bash offers after these words, the last one being typed."""
    script = f"""
        shopt -u expand_aliases
        . {ROOT}/etc/completion.bash
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        {function}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-u", "-c", script, "test", *words], capture_output=True,
                          text=True, check=True)
    assert not done.stderr, done.stderr
    return set(done.stdout.split())


class ManualPages(unittest.TestCase):
    def test_pages_have_no_fault_that_a_formatter_sees(self):
        checked = 0
        for page in PAGES:
            if shutil.which("mandoc"):
                done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", MAN / page],
                                      capture_output=True, text=True)
                self.assertEqual(done.stdout + done.stderr, "")
                checked += 1
            if shutil.which("groff"):
                done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", MAN / page],
                                      capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                checked += 1
        self.assertGreater(checked, 0, "neither mandoc nor groff is installed")

    def test_pages_tell_every_option_command_and_key(self):
        for program, page in ((COMMAND, "rdma-pingmesh.1"), (DAEMON, "rdma-pingmeshd.8")):
            text = page_text(page)
            for option in options_in_help(program):
                self.assertIn(option, text, f"{page} does not tell {option}")
        text = page_text("rdma-pingmesh.1")
        commands = re.findall(r"^  ([a-z]+) ", output(COMMAND, "--help"), re.M)
        self.assertGreater(len(commands), 8)
        for command in commands:
            self.assertRegex(text, rf"\n\.BI? (\")?{command}\b", f"'{command}' is not told")
        text = page_text("rdma-pingmesh.conf.5")
        for line in output(CONFIG_TOOL, "keys").splitlines():
            section, key, instance = line.split("\t")[:3]
            self.assertIn(f'.SH "[{section}{" NAME" if instance == "1" else ""}]"', text)
            self.assertIn(f"\n.B {key}\n", text)

    def test_pages_name_the_version(self):
        version = output(COMMAND, "--version").split()[1]
        for page in PAGES:
            self.assertIn(f'"rdma-pingmesh {version}"', (MAN / page).read_text())


class Operations(unittest.TestCase):
    def test_every_word_of_verdicts_and_books_is_explained(self):
        metrics = (ROOT / "docs" / "METRICS.md").read_text()
        told = (ROOT / "docs" / "OPERATIONS.md").read_text()
        rows = dict(re.findall(r"^\| `(cause|severity)` \| `([a-z_ ]+)`", metrics, re.M))
        words = rows["cause"].split() + rows["severity"].split()
        (states,) = re.findall(r"^\| `state` of a session \| `([a-z ]+)`", metrics, re.M)
        words += states.split()
        for name in ("failed", "aborted", "not_attempted"):
            row = re.search(rf"^\| `rdma_rail_probe_{name}_total` .*", metrics, re.M).group(0)
            words += max(re.findall(r"`([a-z_ ]+)`", row), key=len).split()
        self.assertGreater(len(words), 30)
        for word in set(words) - {"other"}:
            self.assertIn(f"`{word}`", told, f"docs/OPERATIONS.md does not explain '{word}'")
        for kind in re.findall(r"`([a-z]+):[A-Z]", metrics[metrics.index("| `subject`"):]):
            self.assertIn(f"`{kind}:", told)


class Completion(unittest.TestCase):
    def test_commands_are_offered_but_for_those_that_are_not_built(self):
        lines = re.findall(r"^  ([a-z]+) .*", output(COMMAND, "--help"), re.M)
        unbuilt = {line.split()[0] for line in output(COMMAND, "--help").splitlines()
                   if "not built" in line}
        self.assertEqual(complete("_rdma_pingmesh", "rdma-pingmesh", ""), set(lines) - unbuilt)
        self.assertEqual(complete("_rdma_pingmesh", "rdma-pingmesh", "re"), {"reload", "release"})
        self.assertEqual(complete("_rdma_pingmesh", "rdma-pingmesh", "--url", "x", "st"),
                         {"status"})
        self.assertEqual(complete("_rdma_pingmesh", "rdma-pingmesh", "--url", "=", "x", "st"),
                         {"status"})

    def test_every_option_is_offered(self):
        shown = complete("_rdma_pingmesh", "rdma-pingmesh", "events", "--")
        self.assertEqual(shown, options_in_help(COMMAND))
        self.assertNotIn("--since", complete("_rdma_pingmesh", "rdma-pingmesh", "peers", "--"))
        shown = complete("_rdma_pingmeshd", "rdma-pingmeshd", "--")
        self.assertEqual(shown, options_in_help(DAEMON))

    def test_devices_and_files_are_offered_where_they_belong(self):
        devices = {p.name for p in pathlib.Path("/sys/class/infiniband").glob("*")}
        self.assertEqual(complete("_rdma_pingmesh", "rdma-pingmesh", "release", ""), devices)
        self.assertIn("/etc/", {path + "/" for path in complete(
            "_rdma_pingmeshd", "rdma-pingmeshd", "--config", "/et")})
        self.assertEqual(complete("_rdma_pingmesh", "rdma-pingmesh", "status", ""), set())


if __name__ == "__main__":
    ROOT, MAN = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    COMMAND, DAEMON, CONFIG_TOOL = sys.argv[3:6]
    unittest.main(argv=sys.argv[:1])
