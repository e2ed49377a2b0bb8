#!/usr/bin/env python3
"""Measures the CPU at hand and compares it with its document in docs/measured, by posenc compare:
what got slower or faster, and on which tables. Exit code 1: a regression, or times that are not
reliable, which are never kept."""

import argparse
import subprocess
from pathlib import Path

from reporting.command import (
    CHECK_FAILED, POSENC, ROOT, ArgumentParser, BadInput, call_posenc, make_folder, run_main,
)  # fmt: skip
from reporting.measured import FOLDER, file_name, keep, read_kept, read_machine

NEW = ROOT / "build" / "results" / "measured.json"


def parse_arguments() -> argparse.Namespace:
    parser = ArgumentParser(example="measured.py --keep", description=__doc__)
    parser.add_argument("document", nargs="?", type=Path, metavar="DOCUMENT",
                        help="of posenc measure, on any CPU (default: measure now, in 2 minutes)")
    parser.add_argument("--keep", action="store_true",
                        help="keep the document as that of its CPU, and write docs/measured.md and "
                             "the README's table anew")
    parser.add_argument("--posenc", metavar="FILE",
                        help="the posenc command (default: preset release, built first)")
    return parser.parse_args()


def build() -> str:
    command = [str(ROOT / "scripts" / "build.sh"), "release", "posenc_cli"]
    if subprocess.run(command, check=False).returncode != 0:
        raise BadInput("preset release cannot be built, nothing was measured")
    return str(POSENC)


def main() -> int:
    arguments = parse_arguments()
    posenc, new, is_good = arguments.posenc or build(), arguments.document or NEW, True
    if new == NEW:
        make_folder(str(NEW.parent))
        command = ["measure", "--format", "json", "--output", str(NEW)]
        _, is_good = call_posenc(posenc, command, allowed=CHECK_FAILED, shows_errors=True)
    now = read_machine(new)
    why_not = "a bound is broken" if not is_good else "".join(now.disturbed.values())

    kept, name = read_kept(), file_name(now)
    if name in kept:
        command = ["compare", str(FOLDER / name), str(new)]
        text, is_good = call_posenc(posenc, command, allowed=CHECK_FAILED)
        print(text.decode(), end="")
    else:
        print(f"No document of {now.cpu}, {now.isas[-1]}, is kept; --keep makes {new} "
              f"docs/measured/{name}")  # fmt: skip
    for other in kept.keys() - {name}:
        print(f"Of another CPU: docs/measured/{other}, {kept[other].facts['measured_at']}")
    if why_not:
        print(f"Not reliable, and never kept: {why_not}")
    elif arguments.keep:
        keep(new, now)
        print(f"Kept: docs/measured/{name}")
    return 0 if is_good and not why_not else CHECK_FAILED


if __name__ == "__main__":
    run_main(main)
