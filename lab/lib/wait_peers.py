"""Wait until every daemon of a lab has all its sessions up.

wait_peers.py --hosts N --sessions N --port-base N --timeout SECONDS
"""

import argparse
import sys
import time

import api


def fetch_sessions(port):
    """Return (up, total) as the daemon tells them, or a text that says why it does not."""
    try:
        sessions = api.get_json(f"http://127.0.0.1:{port}/api/v1/status")["sessions"]
        return sessions["up"], sessions["total"]
    except api.Unreachable as error:
        return f"does not answer ({error})"
    except (KeyError, TypeError):
        return "answers without a count of its sessions"


def describe(state):
    return state if isinstance(state, str) else f"has {state[0]} of {state[1]} sessions up"


def main():
    parser = argparse.ArgumentParser()
    for name in ("hosts", "sessions", "port-base", "timeout"):
        parser.add_argument(f"--{name}", type=int, required=True)
    args = parser.parse_args()
    waiting = list(range(1, args.hosts + 1))
    deadline = time.monotonic() + args.timeout
    states = {}
    while waiting:
        for host in waiting:
            states[host] = fetch_sessions(args.port_base + host)
        waiting = [host for host in waiting if states[host] != (args.sessions, args.sessions)]
        if waiting and time.monotonic() > deadline:
            for host in waiting:
                print(
                    f"lab: error: the daemon of host{host} {describe(states[host])}; "
                    f"{args.sessions} are expected",
                    file=sys.stderr,
                )
            return 1
        if waiting:
            time.sleep(0.3)
    return 0


if __name__ == "__main__":
    sys.exit(main())
