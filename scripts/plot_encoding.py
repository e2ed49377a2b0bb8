#!/usr/bin/env python3
"""Draws what a sinusoidal positional encoding looks like, and how far each backend's error drifts.

Pictures (all unless named):
  heat_map    the table: value by position and channel
  channels    single channels along the positions: 4 to 7 of d_model 20 over 100 positions
  similarity  the dot product of two rows against their distance
  drift       the largest error of each backend along the positions

Tables come from posenc generate, errors from posenc accuracy. Options of the shape hold for every picture that is drawn;
without them each has its own."""

import argparse
import io
import json
import math
import os
import re
import sys

import figure_style as style
from common import (
    DEFAULT_COMMAND,
    EXIT_CODES,
    ArgumentParser,
    BadInput,
    integer,
    make_folder,
    need_module,
    read_json,
    run_main,
    run_posenc,
)

FORMATS = ("png", "svg")
SPEC_OPTIONS = ("preset", "first", "base", "layout", "spacing")
MAX_CELLS = 1 << 24

# Drift: all positions up to here, and beyond it windows of consecutive positions at powers of two.
DRIFT_ROWS = 1 << 14
DRIFT_WINDOW = 512
DRIFT_LAST_POWER = 40
HALF_ULP = 2.0**-25


def spec_arguments(options):
    given = [(name, getattr(options, name)) for name in SPEC_OPTIONS if getattr(options, name) is not None]
    return [word for name, value in given for word in (f"--{name}", value)]


def shape_arguments(options, rows, d_model):
    """Options of the command; a picture's own shape where neither the user nor a preset says otherwise."""
    arguments = spec_arguments(options)
    for name, given, own in (("--rows", options.rows, rows), ("--d-model", options.d_model, d_model)):
        if given is not None or options.preset is None:
            arguments += [name, own if given is None else given]
    return arguments


def generate(options, rows, d_model):
    """A table from posenc generate, shape (rows, d_model), and its first position."""
    numpy = need_module("numpy", "python3-numpy")
    backend = ["--backend", options.backend[0]] if options.backend else []
    arguments = ["generate", "--format", "npy", *shape_arguments(options, rows, d_model), *backend]
    table = numpy.load(io.BytesIO(run_posenc(options.posenc, arguments)))
    if table.size > MAX_CELLS:
        raise BadInput(f"the table has {table.shape[0]} x {table.shape[1]} entries; allowed: at most {MAX_CELLS}")
    if table.size == 0:
        raise BadInput("--rows is 0; allowed: at least 1")
    return table, options.first or 0


def convention(options):
    """What tells the table from the paper's: "preset whisper", "layout halves", or nothing."""
    return "".join(
        f", {name} {value}"
        for name, value in ((n, getattr(options, n)) for n in SPEC_OPTIONS)
        if value is not None and name != "first"
    )


def draw_heat_map(options, pyplot):
    table, first = generate(options, rows=100, d_model=128)
    rows, d_model = table.shape
    figure, axes = pyplot.subplots(figsize=(8, 4.6), layout="constrained")
    # A map whose lightness rises from -1 to 1: it says the same in greyscale.
    image = axes.imshow(
        table,
        cmap="cividis",
        vmin=-1,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
        extent=(-0.5, d_model - 0.5, first + rows - 0.5, first - 0.5),
    )
    style.title(axes, "A sinusoidal positional encoding", f"{rows} positions x {d_model} channels{convention(options)}")
    axes.set(xlabel="channel", ylabel="position")
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, label="value", ticks=[-1, -0.5, 0, 0.5, 1], pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    return figure


def parse_channels(text):
    """ "4-7,12" as [4, 5, 6, 7, 12]."""
    channels = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7}))?", part)
        if not match or (match[2] and int(match[2]) < int(match[1])):
            raise argparse.ArgumentTypeError(f"is '{text}'; allowed: channels such as 4-7 or 0,1,8")
        channels += range(int(match[1]), int(match[2] or match[1]) + 1)
    if len(set(channels)) > 8:
        raise argparse.ArgumentTypeError(f"is '{text}'; allowed: at most 8 channels, more cannot be told apart")
    return sorted(set(channels))


