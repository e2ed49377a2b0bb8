#!/usr/bin/env python3
"""Draws what a sinusoidal positional encoding looks like, as SVG: the table of posenc generate, to
which the options after -- go, in the place of --rows 100 --d-model 128."""

import io

from reporting import figures
from reporting.command import POSENC, ArgumentParser, BadInput, call_posenc, run_main, write_file

import numpy


def main() -> int:
    parser = ArgumentParser("plot_encoding.py --output whisper.svg -- --preset whisper", __doc__)
    parser.add_argument("--output", default="build/heat_map.svg", metavar="FILE",
                        help="default: %(default)s")
    parser.add_argument("--posenc", default=POSENC, metavar="FILE",
                        help="the posenc command (default: build/release/bin/posenc)")
    parser.add_argument("words", nargs="*", metavar="-- OPTION", help="of posenc generate")
    options = parser.parse_args()
    shape = options.words or ["--rows", "100", "--d-model", "128"]
    output, _ = call_posenc(options.posenc, "generate", "--format", "npy", *shape)
    table = numpy.load(io.BytesIO(output))
    if table.size == 0:
        raise BadInput("--rows is 0; allowed: at least 1")
    note = " ".join([f"{table.shape[0]} rows x {table.shape[1]} channels", *options.words])
    write_file(options.output, figures.svg_of(figures.encoding(table, note)))
    print(options.output)
    return 0


if __name__ == "__main__":
    run_main(main)
