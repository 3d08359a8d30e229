"""Fails when a C file or a function is longer than the house allows (docs/CODING_STYLE.md).

Kernel style makes it simple: a function's body starts with a brace in the first column and ends
with one. Usage: sizes.py ROOT [--report]
"""

import pathlib
import statistics
import sys

FOLDERS = ("core", "probes", "health", "exporters", "daemon", "cli", "bench", "tests")
FILE_MAX = 800
FUNCTION_MAX = 120
MAIN_MAX = 119  # daemon/main.c only wires


def functions(lines):
    """(first line, length) of each function; its signature counts, from 1."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
            while start > 1 and lines[start - 2].strip() and lines[start - 2][0] not in "}#/*":
                start -= 1
        elif line.startswith("}") and start:
            yield start, number - start + 1
            start = None


def check(root):
    errors, lengths = [], []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]")):
            name = path.relative_to(root)
            lines = path.read_text(errors="replace").splitlines()
            limit = MAIN_MAX if str(name) == "daemon/main.c" else FILE_MAX
            if len(lines) > limit:
                errors.append(f"{name}: {len(lines)} lines, at most {limit}")
            for start, length in functions(lines):
                if folder != "tests":
                    lengths.append((length, f"{name}:{start}"))
                if length > FUNCTION_MAX:
                    errors.append(f"{name}:{start}: function of {length} lines, at most {FUNCTION_MAX}")
    return errors, sorted(lengths)


def main():
    errors, lengths = check(pathlib.Path(sys.argv[1]))
    for error in errors:
        print(error)
    if lengths:
        only = [length for length, _ in lengths]
        print(f"{len(only)} functions outside tests, median {statistics.median(only):g} lines,")
        print(f"nine of ten at most {only[len(only) * 9 // 10]}, longest {only[-1]}")
    if "--report" in sys.argv:
        for length, where in lengths[-20:]:
            print(f"{length:5} {where}")
    sys.exit(1 if errors or not lengths else 0)


if __name__ == "__main__":
    main()
