#!/usr/bin/env python3
"""Fails if a shared library exports symbols of other libraries, which could clash with the same
symbols in a program that uses both. It also fails if the library exports no symbol of its own, or
if an internal symbol has the version of the interface.

With --plugin, fails if a shared library that links the static posenc exports symbols of posenc.

With --c-header, fails unless the library exports exactly the functions that the header declares, or
if it needs another library of posenc or a path to search for libraries."""

import argparse
import pathlib
import re
import subprocess
import sys

# Symbols of namespace posenc, also the symbols that the compiler generates for its classes, or of
# the C interface. Names are mangled, because a demangled name may begin with a return type.
OWN = re.compile(r"posenc_[a-z0-9_]+$|_Z(TI|TS|TV|TT|Th.*|Tv.*|GV)?N[KRO]*6posenc")
# Names of a namespace for internals.
INTERNAL = re.compile(
    r"_Z(T[ISVT]|GV)?N[KRO]*6posenc(4simd|6detail|(5model|5suite|5check)9internals)")


# A declaration begins in the first column. Functions that the header defines are not exported.
DECLARED = re.compile(r"^(?!static|typedef)\w[^\n(]*\b(posenc_\w+)\(", re.MULTILINE)
# Entries that name other libraries, or folders to search for them.
NEEDED = re.compile(r"^ *(NEEDED +libposenc|RPATH|RUNPATH)", re.MULTILINE)


def check_c(arguments, lines):
    """Fails unless the library exports what the header declares and stands alone."""
    declared = set(DECLARED.findall(arguments.c_header.read_text(encoding="utf-8")))
    exported = [line.split(" ", 2)[1:] for line in lines]
    wrong = [f"{kind} {name}" for kind, name in exported
             if kind != "T" or name.split("@")[0] not in declared]
    missing = declared - {name.split("@")[0] for _, name in exported}
    if wrong or missing or not declared:
        sys.exit("\n".join(["exported, but not declared:", *wrong,
                            "declared, but not exported:", *sorted(missing)]))
    command = [arguments.objdump, "--private-headers", arguments.library]
    entries = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "NEEDED" not in entries or NEEDED.search(entries):
        sys.exit(f"the library does not stand alone:\n{entries}")
    print(f"{len(exported)} exported functions, all of them declared")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("--plugin", action="store_true")
    parser.add_argument("--c-header", type=pathlib.Path)
    parser.add_argument("library")
    arguments = parser.parse_args()
    command = [arguments.nm, "--dynamic", "--defined-only", arguments.library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    lines = [line for line in lines if " A " not in line]  # the versions of symbols
    names = [line.split(" ", 2)[2] for line in lines]  # "address type name"
    if arguments.c_header:
        return check_c(arguments, lines)
    if arguments.plugin:
        exported = [name for name in names if "6posenc" in name or name.startswith("posenc_")]
        if exported:
            sys.exit("\n".join(exported))
        return None if names else sys.exit("nothing is exported")
    # "_ZN6posenc6detail5splitEv@@POSENC_PRIVATE_0.9.0"
    versions = dict(name.split("@@", 1) for name in names if "@@" in name)
    names = [name.split("@", 1)[0] for name in names]
    wrong = [name for name, version in versions.items()
             if version.startswith("POSENC_PRIVATE") != bool(INTERNAL.match(name))]
    if wrong:
        sys.exit("of the wrong version:\n" + "\n".join(wrong))
    foreign = [name for name in names if not OWN.match(name)]
    print(f"{len(names)} exported symbols, {len(foreign)} of them not posenc's")
    if len(names) == len(foreign):
        sys.exit("nothing of the library's own is exported")
    if foreign:
        sys.exit("\n".join(foreign))


if __name__ == "__main__":
    main()
