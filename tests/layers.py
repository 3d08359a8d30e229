"""Fails when a file uses what its floor may not use (docs/ARCHITECTURE.md).

Usage: layers.py ROOT
"""

import pathlib
import re
import sys

# Plain names and pure functions of probes/ that judge and tell need too.
VOCABULARY = {
    "probes/facts.h", "probes/signal.h", "probes/counter_table.h", "probes/counter_delta.h",
    "probes/counter_name.h",
}

# Each floor may include its own headers and those of the floors named.
MAY_USE = {
    "core": set(),
    "probes": {"core"},
    "health": {"core", *VOCABULARY},
    "exporters": {"core", "health", *VOCABULARY},
    "daemon": {"core", "probes", "health", "exporters"},
    "cli": {"core"},
}

# Library headers by prefix, and where they may be included.
LIBRARIES = {
    "infiniband/": {"probes"},
    "rdma/": {"probes"},
    "microhttpd": {"exporters"},
    "jansson": {"exporters", "daemon", "cli"},
    "zlib": {"exporters"},
    "curl/": {"cli"},
    "ini.h": {"core"},
    "nettle/": {"core"},
    "systemd/sd-event": {"core"},
    "seccomp": {"probes"},
}
# These are kept in one file, so that the library can be replaced.
ONE_FILE = ("microhttpd", "ini.h", "systemd/sd-event", "seccomp")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def allowed(floor, header):
    target = header.split("/")[0]
    if target == floor or target not in MAY_USE:
        return True
    return target in MAY_USE[floor] or header in MAY_USE[floor]


def library_of(header):
    return next((lib for lib in LIBRARIES if header.startswith(lib)), None)


def check(root):
    errors, users = [], {}
    for floor in MAY_USE:
        for path in sorted((root / floor).rglob("*.[ch]")):
            name = path.relative_to(root)
            for kind, header in INCLUDE.findall(path.read_text(errors="replace")):
                library = library_of(header)
                if kind == '"' and not allowed(floor, header):
                    errors.append(f"{name}: {floor}/ may not include {header}")
                if kind == '"' and "/" not in header:
                    errors.append(f'{name}: write "{header}" with its folder from the root')
                if library and floor not in LIBRARIES[library]:
                    errors.append(f"{name}: {floor}/ may not include <{header}>")
                elif library in ONE_FILE:
                    users.setdefault(library, set()).add(str(name))
    for library, names in users.items():
        if len(names) > 1:
            errors.append(f"{library} is for one file only: {', '.join(sorted(names))}")
    return errors


def main():
    errors = check(pathlib.Path(sys.argv[1]))
    for error in errors:
        print(error)
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
