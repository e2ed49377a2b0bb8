"""The figures of scripts/report.py, drawn of results made up here: no two series look alike, no
line to a label meets a text, the speed-up of one thread is 1."""

import math
import unittest
import warnings

import script_support
from script_support import skip_without

skip_without("matplotlib", "numpy")
from measuring.figures import canvas, errors, speed, style, time
from measuring.results.accuracy import AccuracyReport, Rows, Spec
from measuring.results.benchmarks import Benchmark, name_of
from measuring.results.machines import Machine

PEERS = (
    *("sleef_u10", "sleef_u35", "sleef_f64", "libmvec_f32", "libmvec_f64", "highway_f32"),
    *("highway_f64", "eigen", "ggml_recurrence", "drifting_rotation", "cached_copy"),
)
# Backends that users add.
NEW = ("lookup_table", "chebyshev", "my_backend", "taylor", "cordic")
BACKENDS = (*style.BACKENDS, *PEERS, "pytorch", "numpy", *NEW)
SHAPES = (("chunk", 8, 512), ("tutorial", 5000, 512), ("wide", 8192, 4096))
CPU = "A CPU"


def spec_of(d_model):
    return Spec(d_model, 10000.0, "interleaved", "paper")


def add(machine, name, gfloats, rows=None, **counters):
    """An encoder's benchmark, timed once."""
    found = Benchmark(
        name_of(name),
        [[1 / gfloats / 1e6]],
        {"items_per_second": gfloats * 1e9, "share_of_limit": gfloats / 30, **counters},
    )
    if rows:
        found.spec, found.rows = spec_of(int(found.name.parts["d"])), Rows(0, rows)
    machine.benchmarks[found.name] = found


def report_of(backend, place, rows, d_model):
    """An accuracy report; every third backend is as accurate as rotation: points coincide."""
    most = 2.98e-8 if place % 3 == 0 else 1e-7 * 10 ** (place % 7 / 1.5)
    return AccuracyReport(
        backend,
        "avx2",
        spec_of(d_model),
        Rows(0, rows),
        max_abs=most,
        correctly_rounded=0.5,
        can_be_picked=backend in style.BACKENDS,
        by_position=[(2**power, most) for power in range(int(math.log2(rows)) + 1)],
        by_channel=[most] * d_model,
        quantiles=[(share, most * share) for share in (0.5, 0.9, 0.99, 1.0)],
    )


def add_backend(machine, place, backend):
    gfloats = 20 * 0.78**place
    is_program = backend in ("pytorch", "numpy")
    own_error = {"max_abs": 1e-4, "correctly_rounded": 0.1} if is_program else {}
    for preset, rows, d_model in SHAPES:
        shape = f"rows:{rows}/d:{d_model}"
        name = f"encode/{backend}:avx2/preset:{preset}/{shape}"
        add(machine, name, gfloats, rows, **own_error)
        add(machine, f"encode/{backend}:avx2/{shape}", gfloats)
        machine.accuracy.append(report_of(backend, place, rows, d_model))
    for kind in ("row_cursor", "row_next", "row_random", "plan"):
        run = "rows:32/" if kind == "row_cursor" else ""
        add(machine, f"{kind}/{backend}:avx2/{run}d:512", gfloats)
    for threads in (1, 2, 4):
        name = f"encode/{backend}:avx2/rows:512/d:512/threads:{threads}"
        add(machine, name, gfloats * threads**0.5, speed_up=1.07 * threads)


def machine_with_everything():
    machine = Machine(CPU, {"cache_sizes": "L1d 32 KiB, L2 1 MiB, L3 32 MiB"})
    for place, backend in enumerate(BACKENDS):
        add_backend(machine, place, backend)
    for kind in ("store", "non_temporal_store", "copy"):
        for size in (1 << 14, 1 << 20):
            add(machine, f"limit/{kind}/bytes:{size}", 30)
    return machine


