"""Draws figures of invented measurements: they have the right points, no two series look alike, and
no text is cut or covers another text. First argument: the folder of the built programs."""

import html
import pathlib
import re
import subprocess
import warnings

import script_support
from script_support import (
    LARGE, LOOPS, ROOT, ScriptTest, binary, document, row, skip_without, table,
)  # fmt: skip

skip_without("matplotlib", "numpy")
import matplotlib.pyplot
import matplotlib.text
import numpy

from reporting import computed, figures
from reporting.documents import read_document
from reporting.page import figures_of

PEERS = tuple(f"library_{number}" for number in range(12))
NEW = ("lookup_table", "chebyshev", "my_backend", "taylor", "cordic")  # backends of users
BACKENDS = (*figures.BACKENDS, *PEERS, *NEW)


def crowd():
    """A document in which every third backend is as accurate as rotation: points coincide."""
    rows = []
    for size in ((8, 512), (5000, 512), (8192, 4096)):
        for place, name in enumerate(BACKENDS):
            worst = 2.98e-8 if place % 3 == 0 else 1e-7 * 10 ** (place % 7 / 1.5)
            role = "peer" if name in PEERS else "backend"
            octaves = [worst] * 13 if size == (5000, 512) else ()
            fast = 20 * 0.78**place
            rows.append(row(f"{name}:avx2", table(*size), fast, worst, role, by_position=octaves))
        rows += [row(name, table(*size), rate, role="limit") for name, rate in LOOPS]
    return document(*rows)


def looks_of(axes):
    """Colour, marker and dashes of each series, but not of grids and of lines without a name."""
    named = (line for line in axes.get_lines() if not line.get_label().startswith("_"))
    return [(line.get_color(), line.get_marker(), str(line._unscaled_dash_pattern))
            for line in named]  # fmt: skip


def labels_of(figure):
    """The labels with lines to their points."""
    texts = figure.findobj(matplotlib.text.Text)
    return [text for text in texts if getattr(text, "arrow_patch", None) is not None]


def hidden_of(figure):
    """Labels of ticks beyond the ends of their axis, which are not drawn."""
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not low <= tick.get_loc() <= high:
                yield from (tick.label1, tick.label2)


def cut_or_covered(figure):
    """Texts that leave the figure or cover another, in a figure that was drawn."""
    hidden = set(hidden_of(figure))
    shown = [text for text in figure.findobj(matplotlib.text.Text)
             if text.get_visible() and text.get_text().strip() and text not in hidden]  # fmt: skip
    boxes = [(text.get_text(), matplotlib.text.Text.get_window_extent(text)) for text in shown]
    found = [text for text, box in boxes
             if box.x0 < -1 or box.y0 < -1 or box.x1 > figure.bbox.x1 + 1
             or box.y1 > figure.bbox.y1 + 1]  # fmt: skip
    for place, (text, box) in enumerate(boxes):
        for other, beside in boxes[:place]:
            across = min(box.x1, beside.x1) - max(box.x0, beside.x0)
            down = min(box.y1, beside.y1) - max(box.y0, beside.y0)
            if across > 2 and down > 2:
                found.append(f"{text} on {other}")
    return found


