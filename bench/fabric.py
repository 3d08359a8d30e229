"""A lab as a benchmark uses it: up, commands in its guests, always down again."""

import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[1]
UP_TIMEOUT_S = 900


class Failed(Exception):
    """What could not be measured, and why, in words for the person who started it."""


class Fabric:
    """Use as a context manager: guests live between enter and exit."""

    def __init__(self, hosts, port_base, bare=False):
        self.port_base = str(port_base)
        self.arguments = [str(hosts)] + (["--bare"] if bare else [])
        self.hosts = [f"host{i}" for i in range(1, hosts + 1)]

    def __enter__(self):
        words = [str(TOP / "lab" / "up"), *self.arguments, "--port-base", self.port_base]
        try:
            # Its lines of hosts would stand amid our tables; its progress goes to stderr.
            result = subprocess.run(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=UP_TIMEOUT_S
            )
        except BaseException:
            # Interrupted, it was not left the time to clean up itself.
            self._lab("down")
            raise
        if result.returncode:
            raise Failed("the lab did not come up, see above")
        return self

    def __exit__(self, *_):
        self._lab("down")

    def _lab(self, name, *arguments, timeout=120):
        return subprocess.run(
            [str(TOP / "lab" / name), "--port-base", self.port_base, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def push(self, host, src, dst):
        result = self._lab("push", host, str(src), dst)
        if result.returncode:
            raise Failed(f"{src} cannot be copied to {host}: {result.stderr}")

    def exec(self, host, line, timeout=180):
        """What a line of shell prints in a guest."""
        try:
            result = self._lab("exec", host, line, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failed(f"{host}: {line!r} did not end in {timeout} s") from None
        if result.returncode:
            raise Failed(
                f"{host}: {line!r} ended with {result.returncode}: "
                f"{result.stdout[-500:]}{result.stderr[-500:]}"
            )
        return result.stdout

    def url(self, host, path):
        return f"http://127.0.0.1:{int(self.port_base) + int(host[4:])}{path}"
