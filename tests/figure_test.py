"""The figures of scripts/report.py, drawn of results made up here: no two series look alike, no
line to a label meets a text, the speed-up of one thread is 1."""

import math
import os
import sys
import unittest
import warnings

import script_support
from script_support import skip_without

skip_without("matplotlib", "numpy")
sys.path.insert(0, os.path.join(script_support.ROOT, "scripts"))
import figure_style as style
import report_figures as figures
from report_data import Machine, Run

PEERS = (
    *("sleef_u10", "sleef_u35", "sleef_f64", "libmvec_f32", "libmvec_f64", "highway_f32"),
    *("highway_f64", "eigen", "ggml_recurrence", "drifting_rotation", "cached_copy"),
)
# Backends that somebody adds.
NEW = ("lookup_table", "chebyshev", "my_backend", "taylor", "cordic")
BACKENDS = (*style.BACKENDS, *PEERS, "pytorch", "numpy", *NEW)
SHAPES = (("chunk", 8, 512), ("tutorial", 5000, 512), ("wide", 8192, 4096))
CPU = "A CPU"


def run_of(kind, backend, parts, gfloats, label="", **counters):
    counters = {"items_per_second": gfloats * 1e9, "share_of_limit": gfloats / 30, **counters}
    texts = {key: str(value) for key, value in parts.items()}
    seconds = 1 / gfloats / 1e6
    return Run(kind, f"{backend}:avx2", texts, seconds, 0.01, counters, label)


def add(machine, run):
    machine.runs[f"{run.kind}/{run.subject}/{sorted(run.parts.items())}"] = run


def report_of(backend, place, rows, d_model):
    """An accuracy report; every third backend is as accurate as rotation: points coincide."""
    most = 2.98e-8 if place % 3 == 0 else 1e-7 * 10 ** (place % 7 / 1.5)
    ends = [2**power for power in range(int(math.log2(rows)) + 1)]
    return {
        "backend": backend,
        "isa": "avx2",
        "can_be_picked": backend in style.BACKENDS,
        "spec": {"d_model": d_model, "base": 10000.0, "layout": "interleaved", "spacing": "paper"},
        "rows": {"first": 0, "count": rows},
        "max_abs": most,
        "correctly_rounded": 0.5,
        "by_position": [{"first": end, "count": end, "max_abs": most} for end in ends],
        "by_channel": [{"max_abs": most}] * d_model,
        "quantiles": [{"share": each, "abs_error": most * each} for each in (0.5, 0.9, 0.99, 1.0)],
    }


def machine_with_everything():
    machine = Machine(CPU, {"cache_sizes": "L1d 32 KiB, L2 1 MiB, L3 32 MiB"})
    for place, backend in enumerate(BACKENDS):
        gfloats = 20 * 0.78**place
        for preset, rows, d_model in SHAPES:
            label = f"d_model={d_model} base=10000 layout=interleaved spacing=paper"
            label += f" first=0 count={rows}"
            parts = {"preset": preset, "rows": rows, "d": d_model}
            is_program = backend in ("pytorch", "numpy")
            own_error = {"max_abs": 1e-4, "correctly_rounded": 0.1} if is_program else {}
            add(machine, run_of("encode", backend, parts, gfloats, label, **own_error))
            add(machine, run_of("encode", backend, {"rows": rows, "d": d_model}, gfloats))
            machine.accuracy.append(report_of(backend, place, rows, d_model))
        for kind in ("row_cursor", "row_next", "row_random", "plan"):
            add(machine, run_of(kind, backend, {"d": 512}, gfloats))
        for threads in (1, 2, 4):
            parts = {"rows": 512, "d": 512, "threads": threads}
            speed = gfloats * threads**0.5
            add(machine, run_of("encode", backend, parts, speed, speed_up=1.07 * threads))
    for kind in ("store", "non_temporal_store", "copy"):
        for size in (1 << 14, 1 << 20):
            machine.runs[f"{kind}{size}"] = Run(
                "limit", kind, {"bytes": str(size)}, 1e-6, 0.01, {"items_per_second": 3e10}
            )
    return machine


DRAWINGS = (
    figures.speed_against_error,
    figures.throughput_over_size,
    figures.error_along_position,
    figures.error_quantiles,
    figures.latency,
    figures.thread_scaling,
)


def series_of(axes):
    """(label, colour, marker, dash) of each series: not of grids, and of lines without a name."""
    return [
        (
            line.get_label(),
            str(line.get_color()),
            str(line.get_marker()),
            str(line._unscaled_dash_pattern),
        )
        for line in axes.get_lines()
        if not line.get_label().startswith("_")
    ]


def look_alike(axes):
    """Pairs of series that share colour, marker and dash."""
    looks, pairs = {}, []
    for label, *look in series_of(axes):
        if tuple(look) in looks:
            pairs.append((looks[tuple(look)], label))
        looks[tuple(look)] = label
    return pairs


