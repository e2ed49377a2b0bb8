#!/usr/bin/env python3
"""Measures the CPU at hand and compares it with its document in docs/measured: what got slower or
faster, and on which tables. posenc compare judges, by its rule of ties.

Beside the time of a backend, now over kept, stands that of the store limit for the same bytes: if
both have moved alike, the machine may have changed. The verdict takes no account of it. Exit code
1: a regression, or times that are not reliable, which are never kept."""

import argparse
import subprocess
from pathlib import Path

from reporting.command import CHECK_FAILED, ArgumentParser, run_main
from reporting.failures import BadInput
from reporting.files import ROOT, make_folder
from reporting.measured import (
    changed_rows, file_name, keep, limit_ratios, limits_text, read_kept, read_machine,
)  # fmt: skip
from reporting.posenc import Posenc
from reporting.tables import text_table
from reporting.units import percent

BUILT = Path(ROOT, "build", "release", "bin", "posenc")
NEW = Path(ROOT, "build", "results", "measured.json")


def parse_arguments() -> argparse.Namespace:
    parser = ArgumentParser(example="measured.py --keep", description=__doc__)
    parser.add_argument("document", nargs="?", metavar="DOCUMENT",
                        help="of posenc measure, on any CPU (default: measure now, in 2 minutes)")
    parser.add_argument("--keep", action="store_true",
                        help="keep the document as that of its CPU, and write docs/measured.md and "
                             "the README's tables anew")
    parser.add_argument("--posenc", metavar="FILE",
                        help="the posenc command (default: preset release, built first)")
    return parser.parse_args()


def build() -> str:
    command = [str(Path(ROOT, "scripts", "build.sh")), "release", "posenc_cli"]
    if subprocess.run(command, check=False).returncode != 0:
        raise BadInput("preset release cannot be built, nothing was measured")
    return str(BUILT)


def main() -> int:
    arguments = parse_arguments()
    posenc = Posenc(arguments.posenc or build())
    new = Path(arguments.document or NEW)
    is_good = True
    if not arguments.document:
        make_folder(str(NEW.parent))
        is_good = posenc.measure(str(new))
    now = read_machine(new)
    is_reliable = is_good and not now.facts["disturbed"]

    kept = {each.path.name: each for each in read_kept()}
    name = file_name(now)
    old = kept.pop(name, None)
    print(f"{now.cpu}, {now.isas[-1]}: {new}, {now.facts['measured_at']}")
    if old is None:
        print(f"No document of this CPU is kept; --keep makes this one docs/measured/{name}")
    else:
        print(f"Compared with docs/measured/{name}, {old.machine.facts['measured_at']}\n")
        comparison, is_good = posenc.compare(str(old.path), str(new))
        limits = limit_ratios(old.machine, now)
        rows = changed_rows(comparison, limits)
        header = ["backend", "table", "time, now / kept", "of the store limit", ""]
        if rows:
            print(text_table(header, rows, left=(0, 1, 4)), end="\n\n")
        judged = "" if comparison["times_are_judged"] else ", times are not judged"
        print(f"{len(comparison['rows'])} compared, noise {percent(comparison['noise_floor'])}: "
              f"{comparison['regressions']} regressions, {comparison['missing']} missing{judged}")
        print(limits_text(limits))
    for other in kept.values():
        facts = other.machine.facts
        print(f"Of another CPU: docs/measured/{other.path.name}, {facts['measured_at']}")
    if not is_reliable:
        print(f"Not reliable, and never kept: {now.facts['disturbed'] or 'a bound is broken'}")
    elif arguments.keep:
        keep(new, now)
        print(f"Kept: docs/measured/{name}")
    return 0 if is_good and is_reliable else CHECK_FAILED


if __name__ == "__main__":
    run_main(main)