def draw_channels(options, pyplot):
    table, first = generate(options, rows=100, d_model=20)
    rows, d_model = table.shape
    if options.channels[-1] >= d_model:
        raise BadInput(f"--channels names {options.channels[-1]}; allowed: 0 to {d_model - 1}, as d_model is {d_model}")
    figure, axes = pyplot.subplots(figsize=(8, 3.9), layout="constrained")
    looks = [
        style.BACKENDS["rotation"],
        style.BACKENDS["rotation32"],
        style.BACKENDS["xsimd"],
        style.BACKENDS["div_term"],
        *map(style.other_style, range(4)),
    ]
    for channel, look in zip(options.channels, looks):
        axes.plot(
            range(first, first + rows),
            table[:, channel],
            label=f"channel {channel}",
            color=look["color"],
            linestyle=look["linestyle"],
            marker=look["marker"],
            markevery=max(1, rows // 12),
            markersize=4.5,
        )
    numbers = f"{options.channels[0]} to {options.channels[-1]}"
    contiguous = len(options.channels) == options.channels[-1] - options.channels[0] + 1
    named = numbers if contiguous and len(options.channels) > 1 else ", ".join(map(str, options.channels))
    style.title(
        axes, f"Channel{'s' if len(options.channels) > 1 else ''} {named} of d_model {d_model}{convention(options)}"
    )
    axes.set(xlabel="position", ylabel="value", ylim=(-1.08, 1.08), yticks=[-1, -0.5, 0, 0.5, 1])
    axes.margins(x=0.01)
    axes.grid(axis="y")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncol=min(4, len(options.channels)), handlelength=3.5)
    return figure


def similarity(table, distances):
    """Mean over the starts of row . row', divided by that of a row with itself, and the largest deviation from the mean."""
    numpy = need_module("numpy", "python3-numpy")
    table = table.astype(numpy.float64)
    starts = len(table) - distances
    products = numpy.stack([(table[:starts] * table[d : d + starts]).sum(axis=1) for d in range(distances)])
    products /= table.shape[1] / 2
    means = products.mean(axis=1)
    return means, float(abs(products - means[:, None]).max())


def draw_similarity(options, pyplot):
    rows = options.rows or 256
    widths = [options.d_model] if options.d_model or options.preset else [32, 128, 512]
    figure, axes = pyplot.subplots(figsize=(8, 3.9), layout="constrained")
    # From light and thin to dark and wide: the widest rows have the smoothest curve.
    looks = [
        {"color": "#e9a23b", "linewidth": 1.3},
        {"color": "#2a9d8f", "linewidth": 1.8, "linestyle": (0, (5, 1))},
        {"color": "#0f4c81", "linewidth": 2.6},
    ]
    deviation = 0.0
    for width, look in zip(widths, looks[-len(widths) :]):
        # As many starts as distances, so that the mean is over different positions.
        longer = argparse.Namespace(**{**vars(options), "rows": 2 * rows})
        table, _ = generate(longer, 2 * rows, width)
        means, largest = similarity(table, rows)
        deviation = max(deviation, largest)
        axes.plot(range(rows), means, label=f"d_model {table.shape[1]}", **look)
    style.title(
        axes,
        "How alike two rows are depends on their distance alone",
        f"mean over {rows} first positions, which differ by {deviation:.0e} at most{convention(options)}",
    )
    axes.set(
        xlabel="distance (positions)", ylabel="dot product / (d_model / 2)", ylim=(min(0, axes.get_ylim()[0]), 1.05)
    )
    axes.margins(x=0.01)
    axes.grid(axis="y")
    axes.legend(loc="upper right", handlelength=3.5)
    return figure


