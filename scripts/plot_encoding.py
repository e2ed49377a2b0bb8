#!/usr/bin/env python3
"""Draws what a sinusoidal positional encoding looks like, and how far each backend's error drifts.

Pictures (all unless named), as SVG:
  heat_map    the table: value by position and channel (--rows 100 --d-model 128)
  drift       the largest error of each backend along the positions (--d-model 64)

Tables come from posenc generate, errors from posenc accuracy. Options after -- go to the command,
in the place of those in parentheses."""

import io
import json
import sys
from pathlib import Path

from reporting import figures
from reporting.command import (
    POSENC, ArgumentParser, BadInput, call_posenc, make_folder, need_module, need_modules, reading,
    run_main, show_progress, write_whole,
)  # fmt: skip
from reporting.documents import Measurement, read_measurements

BACKENDS = ("naive", "div_term", "xsimd", "rotation32", "rotation")
# All positions up to here, and beyond it windows of consecutive positions at powers of two.
POWERS = range(14, 41)
WINDOW = 512


def draw_heat_map(posenc: str, options: list[str]) -> figures.Figure:
    words = options or ["--rows", "100", "--d-model", "128"]
    output, _ = call_posenc(posenc, "generate", "--format", "npy", *words)
    table = need_module("numpy").load(io.BytesIO(output))
    if table.size == 0:
        raise BadInput("--rows is 0; allowed: at least 1")
    return figures.encoding(table, options)


def draw_drift(posenc: str, options: list[str]) -> figures.Figure:
    words = options or ["--d-model=64", *(f"--backend={name}" for name in BACKENDS)]
    runs = [(0, 1 << POWERS[0]), *((1 << power, WINDOW) for power in POWERS)]
    found: list[Measurement] = []
    for done, (first, count) in enumerate(runs):
        show_progress(f"measuring errors: {100 * done // len(runs)} %")
        rows = (f"--first={first}", f"--rows={count}")
        output, _ = call_posenc(posenc, "accuracy", "--format", "json", *rows, *words)
        with reading("posenc accuracy"):
            found += read_measurements(json.loads(output))
    show_progress()
    octaves: dict[str, dict[int, float]] = {}
    for each in found:
        errors = octaves.setdefault(each.backend, {})
        for last, error in each.error.by_position if each.error else ():
            errors[last] = max(errors.get(last, 0.0), error)
    curves = {name: sorted(errors.items()) for name, errors in octaves.items()}
    note = f"float32, d_model {found[0].table.d_model}, of each the ISA that errs most"
    title = "How far the error drifts along the positions"
    looks = figures.looks_of(found)
    return figures.error_curves(title, " ".join([note, *options]), curves, looks)


PICTURES = {"heat_map": draw_heat_map, "drift": draw_drift}


def main() -> int:
    example = "plot_encoding.py heat_map --output pictures -- --preset whisper"
    parser = ArgumentParser(example, __doc__)
    names = ", ".join(PICTURES)
    parser.add_argument("pictures", nargs="*", metavar="PICTURE", help=f"{names} (default: all)")
    parser.add_argument("--output", default="build/pictures", metavar="DIR",
                        help="folder, made if it is missing (default: %(default)s)")
    parser.add_argument("--posenc", default=POSENC, metavar="FILE",
                        help="the posenc command (default: build/release/bin/posenc)")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    options, passed_on = parser.parse_args(words[:end]), words[end + 1 :]
    for name in options.pictures:
        if name not in PICTURES:
            parser.error(f"PICTURE is '{name}'; allowed: {names}")
    need_modules("matplotlib", "numpy")
    make_folder(options.output)
    for name in options.pictures or PICTURES:
        path = Path(options.output, f"{name}.svg")
        write_whole(path, figures.svg_of(PICTURES[name](options.posenc, passed_on)))
        print(path)
    return 0


if __name__ == "__main__":
    run_main(main)
