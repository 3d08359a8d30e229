"""Fail, naming it, if one of the given TCP ports of 127.0.0.1 is taken: free_ports.py PORT..."""

import socket
import sys


def is_free(port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        # As QEMU does: connections that linger after a lab are no obstacle, a listener is.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def main():
    taken = [port for port in map(int, sys.argv[1:]) if not is_free(port)]
    for port in taken:
        print(
            f"lab: error: port {port} of 127.0.0.1 is taken; "
            "end what uses it, or choose another --port-base",
            file=sys.stderr,
        )
    return 1 if taken else 0


if __name__ == "__main__":
    sys.exit(main())
