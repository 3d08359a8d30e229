"""Waiting for something to become true, with an error that says what did not."""

import time


def wait_for(cond, timeout, what, period=0.25):
    """Call cond() until it returns something true and return that.

    timeout is in seconds. what says what is waited for; a callable is asked at the end, so that it
    can tell the last state. An AssertionError raised by cond counts as "not yet" and ends up in the
    message.
    """
    deadline = time.monotonic() + timeout
    reason = None
    while True:
        try:
            result = cond()
            if result:
                return result
            reason = None
        except AssertionError as error:
            reason = error
        if time.monotonic() >= deadline:
            text = what() if callable(what) else what
            because = f": {reason}" if reason else ""
            raise AssertionError(f"not within {timeout} s: {text}{because}")
        time.sleep(period)