def read_reports(files):
    results = []
    for path in files:
        document = read_json(path)
        if not isinstance(document, dict) or document.get("version") != 1 or "results" not in document:
            raise BadInput(f"{path}: no accuracy report; allowed: what posenc accuracy --format json writes")
        results += document["results"]
    return results


def measure_drift(options):
    """Reports over all positions up to DRIFT_ROWS, and over windows at powers of two beyond."""
    backends = options.backend or ["naive", "div_term", "xsimd", "rotation32", "rotation"]
    chosen = [word for name in backends for word in ("--backend", name)]
    spec = [word for word in shape_arguments(options, None, 64)]
    for index in range(len(spec) - 1, -1, -1):
        if spec[index] in ("--rows", "--first"):
            del spec[index : index + 2]
    starts = [(0, options.rows or DRIFT_ROWS)]
    starts += [(1 << power, DRIFT_WINDOW) for power in range((starts[0][1] - 1).bit_length(), DRIFT_LAST_POWER + 1)]
    results = []
    for done, (first, rows) in enumerate(starts):
        if sys.stderr.isatty():
            print(f"\rmeasuring errors: {100 * done // len(starts)} %\033[K", end="", file=sys.stderr, flush=True)
        arguments = ["accuracy", "--format", "json", "--threads", 1, "--first", first, "--rows", rows, *spec, *chosen]
        results += json.loads(run_posenc(options.posenc, arguments))["results"]
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return results


def drift_of(results):
    """{"rotation": ([last positions], [max |error|])}: of each backend the ISA that errs most counts, octave by octave."""
    octaves = {}
    for result in results:
        errors = octaves.setdefault(result["backend"], {})
        for octave in result["by_position"]:
            last = octave["first"] + octave["count"] - 1
            if last >= 1:  # position 0 is exact in every backend, and has no place on a logarithmic axis
                errors[last] = max(errors.get(last, 0.0), octave["max_abs"])
    return {name: tuple(zip(*sorted(errors.items()))) for name, errors in octaves.items() if errors}


