"""What every scenario relies on: one lab that is healthy when it begins and when it ends.

A scenario asks for the fixture "lab" and gets three hosts; another lab by a mark:

    @pytest.mark.lab(rails=2)        also hosts=, kernel=, bare=
    @pytest.mark.limit(300)          seconds that it may take; 240 without

Those marked "long" take many minutes: they run with --long, which runs nothing else.

With --kernel 6.1 (or 6.12) every scenario runs on guests with that kernel, but those whose mark
states the other one.

A scenario that fails is run once more on a fresh lab. If it passes then it counts as passed and is
listed as flaky at the end. The evidence of each failure is in build/lab/failures/.

With --labs=2 two run at a time, each in a lab of its own (sharing.py).
"""

import dataclasses
import itertools
import os
import re
import shutil
import signal

import pytest
from _pytest.runner import runtestprotocol

import healing
import sharing
from labtools import TOP, Lab, Options

DEFAULT_LIMIT_S = 240
KERNELS = ("6.1", "6.12")
FAILURES = TOP / "build" / "lab" / "failures"

the_lab = Lab()
flaky = []


def options_of(item):
    mark = item.get_closest_marker("lab")
    options = Options(**(mark.kwargs if mark else {}))
    kernel = item.config.getoption("--kernel")
    return dataclasses.replace(options, kernel=kernel) if kernel else options


def default_options(config):
    return Options(kernel=config.getoption("--kernel") or Options.kernel)


def is_for_kernel(item, kernel):
    mark = item.get_closest_marker("lab")
    return not mark or mark.kwargs.get("kernel", kernel) == kernel


def uses_lab(item):
    return "lab" in getattr(item, "fixturenames", ())


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="the scenarios that take very long")
    parser.addoption("--labs", type=int, default=1, help="how many labs there are at a time")
    parser.addoption("--kernel", choices=KERNELS, help="the kernel of all guests")


def pytest_configure(config):
    config.addinivalue_line("markers", "lab(hosts, rails, kernel, bare): the lab that is needed")
    config.addinivalue_line("markers", "long: only when asked for by --long")
    config.addinivalue_line("markers", "limit(seconds): how long the scenario may take")
    shutil.rmtree(FAILURES, ignore_errors=True)
    # However the run is ended, the guests must not stay.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    kernel, long = config.getoption("--kernel"), config.getoption("--long")
    items[:] = [item for item in items if bool(item.get_closest_marker("long")) == long]
    if kernel:
        items[:] = [item for item in items if is_for_kernel(item, kernel)]
    # Scenarios that can share a lab follow each other: each change of it costs half a minute.
    default = default_options(config)
    items.sort(key=lambda item: (options_of(item) != default, str(options_of(item))))


def group_of(item):
    """What one lab is to run in a row: a file's scenarios, or all that need another lab."""
    options = options_of(item)
    return options, item.path if options == default_options(item.config) else None


def pytest_runtestloop(session):
    labs = session.config.getoption("--labs")
    if labs < 2 or session.testsfailed or session.config.option.collectonly:
        return None  # pytest's own
    groups = [list(items) for _, items in itertools.groupby(session.items, group_of)]
    found = {"flaky": flaky, "healing": healing.measured}
    sharing.run(session, groups, labs, the_lab, found)
    return True


@pytest.fixture
def lab(request):
    """The running lab: healthy before; a scenario that leaves it otherwise has an error."""
    the_lab.require(options_of(request.node))
    yield the_lab
    report = getattr(request.node, "call_report", None)
    if report and report.passed and the_lab.options and not the_lab.options.bare:
        the_lab.wait_healthy()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if call.when == "call":
        item.call_report = report
    if report.failed and uses_lab(item) and the_lab.options:
        the_lab.save_evidence(FAILURES / re.sub(r"\W+", "-", item.nodeid))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    mark = item.get_closest_marker("limit")
    limit = mark.args[0] if mark else DEFAULT_LIMIT_S

    def give_up(_signal, _frame):
        raise AssertionError(f"the scenario took longer than {limit} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(limit)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def run_once(item, nextitem):
    item.call_report = None
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    return reports, [report for report in reports if report.failed]


def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports, failed = run_once(item, nextitem)
    if failed and uses_lab(item):
        the_lab.down()
        reports, failed_again = run_once(item, nextitem)
        if failed_again:
            the_lab.down()
        else:
            flaky.append((item.nodeid, str(failed[0].longrepr)))
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_sessionfinish():
    the_lab.down()
    if healing.measured:
        healing.write()


def pytest_terminal_summary(terminalreporter):
    if healing.measured:
        healing.show(terminalreporter)
    unit_tests = os.environ.get("CHECK_FLAKY", "").split()
    if not flaky and not unit_tests:
        return
    terminalreporter.section("flaky: failed once, passed when run again")
    for name in unit_tests:
        terminalreporter.line(f"FLAKY {name}")
    for nodeid, text in flaky:
        terminalreporter.line(f"FLAKY {nodeid}")
        terminalreporter.line(text)
