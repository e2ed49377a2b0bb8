"""The figures of the report. Each function draws one machine's figure, wide or narrow, or returns None where its results are missing."""

import math
import textwrap

import figure_style as style
import summary
from common import OTHER_PROGRAMS, need_module
from report_data import HALF_ULP, best_isa_only

WIDE, NARROW = (9.4, 4.5), (3.75, 3.9)
LEAST_ERROR = 1e-9


def pyplot():
    need_module("matplotlib", "python3-matplotlib").use("Agg")
    found = need_module("matplotlib.pyplot", "python3-matplotlib")
    found.rcParams.update(style.RC)
    return found


def canvas(narrow, panels=1, height=None):
    """Panels beside each other, or below each other where it is narrow. A list of axes."""
    width, usual = NARROW if narrow else WIDE
    tall = (height or usual) * (panels * 0.85 if narrow and panels > 1 else 1)
    shape = (panels, 1) if narrow else (1, panels)
    figure, axes = pyplot().subplots(*shape, figsize=(width, tall), layout="constrained", squeeze=False)
    return figure, list(axes.flat)


def log_x_axis(axes):
    """A logarithmic axis with labels at powers of ten alone: those between them would not stand beside each other."""
    axes.set_xscale("log")
    axes.xaxis.set_minor_formatter(need_module("matplotlib.ticker", "python3-matplotlib").NullFormatter())


LEGEND_LINE = 0.2  # inches


def legend_below(axes, columns):
    """As far below the axes as tick labels and the axis label need, whatever the axes' height. The
    figure grows by the lines of the legend beyond the second, so that the axes keep their size."""
    lines = math.ceil(len(axes.get_legend_handles_labels()[0]) / columns)
    figure = axes.figure
    figure.set_figheight(figure.get_figheight() + LEGEND_LINE * max(0, lines - 2))
    transforms = need_module("matplotlib.transforms", "python3-matplotlib")
    down = transforms.ScaledTranslation(0, -38 / 72, axes.figure.dpi_scale_trans)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=axes.transAxes + down,
        ncol=columns,
        columnspacing=1.2,
        handlelength=3,
    )


def preset_runs(machine):
    return [run for run in machine.of_kind("encode") if "preset" in run.parts]


def accuracy_of(machine, run):
    """The report that belongs to a run of a preset; None where there is none. Another program's run brings its own error."""
    if run.backend in OTHER_PROGRAMS and "max_abs" in run.counters:
        return {**run.counters, "can_be_picked": False}
    if not run.label:
        return None
    spec, first, count = summary.spec_from_label(run.label)
    wanted = {"backend": run.backend, "isa": run.isa, "spec": spec, "first": first, "count": count}
    return summary.find_accuracy(machine.accuracy, wanted)[0]


def quoted_presets(machine):
    """Two presets that have speeds and errors: the tutorial's (else the smallest), and the largest."""
    sizes = {}
    for run in preset_runs(machine):
        if accuracy_of(machine, run):
            sizes[run.parts["preset"]] = int(run.parts["rows"]) * int(run.parts["d"])
    order = sorted(sizes, key=sizes.get)
    if not order:
        return []
    return list(dict.fromkeys(["tutorial" if "tutorial" in sizes else order[0], order[-1]]))


def label_beside(axes, labels):
    """Texts in a column right of the axes, each with a line to its point: no text covers another,
    however close the points are, and no line meets a text, since all texts are right of all points.
    Labels: (text, x, y, properties of the text)."""
    line_points = 12.5
    low, high = (math.log10(edge) for edge in axes.get_ylim())
    panels = axes.get_subplotspec().get_gridspec().nrows
    height_points = 72 * axes.figure.get_figheight() * 0.72 / (2 if panels > 1 else 1)
    gap = (high - low) * line_points / height_points
    labels = sorted(labels, key=lambda label: label[2])
    heights = style.spread_labels([math.log10(label[2]) for label in labels], gap)
    shift = min(0.0, high - heights[-1]) + max(0.0, low - heights[0])
    leader = {
        "arrowstyle": "-",
        "color": style.MUTED,
        "linewidth": 0.5,
        "shrinkA": 1,
        "shrinkB": 5,
        "relpos": (0, 0.5),
    }
    for (text, x, y, look), height in zip(labels, heights):
        axes.annotate(
            text,
            (x, y),
            xytext=(1.03, 10 ** (height + shift)),
            textcoords=("axes fraction", "data"),
            va="center",
            fontsize=9,
            arrowprops=leader,
            **look,
        )


