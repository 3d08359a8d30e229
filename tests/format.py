"""Every C file is as clang-format and .clang-format say: one look everywhere, no talk about it."""

import pathlib
import subprocess
import sys

FOLDERS = ("core", "probes", "health", "exporters", "daemon", "cli", "bench", "tests")


def main():
    root = pathlib.Path(sys.argv[1])
    files = sorted(f for folder in FOLDERS for f in (root / folder).rglob("*.[ch]"))
    wrong = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", *files], cwd=root, capture_output=True, text=True
    )
    if wrong.returncode == 0:
        print(f"{len(files)} files are formatted")
        return 0
    names = sorted({line.split(":", 1)[0] for line in wrong.stderr.splitlines() if ": error:" in line})
    print("\n".join(names) or wrong.stderr)
    print("to mend: clang-format -i FILE")
    return 1


sys.exit(main())
