#!/usr/bin/env python3
"""Draws what a sinusoidal positional encoding looks like, and how far each backend's error drifts.

Pictures (all unless named):
  heat_map    the table: value by position and channel
  channels    single channels along the positions: 4 to 7 of d_model 20 over 100 positions
  similarity  the dot product of two rows against their distance
  drift       the largest error of each backend along the positions

Tables come from posenc generate, errors from posenc accuracy. Options of the shape hold for every
picture that is drawn; without them each has its own."""

import argparse
import os
import re

from measuring.command import ArgumentParser, integer, run_main
from measuring.errors import need_module, reading
from measuring.figures.canvas import Figure, pyplot, save
from measuring.figures.drift import BACKENDS, draw_drift, measure_drift
from measuring.figures.encoding import MOST_CHANNELS, draw_channels, draw_heat_map, draw_similarity
from measuring.files import built_program, make_folder, read_json
from measuring.posenc import Posenc, Shape
from measuring.results.accuracy import read_accuracy

PICTURES = ("heat_map", "channels", "similarity", "drift")
FORMATS = ("png", "svg")


def parse_channels(text: str) -> list[int]:
    """ "4-7,12" as [4, 5, 6, 7, 12]."""
    channels: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7}))?", part)
        if not match or (match[2] and int(match[2]) < int(match[1])):
            allowed = "channels such as 4-7 or 0,1,8"
            raise argparse.ArgumentTypeError(f"is '{text}'; allowed: {allowed}")
        channels.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    if len(channels) > MOST_CHANNELS:
        allowed = f"at most {MOST_CHANNELS} channels, more cannot be told apart"
        raise argparse.ArgumentTypeError(f"is '{text}'; allowed: {allowed}")
    return sorted(channels)


def add_shape_options(parser: argparse.ArgumentParser) -> None:
    shape = parser.add_argument_group("shape, as posenc generate takes it")
    shape.add_argument("--preset", metavar="NAME", help="shape of a real system, such as whisper")
    shape.add_argument("--rows", type=integer(1, 1 << 24), metavar="N",
                       help="positions; in similarity the distances")
    shape.add_argument("--d-model", type=integer(2, 1 << 20), metavar="N",
                       help="channels of a row, even")
    shape.add_argument("--first", type=integer(0, 1 << 53), metavar="N",
                       help="first position (not in drift)")
    shape.add_argument("--base", metavar="X", help="base of the frequencies, above 1")
    shape.add_argument("--layout", metavar="NAME", help="interleaved, halves or halves_cos_first")
    shape.add_argument("--spacing", metavar="NAME", help="paper or inclusive")
    shape.add_argument("--backend", action="append", default=[], metavar="NAME",
                       help="backend; may be repeated for drift "
                       f"(default there: {', '.join(BACKENDS)})")


def parse_arguments() -> argparse.Namespace:
    example = "plot_encoding.py heat_map --preset whisper --output pictures"
    parser = ArgumentParser(example=example, description=__doc__)
    names = ", ".join(PICTURES)
    parser.add_argument("pictures", nargs="*", metavar="PICTURE", help=f"{names} (default: all)")
    parser.add_argument("--output", default="build/pictures", metavar="DIR",
                        help="folder, made if it is missing (default: %(default)s)")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS),
                        metavar="KIND", help="png, svg (default: both)")
    parser.add_argument("--dpi", type=integer(30, 600), default=150, metavar="N",
                        help="pixels of an inch in png, 30 to 600 (default: %(default)s)")
    parser.add_argument("--posenc", default=built_program("posenc"), metavar="FILE",
                        help="the posenc command (default: build/release/bin/posenc)")
    add_shape_options(parser)
    parser.add_argument("--channels", type=parse_channels, default=[4, 5, 6, 7], metavar="LIST",
                        help="of the picture channels, such as 4-7 or 0,1,8 (default: 4-7)")
    parser.add_argument("--accuracy", nargs="+", metavar="FILE",
                        help="of posenc accuracy --format json: drift is drawn from these and "
                        "nothing is measured")
    options = parser.parse_args()
    for name in options.pictures:
        if name not in PICTURES:
            parser.error(f"PICTURE is '{name}'; allowed: {names}")
    return options


def drift(options: argparse.Namespace, posenc: Posenc, shape: Shape) -> Figure:
    if not options.accuracy:
        reports = measure_drift(posenc, shape, options.backend)
        return draw_drift(reports, shape.convention())
    reports = []
    for path in options.accuracy:
        document = read_json(path)
        with reading(path):
            reports += read_accuracy(document)
    return draw_drift(reports, shape.convention())


def draw(name: str, options: argparse.Namespace) -> Figure:
    posenc, shape = Posenc(options.posenc), Shape.of(options)
    backend = options.backend[0] if options.backend else None
    if name == "heat_map":
        return draw_heat_map(posenc, shape, backend)
    if name == "channels":
        return draw_channels(posenc, shape, backend, options.channels)
    if name == "similarity":
        return draw_similarity(posenc, shape, backend)
    return drift(options, posenc, shape)


def main() -> int:
    options = parse_arguments()
    need_module("matplotlib", "python3-matplotlib")
    make_folder(options.output)
    for name in options.pictures or PICTURES:
        figure = draw(name, options)
        stem = os.path.join(options.output, name)
        for path in save(figure, stem, options.formats, options.dpi):
            print(f"{path}  {os.path.getsize(path) / 1000:.0f} kB")
        pyplot().close(figure)
    return 0


if __name__ == "__main__":
    run_main(main)