def draw_drift(options, pyplot):
    results = read_reports(options.accuracy) if options.accuracy else measure_drift(options)
    try:
        curves = drift_of(results)
        widths = sorted({result["spec"]["d_model"] for result in results})
    except (KeyError, TypeError) as error:
        raise BadInput(
            f"--accuracy names a report that is not as posenc accuracy writes it ({error!r}); "
            "allowed: its JSON, unchanged"
        ) from error
    if not curves:
        raise BadInput("no errors along positions above 0 in the accuracy reports; allowed: reports with by_position")
    figure, axes = pyplot.subplots(figsize=(8, 4.6), layout="constrained")
    # Drawn from the worst to the best; the best is wide, so that those that coincide with it can be seen on it.
    order = sorted(curves, key=lambda name: -curves[name][1][-1])
    for name in order:
        look = style.backend_style(name)
        positions, errors = curves[name]
        shown = [max(error, 1e-9) for error in errors]
        wide = {"linewidth": 4.5, "alpha": 0.55} if name == "rotation" else {}
        axes.plot(
            positions,
            shown,
            color=look["color"],
            linestyle=look["linestyle"],
            marker=look["marker"],
            markevery=(order.index(name) % 3, 3),
            markersize=4.5,
            zorder=1 if wide else 2,
            label=name,
            **wide,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axhline(HALF_ULP, color=style.MUTED, linewidth=0.8, linestyle=":", zorder=0)
    axes.annotate(
        "half an ulp of 1: no float32 table can promise less",
        (1, HALF_ULP),
        xytext=(2, -11),
        textcoords="offset points",
        fontsize=8.5,
        color=style.MUTED,
    )
    ends = sorted(order, key=lambda name: curves[name][1][-1])
    heights = style.spread_labels([math.log10(max(curves[name][1][-1], 1e-9)) for name in ends], 0.5)
    for name, height in zip(ends, heights):
        axes.annotate(
            name,
            (1.015, 10**height),
            xycoords=("axes fraction", "data"),
            va="center",
            fontweight="bold",
            fontsize=9,
            color=style.backend_style(name)["color"],
        )
    style.title(
        axes,
        "How far the error drifts along the positions",
        f"float32, d_model {', '.join(map(str, widths))}{convention(options)}; against the exact values",
    )
    axes.set(xlabel="position", ylabel="largest |error| in the octave", ylim=(8e-9, 5))
    axes.grid(True)
    return figure


PICTURES = {"heat_map": draw_heat_map, "channels": draw_channels, "similarity": draw_similarity, "drift": draw_drift}


def parse_arguments():
    parser = ArgumentParser(
        prog="plot_encoding.py",
        description=__doc__,
        epilog="example: plot_encoding.py heat_map --preset whisper --output pictures\n\n" + EXIT_CODES,
    )
    parser.add_argument(
        "pictures", nargs="*", metavar="PICTURE", help="heat_map, channels, similarity, drift (default: all)"
    )
    parser.add_argument(
        "--output", default="build/pictures", metavar="DIR", help="folder, made where missing (default: %(default)s)"
    )
    parser.add_argument(
        "--formats", nargs="+", choices=FORMATS, default=list(FORMATS), metavar="KIND", help="png, svg (default: both)"
    )
    parser.add_argument(
        "--dpi",
        type=integer(30, 600),
        default=150,
        metavar="N",
        help="pixels of an inch in png, 30 to 600 (default: %(default)s)",
    )
    parser.add_argument(
        "--posenc",
        default=DEFAULT_COMMAND,
        metavar="FILE",
        help="the posenc command (default: build/release/bin/posenc)",
    )
    shape = parser.add_argument_group("shape, as posenc generate takes it")
    shape.add_argument("--preset", metavar="NAME", help="shape of a real system, such as whisper")
    shape.add_argument("--rows", type=integer(1, 1 << 24), metavar="N", help="positions; in similarity the distances")
    shape.add_argument("--d-model", type=integer(2, 1 << 20), metavar="N", help="channels of a row, even")
    shape.add_argument("--first", type=integer(0, 1 << 53), metavar="N", help="first position (not in drift)")
    shape.add_argument("--base", metavar="X", help="base of the frequencies, above 1")
    shape.add_argument("--layout", metavar="NAME", help="interleaved, halves or halves_cos_first")
    shape.add_argument("--spacing", metavar="NAME", help="paper or inclusive")
    shape.add_argument(
        "--backend",
        action="append",
        metavar="NAME",
        help="backend; may be repeated for drift (default there: naive, div_term, xsimd, rotation32, rotation)",
    )
    parser.add_argument(
        "--channels",
        type=parse_channels,
        default=[4, 5, 6, 7],
        metavar="LIST",
        help="of the picture channels, such as 4-7 or 0,1,8 (default: 4-7)",
    )
    parser.add_argument(
        "--accuracy",
        nargs="+",
        metavar="FILE",
        help="of posenc accuracy --format json: drift is drawn from these and nothing is measured",
    )
    options = parser.parse_args()
    for name in options.pictures:
        if name not in PICTURES:
            parser.error(f"PICTURE is '{name}'; allowed: {', '.join(PICTURES)}")
    return options


def main():
    options = parse_arguments()
    matplotlib = need_module("matplotlib", "python3-matplotlib")
    matplotlib.use("Agg")
    pyplot = need_module("matplotlib.pyplot", "python3-matplotlib")
    pyplot.rcParams.update(style.RC)
    make_folder(options.output)
    for name in options.pictures or PICTURES:
        figure = PICTURES[name](options, pyplot)
        for path in style.save(figure, os.path.join(options.output, name), options.formats, options.dpi):
            print(f"{path}  {os.path.getsize(path) / 1000:.0f} kB")
        pyplot.close(figure)
    return 0


if __name__ == "__main__":
    run_main("plot_encoding.py", main)
