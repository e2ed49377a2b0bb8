#!/usr/bin/env python3
"""Fails if a shared library exports symbols that are not its own, which could clash with those of
a program that uses both: fails, too, if it exports none of its own."""

import argparse
import re
import subprocess
import sys

# Namespace posenc, with what the compiler generates for a class, or the interface in C.
OWN = re.compile(
    r"(typeinfo for |typeinfo name for |vtable for |VTT for |guard variable for "
    r"|(non-virtual|virtual) thunk to )?posenc::|posenc_[a-z0-9_]+$"
)


def is_own(name):
    # The name of a function template's instance begins with its return type.
    function = name.split("(")[0].split("<")[0]
    return bool(OWN.match(name) or OWN.match(function.split(" ")[-1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("library")
    arguments = parser.parse_args()
    command = [arguments.nm, "--dynamic", "--defined-only", "--demangle", arguments.library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    names = [line.split(" ", 2)[2] for line in lines]
    foreign = [name for name in names if not is_own(name)]
    print(f"{len(names)} exported symbols, {len(foreign)} of them not posenc's")
    if len(names) == len(foreign):
        sys.exit("nothing of the library's own is exported")
    if foreign:
        sys.exit("\n".join(foreign))


if __name__ == "__main__":
    main()