def draw_point(axes, run, error):
    """The mark of a run, filled if it is of the library. Returns its label (see label_beside)."""
    look = style.backend_style(run.backend)
    ours = run.backend in style.BACKENDS
    axes.plot(
        error,
        run.gfloats,
        marker=look["marker"],
        color=look["color"],
        markerfacecolor=look["color"] if ours else style.PAPER,
        markeredgewidth=1.0 if ours else 1.4,
        markersize=9 if ours else 8,
        linestyle="none",
        zorder=3,
        label=run.backend,
    )
    text_look = {"color": look["color"], "fontweight": "bold"} if ours else {"color": style.INK}
    return run.backend, error, run.gfloats, text_look


def speed_against_error(machine, narrow):
    presets = quoted_presets(machine)
    if not presets:
        return None
    of_preset = {
        preset: [
            (run, max(accuracy_of(machine, run)["max_abs"], LEAST_ERROR))
            for run in preset_runs(machine)
            if run.parts["preset"] == preset and accuracy_of(machine, run)
        ]
        for preset in presets
    }
    most = 1 + max(len(points) for points in of_preset.values())
    figure, panels = canvas(narrow, len(presets), height=max(4.6, 1.4 + 0.24 * most))
    for axes, (preset, points) in zip(panels, of_preset.items()):
        labels = [draw_point(axes, run, error) for run, error in points]
        widest = max(2e-6, 4 * max(error for _, error in points))
        limit = max(run.limit_gfloats for run, _ in points)
        if limit:
            axes.axhline(limit, color=style.INK, linewidth=1.2)
        axes.axvline(HALF_ULP, color=style.MUTED, linewidth=0.9, linestyle=":")
        log_x_axis(axes)
        axes.set(yscale="log", xlabel="largest |error|", ylabel="Gfloat/s")
        axes.set_xlim(1e-8, widest)
        speeds = [run.gfloats for run, _ in points]
        axes.set_ylim(min(speeds) / 2.6, 2.2 * max([limit, *speeds]))
        label_beside(axes, labels)
        parts = points[0][0].parts
        # In the note, since a text at the line would be in the way of the labels' lines.
        note = f"{parts['rows']} x {parts['d']}, one thread"
        if limit:
            note += f"; line: {'limit' if narrow else 'limit of the memory,'} {limit:.3g}"
        style.title(axes, preset, note)
        axes.grid(True)
    return figure


def swept_runs(machine):
    return [
        run
        for run in machine.of_kind("encode")
        if "rows" in run.parts and "threads" not in run.parts and "preset" not in run.parts
    ]


