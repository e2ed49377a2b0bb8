#!/usr/bin/env python3
"""Fails if an object for an ISA above the baseline shares code with the rest of the program.

The linker may keep such an object's copy of a weak symbol (an inline function, for example) for the
whole program, which then crashes on a CPU without that ISA. An undefined symbol means that the
kernels call code compiled elsewhere (libm or the standard library): the next compiler or library
version may replace that call by an inline function, which is a weak symbol.

It reads ELF objects. For other objects, as on macOS and Windows, nm does not tell which symbols are
weak, and the test is skipped.
"""

import argparse
import os
import subprocess
import sys

SKIPPED = 77
SHARED_KINDS = "WwVvu"
# Functions that compilers call for loops over memory, symbols of the linker and the runtime, and
# one C function that xsimd's reduction of large arguments calls and that has no inline copies.
ALLOWED_UNDEFINED = {
    "memcpy",
    "memmove",
    "memset",
    "_GLOBAL_OFFSET_TABLE_",
    "__stack_chk_fail",
    "___chkstk_ms",
    "scalbn",
}
BASELINES = {"portable", "sse2", "neon64"}
ISAS = {"portable", "sse2", "avx2", "avx512", "neon64"}


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def isa_of(path):
    return os.path.basename(path).split(".")[0]


def complaints(nm, path, may_call):
    # Each ISA's file includes header libraries in a namespace of that ISA, so that no other object
    # has an inline function of the same name.
    own = [f"xsimd_{isa_of(path)}::"]
    text = subprocess.run([nm, "-C", path], check=True, capture_output=True, text=True).stdout
    # Objects of Windows do not mark the symbols that the linker may merge. Only the table of
    # kernels is known to be no inline function.
    shared_kinds = SHARED_KINDS + ("TRDB" if path.endswith(".obj") else "")
    own += [f"posenc::simd::{isa_of(path)}{kind}_kernels()" for kind in ("", "_model")]
    exported = 0
    for line in text.splitlines():
        kind, name = line[17:].split(" ", 1)
        if kind in shared_kinds and not any(each in name for each in own):
            yield f"{path}: weak symbol {name}"
        elif kind == "U" and name not in ALLOWED_UNDEFINED and not name.startswith(may_call):
            yield f"{path}: calls {name}"
        exported += kind in "TRDB"
    if exported == 0:
        yield f"{path}: exports nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument(
        "--may-call",
        action="append",
        default=[],
        metavar="PREFIX",
        help="functions of a C library, which have no inline copies; may be repeated",
    )
    parser.add_argument("objects", nargs="+")
    arguments = parser.parse_args()

    kernels = [path for path in arguments.objects if isa_of(path) in ISAS]
    above_baseline = [path for path in kernels if isa_of(path) not in BASELINES]
    if not kernels:
        sys.exit("no kernel of an ISA among the objects given")
    if not is_elf(kernels[0]):
        print(f"isa_symbols.py: skipped: {kernels[0]} is no object of ELF")
        sys.exit(SKIPPED)
    found = [
        line
        for path in above_baseline
        for line in complaints(arguments.nm, path, tuple(arguments.may_call))
    ]
    print(
        f"{len(above_baseline)} of {len(kernels)} kernel objects are above the baseline: "
        f"{len(found)} complaints"
    )
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
