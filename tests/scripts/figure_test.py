"""The figures of scripts/report.py, drawn of measurements made up here: they have the right points,
no two series look alike, no line to a label meets a text. First argument: the folder of the built
programs, of which none is used."""

import pathlib
import re
import warnings

import script_support
from script_support import LARGE, LOOPS, ROOT, ScriptTest, document, row, skip_without, table

skip_without("matplotlib", "numpy")
import matplotlib.text

from reporting.documents import read_machines
from reporting.failures import BadInput
from reporting.figures import bars, canvas, error, speed, style

PEERS = (
    *("sleef_u10", "sleef_u35", "sleef_f64", "libmvec_f32", "libmvec_f64", "highway_f32"),
    *("highway_f64", "eigen", "ggml_recurrence", "drifting_rotation", "cached_copy", "pytorch"),
)
NEW = ("lookup_table", "chebyshev", "my_backend", "taylor", "cordic")  # that users add
BACKENDS = (*style.BACKENDS, *PEERS, *NEW)
DRAWINGS = (
    *(speed.speed_against_error, speed.throughput_over_size, speed.thread_scaling),
    *(error.error_along_position, error.error_by_channel),
    *(bars.element_types, bars.fresh_memory),
)


def crowd():
    """Every third backend is as accurate as rotation, so that points coincide."""
    rows = []
    for size in ((8, 512), (5000, 512), (8192, 4096)):
        for place, name in enumerate(BACKENDS):
            worst = 2.98e-8 if place % 3 == 0 else 1e-7 * 10 ** (place % 7 / 1.5)
            role = "peer" if name in PEERS else "backend"
            for threads in (1, 2, 4):
                octaves = [worst] * 13 if size == (5000, 512) and threads == 1 else ()
                fast = 20 * 0.78**place * threads**0.5
                of_table = table(*size, threads=threads)
                rows.append(row(f"{name}:avx2", of_table, fast, worst, role, by_position=octaves))
        rows += [row(name, table(*size), rate, role="limit") for name, rate in LOOPS]
    return document(*rows)


def series_of(axes):
    """(label, colour, marker, dash) of each series: not of grids, and of lines without a name."""
    named = (line for line in axes.get_lines() if not line.get_label().startswith("_"))
    return [
        (line.get_label(), line.get_color(), line.get_marker(), str(line._unscaled_dash_pattern))
        for line in named
    ]


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


def labels_of(figure):
    """The labels with lines to their points."""
    texts = figure.findobj(matplotlib.text.Text)
    return [text for text in texts if getattr(text, "arrow_patch", None) is not None]


def crossings(figure):
    """(label, text that its line meets) in a figure that was drawn."""
    texts = figure.findobj(matplotlib.text.Text)
    found = []
    for label in labels_of(figure):
        arrow = label.arrow_patch
        ends = arrow.get_path().transformed(arrow.get_transform()).vertices[[0, -1]]
        for text in texts:
            box = matplotlib.text.Text.get_window_extent(text)
            is_other = text is not label and text.get_visible() and text.get_text()
            if is_other and meets(box, *ends):
                found.append((label.get_text(), text.get_text()))
    return found