def meets(box, start, end):
    """Whether the segment has a point in the box: cut to each side's half-plane in turn."""
    low, high = 0.0, 1.0
    for first, last, least, most in (
        (start[0], end[0], box.x0, box.x1),
        (start[1], end[1], box.y0, box.y1),
    ):
        step = last - first
        if step == 0:
            if not least <= first <= most:
                return False
            continue
        ends = sorted(((least - first) / step, (most - first) / step))
        low, high = max(low, ends[0]), min(high, ends[1])
    return low <= high


def crossings(figure):
    """(text of the label, text that its line meets) for each line from a label to its point, in a
    figure that was drawn."""
    import matplotlib.text

    texts = [text for text in all_texts(figure) if text.get_visible() and text.get_text()]
    found = []
    for label in texts:
        arrow = getattr(label, "arrow_patch", None)
        if arrow is None:
            continue
        vertices = arrow.get_path().transformed(arrow.get_transform()).vertices
        for text in texts:
            box = matplotlib.text.Text.get_window_extent(text)
            if text is not label and meets(box, vertices[0], vertices[-1]):
                found.append((label.get_text(), text.get_text()))
    return found


class FigureTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machine = machine_with_everything()
        cls.figures = {}
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            for draw in DRAWINGS:
                for narrow in (False, True):
                    figure = draw(cls.machine, narrow)
                    figure.draw_without_rendering()
                    cls.figures[f"{draw.__name__}, {'narrow' if narrow else 'wide'}"] = figure
        cls.warnings = [str(each.message) for each in warned]
        cls.addClassCleanup(figures.pyplot().close, "all")

    def each_figure(self):
        for name, figure in self.figures.items():
            with self.subTest(name):
                yield figure

    def test_there_is_room_for_the_axes(self):
        self.assertEqual(self.warnings, [])

    def test_no_two_series_look_alike(self):
        most = 0
        for figure in self.each_figure():
            for axes in figure.axes:
                self.assertEqual(look_alike(axes), [])
                most = max(most, len(series_of(axes)))
        self.assertGreaterEqual(most, len(BACKENDS))
        figure = figures.across_cpus([self.machine], False)
        self.assertEqual(look_alike(figure.axes[0]), [])

    def test_points_differ_in_colour_or_marker(self):
        looks = [style.backend_style(name) for name in BACKENDS]
        self.assertEqual(len({(look["color"], look["marker"]) for look in looks}), len(BACKENDS))

    def test_a_backend_looks_the_same_again(self):
        before = {name: style.backend_style(name) for name in BACKENDS}
        style.backend_style("one_more")
        self.assertEqual({name: style.backend_style(name) for name in reversed(BACKENDS)}, before)
        self.assertNotIn(style.backend_style("one_more"), before.values())

    def test_every_colour_has_one_for_dark_pages(self):
        colors = {style.backend_style(name)["color"] for name in BACKENDS}
        colors |= {look["color"] for look in style.LINES.values()}
        self.assertLessEqual(colors, style.ON_DARK.keys())
        self.assertEqual(len(set(style.ON_DARK.values())), len(style.ON_DARK))

    def test_lines_to_labels_meet_no_text(self):
        lines = 0
        for figure in self.each_figure():
            self.assertEqual(crossings(figure), [])
            arrows = [getattr(text, "arrow_patch", None) for text in all_texts(figure)]
            lines += sum(arrow is not None for arrow in arrows)
        self.assertGreaterEqual(lines, 4 * (len(BACKENDS) - 1))

    def test_crossings_and_look_alikes_are_found(self):
        figure, axes = figures.pyplot().subplots()
        axes.plot([0, 1], [0, 1], color="#123456", marker="o", label="one")
        axes.plot([0, 1], [1, 0], color="#123456", marker="o", label="two")
        axes.text(0.5, 0.5, "in the way")
        axes.annotate("label", (0, 0.5), xytext=(1, 0.5), arrowprops={"arrowstyle": "-"})
        figure.draw_without_rendering()
        self.assertIn(("label", "in the way"), crossings(figure))
        self.assertEqual(look_alike(axes), [("one", "two")])

    def test_speed_up_of_one_thread_is_one(self):
        speed_ups = figures.speed_ups(self.machine)
        self.assertEqual(speed_ups.keys(), {"512 x 512"})
        self.assertEqual(speed_ups["512 x 512"].keys(), set(BACKENDS))
        for by_threads in speed_ups["512 x 512"].values():
            self.assertEqual(by_threads[1], 1)
            self.assertAlmostEqual(by_threads[4], 2)

    def test_without_one_thread_the_binary_says_the_speed_up(self):
        machine = Machine(CPU)
        parts = {"rows": 512, "d": 512, "threads": 2}
        add(machine, run_of("encode", "rotation", parts, 5, speed_up=1.9))
        self.assertEqual(figures.speed_ups(machine), {"512 x 512": {"rotation": {2: 1.9}}})


def all_texts(figure):
    import matplotlib.text

    return figure.findobj(matplotlib.text.Text)


if __name__ == "__main__":
    script_support.main()
