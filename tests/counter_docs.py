"""Compares the table of counters in the code with docs/COUNTERS.md and with the drivers' own lists.

Usage: counter_docs.py ROOT COUNTERS_TOOL [--update]    --update writes docs/COUNTERS.md

The lists are tests/data/vendor_counters.tsv (with signals and widths) and tests/data/names.py
(names alone, of which the trees that look like sysfs are made).
"""

import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True

COLUMNS = ("source", "name", "drivers", "width", "unit", "kind", "direction", "signal", "help")
BEGIN = "<!-- counters: written by tests/counter_docs.py --update -->"
WIDTHS = {
    "u32": "32", "u64": "64", "32/64": "32 or 64", "u64/sat32": "64, or 32 and stops",
    "sat4": "4, stops", "sat8": "8, stops", "sat16": "16, stops", "sat32": "32, stops",
}
TITLES = {
    "counters": "`counters/` of a port",
    "counters_ext": "`counters_ext/` of a port (kernels before 4.5)",
    "hw_counters": "`hw_counters/` of a port or a device",
    "optional": "Optional counters of a port (`rdma statistic`), where they are switched on",
    "ethtool": "Statistics of the port's netdev (`ethtool -S`)",
}


def rows_of(text):
    return [dict(zip(COLUMNS, line.split("\t"))) for line in text.splitlines()]


def read_rows(tool):
    return rows_of(subprocess.check_output([tool, "rows"], text=True))


def find(tool, wanted):
    """The row of each (source, name), by the very function that the daemon uses."""
    text = "".join(f"{source}\t{name}\n" for source, name in wanted)
    return rows_of(subprocess.run([tool, "find"], input=text, text=True, capture_output=True,
                                  check=True).stdout)


def vendors(root):
    """(driver, source, name, signal, width, kind) of each line, {0-7} as its numbers."""
    for line in (root / "tests/data/vendor_counters.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        driver, source, name, signal, width, kind, _ = line.split("\t")
        for number in range(8) if "{0-7}" in name else [0]:
            yield driver, source, name.replace("{0-7}", str(number)), signal, width, kind


def check_vendors(root, tool):
    facts = list(vendors(root))
    widths, errors = {}, []
    for _, source, name, _, width, _ in facts:
        widths.setdefault((source, name), set()).add(WIDTHS[width])
    for fact, row in zip(facts, find(tool, [(f[1], f[2]) for f in facts])):
        driver, source, name, signal, _, kind = fact
        # Where drivers differ, it may be either.
        among = widths[source, name]
        width = among.copy().pop() if len(among) == 1 else "32 or 64"
        if not row["name"]:
            errors.append(f"{driver} {source}/{name} is not in the table")
        elif (row["signal"], row["width"], row["kind"]) != (signal, width, kind):
            errors.append(f"{driver} {source}/{name} is {signal} {width} {kind}, the table says "
                          f"{row['signal']} {row['width']} {row['kind']}")
    if len(facts) < 250:
        errors.append(f"only {len(facts)} facts: is the list cut?")
    return errors


def check_names(root, tool):
    sys.path.insert(0, str(root / "tests/data"))
    import names  # noqa: PLC0415

    special = {"PMA": "counters", "PMA_EXTENDED": "counters", "COUNTERS_EXT": "counters_ext"}
    wanted = []
    for group, listed in vars(names).items():
        if group.isupper() and isinstance(listed, list) and group != "BNXT_OBJECTS":
            wanted += [(special.get(group, "hw_counters"), name) for name in listed]
    return [f"{source}/{name} is not in the table"
            for (source, name), row in zip(wanted, find(tool, wanted)) if not row["name"]]


def check_words(rows):
    """Units and sides against what the names say: for rows that no list of a vendor has as well."""
    units = ((r"bytes", "bytes"), (r"pfc_pri\{p\}_pkt_num|pause(_ctrl)?(_phy|_frames)?$|_xo(n|ff)[._]",
                                  "frames"),
             (r"(pkts?|packets)(_|$)", "packets"), (r"pause_duration|_us$", "microseconds"))
    sides = ((r"rcv", "rx"), (r"xmit", "tx"), (r"rx", "rx"), (r"tx", "tx"))
    errors = []
    for row in rows:
        name = row["name"]
        unit = next((unit for pattern, unit in units if re.search(pattern, name)), row["unit"])
        side = next((side for word, side in sides if re.search(rf"(^|_){word}_", name)),
                    row["direction"])
        if name.endswith("_xoff_time"):
            unit = row["unit"]
        if "_data" in name:
            unit = "4-byte words"
        if (row["unit"], row["direction"]) != (unit, side):
            errors.append(f"{row['source']}/{name} is {row['unit']} {row['direction']} in the table "
                          f"and {unit} {side} by its name")
    return errors


def document(rows):
    lines = []
    for source, title in TITLES.items():
        lines += ["", f"## {title}", "",
                  "| counter | drivers | bits | unit | kind | side | signal | what it counts |",
                  "|---|---|---|---|---|---|---|---|"]
        lines += ["| `{name}` | {drivers} | {width} | {unit} | {kind} | {direction} | {signal} | {help} |"
                  .format_map({**r, "signal": f"`{r['signal']}`" if r["signal"] else ""})
                  for r in rows if r["source"] == source]
    return "\n".join(lines) + "\n"


def check_document(root, rows, update):
    path = root / "docs/COUNTERS.md"
    before, written = path.read_text().split(BEGIN + "\n", 1)
    wanted = document(rows)
    if written == wanted:
        return []
    if update:
        path.write_text(before + BEGIN + "\n" + wanted)
        return []
    return ["docs/COUNTERS.md differs from the table of the code: run tests/counter_docs.py --update"]


def main():
    root, tool = pathlib.Path(sys.argv[1]), sys.argv[2]
    rows = read_rows(tool)
    errors = check_vendors(root, tool) + check_names(root, tool)
    errors += check_words(rows) + check_document(root, rows, "--update" in sys.argv)
    print("\n".join(errors) or f"{len(rows)} counters are documented")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
