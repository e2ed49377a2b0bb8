#!/usr/bin/env python3
"""Fails if a shared library exports symbols of other libraries, which could clash with those of a
program that uses both."""

import argparse
import re
import subprocess
import sys

# What the compiler generates for a class or a function of the library.
PREFIXES = (
    "",
    "typeinfo for ",
    "typeinfo name for ",
    "vtable for ",
    "VTT for ",
    "guard variable for ",
    "non-virtual thunk to ",
    "virtual thunk to ",
)
# Every C++ library exports instances of the standard library's templates; they are interchangeable.
NAMESPACES = ("posenc::", "std::", "__gnu_cxx::")


def is_own(name):
    # The C interface.
    if re.fullmatch("posenc_[a-z0-9_]+", name):
        return True
    # The name of a function template's instance begins with its return type.
    function = name.split("(")[0]
    candidates = [name, *function.split(" ")]
    return any(
        each.startswith(prefix + namespace)
        for each in candidates
        for prefix in PREFIXES
        for namespace in NAMESPACES
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("library")
    arguments = parser.parse_args()
    command = [arguments.nm, "--dynamic", "--defined-only", "--demangle", arguments.library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    names = [line.split(" ", 2)[2] for line in lines]
    foreign = [name for name in names if not is_own(name)]
    own = [name for name in names if name.startswith("posenc::")]
    print(
        f"{len(names)} exported symbols, {len(own)} of namespace posenc, {len(foreign)} of others"
    )
    if not own:
        sys.exit("nothing of the library's own is exported")
    if foreign:
        sys.exit("\n".join(foreign))


if __name__ == "__main__":
    main()
