#!/usr/bin/env python3
"""Draws what a sinusoidal positional encoding looks like, and how far each backend's error drifts.

Pictures (all unless named), as SVG:
  heat_map    the table: value by position and channel
  drift       the largest error of each backend along the positions

Tables come from posenc generate, errors from posenc accuracy. Options after -- go to the command:
the spec, the backend, and in heat_map the rows."""

import argparse
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

PICTURES = ("heat_map", "drift")
BACKENDS = ("naive", "div_term", "xsimd", "rotation32", "rotation")
# All positions up to here, and beyond it windows of consecutive positions at powers of two.
POWERS = range(14, 41)
WINDOW = 512


def parse_arguments() -> argparse.Namespace:
    example = "plot_encoding.py heat_map --output pictures -- --preset whisper"
    parser = ArgumentParser(example=example, description=__doc__)
    names = ", ".join(PICTURES)
    parser.add_argument("pictures", nargs="*", metavar="PICTURE", help=f"{names} (default: all)")
    parser.add_argument("--output", default="build/pictures", metavar="DIR",
                        help="folder, made if it is missing (default: %(default)s)")
    parser.add_argument("--posenc", default=str(POSENC), metavar="FILE",
                        help="the posenc command (default: build/release/bin/posenc)")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:end])
    options.passed_on = words[end + 1 :]
    for name in options.pictures:
        if name not in PICTURES:
            parser.error(f"PICTURE is '{name}'; allowed: {names}")
    return options


def value_of(options: argparse.Namespace, name: str) -> str | None:
    """Of an option that goes to the command."""
    words: list[str] = options.passed_on
    for word, following in zip(words, [*words[1:], ""]):
        if word == name or word.startswith(f"{name}="):
            return following if word == name else word.partition("=")[2]
    return None


def words_for(options: argparse.Namespace, **sizes: int) -> list[str]:
    """What goes to the command, and a picture's own sizes where neither the user nor a preset says
    otherwise."""
    named = {f"--{name.replace('_', '-')}": str(size) for name, size in sizes.items()}
    if value_of(options, "--preset") is not None:
        named = {}
    missing = [(name, size) for name, size in named.items() if value_of(options, name) is None]
    return [*(word for pair in missing for word in pair), *options.passed_on]


def draw_heat_map(options: argparse.Namespace) -> figures.Figure:
    words = words_for(options, rows=100, d_model=128)
    output, _ = call_posenc(options.posenc, ["generate", "--format", "npy", *words])
    table = need_module("numpy").load(io.BytesIO(output))
    if table.size == 0:
        raise BadInput("--rows is 0; allowed: at least 1")
    return figures.encoding(table, int(value_of(options, "--first") or 0), options.passed_on)


def draw_drift(options: argparse.Namespace) -> figures.Figure:
    runs = [(0, 1 << POWERS[0]), *((1 << power, WINDOW) for power in POWERS)]
    found: list[Measurement] = []
    words = words_for(options, d_model=64)
    if value_of(options, "--backend") is None:
        words += [f"--backend={name}" for name in BACKENDS]
    for done, (first, count) in enumerate(runs):
        show_progress(f"measuring errors: {100 * done // len(runs)} %")
        rows = [f"--first={first}", f"--rows={count}"]
        command = ["accuracy", "--format", "json", *rows, *words]
        with reading("posenc accuracy"):
            found += read_measurements(json.loads(call_posenc(options.posenc, command)[0]))
    show_progress()
    return figures.drift(found, options.passed_on)


def main() -> int:
    options = parse_arguments()
    need_modules("matplotlib", "numpy")
    make_folder(options.output)
    for name in options.pictures or PICTURES:
        draw = draw_heat_map if name == "heat_map" else draw_drift
        path = Path(options.output, f"{name}.svg")
        write_whole(path, figures.svg_of(draw(options)))
        print(path)
    return 0


if __name__ == "__main__":
    run_main(main)
