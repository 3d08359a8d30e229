"""Compiles each header alone, twice included. Usage: headers.py ROOT COMPILER [PACKAGE...]"""

import concurrent.futures
import pathlib
import subprocess
import sys

FOLDERS = ("core", "probes", "health", "exporters", "daemon", "cli", "bench", "tests/fake")
FLAGS = ["-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
FLAGS += ["-Wno-missing-field-initializers"]


def compile_alone(root, compiler, cflags, header):
    text = f'#include "{header}"\n#include "{header}"\n'
    command = [compiler, *FLAGS, *cflags, f"-I{root}", "-x", "c", "-"]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return f"{header} does not compile alone:\n{result.stderr}" if result.returncode else None


def main():
    root, compiler, packages = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    cflags = subprocess.check_output(["pkg-config", "--cflags", *packages], text=True).split()
    headers = [
        path.relative_to(root)
        for folder in FOLDERS
        if (root / folder).is_dir()
        for path in sorted((root / folder).rglob("*.h"))
    ]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda h: compile_alone(root, compiler, cflags, h), headers))
    failures = [r for r in results if r]
    print("\n".join(failures) or f"{len(headers)} headers compile alone")
    sys.exit(1 if failures or not headers else 0)


if __name__ == "__main__":
    main()
