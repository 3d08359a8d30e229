"""Rules for Prometheus and the dashboard: promtool's cases, and that runbook and documents name the
same things.

Usage: prometheus_rules.py ROOT COUNTERS_TOOL
"""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

ROOT = TOOL = None
CASES = ("fires", "below", "clears", "restart")


def directory():
    return ROOT / "etc/prometheus"


def promtool(*words):
    done = subprocess.run(["promtool", *words], cwd=directory(), capture_output=True, text=True,
                          timeout=300)
    return done.returncode, done.stdout + done.stderr


def amtool(*words):
    done = subprocess.run(["amtool", *words], cwd=directory(), capture_output=True, text=True,
                          timeout=60)
    return done.returncode, done.stdout + done.stderr


def code(name):
    """A YAML file without its comments."""
    return re.sub(r"(?m)^\s*#.*\n", "", (directory() / name).read_text())


def alerts():
    """(name, text) of each alert."""
    text = code("rdma-pingmesh.rules.yml")
    return [(part.split("\n")[0], part) for part in text.split("- alert: ")[1:]]


def tests():
    """(name, text) of each group of cases."""
    return [(part.split("\n")[0], part)
            for name in ("rdma-pingmesh.test.yml", "rdma-pingmesh.day.test.yml")
            for part in code(name).split("  - name: ")[1:]]


def recorded():
    return re.findall(r"- record: (\S+)", code("rdma-pingmesh.recording.yml"))


def runbook():
    return (ROOT / "docs/RUNBOOK.md").read_text()


def dashboard():
    return json.loads((directory() / "rdma-pingmesh.dashboard.json").read_text())


def queries():
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]


def families():
    """What docs/METRICS.md tells, and what follows from the table of counters."""
    told = (ROOT / "docs/METRICS.md").read_text()
    names = set(re.findall(r"`((?:rdma|process)_[a-z0-9_]+)", told))
    rows = subprocess.check_output([TOOL, "rows"], text=True).splitlines()
    for source, name in (row.split("\t")[:2] for row in rows):
        prefix = "rdma_netdev_" if source == "ethtool" else "rdma_"
        names |= {f"{prefix}{name}", f"{prefix}{name}_total"}
    return names


def named(text):
    """The metrics that expressions name; of histograms and summaries the family."""
    found = re.findall(r"(?<![a-z0-9_:\"])(?:rdma|process)_[a-z0-9_]+(?![a-z0-9_:])", text)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in found}


def split_cases(directory_):
    """The cases by the groups of rules that they need: promtool evaluates all rules it is given for
    each case, which takes three times as long."""
    groups = re.split(r"(?m)^(?=  - name: )", code("rdma-pingmesh.rules.yml"))[1:]
    head, *cases = re.split(r"(?m)^(?=  - name: )", code("rdma-pingmesh.test.yml"))
    bundles = {}
    for case in cases:
        told = set(re.findall(r"\b(Rdma[A-Z]\w+)", case))
        needed = tuple(n for n, group in enumerate(groups)
                       if told & set(re.findall(r"- alert: (\w+)", group)))
        bundles.setdefault(needed, []).append(case)
    for number, (needed, some) in enumerate(bundles.items()):
        rules = directory_ / f"rules{number}.yml"
        rules.write_text("groups:\n" + "".join(groups[n] for n in needed))
        files = [str(rules)]
        if any(name in rules.read_text() for name in recorded()):
            files.append(str(directory() / "rdma-pingmesh.recording.yml"))
        test = directory_ / f"test{number}.yml"
        test.write_text(re.sub(r"(?m)^rule_files: .*", "rule_files: " + json.dumps(files[::-1]),
                               head) + "".join(some))
        yield str(test)


