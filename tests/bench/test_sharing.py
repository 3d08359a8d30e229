"""Scenarios shared out among labs, with the lab's own sharing.py and labs that are none.

Usage: test_sharing.py ROOT
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
MOST_S = 90  # on a machine that has much else to do

LABTOOLS = """
class Lab:
    def __init__(self, port_base):
        self.port_base = port_base

    def down(self):
        print("down", self.port_base, file=open("diary", "a"))
"""

CONFTEST = """
import itertools, labtools, pytest, sharing
the_lab, found = labtools.Lab(20000), {"seen": []}

def pytest_runtestloop(session):
    groups = [list(items) for _, items in itertools.groupby(session.items, lambda item: item.path)]
    sharing.run(session, groups, 2, the_lab, found)
    return True

def pytest_terminal_summary(terminalreporter):
    for line in sorted(found["seen"]):
        terminalreporter.line("seen " + line)

@pytest.fixture
def here(request):
    found["seen"].append(f"{request.node.name} {the_lab.port_base}")
"""

# Each of the outer two waits for the other: nobody gets on unless both run at a time.
FILES = {
    "test_a.py": """
import pathlib, time
def test_meets(here):
    pathlib.Path("a").touch()
    end = time.monotonic() + 60
    while not pathlib.Path("c").exists():
        assert time.monotonic() < end
        time.sleep(0.01)
def test_fails(here):
    print("words of a")
    assert False
""",
    "test_b.py": "def test_between(here): pass\n",
    "test_c.py": """
import pathlib, time
def test_meets_too(here):
    pathlib.Path("c").touch()
    end = time.monotonic() + 60
    while not pathlib.Path("a").exists():
        assert time.monotonic() < end
        time.sleep(0.01)
def test_fails_too(here):
    print("words of c")
    assert False
""",
}
SLOW = """
import pathlib, time
def test_slow():
    pathlib.Path(__file__ + ".begun").touch()
    time.sleep(1000)
"""


class Sharing(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)
        self.write({"labtools.py": LABTOOLS, "conftest.py": CONFTEST})
        self.write({"sharing.py": (ROOT / "tests/lab/sharing.py").read_text()})

    def write(self, files):
        for name, text in files.items():
            (self.dir / name).write_text(text)

    def begin(self):
        words = [sys.executable, "-B", "-m", "pytest", "-v", "-p", "no:cacheprovider", "."]
        environment = dict(os.environ, PYTHONPATH=str(self.dir))
        environment.pop("PYTEST_ADDOPTS", None)
        runner = subprocess.Popen(
            words,
            cwd=self.dir,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.addCleanup(self.end, runner)
        return runner

    def end(self, runner):
        """Also of what it has left."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(runner.pid, signal.SIGKILL)
        runner.stdout.close()
        runner.wait()

    def run_all(self):
        runner = self.begin()
        output = runner.communicate(timeout=MOST_S)[0]
        return runner.returncode, output

    def downs(self):
        lines = (self.dir / "diary").read_text().splitlines()
        return {line.removeprefix("down ") for line in lines}

    def test_two_run_at_a_time_and_the_runner_tells_all_of_it(self):
        self.write(FILES)
        status, output = self.run_all()
        self.assertEqual(status, 1, output)
        self.assertIn("2 failed, 3 passed", output.splitlines()[-1])
        labs = dict(line.split()[1:] for line in output.splitlines() if line.startswith("seen "))
        self.assertEqual(len(labs), 5, output)
        self.assertEqual(labs["test_meets"], labs["test_fails"])
        self.assertEqual(labs["test_meets_too"], labs["test_fails_too"])
        self.assertEqual({labs["test_meets"], labs["test_meets_too"]}, {"20000", "20100"})
        # Each with its own words, which are the captured ones.
        parts = re.split(r"_{3,} (test_fails\w*) _{3,}|={3,} short test summary", output)
        told = {name: text for name, text in zip(parts[1::2], parts[2::2]) if name}
        for name, own, other in (("test_fails", "a", "c"), ("test_fails_too", "c", "a")):
            self.assertRegex(told[name], f"Captured stdout call -+\nwords of {own}\n")
            self.assertNotIn(f"words of {other}\n", told[name])
        self.assertEqual(self.downs(), {"20000", "20100"})

    def test_one_that_dies_or_gives_up_ends_the_run(self):
        for deed, word in (("__import__('os')._exit(0)", "its process ended"),
                           ("__import__('pytest').exit('too often')", "too often")):
            self.write({"test_a.py": SLOW, "test_b.py": f"def test_b(): {deed}\n"})
            begin = time.monotonic()
            status, output = self.run_all()
            self.assertEqual(status, 1, output)
            self.assertIn(word, output)
            self.assertLess(time.monotonic() - begin, MOST_S)
            self.assertEqual(self.downs(), {"20000", "20100"})

    def test_an_interrupt_ends_all_of_it(self):
        self.write({"test_a.py": SLOW, "test_b.py": SLOW})
        runner = self.begin()
        end = time.monotonic() + MOST_S
        while len(list(self.dir.glob("*.begun"))) < 2:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        runner.send_signal(signal.SIGINT)
        output = runner.communicate(timeout=MOST_S)[0]  # all that write there have ended
        self.assertEqual(runner.returncode, 2, output)
        self.assertEqual(self.downs(), {"20000", "20100"})


if __name__ == "__main__":
    unittest.main()
