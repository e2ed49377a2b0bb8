#!/usr/bin/env python3
"""Draws what a sinusoidal positional encoding looks like, and how far each backend's error drifts.

Pictures (all unless named):
  heat_map    the table: value by position and channel
  drift       the largest error of each backend along the positions

Tables come from posenc generate, errors from posenc accuracy. Options after -- go to the command:
the spec, the backend, and in heat_map the rows."""

import argparse
import os
import sys

from reporting.command import ArgumentParser, run_main
from reporting.failures import need_modules
from reporting.figures.canvas import Figure, pyplot, save
from reporting.figures.drift import draw_drift, measure_drift
from reporting.figures.encoding import draw_heat_map
from reporting.files import ROOT, make_folder
from reporting.posenc import Posenc

PICTURES = ("heat_map", "drift")
FORMATS = ("png", "svg")


def parse_arguments() -> argparse.Namespace:
    example = "plot_encoding.py heat_map --output pictures -- --preset whisper"
    parser = ArgumentParser(example=example, description=__doc__)
    names = ", ".join(PICTURES)
    parser.add_argument("pictures", nargs="*", metavar="PICTURE", help=f"{names} (default: all)")
    parser.add_argument("--output", default="build/pictures", metavar="DIR",
                        help="folder, made if it is missing (default: %(default)s)")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS),
                        metavar="KIND", help="png, svg (default: both)")
    parser.add_argument("--posenc", default=f"{ROOT}/build/release/bin/posenc", metavar="FILE",
                        help="the posenc command (default: build/release/bin/posenc)")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:end])
    options.passed_on = words[end + 1 :]
    for name in options.pictures:
        if name not in PICTURES:
            parser.error(f"PICTURE is '{name}'; allowed: {names}")
    return options


def draw(name: str, options: argparse.Namespace) -> Figure:
    posenc = Posenc(options.posenc, options.passed_on)
    if name == "heat_map":
        return draw_heat_map(posenc)
    return draw_drift(measure_drift(posenc), options.passed_on)


def main() -> int:
    options = parse_arguments()
    need_modules("matplotlib", "numpy")
    make_folder(options.output)
    for name in options.pictures or PICTURES:
        figure = draw(name, options)
        for path in save(figure, options.output, name, options.formats):
            print(f"{path}  {os.path.getsize(path) / 1000:.0f} kB")
        pyplot().close(figure)
    return 0


if __name__ == "__main__":
    run_main(main)
