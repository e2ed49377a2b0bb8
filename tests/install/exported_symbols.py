#!/usr/bin/env python3
"""Fails if a shared library exports symbols of other libraries, which could clash with the same
symbols in a program that uses both. It also fails if the library exports no symbol of its own, or
if an internal symbol has the version of the interface.

With --plugin, fails if a shared library that links the static posenc exports symbols of posenc."""

import argparse
import re
import subprocess
import sys

# Symbols of namespace posenc, also the symbols that the compiler generates for its classes, or of
# the C interface. Names are mangled, because a demangled name may begin with a return type.
OWN = re.compile(r"posenc_[a-z0-9_]+$|_Z(TI|TS|TV|TT|Th.*|Tv.*|GV)?N[KRO]*6posenc")
# Names of a namespace for internals.
INTERNAL = re.compile(
    r"_Z(T[ISVT]|GV)?N[KRO]*6posenc(4simd|6detail|(5model|5suite|5check)9internals)")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--plugin", action="store_true")
    parser.add_argument("library")
    arguments = parser.parse_args()
    command = [arguments.nm, "--dynamic", "--defined-only", arguments.library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    names = [line.split(" ", 2)[2] for line in lines]  # "address type name"
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
