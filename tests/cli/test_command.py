"""What rdma-pingmesh prints and how it exits, against a server that answers as told.

Usage: test_command.py PATH-OF-RDMA-PINGMESH
"""

import fcntl
import http.server
import json
import os
import pty
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

PROGRAM = None
NOW = 1796000000.0


def envelope(**members):
    return {"schema": 1, "timestamp": NOW, "snapshot_age_seconds": 0.1,
            "instance": "00000000000000aa", **members}


def status(verdict, **members):
    return envelope(**{"host": "host1", "version": "0.1.0", "uptime_seconds": 3700.5,
                       "verdict": verdict, "cause": "none", "reason": "",
                       "sessions": {"up": 2, "total": 2}, "rails": {"up": 1, "total": 1},
                       **members})


def peer(**members):
    op = {"p50_seconds": 0.000312, "p99_seconds": 0.0021}
    return {"peer": "host2", "rail": "rxe0", "peer_rail": "rxe0", "class": "default",
            "address": "10.99.0.2", "state": "up", "verdict": "ok", "verdict_since": NOW - 65,
            "cause": "none", "reason": "", "loss_ratio": 0.0, "window_seconds": 60,
            "ops": {"send": op, "ack": op, "read": op}, **members}


def event(seq, text):
    return {"seq": seq, "timestamp": NOW, "kind": "verdict", "device": "", "rail": "rxe0",
            "peer": "host2", "text": text}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        answer = self.server.answers.get(self.path.split("?")[0])
        if callable(answer):
            answer = answer(self)
        if answer is None:
            answer = (404, {"schema": 1, "error": {"code": "not_found", "message": "no such path"}})
        if isinstance(answer, dict):
            answer = (200, answer)
        code, body = answer
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        try:
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # the client had enough

    def log_message(self, *args):
        pass


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.asked = []
        self.server.answers = {"/api/v1/findings": envelope(findings=[])}
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, body):
        self.server.answers[f"/api/v1/{path}"] = body

    def run_command(self, *args, url=None, env=None):
        return subprocess.run([PROGRAM, *args, "--url", url or self.url], capture_output=True,
                              text=True, timeout=30, env=env)

    # --- exit codes ---

    def test_status_exits_by_the_hosts_verdict(self):
        for verdict, code in (("ok", 0), ("degraded", 1), ("unknown", 1), ("failing", 2),
                              ("something new", 1)):
            self.answer("status", status(verdict))
            for args in (["status"], ["status", "--json"]):
                self.assertEqual(self.run_command(*args).returncode, code, (verdict, args))

    def test_nobody_listening_is_3_and_says_what_to_look_at(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{s.getsockname()[1]}"
        for command in ("status", "peers", "devices", "events"):
            done = self.run_command(command, url=url)
            self.assertEqual(done.returncode, 3)
            self.assertEqual(done.stdout, "")
            self.assertIn("is rdma-pingmeshd running", done.stderr)
            self.assertIn(url, done.stderr)

    def test_a_server_that_never_answers_is_3_after_five_seconds(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            begun = time.monotonic()
            done = self.run_command("status", url=f"http://127.0.0.1:{s.getsockname()[1]}")
            took = time.monotonic() - begun
        self.assertEqual(done.returncode, 3)
        self.assertIn("no answer in 5 s", done.stderr)
        self.assertTrue(4 < took < 10, took)

    def test_a_wrong_command_line_is_64(self):
        for args in ([], ["nonsense"], ["status", "--nonsense"], ["status", "peers"],
                     ["release"], ["acquire"], ["release", "rxe0", "rxe1"], ["reload", "rxe0"],
                     ["peers", "--since", "3"], ["events", "--since", "x"], ["events", "--since"]):
            done = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 64, args)
            self.assertIn("--help", done.stderr)
        done = self.run_command("status", url="ftp://host1/")
        self.assertEqual(done.returncode, 64)
        self.assertIn("http://", done.stderr)

    def test_the_environment_may_say_where_the_daemon_is(self):
        self.answer("status", status("ok"))
        for words, env in (([], {"RDMA_PINGMESH_URL": self.url + "/"}),
                           (["--url", self.url], {"RDMA_PINGMESH_URL": "http://127.0.0.1:1"})):
            done = subprocess.run([PROGRAM, "status", *words], env=env, capture_output=True,
                                  text=True, timeout=30)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_command("status", env={"RDMA_PINGMESH_URL": "host1"})
        self.assertEqual(done.returncode, 64)
        self.assertIn("RDMA_PINGMESH_URL 'host1'", done.stderr)

    # --- check ---

    def test_check_is_one_line_with_figures_and_then_the_findings(self):
        for verdict, word, code in (("ok", "OK", 0), ("degraded", "WARNING", 1),
                                    ("unknown", "WARNING", 1), ("failing", "CRITICAL", 2)):
            self.answer("status", status(verdict, reason="" if verdict == "ok" else "a|b\nc"))
            done = self.run_command("check")
            self.assertEqual(done.returncode, code)
            first, *rest = done.stdout.splitlines()
            text, figures = first.split(" | ")
            self.assertTrue(text.startswith(f"RDMA {word} - host1 is {verdict}: "), text)
            self.assertEqual("a/b?c; 2 of 2 sessions" in text, verdict != "ok", text)
            self.assertEqual(figures, "sessions_up=2;;;0;2 rails_up=1;;;0;1")
            self.assertEqual(rest, [])
        self.answer("findings", envelope(findings=[
            {"severity": "critical", "subject": "port:rxe0/1", "cause": "local_port",
             "since": NOW, "text": "down | out"}]))
        self.assertIn("\ncritical port:rxe0/1 local_port since 2026-", self.run_command("check").stdout)
        self.assertIn("down / out", self.run_command("check").stdout)

    def test_check_of_a_daemon_that_does_not_answer_is_3_and_says_so_on_stdout(self):
        done = self.run_command("check", url="http://127.0.0.1:1")
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stdout.startswith("RDMA UNKNOWN - "), done.stdout)
        self.answer("status", envelope(odd=1))
        self.assertEqual(self.run_command("check").returncode, 3)
        self.assertEqual(self.run_command("check", "--json", url="http://127.0.0.1:1").stdout, "")

    # --- a host without peers ---

    def test_status_of_a_host_without_peers_shows_what_to_paste_for_the_others(self):
        self.answer("status", status("unknown", sessions={"up": 0, "total": 0}))
        gid = {"index": 1, "gid": "0000:0000:0000:0000:0000:ffff:0a63:0001", "type": "rocev2",
               "netdev": "eth0"}
        port = {"port": 1, "rail": "rxe0", "address": "10.99.0.1", "netdev": "eth0", "gids": [gid]}
        self.answer("devices", envelope(devices=[
            {"device": "rxe0", "ports": [port]},
            {"device": "rxe1", "ports": [{**port, "rail": "blue", "address": "fe80::1%eth1"}]},
            {"device": "idle0", "ports": [{**port, "rail": None, "address": None}]}]))
        lines = self.run_command("status").stdout.splitlines()
        self.assertIn("peer = host1/rxe0 10.99.0.1", lines)
        self.assertIn("#peer = host1/blue fe80::1%INTERFACE-THERE", lines)
        self.assertNotIn("idle0", " ".join(lines))
        (row,) = [line.split() for line in lines if line.startswith("rxe0")]
        self.assertEqual(row, ["rxe0", "rxe0", "1", "eth0", "10.99.0.1", gid["gid"], "rocev2"])
        self.answer("devices", envelope(devices=[{"device": "idle0", "ports": []}]))
        self.assertIn("No port of this host is a rail", self.run_command("status").stdout)
        self.answer("status", status("ok"))
        self.assertNotIn("peer =", self.run_command("status").stdout)

    # --- terminals ---

    def on_terminal(self, *args, columns=80, env=None):
        """What appears on a terminal of that width."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        done = subprocess.run([PROGRAM, *args, "--url", self.url], stdout=slave,
                              env={"TERM": "xterm", **(env or {})}, timeout=30)
        os.close(slave)
        text = b""
        try:
            while chunk := os.read(master, 65536):
                text += chunk
        except OSError:
            pass  # the end of a terminal
        os.close(master)
        return done.returncode, text.decode().replace("\r\n", "\n")

    def test_colours_are_for_terminals_alone_and_not_for_all_of_them(self):
        self.answer("status", status("failing"))
        self.answer("peers", envelope(peers=[peer(verdict="degraded")]))
        self.assertIn("\x1b[1;31mfailing\x1b[0m", self.on_terminal("status")[1])
        self.assertIn("\x1b[33mdegraded\x1b[0m", self.on_terminal("peers")[1])
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b", self.on_terminal("status", env=env)[1])
        self.assertNotIn("\x1b", self.run_command("status").stdout)
        self.assertNotIn("\x1b", self.run_command("peers").stdout)

    def test_table_fits_the_terminal_and_is_whole_elsewhere(self):
        self.answer("peers", envelope(peers=[peer(peer=60 * "x")]))
        for columns in (90, 110):
            _, text = self.on_terminal("peers", columns=columns, env={"NO_COLOR": "1"})
            self.assertTrue(all(len(line) <= columns for line in text.splitlines()), text)
            self.assertIn("xx\u2026", text)
        self.assertIn(60 * "x", self.run_command("peers").stdout)

    # --- the control socket ---

    def control(self, answer):
        """A socket that answers one request with these bytes; (path, list of what was asked)."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path, asked = folder.name + "/control", []
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(listener.close)
        listener.bind(path)
        listener.listen()

        def serve():
            connection, _ = listener.accept()
            asked.append(connection.recv(1000))
            if answer:
                connection.send(answer)
            connection.close()

        threading.Thread(target=serve, daemon=True).start()
        return path, asked

    def test_reload_release_and_acquire_ask_the_control_socket(self):
        for words in (["reload"], ["release", "rxe0"], ["acquire", "rxe0"]):
            text = json.dumps({"schema": 1, "ok": True, "messages": ["done", "evil \x1b[2J"]})
            path, asked = self.control(text.encode())
            done = self.run_command(*words, "--control", path)
            self.assertEqual((done.returncode, done.stdout), (0, "done\nevil ?[2J\n"), done.stderr)
            self.assertEqual(asked, [" ".join(words).encode()])

    def test_what_the_daemon_refuses_is_3_with_its_words(self):
        path, _ = self.control(b'{"schema":1,"ok":false,"messages":["a.conf:3: no"]}')
        done = self.run_command("reload", "--control", path)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("a.conf:3: no", done.stderr)
        path, _ = self.control(b'{"schema":1,"ok":false,"messages":["a.conf:3: no"]}')
        done = self.run_command("reload", "--json", "--control", path)
        self.assertEqual(done.returncode, 3)
        self.assertFalse(json.loads(done.stdout)["ok"])

    def test_no_daemon_or_no_answer_at_the_control_socket_is_3_and_says_why(self):
        for answer, words in ((b"", "closed without an answer"), (b"nonsense", "makes no sense"),
                              (b'{"schema":2,"ok":true}', "makes no sense")):
            path, _ = self.control(answer)
            done = self.run_command("reload", "--control", path)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertIn(words, done.stderr)
        done = self.run_command("reload", "--control", "/nonexistent/control")
        self.assertEqual(done.returncode, 3)
        self.assertIn("is rdma-pingmeshd running", done.stderr)
        done = self.run_command("reload", "--control", "/" + 200 * "x")
        self.assertEqual(done.returncode, 3)
        self.assertIn("at most 107 bytes", done.stderr)

    def test_what_is_not_built_says_so(self):
        for command in ("mesh",):
            done = self.run_command(command)
            self.assertEqual(done.returncode, 64)
            self.assertIn(f"'{command}' is not built yet", done.stderr)
        self.assertEqual(self.server.asked, [])

    def test_help_and_version_need_no_daemon(self):
        for flag in ("--help", "--version"):
            done = subprocess.run([PROGRAM, flag], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 0)
            self.assertIn("rdma-pingmesh", done.stdout)

    def test_output_that_cannot_be_written_is_not_success(self):
        self.answer("status", status("ok"))
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PROGRAM, "status", "--url", self.url], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=30)
        self.assertEqual(done.returncode, 3)

    # --- what people read ---

    def test_status_names_what_is_wrong(self):
        self.answer("status", status("degraded", cause="remote_host",
                                     reason="the host host2 stopped answering"))
        self.answer("findings", envelope(findings=[
            {"cause": "remote_host", "severity": "warning", "subject": "peer:host2", "since": NOW,
             "text": "the host host2 stopped answering", "evidence": []}]))
        done = self.run_command("status")
        self.assertIn("host1: degraded (remote_host), rdma-pingmeshd 0.1.0, up 1h01m", done.stdout)
        self.assertIn("sessions 2 of 2 up, rails 1 of 1 up", done.stdout)
        self.assertIn("warning peer:host2 remote_host since 2026-", done.stdout)

    def test_status_tells_the_evidence_and_what_is_critical_first(self):
        def finding(severity, subject, *evidence):
            return {"cause": "local_nic", "severity": severity, "subject": subject, "since": NOW,
                    "text": "something", "evidence": [
                        dict(zip(("name", "value", "threshold", "window_seconds"), e))
                        for e in evidence]}
        self.answer("status", status("failing", cause="local_nic", reason="something"))
        self.answer("findings", envelope(findings=[
            finding("warning", "port:a/1", ("lost", 120, 100, 60), ("share", 0.012345, None, 0),
                    ("rate", 123456.7, None, 0)),
            finding("critical", "port:b/1", ("name\x1b[2J", 1e300, None, None), ("unknown", None))
            | {"rule": "link_errors"}]))
        lines = self.run_command("status").stdout.splitlines()[3:]
        # By its name the rule is found in docs/RULES.md.
        self.assertTrue(lines[0].startswith("critical port:b/1 local_nic (link_errors) since 2026-"))
        self.assertEqual(lines[1], "  name?[2J 1e+300")
        self.assertTrue(lines[2].startswith("warning port:a/1 local_nic since 2026-"))
        self.assertEqual(lines[3:], ["  lost 120 (threshold 100) in 1m00s", "  share 0.0123",
                                     "  rate 123457"])

    def test_status_stands_without_findings(self):
        self.answer("status", status("unknown", reason="nothing is measured yet"))
        for findings in ((500, b"oops"), envelope(findings=[]), envelope(findings=7)):
            self.answer("findings", findings)
            done = self.run_command("status")
            self.assertEqual(done.returncode, 1)
            self.assertIn("host1: unknown", done.stdout)
            self.assertIn("nothing is measured yet", done.stdout)

    def test_peers_are_a_table_with_reasons_below(self):
        self.answer("peers", envelope(peers=[
            peer(),
            peer(peer="host3", verdict="failing", cause="inconclusive", state="backoff",
                 reason="host3 is silent", loss_ratio=0.25, ops={"send": {"p50_seconds": None}}),
        ], next_cursor=None))
        lines = self.run_command("peers").stdout.splitlines()
        self.assertEqual(lines[0].split(), ["PEER", "RAIL", "STATE", "VERDICT", "CAUSE", "FOR",
                                            "LOSS", "SEND", "p50/p99", "READ", "p50/p99"])
        self.assertEqual(lines[1].split(), ["host2", "rxe0", "up", "ok", "-", "1m05s", "0.0%",
                                            "312us/2.1ms", "312us/2.1ms"])
        self.assertEqual(lines[2].split(), ["host3", "rxe0", "backoff", "failing", "inconclusive",
                                            "1m05s", "25.0%", "-", "-"])
        self.assertEqual(lines[-1], "host3 on rxe0: host3 is silent")
        self.assertTrue(all(len(line) <= 100 for line in lines))

    def test_columns_appear_when_they_say_something(self):
        self.answer("peers", envelope(peers=[peer(peer_rail="rxe1", **{"class": "bulk"})]))
        title = self.run_command("peers").stdout.splitlines()[0]
        self.assertIn("PEER-RAIL", title)
        self.assertIn("CLASS", title)
        self.assertNotIn("WRITE", title)

    def test_devices_are_a_line_a_port(self):
        port = {"port": 1, "rail": "rxe0", "netdev": "eth0", "link_layer": "Ethernet",
                "state": "ACTIVE", "phys_state": "LinkUp", "rate_bytes_per_second": 312500000,
                "verdict": "degraded", "reason": "its link flaps",
                "facts": {"expected_rate_bytes_per_second": 312500000},
                "gids": [], "counters": {}}
        slow = {**port, "port": 2, "reason": "",
                "facts": {"expected_rate_bytes_per_second": 12500000000}}
        self.answer("devices", envelope(devices=[
            {"device": "rxe0", "verdict": "ok", "cause": "none", "reason": "",
             "worker": {"state": "up", "since": NOW - 10, "restarts": 2}, "counters": {},
             "ports": [port, slow]},
            {"device": "rxe1", "verdict": "unknown", "cause": "monitor", "reason": "stuck",
             "worker": {"state": "stuck", "since": NOW - 3, "restarts": 0}, "counters": {},
             "ports": []}]))
        lines = self.run_command("devices").stdout.splitlines()
        self.assertEqual(lines[1].split(), ["rxe0", "ok", "up", "10s", "2", "1", "rxe0", "eth0",
                                            "Ethernet", "ACTIVE", "2.5", "Gb/s", "degraded"])
        self.assertIn(" 2.5 of 100 Gb/s ", lines[2])
        self.assertEqual(lines[3].split()[:5], ["rxe1", "unknown", "stuck", "3s", "0"])
        self.assertEqual(lines[-2:], ["rxe0 port 1: its link flaps", "rxe1: stuck"])

    def test_events_are_read_from_where_they_are_asked(self):
        self.answer("events", envelope(first_seq=5, last_seq=7, events=[
            event(6, "ok -> degraded"), event(7, "degraded -> failing")]))
        done = self.run_command("events", "--since", "5")
        self.assertEqual(self.server.asked, ["/api/v1/events?since=5"])
        self.assertRegex(done.stdout, r"(?m)^6 2026-\S+ \S+ verdict rail=rxe0 peer=host2: ok -> deg")
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)

    def test_events_that_left_the_journal_are_counted(self):
        self.answer("events", envelope(first_seq=10, last_seq=10, events=[event(10, "x")]))
        self.assertIn("6 events are no longer", self.run_command("events", "--since", "3").stderr)

    def test_events_follow_on_and_over_a_restart(self):
        asked = []

        def answers(handler):
            asked.append(handler.path)
            body = envelope(first_seq=1, last_seq=1, events=[])
            if len(asked) == 1:
                body["events"] = [event(41, "before")]
            else:
                body["instance"] = "00000000000000bb"
            if len(asked) == 3:
                body["events"] = [event(1, "after")]
            return body if len(asked) < 4 else (503, b"")

        self.answer("events", answers)
        done = self.run_command("events", "--follow")
        self.assertEqual([path.split("=")[1] for path in asked], ["0", "41", "0", "1"])
        self.assertIn("before", done.stdout)
        self.assertIn("after", done.stdout)
        self.assertEqual(done.returncode, 3)

    def test_events_follow_on_where_numbers_go_on(self):
        asked = []

        def answers(handler):
            asked.append(handler.path)
            body = envelope(journal="aa", first_seq=1, last_seq=44, events=[])
            body["instance"] = f"{len(asked):016x}"
            if len(asked) == 2:
                body["events"] = [event(45, "after")]
            return body if len(asked) < 4 else (503, b"")

        self.answer("events", answers)
        done = self.run_command("events", "--follow", "--since", "10m")
        self.assertEqual([path.split("?")[1] for path in asked],
                         ["max_age=10m", "since=44", "since=45", "since=45"])
        self.assertIn("after", done.stdout)

    def test_json_is_passed_through_untouched(self):
        body = b'{"schema": 1,  "peers":[{"peer":"host2","new member":18446744073709551615.0}]}'
        self.answer("peers", (200, body))
        done = self.run_command("peers", "--json")
        self.assertEqual(done.stdout, body.decode() + "\n")
        self.assertEqual(done.returncode, 0)

    def test_proxies_of_the_environment_are_not_asked(self):
        self.answer("status", status("ok"))
        env = {"http_proxy": "http://127.0.0.1:1", "all_proxy": "http://127.0.0.1:1"}
        self.assertEqual(self.run_command("status", env=env).returncode, 0)

    def test_slash_at_the_end_of_the_url_is_fine(self):
        self.answer("status", status("ok"))
        self.assertEqual(self.run_command("status", url=self.url + "//").returncode, 0)

    # --- servers that are none of ours ---

    def test_errors_of_the_daemon_are_shown(self):
        self.answer("peers", (503, {"schema": 1, "error": {"code": "busy", "message": "too many"}}))
        done = self.run_command("peers")
        self.assertEqual(done.returncode, 3)
        self.assertIn("answered 503: too many", done.stderr)

    def test_other_answers_are_refused(self):
        for body in (b"", b"<html>", b"[]", b"null", b"{}", b'{"schema":2}', b'{"schema":"one"}',
                     b'{"schema":1', b'{"schema":1}\xff', b"[" * 100000):
            self.answer("status", (200, body))
            for args in (["status"], ["status", "--json"]):
                done = self.run_command(*args)
                self.assertEqual(done.returncode, 3, body[:20])
                self.assertEqual(done.stdout, "")

    def test_redirects_are_not_followed(self):
        self.answer("status", (302, b""))
        self.assertEqual(self.run_command("status").returncode, 3)

    def test_members_of_wrong_types_do_no_harm(self):
        self.answer("peers", envelope(timestamp="now", peers=[
            1, None, "x", [], {}, {"peer": 7, "ops": [], "loss_ratio": "much", "reason": {}},
            peer(loss_ratio=1e308, verdict_since=-1e308, ops={"send": {
                "p50_seconds": 1e308, "p99_seconds": -5}})]))
        self.assertEqual(self.run_command("peers").returncode, 0)
        self.answer("peers", envelope(peers={"not": "a list"}))
        self.assertEqual(self.run_command("peers").returncode, 0)
        self.answer("devices", envelope(devices=[{"ports": [1, {"rate_bytes_per_second": -1}]}, 3]))
        self.assertEqual(self.run_command("devices").returncode, 0)
        self.answer("events", envelope(events=[1, {"seq": -1, "timestamp": 1e308}]))
        self.assertEqual(self.run_command("events").returncode, 0)
        self.answer("status", status("ok", sessions=None, rails=[], uptime_seconds=-1e308))
        self.assertEqual(self.run_command("status").returncode, 0)

    def test_control_characters_do_not_reach_the_terminal(self):
        evil = "evil\u001b]0;x\u0007\u009b2J\u202e"
        self.answer("peers", envelope(peers=[peer(peer=evil, reason=evil)]))
        self.answer("status", status("ok", host=evil, reason=evil))
        self.answer("devices", envelope(devices=[{"device": evil, "reason": evil}]))
        self.answer("events", envelope(events=[event(1, evil)]))
        for command in ("peers", "status", "devices", "events"):
            out = self.run_command(command).stdout
            self.assertIn("evil?", out)
            self.assertFalse([c for c in out if ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160
                              or c == "\u202e"])
        self.answer("peers", (500, {"schema": 1, "error": {"message": evil}}))
        self.assertNotIn("\u001b", self.run_command("peers").stderr)

    def test_an_endless_answer_is_cut_at_64_mib(self):
        def endless(handler):
            handler.send_response(200)
            handler.end_headers()
            try:
                for _ in range(80):
                    handler.wfile.write(b" " * (1 << 20))
            except OSError:
                pass
            handler.close_connection = True
            return (200, b"")

        self.answer("status", endless)
        # Under a sanitizer on a busy machine so much may not come in the time that a command waits.
        for _ in range(5):
            done = self.run_command("status")
            if "no answer in 5 s" not in done.stderr:
                break
        self.assertEqual(done.returncode, 3)
        self.assertIn("longer than 64 MiB", done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=1)
