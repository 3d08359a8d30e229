"""The books of a session's row: what must hold in /api/v1/peers at every moment."""

COUNTS = ("scheduled", "sent", "ok", "failed", "aborted", "not_attempted", "late", "self_delayed")
REASONS = {"failures": "failed", "aborts": "aborted", "not_attempted": "not_attempted"}


def key_of(row):
    return (row["peer"], row["rail"], row["peer_rail"], row["class"])


def operations(row):
    """The scheduled operations that are on; an acknowledgement keeps no books of its own."""
    return {name: op for name, op in row["ops"].items() if name != "ack"}


def counts_of(op):
    """All counts as numbers: those above 2^63-1 come as strings."""
    return {name: int(op[name]) for name in (*COUNTS, "in_flight")}


def check_operation(name, counts):
    for field, value in counts.items():
        assert value >= 0, f"{name}: {field} is {value}"
    assert counts["scheduled"] == counts["sent"] + counts["not_attempted"], (name, counts)
    settled = counts["ok"] + counts["failed"] + counts["aborted"]
    assert counts["sent"] == settled + counts["in_flight"], (name, counts)
    assert counts["late"] <= counts["failed"], (name, counts)
    assert counts["self_delayed"] <= counts["ok"], (name, counts)


def check_books(row):
    """Assert every invariant of the books that a single row can show."""
    ops = {name: counts_of(op) for name, op in operations(row).items()}
    for name, counts in ops.items():
        check_operation(f"{key_of(row)} {name}", counts)
    for reasons, total in REASONS.items():
        by_reason = sum(int(count) for count in row[reasons].values())
        by_operation = sum(counts[total] for counts in ops.values())
        assert by_reason == by_operation, (key_of(row), reasons, row[reasons], by_operation)
    if row["loss_ratio"] is not None:
        assert 0 <= row["loss_ratio"] <= 1, (key_of(row), row["loss_ratio"])


def check_never_backwards(before, after):
    """Assert that no count of the same session fell; both are lists of rows."""
    earlier = {key_of(row): row for row in before}
    for row in after:
        if key_of(row) not in earlier:
            continue
        for name, op in operations(earlier[key_of(row)]).items():
            old, new = counts_of(op), counts_of(row["ops"][name])
            for field in COUNTS:
                # "late" moves a probe within "failed" and never back; all others only grow.
                assert new[field] >= old[field], (key_of(row), name, field, old[field], new[field])
