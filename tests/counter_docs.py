"""Compares the table of counters in the code with docs/COUNTERS.md and with the drivers' own lists.

Usage: counter_docs.py ROOT COUNTERS_TOOL [--update]    --update writes docs/COUNTERS.md

The lists are tests/data/vendor_counters.tsv (with all that a row says) and tests/data/names.py
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
COMPARED = ("signal", "width", "unit", "kind", "direction")
# For names that another firmware may add to a known family.
OF_NO_VENDOR = {("hw_counters", "rq_num_*"), ("hw_counters", "sq_num_*")}
# What words in a name mean; the first that is found counts.
WORDS = {
    "unit": (
        (r"_xoff_time$", ""),  # in a unit that the driver does not tell
        (r"_data(_|$)", "4-byte words"),
        (r"bytes", "bytes"),
        (r"pfc_pri\{p\}_pkt_num|pause(_ctrl)?(_phy|_frames)?$|_xo(n|ff)[._]", "frames"),
        (r"(pkts?|packets)(_|$)", "packets"),
        (r"pause_duration|_us$", "microseconds"),
    ),
    "direction": (
        (r"(^|_)(rcv|rx)_", "rx"),
        (r"(^|_)(xmit|tx)_", "tx"),
    ),
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


def names_of(pattern):
    """{0-7} in a name as its numbers, {a,b} as its words."""
    before, brace, rest = pattern.partition("{")
    if not brace:
        return [pattern]
    words, _, after = rest.partition("}")
    numbers = re.fullmatch(r"(\d+)-(\d+)", words)
    each = range(int(numbers[1]), int(numbers[2]) + 1) if numbers else words.split(",")
    return [f"{before}{word}{after}" for word in each]


def vendors(root):
    """Of each line and name the driver, and the row that there should be."""
    for line in (root / "tests/data/vendor_counters.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        driver, source, pattern, signal, width, unit, kind, side, _ = line.split("\t")
        for name in names_of(pattern):
            yield driver, {"source": source, "name": name, "signal": signal,
                           "width": WIDTHS[width], "unit": unit, "kind": kind, "direction": side}


def check_vendors(root, tool, rows):
    facts = list(vendors(root))
    widths, errors, seen = {}, [], set()
    for _, fact in facts:
        widths.setdefault((fact["source"], fact["name"]), set()).add(fact["width"])
    found = find(tool, [(fact["source"], fact["name"]) for _, fact in facts])
    for (driver, fact), row in zip(facts, found, strict=True):
        counter = (fact["source"], fact["name"])
        seen.add((row["source"], row["name"]))
        if len(widths[counter]) > 1:  # where drivers differ, it may be either
            fact["width"] = "32 or 64"
        if not row["name"]:
            errors.append(f"{driver} {'/'.join(counter)} is not in the table")
            continue
        errors += [f"{driver} {'/'.join(counter)}: {column} is '{fact[column]}', the table says "
                   f"'{row[column]}'" for column in COMPARED if fact[column] != row[column]]
    errors += [f"{row['source']}/{row['name']} is in no list of a vendor" for row in rows
               if (row["source"], row["name"]) not in seen | OF_NO_VENDOR]
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
    """Units and sides against what the names say: who takes a name for something else is wrong twice,
    here and in the list of a vendor."""
    errors = []
    for row in rows:
        said = {column: next((meant for pattern, meant in patterns
                              if re.search(pattern, row["name"])), row[column])
                for column, patterns in WORDS.items()}
        errors += [f"{row['source']}/{row['name']}: {column} is '{row[column]}' in the table and "
                   f"'{meant}' by its name" for column, meant in said.items() if row[column] != meant]
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
    errors = check_vendors(root, tool, rows) + check_names(root, tool)
    errors += check_words(rows) + check_document(root, rows, "--update" in sys.argv)
    print("\n".join(errors) or f"{len(rows)} counters are documented")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