class FigureTest(ScriptTest):
    def draw(self, drawing, content):
        (machine,) = read_machines([str(self.write("measured.json", content))])
        figure = drawing(machine)
        if figure is not None:
            self.addCleanup(canvas.pyplot().close, figure)
            figure.draw_without_rendering()
        return figure

    def points_of(self, axes):
        return {
            line.get_label(): [(round(x, 12), round(y, 6)) for x, y in line.get_xydata()]
            for line in axes.get_lines()
            if not line.get_label().startswith("_")
        }

    def test_many_backends_stay_legible(self):
        for drawing in DRAWINGS:
            with self.subTest(drawing.__name__), warnings.catch_warnings():
                warnings.simplefilter("error")  # of axes without room
                figure = self.draw(drawing, crowd())
                if figure is None:
                    continue  # of element types and fresh memory the crowd has none
                self.assertEqual(crossings(figure), [])
                for axes in figure.axes:
                    looks = [tuple(look) for _, *look in series_of(axes)]
                    self.assertEqual(len(set(looks)), len(looks))
                    grey = {style.PALE_GREY, style.MUTED, style.INK}
                    colors = {color for color, *_ in looks} - grey
                    self.assertLessEqual(len(colors), style.MOST_COLORED)
        figure = self.draw(speed.speed_against_error, crowd())
        self.assertEqual(len(labels_of(figure)), 2 * len(BACKENDS))

    def test_crossings_are_found(self):
        figure, axes = canvas.pyplot().subplots()
        self.addCleanup(canvas.pyplot().close, figure)
        axes.text(0.5, 0.5, "in the way")
        axes.annotate("label", (0, 0.5), xytext=(1, 0.5), arrowprops={"arrowstyle": "-"})
        figure.draw_without_rendering()
        self.assertIn(("label", "in the way"), crossings(figure))

    def test_speed_against_error(self):
        figure = self.draw(speed.speed_against_error, script_support.sample())
        (tutorial,) = figure.axes  # which is the largest here, too
        points = self.points_of(tutorial)
        expected = {"rotation": [(2.98e-8, 2.0)], "rotation32": [(1.5e-7, 3.5)]}
        self.assertEqual(points, expected)
        (sleef,) = [line for line in tutorial.get_lines() if line.get_label() == "_sleef"]
        self.assertEqual(sleef.get_xydata().round(9).tolist(), [[4e-4, 0.5]])
        self.assertEqual(sleef.get_marker(), style.PHASES["float32"])
        self.assertEqual({each.get_text() for each in labels_of(figure)}, {*expected, "sleef"})
        texts = [label.get_text() for label in tutorial.get_yticklabels()]
        self.assertIn("0.5", texts)
        self.assertIn("10", texts)
        notes = [text.get_text() for text in tutorial.texts]
        self.assertIn("one thread; line: limit of the memory, 10", notes)

    def test_throughput(self):
        figure = self.draw(speed.throughput_over_size, script_support.sample())
        points = self.points_of(figure.axes[0])
        sizes = (8 * 512 * 4, 5000 * 512 * 4)
        self.assertEqual(points["rotation"], [(sizes[0], 4.0), (sizes[1], 2.0)])
        self.assertEqual(points["limit: stores"], [(sizes[0], 20.0), (sizes[1], 10.0)])
        self.assertEqual(points["copy of a finished table"], [(sizes[0], 13.0), (sizes[1], 6.5)])
        self.assertNotIn("sleef", points)

    def test_errors(self):
        octaves = [0.0, 1e-8, 2e-8, 4e-8]
        measured = document(row("x:avx2", LARGE, 0, 4e-8, by_position=octaves))
        figure = self.draw(error.error_along_position, measured)
        self.assertEqual(list(figure.axes[0].get_lines()[0].get_xdata()), [1, 3, 7])
        self.assertEqual(list(figure.axes[0].get_lines()[0].get_ydata()), octaves[1:])
        figure = self.draw(error.error_by_channel, measured)
        self.assertEqual(figure.axes[0].get_images()[0].get_array().shape, (1, 4))

    def test_threads(self):
        rows = [row("x:avx2", table(512, 512, threads=n), s, 1e-7) for n, s in ((1, 4), (2, 6))]
        figure = self.draw(speed.thread_scaling, document(*rows))
        self.assertEqual(self.points_of(figure.axes[0])["x"], [(1, 1.0), (2, 1.5)])
        self.assertIsNone(self.draw(speed.thread_scaling, document(rows[1])))

    def test_element_types(self):
        rows = [
            row(f"{name}:avx2", {**table(8, 512), "dtype": dtype}, speed, 1e-7)
            for name, dtype, speed in (
                ("rotation", "float32", 4), ("rotation", "float64", 2), ("rotation", "float16", 3),
                ("rotation32", "float32", 5), ("rotation32", "float16", 6), ("naive", "float32", 1))
        ]  # fmt: skip
        (axes,) = self.draw(bars.element_types, document(*rows)).axes
        heights = {each.get_label(): [bar.get_height() for bar in each] for each in axes.containers}
        for name, expected in {"rotation": [4, 2, 3], "rotation32": [5, 6]}.items():
            self.assertEqual([round(height, 9) for height in heights.pop(name)], expected)
        self.assertEqual(heights, {}, "naive has one type")
        self.assertIsNone(self.draw(bars.element_types, document(rows[0])))

    def test_fresh_memory(self):
        name = "encode_fresh/rotation:avx2/memory:{}/rows:8/d:512"
        results = {"context": {"cpu": "A CPU"}, "benchmarks": [
            {"name": name.format(memory), "items_per_second": speed * 1e9}
            for memory, speed in (("pages", 1), ("matrix", 3))]}  # fmt: skip
        paths = [str(self.write("measured.json", script_support.sample())),
                 str(self.write("fresh.json", results))]  # fmt: skip
        (machine,) = read_machines(paths)
        figure = bars.fresh_memory(machine)
        self.addCleanup(canvas.pyplot().close, figure)
        (axes,) = figure.axes
        heights = [round(bar.get_height(), 9) for bar in axes.containers[0]]
        self.assertEqual(heights, [4.0, 3.0, 1.0])
        with self.assertRaisesRegex(BadInput, "fresh.json"):
            read_machines(paths[1:])

    def test_what_was_not_measured_is_not_drawn(self):
        for drawing in DRAWINGS:
            self.assertIsNone(self.draw(drawing, document()))
        self.assertIsNone(speed.across_cpus([]))

    def test_every_colour_has_one_for_dark_pages(self):
        colors = {style.backend_style(name)["color"] for name in BACKENDS}
        colors |= {look["color"] for look in style.LINES.values()}
        self.assertLessEqual(colors, style.ON_DARK.keys())
        self.assertEqual(len(set(style.ON_DARK.values())), len(style.ON_DARK))

    def test_labels_are_spread_apart(self):
        self.assertEqual(canvas.spread_labels([5, 1], 1), [1, 5])
        low, high = canvas.spread_labels([1, 1.5], 1)
        self.assertAlmostEqual(high - low, 1)
        self.assertAlmostEqual(high + low, 2.5)


