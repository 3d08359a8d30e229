"""The daemons' HTTP interface, as seen from the machine that runs the lab."""

import http.client
import json
import urllib.request

# A GET that takes longer than this is as good as none for a person who watches.
TIMEOUT_S = 5


class Unreachable(Exception):
    """The daemon did not answer, or not with JSON."""


def get_json(url):
    """Return the parsed body of a GET; raises Unreachable."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            return json.load(answer)
    # The last one is an answer that was cut off, by a daemon that ended or a client that was slow.
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise Unreachable(f"{url}: {error}") from error