def throughput_over_size(machine, narrow):
    runs = swept_runs(machine) or preset_runs(machine)
    curves = {}
    for run in runs:
        size = 4 * int(run.parts["rows"]) * int(run.parts["d"])
        curves.setdefault(run.backend, {}).setdefault(size, run.gfloats)
    if not curves:
        return None
    figure, (axes,) = canvas(narrow, height=None if narrow else 5.0)
    limits = {}
    for run in machine.of_kind("limit"):
        limits.setdefault(run.subject, {})[int(run.parts["bytes"])] = run.gfloats
    names = {
        "store": "limit: stores",
        "non_temporal_store": "limit: non-temporal stores",
        "copy": "copy of a finished table",
    }
    for kind, values in sorted(limits.items()):
        if kind in names:
            axes.plot(
                *zip(*sorted(values.items())),
                **style.LINES[kind],
                linewidth=1.2,
                label=names[kind],
            )
    for name in sorted(curves, key=lambda n: -max(curves[n].values())):
        axes.plot(*zip(*sorted(curves[name].items())), label=name, **style.backend_style(name))
    axes.set(yscale="log", xlabel="size of the table", ylabel="Gfloat/s")
    axes.set_xscale("log", base=2)
    sizes = [size for values in [*curves.values(), *limits.values()] for size in values]
    powers = range(int(math.log2(min(sizes))), int(math.log2(max(sizes))) + 2, 4 if narrow else 2)
    axes.set_xticks([2.0**power for power in powers], [bytes_text(2**power) for power in powers])
    axes.minorticks_off()
    axes.set_xlim(min(sizes) / 1.6, max(sizes) * 1.6)
    axes.set_ylim(top=1.7 * axes.get_ylim()[1])  # room for the names of the caches
    for level, size in machine.caches():
        if min(sizes) / 1.6 < size < max(sizes) * 1.6:
            axes.axvline(size, color=style.MUTED, linewidth=0.9, linestyle=":")
            axes.annotate(
                level,
                (size, 1),
                xycoords=("data", "axes fraction"),
                xytext=(-3, -3),
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=9,
                color=style.MUTED,
            )
    axes.grid(axis="y")
    style.title(
        axes, "Throughput by size" if narrow else "Throughput by size of the table", "float32, warm memory, one thread"
    )
    legend_below(axes, 2 if narrow else 4)
    return figure


def bytes_text(size):
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size // factor} {unit}"
    return f"{size} B"


def best_reports(machine, rank):
    """Of each backend at its best ISA, the report that ranks highest: all over the same rows and spec."""
    if not machine.accuracy:
        return []
    best = max(machine.accuracy, key=rank)
    place = (best["spec"], best["rows"])
    same = [report for report in machine.accuracy if (report["spec"], report["rows"]) == place]
    return best_isa_only(same, lambda report: report["backend"], lambda report: report["isa"])


def shape_note(report):
    rows = report["rows"]
    return f"positions {rows['first']} to {rows['first'] + rows['count'] - 1}, d_model {report['spec']['d_model']}"


def error_along_position(machine, narrow):
    reports = best_reports(machine, lambda report: report["rows"]["first"] + report["rows"]["count"])
    if not reports:
        return None
    figure, (axes,) = canvas(narrow)
    for index, report in enumerate(sorted(reports, key=lambda r: -r["max_abs"])):
        octaves = [octave for octave in report["by_position"] if octave["first"] + octave["count"] > 1]
        wide = {"linewidth": 4.5, "alpha": 0.55} if report["backend"] == "rotation" else {}
        axes.plot(
            [octave["first"] + octave["count"] - 1 for octave in octaves],
            [max(octave["max_abs"], LEAST_ERROR) for octave in octaves],
            label=report["backend"],
            markevery=(index % 3, 3),
            **style.backend_style(report["backend"]),
            **wide,
        )
    axes.axhline(HALF_ULP, color=style.MUTED, linewidth=0.9, linestyle=":")
    log_x_axis(axes)
    axes.set(yscale="log", xlabel="position", ylabel="largest |error| in the octave")
    axes.grid(True)
    style.title(axes, "Error along the positions", shape_note(reports[0]))
    legend_below(axes, 2 if narrow else 5)
    return figure


def error_by_channel(machine, narrow):
    numpy = need_module("numpy", "python3-numpy")
    tutorial = [
        report for report in machine.accuracy if report["spec"]["d_model"] == 512 and report["rows"]["count"] == 5000
    ]
    rank = (lambda report: report in tutorial[:1]) if tutorial else (lambda report: report["rows"]["count"])
    reports = best_reports(machine, rank)
    if not reports:
        return None
    figure, (axes,) = canvas(narrow, height=3.6 if narrow else 3.4)
    errors = numpy.array(
        [[max(channel["max_abs"], LEAST_ERROR) for channel in report["by_channel"]] for report in reports]
    )
    image = axes.imshow(
        numpy.log10(errors),
        cmap="cividis",
        aspect="auto",
        interpolation="nearest",
        extent=(-0.5, errors.shape[1] - 0.5, len(reports) - 0.5, -0.5),
    )
    axes.set_yticks(range(len(reports)), [report["backend"] for report in reports])
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="channel")
    axes.spines[:].set_visible(False)
    for boundary in range(1, len(reports)):
        axes.axhline(boundary - 0.5, color=style.PAPER, linewidth=2)
    bar = figure.colorbar(
        image, ax=axes, label="largest |error|", orientation="horizontal" if narrow else "vertical", aspect=25, pad=0.02
    )
    low, high = math.floor(numpy.log10(errors).min()), math.ceil(numpy.log10(errors).max())
    ticks = [power for power in range(low, high + 1) if image.norm.vmin <= power <= image.norm.vmax]
    bar.set_ticks(ticks, labels=[f"$10^{{{power}}}$" for power in ticks])
    bar.outline.set_visible(False)
    style.title(axes, "Error by channel", shape_note(reports[0]))
    return figure