class SvgTest(ScriptTest):
    def test_drawings_are_compact(self):
        text = canvas.compact_svg(
            '<?xml version="1.0"?>\n<!-- made -->\n<svg>\n <metadata>\n  x\n </metadata>\n'
            ' <g id="axes_1">\n  <path d="M 1.23456 0.015625 \nL 12.3456 -7.891 \n" id="m1.2345"/>'
            '\n  <image href="data:image/png;base64,\nab\ncd"/>\n </g>\n</svg>\n'
        )
        expected = (
            '<g id="axes_1"><path d="M 1.23 0.015625 L 12.34 -7.89" id="m1.2345"/>'
            '<image href="data:image/png;base64,abcd"/></g></svg>'
        )
        self.assertEqual(text.splitlines(), ["<svg>", expected])

    def test_those_of_the_pages_are_small(self):
        found = sorted(pathlib.Path(ROOT, "docs").glob("*.svg"))
        texts = [path.read_text(encoding="utf-8") for path in found]
        self.assertLess(sum(map(len, texts)), 300_000)
        for path, text in zip(found, texts):
            self.assertLess(text.count("\n"), 500, path)
            self.assertTrue(re.match(r"<svg\b.*</svg>\n$", text, re.DOTALL), path)


if __name__ == "__main__":
    script_support.main()
