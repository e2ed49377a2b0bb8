"""Draws figures of invented measurements: they have the right points, no two series look alike, and
no text is cut or covers another text. First argument: the folder of the built programs."""

import html
import re
import warnings

import matplotlib.pyplot
import matplotlib.text
import numpy

import script_support
from script_support import LARGE, LOOPS, ROOT, ScriptTest, binary, document, row, run, sample, table

from reporting import figures
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
    return [text.get_text() for text in texts if getattr(text, "arrow_patch", None) is not None]


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
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # matplotlib warns of axes without room
            drawings = [(name, self.drawn(figure))
                        for name, figure, _ in figures_of(self.read(crowd()))]  # fmt: skip
        self.assertEqual(len(drawings), 5)
        for name, figure in drawings:
            self.assertEqual(cut_or_covered(figure), [], name)
            for axes in figure.axes:
                looks = looks_of(axes)
                self.assertEqual(len(set(looks)), len(looks), name)
            if name.startswith("speed_error"):
                self.assertEqual(len(labels_of(figure)), len(BACKENDS))

    def test_speed_against_error(self):
        found = self.read(sample())
        figure = self.drawn(figures.speed_against_error(found, found.plain()[-1].table))
        (axes,) = figure.axes
        points = self.points_of(axes)
        self.assertEqual(points["rotation"], [(2.98e-8, 2.0)])
        self.assertEqual(points["rotation32"], [(1.5e-7, 3.5)])
        (sleef,) = [line for line in axes.get_lines() if line.get_xydata().round(9).tolist() ==
                    [[4e-4, 0.5]]]  # fmt: skip
        self.assertEqual(sleef.get_marker(), figures.PHASES["float32"])
        self.assertEqual(set(labels_of(figure)), {"rotation", "rotation32", "sleef"})
        texts = [label.get_text() for label in axes.get_yticklabels()]
        self.assertIn("0.5", texts)
        self.assertIn("10", texts)
        self.assertEqual(axes.get_xlabel(), "largest |error| of all rows")
        notes = [text.get_text() for text in axes.texts]
        self.assertIn("one thread; line: limit of the memory, 10", notes)

    def test_throughput(self):
        figure = self.drawn(figures.throughput(self.read(sample())))
        points = self.points_of(figure.axes[0])
        sizes = (8 * 512 * 4, 5000 * 512 * 4)
        for label, speeds in (("rotation", (4.0, 2.0)), ("limit: stores", (20.0, 10.0)),
                              ("copy of a table", (13.0, 6.5))):  # fmt: skip
            self.assertEqual(points[label], list(zip(sizes, speeds)))
        caches = 2
        self.assertEqual(len(points), 2 + len(LOOPS) + caches)  # without sleef

    def test_errors_and_no_line_where_nothing_was_measured(self):
        """Positions 0 to 7, 8 to 11 of another table, and positions from 10^12: there is a gap."""
        near = row("x:avx2", LARGE, 0, 4e-8, by_position=[0.0, 1e-8, 2e-8, 4e-8])
        far = []
        for first, count, error in ((8, 4, 5e-8), (10**12, 1000, 0.5)):
            of_table = {**table(count, 512), "rows": {"first": first, "count": count}}
            far.append(row("x:avx2", of_table, 0, error, by_position=[error]))
            far[-1]["report"]["by_position"] = [{"first": first, "count": count, "max_abs": error}]
        measured = self.read(document(near, *far))
        line, _ = self.drawn(figures.error_by_position(measured)).axes[0].get_lines()
        points = [point for point in line.get_xydata().tolist() if point[0] == point[0]]
        last = [10**12 + 999, 0.5]
        self.assertEqual(points, [[1, 1e-8], [3, 2e-8], [7, 4e-8], [11, 5e-8], last])
        gap = line.get_xdata()[4:-1]
        self.assertGreater(len(gap), 0)
        self.assertTrue((gap != gap).all(), "a line is interrupted by a NaN")
        figure = self.drawn(figures.error_maps(measured))
        self.assertEqual(figure.axes[0].get_images()[0].get_array().shape, (2, 3))

    def test_what_was_not_measured_is_not_drawn(self):
        drawn = [figure for _, figure, _ in figures_of(self.read(document()))]
        self.assertEqual(drawn, [None] * 3)


class SvgTest(ScriptTest):
    """Tests that the pictures of the documentation show what was measured."""

    def assert_shown(self, name, figure):
        self.addCleanup(matplotlib.pyplot.close, figure)
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        (found,) = re.findall("<dc:description>(.*?)</dc:description>", text)
        shown, drawn = html.unescape(found), figures.data_of(figure)
        point = re.compile(r"([^ ,]+),([^ ;]+)")
        self.assertEqual(point.sub("x,y", shown), point.sub("x,y", drawn))
        numbers = [numpy.array(point.findall(data), float) for data in (drawn, shown)]
        numpy.testing.assert_allclose(*numbers, rtol=0.05, atol=1e-12)

    def test_speed_and_error_are_of_the_document_that_the_readme_shows(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        (name,) = re.findall(r"<!-- output of report.py (\S+) -->", readme)
        (path,) = ROOT.glob(name)
        found = read_document(path)
        (table,) = {each.table for each in found.plain() if each.table.size == "5000 x 512"}
        self.assert_shown("speed_error.svg", figures.speed_against_error(found, table))

    def test_drift_is_what_posenc_accuracy_measures(self):
        firsts = ",".join(["0", *(str(256 << octave) for octave in range(33))])
        path = self.folder / "far.json"
        self.assert_good(run(
            binary("posenc"), "accuracy", "--shape", "256x64", "--first", firsts,
            "--backend", "naive,div_term,xsimd,rotation,rotation32", "--output", path))  # fmt: skip
        self.assert_shown("drift.svg", figures.error_by_position(read_document(path)))


if __name__ == "__main__":
    script_support.main()
