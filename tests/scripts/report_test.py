"""scripts/report.py: the page has the figures and every measurement, and opens in headless Chromium
without an error, cut or overlapping text, at 1280 and 400 pixels. First argument: the folder of the
built programs."""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import script_support
from script_support import (
    SCRIPTS, SKIPPED, SMALL, ScriptTest, binary, document, row, run, sample, skip_without,
    table,
)  # fmt: skip

skip_without("matplotlib", "numpy")
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FIGURES = ["speed_error", "throughput", "error_position", "error_channel"]
CHECKS = pathlib.Path(__file__).with_name("page_checks.js").read_text(encoding="utf-8")


def figures_of(page):
    return re.findall(r'<figure id="([^"]*)"', page)


class ReportTest(ScriptTest):
    def report(self, *documents):
        named = enumerate(documents)
        paths = [self.write(f"{number}.json", each) for number, each in named]
        self.output = self.folder / "report"
        return run("report.py", *paths, "--output", self.output)

    def page(self):
        return (self.output / "index.html").read_text(encoding="utf-8")

    def look(self, width, *flags):
        """What the page says of itself in a window so wide."""
        page = self.page().replace("<head>", f"<head><script>{CHECKS}</script>", 1)
        # A frame can be narrower than Chromium's windows.
        style = f"border: 0; width: {width}px; height: 900px"
        frame = f'<!DOCTYPE html><iframe style="{style}" srcdoc="{html.escape(page)}"></iframe>'
        command = [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--window-size=1400,1000", "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"),
            *(f"--user-data-dir={self.folder}/profile", *flags),
            self.write("checked.html", frame).as_uri(),
        ]
        # It keeps files in the home folder, whatever --user-data-dir says.
        environment = {**os.environ, "HOME": str(self.folder)}
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, env=environment
        )
        found = re.search(r'<pre id="checks">(.*?)</pre>', done.stdout, re.DOTALL)
        self.assertIsNotNone(found, done.stderr[-2000:])
        return json.loads(html.unescape(found[1]))

    def test_figures_and_measurements(self):
        done = self.report(sample())
        self.assert_good(done)
        self.assertEqual(done.stdout.splitlines()[0], str(self.output / "index.html"))
        files = [f"{name}.{kind}" for name in FIGURES for kind in ("png", "svg")]
        self.assertEqual(sorted(os.listdir(self.output)), sorted([*files, "index.html"]))
        self.assertEqual(figures_of(self.page()), FIGURES)
        lines = [re.sub(r"<.*?>", "|", line) for line in self.page().splitlines()]
        cells = [re.sub(r"\|+", "|", line) for line in lines]
        for expected in (
            "|8 x 512|rotation:avx2|4.000|20.0 %|2.98e-8|0.5|all|",
            "|5000 x 512|sleef:avx2*|float32|0.500|5.0 %|4.00e-4|0.5|25.0 %|",
            "|8 x 512|copy (memory)|13.000|65.0 %|",
            "|sleef*|float32|4.00e-4|5000 x 512|",
            "|rotation, the default, with avx2: 2.0 Gfloat/s on 5000 x 512, 20 % of what the "
            "memory allows; correctly rounded: all.|",
        ):
            self.assertIn(expected, cells)
        links = re.findall(r'(?:src|href)="([^"]*)"', self.page())
        self.assertEqual([link for link in links if not re.match(r"#|data:", link)], [])

    def test_several_machines_are_compared(self):
        other = "Another CPU with quite a long name (model 1)"
        two = row("rotation:avx2", {**SMALL, "threads": 2}, 6, 2.98e-8)
        self.assert_good(self.report(sample(), sample(other), document(two)))
        figures = figures_of(self.page())
        self.assertEqual(figures[:2], ["across_cpus", "m1-a-cpu-speed_error"])
        self.assertEqual(len(figures), 1 + len(FIGURES) + 1 + len(FIGURES))

    @unittest.skipUnless(CHROMIUM, "there is no chromium (Debian: chromium)")
    def test_page_is_good_in_a_browser(self):
        self.assert_good(self.report(sample(), sample("Another <CPU>, of quite a long name")))
        for width in (1280, 400):
            seen = self.look(width)
            self.assertEqual((seen["wrong"], seen["width"]), ([], width))
            self.assertEqual(seen["figures"], figures_of(self.page()))
            self.assertEqual(seen["paper"], "rgb(255, 255, 255)")
        dark = self.look(1280, "--blink-settings=preferredColorScheme=0")
        self.assertEqual(dark["paper"], "rgb(19, 26, 33)")

    def test_what_the_command_writes_is_read(self):
        """posenc accuracy and measure, with tables that take no time."""
        path, measured = self.folder / "errors.json", self.folder / "times.json"
        shape = ["--rows", "64", "--d-model", "16", "--format", "json"]
        backend = ["--backend", "rotation", "--output"]
        subprocess.run([binary("posenc"), "accuracy", *shape, *backend, path], check=True)
        mae = ["--preset", "mae", "--processes", "2", "--format", "json", *backend, measured]
        command, quiet = [binary("posenc"), "measure", *mae], {"stderr": subprocess.DEVNULL}
        done = subprocess.run(command, check=False, **quiet)
        self.assertIn(done.returncode, (0, 1))  # 1: the machine was busy
        output = self.folder / "report"
        self.assert_good(run("report.py", path, measured, "--output", output))
        page = (output / "index.html").read_text(encoding="utf-8")
        self.assertEqual(figures_of(page), FIGURES)
        self.assert_good(run("summary.py", measured))

    def test_nothing_to_draw_and_no_folder(self):
        self.assert_refused(self.report(document()), "DOCUMENT has nothing to draw")
        self.assertEqual(os.listdir(self.output), [])
        path = self.write("sample.json", sample())
        done = run("report.py", path, "--output", "/dev/null/report")
        self.assert_refused(done, "--output is '/dev/null/report'")
        self.assert_refused(run("report.py", path), "--output")

    def test_the_python_that_has_matplotlib_is_found(self):
        path = self.write("sample.json", document(row("x:avx2", table(8, 4), 1, 1e-7)))
        done = run("report.py", path, "--output", self.folder / "r", flags=["-S"])
        self.assert_good(done)  # although that Python has no site-packages
        scripts = shutil.copytree(SCRIPTS, self.folder / "scripts")
        none = f'while [[ $1 != -- ]]; do shift; done\nshift\nexec {sys.executable} -S "$@"\n'
        (scripts / "python_with.sh").write_text(f"#!/bin/bash\n{none}", encoding="utf-8")
        done = run(scripts / "report.py", path, "--output", self.folder / "none", flags=["-S"])
        self.assertEqual(done.returncode, SKIPPED)
        reason = r"^report.py: skipped: .* has no matplotlib \(Debian: python3-matplotlib\)\n$"
        self.assertRegex(done.stderr, reason)
        self.assertFalse((self.folder / "none").exists())


if __name__ == "__main__":
    script_support.main()