def error_quantiles(machine, narrow):
    reports = best_reports(machine, lambda report: report["spec"]["d_model"] == 512 and report["rows"]["count"] == 5000)
    if not reports:
        return None
    figure, (axes,) = canvas(narrow)
    shares = [quantile["share"] for quantile in reports[0]["quantiles"]]
    for report in sorted(reports, key=lambda r: -r["max_abs"]):
        wide = {"linewidth": 4.5, "alpha": 0.55} if report["backend"] == "rotation" else {}
        axes.plot(
            range(len(shares)),
            [max(quantile["abs_error"], LEAST_ERROR) for quantile in report["quantiles"]],
            label=report["backend"],
            **style.backend_style(report["backend"]),
            **wide,
        )
    axes.axhline(HALF_ULP, color=style.MUTED, linewidth=0.9, linestyle=":")
    axes.set_xticks(range(len(shares)), [f"{100 * share:g} %" for share in shares], fontsize=8 if narrow else 9)
    axes.set(yscale="log", xlabel="share of the entries", ylabel="|error| at most")
    axes.grid(True)
    style.title(axes, "How errors are distributed", shape_note(reports[0]))
    legend_below(axes, 2 if narrow else 5)
    return figure


LATENCIES = (
    ("row_cursor", "next row, from a cursor", "o"),
    ("row_next", "next row, encoded alone", "s"),
    ("row_random", "row at a random position", "^"),
    ("plan", "planning", "D"),
)


def latencies_of(machine):
    """{kind: {backend: seconds}} at the widest d_model that has all kinds measured, and that d_model."""
    found = {}
    for kind, _, _ in LATENCIES:
        for run in machine.of_kind(kind):
            if run.parts.get("spacing", "paper") == "paper" and run.parts.get("bits", "20") == "20":
                found.setdefault(int(run.parts["d"]), {}).setdefault(kind, {})[run.backend] = run.seconds
    if not found:
        return {}, 0
    width = max(found, key=lambda d: (len(found[d]), d))
    return found[width], width


def latency(machine, narrow):
    values, width = latencies_of(machine)
    if not values:
        return None
    backends = sorted(
        {name for kind in values.values() for name in kind}, key=lambda n: min(k[n] for k in values.values() if n in k)
    )
    figure, (axes,) = canvas(narrow, height=max(4.4 if narrow else 3.8, 2.0 + 0.2 * len(backends)))
    colors = [style.BACKENDS[name]["color"] for name in ("rotation", "xsimd", "rotation32", "div_term")]
    for (kind, text, marker), color in zip(LATENCIES, colors):
        shown = [(values[kind][name], place) for place, name in enumerate(backends) if name in values.get(kind, {})]
        if shown:
            axes.plot(*zip(*shown), linestyle="none", marker=marker, markersize=8, color=color, label=text)
    axes.set_yticks(range(len(backends)), backends)
    axes.set_ylim(len(backends) - 0.5, -0.5)
    log_x_axis(axes)
    axes.set(xlabel="time")
    low, high = axes.get_xlim()
    powers = [power for power in range(-9, 1) if low <= 10.0**power <= high]
    names = {
        -9: "1 ns",
        -8: "10 ns",
        -7: "100 ns",
        -6: "1 us",
        -5: "10 us",
        -4: "100 us",
        -3: "1 ms",
        -2: "10 ms",
        -1: "100 ms",
        0: "1 s",
    }
    axes.set_xticks([10.0**power for power in powers], [names[power] for power in powers])
    axes.grid(True)
    style.title(axes, "Planning, and single rows", f"d_model {width}, one thread")
    legend_below(axes, 1 if narrow else 4)
    return figure


