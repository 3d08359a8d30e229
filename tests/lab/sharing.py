"""Scenarios shared out among labs: --labs=2 runs two at a time, each in a lab of its own.

The runner collects and forks, once for each lab. A child asks for groups of scenarios, runs each in
its main thread (signals and alarms work there alone) and tells its reports, which the runner takes
as its own. The first child takes groups from the front, the others from the end: so labs that few
scenarios need are brought up by one child, one after the other.
"""

import collections
import multiprocessing
import os
import signal
import sys
import types
from multiprocessing import connection

import pytest

from labtools import Lab

PORTS_OF_A_LAB = 100


class Teller:
    """In a child, in place of the terminal: passes on what pytest tells of scenarios."""

    def __init__(self, config, pipe):
        self.config = config
        self.pipe = pipe

    def pytest_runtest_logstart(self, nodeid, location):
        self.pipe.send(("start", nodeid, location))

    def pytest_runtest_logreport(self, report):
        hook = self.config.hook
        data = hook.pytest_report_to_serializable(config=self.config, report=report)
        self.pipe.send(("report", data))

    def pytest_runtest_logfinish(self, nodeid, location):
        self.pipe.send(("finish", nodeid, location))


def begin_child(config, pipe):
    """What a forked pytest must not share with the runner: its terminal, what it captures to."""
    plugins = config.pluginmanager
    plugins.unregister(plugins.getplugin("terminalreporter"))
    plugins.register(Teller(config, pipe))
    capture = plugins.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()


def run_groups(session, groups, pipe):
    pipe.send(("idle",))
    while (number := pipe.recv()) is not None:
        items = groups[number]
        for item, following in zip(items, [*items[1:], None]):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        pipe.send(("idle",))


def child_main(session, groups, pipe, lab, found):
    """A child's whole life. found: lists that scenarios add to, for the runner."""
    begin_child(session.config, pipe)
    try:
        run_groups(session, groups, pipe)
        pipe.send(("found", found))
    except pytest.exit.Exception as error:
        pipe.send(("give up", str(error)))
    finally:
        # The runner insists.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        lab.down()


def fork(number, session, groups, lab, found):
    """The runner's end of the pipe, and the process."""
    here, there = multiprocessing.Pipe()
    pid = os.fork()
    if pid:
        there.close()
        return here, pid
    try:
        here.close()
        lab.port_base += PORTS_OF_A_LAB * number
        child_main(session, groups, there, lab, found)
    except (KeyboardInterrupt, OSError):
        pass  # the runner ends, or has ended
    finally:
        os._exit(0)


def told_by(name):
    """By this the terminal knows that several run, and which of them tells a report."""
    info = {"id": name, "sysplatform": sys.platform, "executable": sys.executable}
    info["version_info"] = sys.version_info
    return types.SimpleNamespace(gateway=types.SimpleNamespace(id=name), workerinfo=info)


class Runner:
    """The runner's side."""

    def __init__(self, session, groups, found):
        self.session = session
        self.config = session.config
        self.groups = groups
        self.left = collections.deque(range(len(groups)))
        self.found = found
        self.children = {}  # pipe: number
        self.pids = []

    def fork(self, labs, lab):
        for number in range(labs):
            pipe, pid = fork(number, self.session, self.groups, lab, self.found)
            self.children[pipe] = number
            self.pids.append(pid)

    def next_group(self, number):
        if not self.left or self.session.shouldfail or self.session.shouldstop:
            return None
        return self.left.popleft() if number == 0 else self.left.pop()

    def take_report(self, number, data):
        hook = self.config.hook
        report = hook.pytest_report_from_serializable(config=self.config, data=data)
        report.node = told_by(f"lab{number + 1}")
        hook.pytest_runtest_logreport(report=report)

    def take(self, pipe, kind, *rest):
        hook, number = self.config.hook, self.children[pipe]
        if kind == "idle":
            pipe.send(self.next_group(number))
        elif kind == "start":
            hook.pytest_runtest_logstart(nodeid=rest[0], location=rest[1])
        elif kind == "report":
            self.take_report(number, rest[0])
        elif kind == "finish":
            hook.pytest_runtest_logfinish(nodeid=rest[0], location=rest[1])
        elif kind == "give up":
            pytest.exit(rest[0], returncode=1)
        else:
            for name, more in rest[0].items():
                self.found[name].extend(more)
            del self.children[pipe]

    def serve(self):
        """Until every child has said what it found."""
        while self.children:
            for pipe in connection.wait(list(self.children)):
                try:
                    message = pipe.recv()
                except EOFError:
                    pytest.exit(f"lab {self.children[pipe] + 1}: its process ended", returncode=1)
                self.take(pipe, *message)

    def end(self):
        for pid in self.pids:
            os.kill(pid, signal.SIGTERM)
        for pid in self.pids:
            os.waitpid(pid, 0)


def run(session, groups, labs, lab, found):
    """In place of pytest's own loop over session.items."""
    runner = Runner(session, groups, found)
    try:
        runner.fork(labs, lab)
        runner.serve()
    finally:
        runner.end()
        for number in range(labs):  # one that died has left it
            Lab(lab.port_base + PORTS_OF_A_LAB * number).down()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
