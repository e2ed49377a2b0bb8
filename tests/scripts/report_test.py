"""Tests scripts/report.py --page: the page has the figures, the picks and the speeds. First
argument: the folder of the built programs."""

import os
import re

import script_support
from script_support import ScriptTest, binary, run, sample

FIGURES = ["speed_error", "throughput", "error_position", "error_map"]


class PageTest(ScriptTest):
    def report(self, *paths):
        self.output = self.folder / "report"
        return run("report.py", *paths, "--page", self.output)

    def page_of(self, *documents):
        done = self.report(*self.write_all(*documents))
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.output / "index.html").read_text(encoding="utf-8")

    def test_figures_picks_and_speeds(self):
        page = self.page_of(sample())
        files = [*(f"{name}.svg" for name in FIGURES), "index.html"]
        self.assertEqual(sorted(os.listdir(self.output)), sorted(files))
        self.assertEqual(re.findall(r'<figure id="([^"]*)"', page), FIGURES)
        lines = [re.sub(r"(<.*?>)+", "|", line) for line in page.splitlines()]
        for expected in (
            "|A CPU, avx2; g++ 12.2.0, 2026-11-24|",
            "|rotation:avx2|2.98e-8|2.98e-8|all|4.0|2.0",
            "|sleef:avx2*|4.00e-4|4.00e-4|25.0 %|1.0|0.50",
            "|copy|13|6.5",
        ):
            self.assertIn(expected, lines)
        self.assertRegex(page, r"\nl1: 8x512 +rotation:avx2 ")
        links = re.findall(r'(?:src|href)="([^"]*)"', page)
        self.assertEqual([link for link in links if not link.startswith("data:")], [])

    def test_documents_stand_apart(self):
        odd = {**sample("Another <CPU>"), "disturbed": "work ran"}
        page = self.page_of(sample(), odd)
        self.assertEqual(re.findall("<h2>(.*?),", page), ["A CPU", "Another &lt;CPU&gt;"])
        self.assertIn("Z. Not reliable: work ran.</p>", page)
        self.assertIn("2-speed_error.svg", os.listdir(self.output))

    def test_what_the_command_writes_is_read(self):
        """Runs posenc accuracy and posenc measure with tables that take no time."""
        errors, times = self.folder / "e.json", self.folder / "t.json"
        for what, *options in (("accuracy", "--shape", "64x16", "--output", errors),
                               ("measure", "--preset", "mae", "--processes", 2, "--output", times)):
            done = run(binary("posenc"), what, "--backend", "rotation", *options)
            self.assertIn(done.returncode, (0, 1))  # 1: the machine was busy
        self.assert_good(self.report(errors, times))
        names = {path.stem.partition("-")[2] for path in self.output.glob("*.svg")}
        self.assertEqual(names, set(FIGURES))
        self.assert_good(run("report.py", times))


if __name__ == "__main__":
    script_support.main()