class Rules(unittest.TestCase):
    def test_rules_are_taken_by_promtool(self):
        status, text = promtool("check", "rules", "rdma-pingmesh.rules.yml",
                               "rdma-pingmesh.recording.yml")
        self.assertEqual(status, 0, text)

    def test_every_case_of_the_alerts_holds(self):
        with tempfile.TemporaryDirectory() as parts:
            files = [*split_cases(pathlib.Path(parts)), "rdma-pingmesh.day.test.yml"]
            self.assertGreater(len(files), 4)
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                for status, text in pool.map(lambda name: promtool("test", "rules", name), files):
                    self.assertEqual(status, 0, text)

    def test_every_alert_has_its_cases(self):
        groups = {}
        for name, text in tests():
            groups.setdefault(name.split(",")[0], []).append(text)
        self.assertEqual(set(groups), {name for name, _ in alerts()})
        for name, texts in groups.items():
            if name == "RdmaMonitoringAbsent":
                continue  # Nothing is there that could have a label.
            for case in CASES:
                self.assertTrue(any(f'"{case}' in text for text in texts), f"{name}: {case}")

    def test_every_alert_tells_whom_to_wake_and_what_to_read(self):
        names = [name for name, _ in alerts()]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreater(len(names), 30)
        for name, text in alerts():
            self.assertIn(f'runbook_url: "docs/RUNBOOK.md#{name.lower()}"', text)
            self.assertRegex(text, r"severity: (warning|critical)\b")
            self.assertIn("summary: ", text)

    def test_runbook_has_a_section_for_every_alert_and_no_other(self):
        parts = re.split(r"(?m)^## ", runbook())[1:]
        self.assertEqual([part.split("\n")[0] for part in parts], [name for name, _ in alerts()])
        for part in parts:
            for point in ("Means:", "Look:", "Network or host?", "Clears"):
                self.assertIn(f"* **{point}**", part)
        anchors = set(re.findall(r"(?m)^## (\w+)", runbook().lower()))
        for link in re.findall(r"\]\(#(\w+)\)", runbook()):
            self.assertIn(link, anchors)

    def test_alertmanager_names_alerts_that_exist(self):
        names = {name for name, _ in alerts()}
        told = set(re.findall(r"Rdma[A-Z]\w+", code("alertmanager.yml")))
        self.assertGreater(len(told), 10)
        self.assertEqual(told - names, set())

    def test_alertmanager_takes_its_file(self):
        status, said = amtool("check-config", "alertmanager.yml")
        self.assertEqual(status, 0, said)
        self.assertIn(f"{code('alertmanager.yml').count('- source_matchers:')} inhibit rules", said)

    def test_alertmanager_sends_each_alert_to_whom_its_severity_is_for(self):
        """In a copy in which each route has a receiver of its own."""
        text, receivers = code("alertmanager.yml").split("receivers:\n")
        names = ["others", "any", "critical", "warning"]
        self.assertEqual(text.count('receiver: "null"'), len(names))
        self.assertEqual(receivers.strip(), '- name: "null"')
        for name in names:
            text = text.replace('receiver: "null"', f"receiver: {name}", 1)
        text += "receivers:\n" + "".join(f"  - name: {name}\n" for name in names)
        wanted = [(name, severity, severity) for name, rule in alerts()
                  for severity in set(re.findall(r"severity: (\w+)", rule))]
        self.assertGreaterEqual(len(wanted), len(alerts()))
        wanted += [("RdmaOfMyOwn", "info", "any"), ("NodeDown", "critical", "others")]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write(text)
            file.flush()
            for name, severity, receiver in wanted:
                status, said = amtool("config", "routes", "test", f"--config.file={file.name}",
                                      f"--verify.receivers={receiver}", f"alertname={name}",
                                      f"severity={severity}")
                self.assertEqual(status, 0, f"{name} {severity}: {said}")


class Names(unittest.TestCase):
    def test_every_metric_that_is_named_is_documented(self):
        known = families()
        self.assertGreater(len(known), 300)
        texts = {"alerts": code("rdma-pingmesh.rules.yml"),
                 "recording rules": code("rdma-pingmesh.recording.yml"),
                 "runbook": "\n".join(re.findall(r"`([^`]+)`", runbook()))}
        texts |= {f"dashboard, {title}": expr for title, expr in queries()}
        for where, text in texts.items():
            unknown = named(text) - known
            self.assertEqual(unknown, set(), f"{where}: not in docs/METRICS.md")

    def test_rules_of_the_daemon_are_called_by_their_names(self):
        known = set(re.findall(r"(?m)^## (\w+)$", (ROOT / "docs/RULES.md").read_text()))
        self.assertGreater(len(known), 10)
        for words in re.findall(r'rdma_rule_state_id\{rule=~?"([a-z_|]+)"',
                                code("rdma-pingmesh.rules.yml")):
            self.assertEqual(set(words.split("|")) - known, set())

    def test_every_recorded_series_is_documented_and_used(self):
        told = (ROOT / "docs/METRICS.md").read_text()
        used = code("rdma-pingmesh.rules.yml") + "".join(expr for _, expr in queries())
        used += "".join(text for text in code("rdma-pingmesh.recording.yml").split("- record: "))
        for name in recorded():
            self.assertIn(f"`{name}`", told)
            self.assertGreater(used.count(name), 1, name)
        for name in re.findall(r"[a-z_]+:rdma_[a-z0-9_]+:[a-z0-9_]+", used):
            self.assertIn(name, recorded())


class Dashboard(unittest.TestCase):
    def test_panels_are_whole(self):
        panels = dashboard()["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        variables = {v["name"] for v in dashboard()["templating"]["list"]} | {"__rate_interval"}
        cells = set()
        for panel in panels:
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24)
            mine = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                    for y in range(at["y"], at["y"] + at["h"])}
            self.assertFalse(mine & cells, f"{panel['title']} covers another panel")
            cells |= mine
            if panel["type"] != "row":
                self.assertTrue(panel["targets"], panel["title"])
        for title, expr in queries():
            self.assertTrue(set(re.findall(r"\$(\w+)", expr)) <= variables, title)


if __name__ == "__main__":
    # Programs run in a directory of the tree.
    ROOT, TOOL = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