def speed_ups(machine):
    """{shape: {backend: {threads: speed-up}}}. It is 1 for one thread: all are over what one thread
    took in the same run. Where that was not timed, the binary's own measurement stands for it."""
    runs = {}
    for run in machine.of_kind("encode"):
        if "threads" in run.parts:
            shape = f"{run.parts['rows']} x {run.parts['d']}"
            of_backend = runs.setdefault(shape, {}).setdefault(run.backend, {})
            of_backend[int(run.parts["threads"])] = run
    found = {}
    for shape, backends in runs.items():
        for name, by_threads in backends.items():
            one = by_threads.get(1)
            values = {
                threads: one.seconds / run.seconds if one else run.counters.get("speed_up")
                for threads, run in by_threads.items()
            }
            values = {threads: value for threads, value in values.items() if value is not None}
            if values:
                found.setdefault(shape, {})[name] = values
    return found


def thread_scaling(machine, narrow):
    curves = speed_ups(machine)
    if not curves:
        return None
    shapes = sorted(curves, key=lambda shape: math.prod(map(int, shape.split(" x "))))
    figure, panels = canvas(narrow, len(shapes), height=3.2 if narrow else 3.6)
    most = max(n for shape in curves.values() for values in shape.values() for n in values)
    top = max([most, *(v for shape in curves.values() for values in shape.values() for v in values.values())]) * 1.1
    for axes, shape in zip(panels, shapes):
        axes.plot([1, most], [1, most], **style.LINES["ideal"], linewidth=1, label="ideal")
        for name, values in sorted(curves[shape].items()):
            axes.plot(*zip(*sorted(values.items())), label=name, **style.backend_style(name))
        axes.set(xlabel="threads", ylabel="speed-up", ylim=(0, top))
        axes.set_xticks(sorted({n for values in curves[shape].values() for n in values}))
        axes.grid(axis="y")
        style.title(axes, shape)
    legend_below(panels[-1 if narrow else len(panels) // 2], 2 if narrow else 3)
    return figure


def across_cpus(machines, narrow):
    """Speed of each backend on each machine, for the preset that most machines have."""
    counts = {}
    for machine in machines:
        for preset in {run.parts["preset"] for run in preset_runs(machine)}:
            counts[preset] = counts.get(preset, 0) + 1
    if not counts:
        return None
    preset = max(counts, key=lambda name: (counts[name], name == "tutorial", name))
    speeds = {
        machine.cpu: {run.backend: run.gfloats for run in preset_runs(machine) if run.parts["preset"] == preset}
        for machine in machines
    }
    speeds = {cpu: values for cpu, values in speeds.items() if values}
    backends = sorted(
        {name for values in speeds.values() for name in values},
        key=lambda n: -max(v.get(n, 0) for v in speeds.values()),
    )
    figure, (axes,) = canvas(narrow, height=(2.3 if narrow else 1.8) + 0.55 * len(speeds))
    for name in backends:
        look = style.backend_style(name)
        shown = [(values[name], place) for place, values in enumerate(speeds.values()) if name in values]
        axes.plot(*zip(*shown), linestyle="none", marker=look["marker"], markersize=9, color=look["color"], label=name)
    axes.set_yticks(
        range(len(speeds)),
        ["\n".join(textwrap.wrap(cpu, 18 if narrow else 30)) for cpu in speeds],
        fontsize=8 if narrow else 9,
    )
    axes.set_ylim(len(speeds) - 0.5, -0.5)
    log_x_axis(axes)
    axes.set(xlabel="Gfloat/s")
    axes.grid(True)
    style.title(
        axes, "Across CPUs", f"{preset}, one thread" if narrow else f"preset {preset}, best ISA of each, one thread"
    )
    legend_below(axes, 2 if narrow else 5)
    return figure
