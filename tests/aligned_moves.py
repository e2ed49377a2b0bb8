#!/usr/bin/env python3
"""Fails if an object for Windows has an aligned move of 32 or 64 bytes from or to memory.

Windows aligns the stack to 16 bytes only. GCC moves vectors on it as if it were aligned to their
size (GCC's bug 54412). Whether a program crashes then depends on the stack of its caller.
"""

import argparse
import re
import subprocess
import sys

ALIGNED_MOVE = re.compile(r"\tvmov(aps|apd|dqa|dqa32|dqa64) .*\(")
WIDE = re.compile(r"%[yz]mm")


def moves(objdump, path):
    command = [objdump, "-d", "--no-show-raw-insn", path]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    instructions = [line for line in text.splitlines() if "\t" in line]
    if not instructions:
        sys.exit(f"{path} has no instructions")
    found = [line for line in instructions if ALIGNED_MOVE.search(line) and WIDE.search(line)]
    return [f"{path}: {line.strip()}" for line in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("objects", nargs="+")
    arguments = parser.parse_args()
    found = [line for path in arguments.objects for line in moves(arguments.objdump, path)]
    count = len(arguments.objects)
    print(f"{count} object{'s' if count > 1 else ''}: {len(found)} aligned moves")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