class FigureTest(ScriptTest):
    def read(self, content):
        return read_document(self.write("measured.json", content))

    def drawn(self, figure):
        self.addCleanup(matplotlib.pyplot.close, figure)
        figure.draw_without_rendering()
        return figure

    def points_of(self, axes):
        return {
            line.get_label(): [(round(x, 12), round(y, 6)) for x, y in line.get_xydata()]
            for line in axes.get_lines()
        }

    def test_many_backends_stay_legible(self):
        drawings = list(figures_of(self.read(crowd())))
        self.assertEqual(len(drawings), 5)
        for name, draw, _ in drawings:
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("error")  # matplotlib warns of axes without room
                figure = self.drawn(draw())
                self.assertEqual(cut_or_covered(figure), [])
                for axes in figure.axes:
                    looks = looks_of(axes)
                    self.assertEqual(len(set(looks)), len(looks))
                if name.startswith("speed_error"):
                    self.assertEqual(len(labels_of(figure)), len(BACKENDS))

    def test_speed_against_error(self):
        found = self.read(script_support.sample())
        figure = self.drawn(figures.speed_against_error(found, found.plain()[-1].table))
        (axes,) = figure.axes
        points = self.points_of(axes)
        self.assertEqual(points["rotation"], [(2.98e-8, 2.0)])
        self.assertEqual(points["rotation32"], [(1.5e-7, 3.5)])
        (sleef,) = [line for line in axes.get_lines() if line.get_xydata().round(9).tolist() ==
                    [[4e-4, 0.5]]]  # fmt: skip
        self.assertEqual(sleef.get_marker(), figures.PHASES["float32"])
        names = {each.get_text() for each in labels_of(figure)}
        self.assertEqual(names, {"rotation", "rotation32", "sleef"})
        texts = [label.get_text() for label in axes.get_yticklabels()]
        self.assertIn("0.5", texts)
        self.assertIn("10", texts)
        self.assertEqual(axes.get_xlabel(), "largest |error| of all rows")
        notes = [text.get_text() for text in axes.texts]
        self.assertIn("one thread; line: limit of the memory, 10", notes)

    def test_throughput(self):
        figure = self.drawn(figures.throughput(self.read(script_support.sample())))
        points = self.points_of(figure.axes[0])
        sizes = (8 * 512 * 4, 5000 * 512 * 4)
        for label, speeds in (("rotation", (4.0, 2.0)), ("limit: stores", (20.0, 10.0)),
                              ("copy of a table", (13.0, 6.5))):  # fmt: skip
            self.assertEqual(points[label], list(zip(sizes, speeds)))
        caches = 2
        self.assertEqual(len(points), 2 + len(LOOPS) + caches)  # without sleef

    def test_errors(self):
        octaves = [0.0, 1e-8, 2e-8, 4e-8]
        measured = self.read(document(row("x:avx2", LARGE, 0, 4e-8, by_position=octaves)))
        figure = self.drawn(figures.error_by_position(measured))
        expected = [[1, 1e-8], [3, 2e-8], [7, 4e-8]]
        self.assertEqual(figure.axes[0].get_lines()[0].get_xydata().tolist(), expected)
        figure = self.drawn(figures.error_maps(measured))
        self.assertEqual(figure.axes[0].get_images()[0].get_array().shape, (2, 3))

    def test_no_line_where_nothing_was_measured(self):
        """Positions 0 to 7, 8 to 11 of another table, and positions from 10^12: there is a gap."""
        near = row("x:avx2", LARGE, 0, 4e-8, by_position=[0.0, 1e-8, 2e-8, 4e-8])
        far = []
        for first, count, error in ((8, 4, 5e-8), (10**12, 1000, 0.5)):
            of_table = {**table(count, 512), "rows": {"first": first, "count": count}}
            far.append(row("x:avx2", of_table, 0, error, by_position=[error]))
            far[-1]["report"]["by_position"] = [{"first": first, "count": count, "max_abs": error}]
        (line, _) = self.drawn(figures.error_by_position(
            self.read(document(near, *far)))).axes[0].get_lines()  # fmt: skip
        positions = line.get_xdata().tolist()
        self.assertEqual(positions[:4], [1, 3, 7, 11])
        self.assertNotEqual(positions[4], positions[4], "a line is interrupted by a NaN")
        self.assertEqual(positions[5:], [10**12 + 999])

    def test_labels_of_an_axis_have_one_form(self):
        octaves = [0.0, *(10.0**-power for power in range(8, 1, -1))]
        measured = self.read(document(row("x:avx2", LARGE, 0, 4e-8, by_position=octaves)))
        for axis in (axis for axes in self.drawn(figures.error_by_position(measured)).axes
                     for axis in (axes.xaxis, axes.yaxis)):  # fmt: skip
            labels = [label.get_text() for label in axis.get_ticklabels() if label.get_text()]
            self.assertEqual(len({label.isascii() for label in labels}), 1, labels)

    def test_pictures_of_the_table(self):
        values = computed.table(binary("posenc"), 100, 20)
        (axes,) = self.drawn(figures.some_channels(values)).axes
        lines = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
        self.assertEqual(list(lines), ["dim 4", "dim 5", "dim 6", "dim 7"])
        self.assertEqual(axes.get_title(loc="left"), "Positional encoding")
        position = numpy.arange(100)
        for channel, wave in ((4, numpy.sin), (5, numpy.cos), (6, numpy.sin), (7, numpy.cos)):
            exact = wave(position / 10000 ** (channel // 2 * 2 / 20))
            self.assertLess(abs(lines[f"dim {channel}"] - exact).max(), 1e-7)
        image = self.drawn(figures.table_map(values)).axes[0].get_images()[0]
        self.assertTrue((image.get_array() == values).all())

    def test_relative_positions_are_a_rotation(self):
        errors = computed.shift_errors(binary("posenc"), 20000, 64, 100, ("rotation", "div_term"))
        self.assertLess(errors["rotation"].max(), 2**-25 * (1 + 2**0.5))  # three roundings
        self.assertGreater(errors["div_term"].max(), 1e-4)
        figure = self.drawn(figures.shift_error(errors, 100, 64))
        self.assertEqual(len(looks_of(figure.axes[0])), 2)
        self.assertEqual(cut_or_covered(figure), [])

    def test_several_cpus_stand_side_by_side_on_common_tables(self):
        """Three CPUs, one with a table that the others lack, and one CPU on another day."""
        names = ("A CPU", "B CPU", "C CPU")
        later = {**script_support.sample(), "measured_at": "2026-11-30T05:00:00Z"}
        documents = [*map(script_support.sample, names[:2]), document(
            row("rotation:avx2", LARGE, 3, 3e-8), row("rotation:avx2", table(9, 64), 1, 3e-8),
            cpu=names[2]), later]  # fmt: skip
        documents = list(map(read_document, self.write_all(*documents)))
        figure = self.drawn(figures.across_cpus(documents))
        points = self.points_of(figure.axes[0])
        size, by = 5000 * 512 * 4, ", avx2; g++ 12.2.0, 2026-11-"
        speeds = {"A CPU{}24": 2.0, "B CPU{}24": 2.0, "C CPU{}24": 3.0, "A CPU{}30": 2.0}
        expected = {name.format(by): [(size, speed)] for name, speed in speeds.items()}
        self.assertEqual(points, expected)
        self.assertEqual(len(set(looks_of(figure.axes[0]))), 4)
        self.assertEqual(cut_or_covered(figure), [])
        self.assertIsNone(figures.across_cpus(documents[:1]))

    def test_what_was_not_measured_is_not_drawn(self):
        drawn = [draw() for _, draw, _ in figures_of(self.read(document()))]
        self.assertEqual(drawn, [None] * 3)


class SvgTest(ScriptTest):
    """Tests the pictures of the documentation."""

    def shown(self, name):
        """The points of a picture, by series."""
        text = pathlib.Path(ROOT, "docs", name).read_text(encoding="utf-8")
        (found,) = re.findall("<desc>(.*?)</desc>", text)
        return self.series(html.unescape(found))

    def series(self, data):
        named = (each.split(": ", 1) for each in data.split("; "))
        return {name: [tuple(map(float, point.split(","))) for point in points.split()]
                for name, points in named}  # fmt: skip

    def assert_same(self, shown, drawn):
        self.assertEqual(shown.keys(), drawn.keys())
        for name, points in shown.items():
            self.assertEqual(len(points), len(drawn[name]), name)
            for (x, y), (new_x, new_y) in zip(points, drawn[name]):
                self.assertLess(abs(x - new_x), 0.05 * abs(x) + 1e-12, name)
                self.assertLess(abs(y - new_y), 0.05 * abs(y) + 1e-12, name)

    def test_they_are_small(self):
        found = sorted(pathlib.Path(ROOT, "docs").glob("*.svg"))
        texts = [path.read_text(encoding="utf-8") for path in found]
        self.assertLess(sum(map(len, texts)), 300_000)
        for path, text in zip(found, texts):
            self.assertLess(text.count("\n"), 500, path)
            self.assertTrue(re.match(r"<svg\b.*</svg>\n$", text, re.DOTALL), path)
            self.assertIn("prefers-color-scheme:dark", text)

    def test_speed_and_error_are_of_the_document_that_the_readme_shows(self):
        readme = pathlib.Path(ROOT, "README.md").read_text(encoding="utf-8")
        (name,) = re.findall(r"<!-- output of report.py (\S+) -->", readme)
        (path,) = pathlib.Path(ROOT).glob(name)
        found = read_document(path)
        (table,) = {each.table for each in found.plain() if each.table.size == "5000 x 512"}
        figure = self.drawn(figures.speed_against_error(found, table))
        self.assert_same(self.shown("speed_error.svg"), self.series(figures.data_of(figure)))

    def test_drift_is_what_posenc_accuracy_measures(self):
        firsts = ",".join(["0", *(str(256 << octave) for octave in range(33))])
        path = self.folder / "far.json"
        done = subprocess.run(
            [binary("posenc"), "accuracy", "--shape", "256x64", "--first", firsts,
             "--backend", "naive,div_term,xsimd,rotation,rotation32", "--output", path],
            check=False, capture_output=True, text=True)  # fmt: skip
        self.assert_good(done)
        figure = self.drawn(figures.error_by_position(read_document(path)))
        self.assert_same(self.shown("drift.svg"), self.series(figures.data_of(figure)))

    def drawn(self, figure):
        self.addCleanup(matplotlib.pyplot.close, figure)
        return figure


if __name__ == "__main__":
    script_support.main()
