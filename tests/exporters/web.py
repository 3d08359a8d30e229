"""The made-up host that is served by the real HTTP code, and a client that hides nothing.

HTTP_SERVER_TEST names the program that serves it.
"""

import json
import os
import socket
import subprocess

TOOL = os.environ["HTTP_SERVER_TEST"]
JSON = "application/json"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class Server:
    def __init__(self, modes="-", *options):
        self.process = subprocess.Popen([TOOL, modes, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())

    def stop(self):
        """Its exit status tells what the sanitizers found."""
        self.process.stdin.close()
        return self.process.wait(timeout=20)

    def protect(self, cert="-", key="-", client_ca="-", users="-", plain="all"):
        """Change who may come; what the server says of it."""
        self.process.stdin.write(f"protect {cert} {key} {client_ca} {users} {plain}\n".encode())
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().strip()

    def connect(self, timeout=20, receive_buffer=None, address=None):
        """address: to come from."""
        s = socket.socket()
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if address:
            s.bind((address, 0))
        if receive_buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        s.settimeout(timeout)
        s.connect(("127.0.0.1", self.port))
        return s

    def get(self, path, method="GET", **headers):
        with Client(self.connect()) as client:
            return client.ask(path, method, **headers)

    def cpu_seconds(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def fds(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        assert self.headers["content-type"] == JSON
        return json.loads(self.body)

    @property
    def code(self):
        return self.json["error"]["code"]


class Client:
    """A small HTTP/1.1 client that hides nothing."""

    def __init__(self, sock):
        self.sock = sock
        self.file = sock.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.sock.close()

    def send(self, path, method="GET", **headers):
        lines = [f"{method} {path} HTTP/1.1", "Host: test"]
        lines += [f"{k.replace('_', '-')}: {v}" for k, v in headers.items()]
        self.sock.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())

    def read_chunks(self):
        body = b""
        while size := int(self.file.readline(), 16):
            body += self.file.read(size)
            assert self.file.readline() == b"\r\n"
        while self.file.readline() != b"\r\n":
            pass
        return body

    def read(self, head=False):
        line = self.file.readline()
        if not line:
            raise ConnectionResetError
        status = int(line.split()[1])
        headers = {}
        while (line := self.file.readline()) not in (b"\r\n", b""):
            key, value = line.decode().split(":", 1)
            headers[key.lower()] = value.strip()
        body = b""
        if not head:
            if headers.get("transfer-encoding") == "chunked":
                body = self.read_chunks()
            else:
                body = self.file.read(int(headers.get("content-length", 0)))
        return Answer(status, headers, body)

    def ask(self, path, method="GET", **headers):
        self.send(path, method, **headers)
        return self.read(head=method == "HEAD")