DRAWINGS = (
    speed.speed_against_error,
    speed.throughput_over_size,
    errors.error_along_position,
    errors.error_by_channel,
    errors.error_quantiles,
    time.latency,
    time.thread_scaling,
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
        cls.addClassCleanup(canvas.pyplot().close, "all")

    def test_latency_is_that_of_a_row(self):
        figure = time.latency(self.machine, False)
        self.addCleanup(canvas.pyplot().close, figure)
        (axes,) = figure.get_axes()
        least = {line.get_label(): min(line.get_xdata()) for line in axes.get_lines()}
        self.assertAlmostEqual(
            least["row at a random position"] / least["next row, from a cursor"], 32
        )

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
        figure = speed.across_cpus([self.machine], False)
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
        figure, axes = canvas.pyplot().subplots()
        axes.plot([0, 1], [0, 1], color="#123456", marker="o", label="one")
        axes.plot([0, 1], [1, 0], color="#123456", marker="o", label="two")
        axes.text(0.5, 0.5, "in the way")
        axes.annotate("label", (0, 0.5), xytext=(1, 0.5), arrowprops={"arrowstyle": "-"})
        figure.draw_without_rendering()
        self.assertIn(("label", "in the way"), crossings(figure))
        self.assertEqual(look_alike(axes), [("one", "two")])

    def test_speed_up_of_one_thread_is_one(self):
        speed_ups = time.speed_ups(self.machine)
        self.assertEqual(speed_ups.keys(), {"512 x 512"})
        self.assertEqual(speed_ups["512 x 512"].keys(), set(BACKENDS))
        for by_threads in speed_ups["512 x 512"].values():
            self.assertEqual(by_threads[1], 1)
            self.assertAlmostEqual(by_threads[4], 2)

    def test_without_one_thread_the_binary_says_the_speed_up(self):
        machine = Machine(CPU)
        add(machine, "encode/rotation:avx2/rows:512/d:512/threads:2", 5, speed_up=1.9)
        self.assertEqual(time.speed_ups(machine), {"512 x 512": {"rotation": {2: 1.9}}})


def all_texts(figure):
    import matplotlib.text

    return figure.findobj(matplotlib.text.Text)


class CurvesTest(unittest.TestCase):
    """What is drawn, and of what."""

    def test_a_sweep_is_of_tables_of_float32_in_rows_without_gaps(self):
        machine = Machine(CPU)
        add(machine, "encode/rotation:avx2/rows:512/d:512/dtype:float16", 9)
        add(machine, "encode/rotation:avx2/rows:512/d:512/stride:640", 8)
        add(machine, "encode/rotation:avx2/rows:512/d:512/threads:2", 7)
        add(machine, "encode/rotation:avx2/rows:512/d:512", 5)
        figure = speed.throughput_over_size(machine, False)
        (line,) = (line for line in figure.axes[0].get_lines() if line.get_label() == "rotation")
        self.assertEqual(list(line.get_xdata()), [512 * 512 * 4])
        self.assertAlmostEqual(line.get_ydata()[0], 5)

    def test_limits_beside_encoders_are_drawn_as_those_of_their_own_binary(self):
        machine = Machine(CPU)
        add(machine, "encode/rotation:avx2/rows:512/d:512", 5)
        for name in ("limit/store", "limit/non_temporal_store"):
            add(machine, f"{name}/bytes:16384", 30)
        figure = speed.throughput_over_size(machine, False)
        labels = [label for label, *_ in series_of(figure.axes[0])]
        self.assertEqual(labels, ["limit: non-temporal stores", "limit: stores", "rotation"])

    def test_what_was_not_measured_is_not_drawn(self):
        for draw in DRAWINGS:
            self.assertIsNone(draw(Machine(CPU), False))
        self.assertIsNone(speed.across_cpus([Machine(CPU)], False))

    def test_labels_are_spread_apart(self):
        self.assertEqual(canvas.spread_labels([5, 1], 1), [1, 5])
        low, high = canvas.spread_labels([1, 1.5], 1)
        self.assertAlmostEqual(high - low, 1)
        self.assertAlmostEqual(high + low, 2.5)


if __name__ == "__main__":
    script_support.main()
