"""Compares docs/CONFIG.md and etc/rdma-pingmesh.conf with the table of keys in the code.

Usage: config_docs.py ROOT CONFIG_TOOL [--update]    --update writes the table of docs/CONFIG.md
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BEGIN = "<!-- keys: written by tests/config_docs.py --update -->"
END = "<!-- end of keys -->"


def read_keys(tool):
    lines = subprocess.check_output([tool, "keys"], text=True).splitlines()
    return [line.split("\t") for line in lines]


def cell(text):
    return text.replace("|", "\\|")


def table(keys):
    rows, section = [], None
    for name, key, instance, kind, default, effect, help_text in keys:
        if name != section:
            title = f"[{name} NAME]" if instance == "1" else f"[{name}]"
            rows += ["", f"### {title}", "", "| key | value | default | takes effect | meaning |"]
            rows += ["|---|---|---|---|---|"]
            section = name
        shown = f"`{default}`" if default else ""
        rows.append(f"| `{key}` | {kind} | {shown} | {effect} | {cell(help_text)} |")
    return "\n".join(rows[1:])


def check_docs(root, keys, update):
    path = root / "docs" / "CONFIG.md"
    before, rest = path.read_text().split(BEGIN + "\n", 1)
    written, after = rest.split(END, 1)
    wanted = "\n" + table(keys) + "\n\n"
    if written == wanted:
        return []
    if update:
        path.write_text(before + BEGIN + "\n" + wanted + END + after)
        return []
    return ["docs/CONFIG.md differs from the table of keys: run tests/config_docs.py --update"]


def example_keys(text):
    """{(section, key): value} of the commented keys "#key = value"."""
    found, section = {}, None
    for line in text.splitlines():
        header = re.fullmatch(r"#?\[(\S+?)( NAME| \S+)?\]", line)
        if header:
            section = header.group(1)
        pair = re.fullmatch(r"#?(\w+) =\s*(.*)", line)
        if pair:
            found.setdefault((section, pair.group(1)), pair.group(2))
    return found


def check_example(root, keys, tool):
    path = root / "etc" / "rdma-pingmesh.conf"
    text = path.read_text()
    found, errors = example_keys(text), []
    for name, key, instance, _, default, _, _ in keys:
        if (name, key) not in found:
            errors.append(f"{path}: [{name}] {key} is missing")
        elif default and instance == "0" and found[name, key] != default:
            errors.append(f"{path}: [{name}] {key} = {found[name, key]}, default is {default}")
    for name, key in found.keys() - {(k[0], k[1]) for k in keys}:
        errors.append(f"{path}: [{name}] {key} is no key")
    # The example as it is, and with every key that has a value taken out of its comment.
    stated = re.sub(r"^#(\w+ = \S.*|\[.*\])$", r"\1", text, flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "stated.conf"
        copy.write_text(stated)
        for file in (path, copy):
            run = subprocess.run([tool, "check", file], capture_output=True, text=True, check=False)
            if run.returncode:
                errors.append(f"the example does not load:\n{run.stdout}")
    return errors


def main():
    root, tool = pathlib.Path(sys.argv[1]), sys.argv[2]
    keys = read_keys(tool)
    errors = check_docs(root, keys, "--update" in sys.argv) + check_example(root, keys, tool)
    print("\n".join(errors) or f"{len(keys)} keys are documented")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
