#!/usr/bin/env python3
"""Counts the instructions per element of each kernel with valgrind, undisturbed by other programs.

Compares the counts with the kept counts of the same compiler in tests/data/instructions.json. Names
every call that differs by more than the tolerance, with the kept count, the new count, and their
ratio. Both directions count: keep a gain, so that it cannot be lost unnoticed. Valgrind does not
run AVX-512, but these kernels share their source with the others. If no counts are kept for a
compiler (and xsimd), the new counts are only shown, and the exit code means "skipped"."""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from reporting.command import CHECK_FAILED, ROOT, BadInput, parser_of, run_main
from reporting.tables import aligned

KEPT = ROOT / "tests" / "data" / "instructions.json"
TOLERANCE = 0.02
SKIPPED = 77  # ctest understands this code


def count(program: str) -> tuple[str, dict[str, float]]:
    """The compiler, such as "g++ 12, xsimd 8", and the instructions per element by benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts",
                   "--collect-atstart=no", program]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BadInput(f"{' '.join(command)} failed: {done.stderr}")
        compiler, *calls = done.stdout.splitlines()
        counts = {}
        for number, call in enumerate(calls, 1):
            name, elements = call.split()
            text = Path(folder, f"counts.{number}").read_text(encoding="utf-8")
            found = re.search(r"^(?:totals|summary): ([1-9]\d*)", text, re.MULTILINE)
            if found is None:
                raise BadInput(f"valgrind counted nothing in {name}")
            counts[name] = float(f"{int(found[1]) / int(elements):.5g}")
    return re.sub(r"(\d+)\.[\d.]+", r"\1", compiler), counts


def difference(before: float | None, now: float | None) -> list[str]:
    """The kept count, the new count and their ratio, if one of them is missing or they differ by
    more than the tolerance. Otherwise empty."""
    if before and now and abs(now / before - 1) <= TOLERANCE:
        return []
    ratio = f"{now / before:.3f}" if before and now else "-"
    return [*(f"{each:g}" if each else "-" for each in (before, now)), ratio]


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/counted_calls"),
                        metavar="FILE", help="counted_calls of a build (default: %(default)s)")
    parser.add_argument("--update", action="store_true",
                        help="keep what changed for this compiler, instead of failing")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("Skipped: there is no valgrind (Debian: valgrind)")
        return SKIPPED
    compiler, new = count(arguments.program)
    document = json.loads(KEPT.read_text(encoding="utf-8"))
    kept = document.get(compiler, {})
    # Calls of an ISA that this CPU does not run are no difference.
    isas = {name.split("/")[1] for name in new}
    names = dict.fromkeys([*new, *(name for name in kept if name.split("/")[1] in isas)])
    rows = {name: difference(kept.get(name), new.get(name)) for name in names}
    changed = {name: row for name, row in rows.items() if row}
    if changed:
        header = ["instructions per element", "kept", "now", "ratio"]
        print(aligned([header, *([name, *row] for name, row in changed.items())]))
    if arguments.update:
        # Unchanged counts stay, so that the file shows the cost of a change to a kernel.
        stays = {name: now for name, now in kept.items() if name not in changed}
        document = dict(sorted({**document, compiler: {**new, **stays}}.items()))
        KEPT.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        print(f"{compiler}: {len(new)} counts are kept, {len(changed)} of them new or changed")
        return 0
    if not kept:
        print(f"Skipped: no counts of {compiler} are kept; --update keeps these")
        return SKIPPED
    print(f"{compiler}: {len(changed)} of {len(new)} calls differ from the counts that are kept")
    return CHECK_FAILED if changed else 0


if __name__ == "__main__":
    run_main(main)
