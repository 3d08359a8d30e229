"""Fails when docs/CASES.md names a test that is not there, or leaves a case without a word.

Usage: cases.py ROOT
"""

import pathlib
import re
import sys

REFERENCE = re.compile(r"`([a-z_]+/[a-z_]+\.(?:c|py))::(test_[a-z0-9_]+)`")


def is_there(root, file, test):
    path = root / "tests" / file
    if not path.is_file():
        return False
    definition = rf"^(static void|def|    def) {test}\("
    return bool(re.search(definition, path.read_text(), re.M))


def main():
    root = pathlib.Path(sys.argv[1])
    text = (root / "docs" / "CASES.md").read_text()
    rows = re.findall(r"^\| ([A-E]\d\d) \| (.*?) \| (.*) \|$", text, re.M)
    errors, gaps = [], 0
    for case, _, held in rows:
        references = REFERENCE.findall(held)
        gaps += "**gap**" in held
        if not references and "**gap**" not in held:
            errors.append(f"{case}: neither a test nor a gap")
        for file, test in references:
            if not is_there(root, file, test):
                errors.append(f"{case}: there is no {file}::{test}")
    for line in re.findall(r"^\| [A-E]\d\d .*", text, re.M):
        if line.count("::") != len(REFERENCE.findall(line)):
            errors.append(f"not understood: {line[:60]}")
    cases = [case for case, _, _ in rows]
    if len(cases) < 60 or len(cases) != len(set(cases)):
        errors.append(f"{len(cases)} cases, {len(set(cases))} different ones")
    print("\n".join(errors) or f"{len(cases)} cases, {gaps} of them with gaps")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
