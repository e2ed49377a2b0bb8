"""scripts/report.py --page: the page has the figures, the answer and every measurement, and opens
in headless Chromium without an error, nowhere wider than the window. First argument: the folder of
the built programs."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import script_support
from script_support import (
    LARGE, SCRIPTS, SKIPPED, ScriptTest, binary, document, row, run, sample, skip_without,
    table,
)  # fmt: skip

skip_without("matplotlib", "numpy")
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FIGURES = ["speed_error", "throughput", "error_position", "error_channel"]
# Runs in the page: opens all lists, and leaves in the parent what is wider than the window and does
# not scroll.
CHECKS = """
const wrong = [];
addEventListener("error", event => wrong.push("error: " + event.message), true);
addEventListener("load", () => {
  document.querySelectorAll("details").forEach(list => list.open = true);
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) wrong.push("the page is " + root.scrollWidth + " wide");
  for (const each of document.querySelectorAll("body *")) {
    if (!each.closest(".wide table, pre") && each.getBoundingClientRect().right > root.clientWidth)
      wrong.push("cut: " + each.outerHTML.slice(0, 80));
  }
  for (const each of document.images) if (!each.naturalWidth) wrong.push("no image: " + each.alt);
  const output = document.createElement("pre");
  output.id = "checks";
  output.textContent = JSON.stringify({wrong, width: root.clientWidth});
  parent.document.documentElement.append(output);
});
"""
LONG = ", which says at length and without an end what else ran on this machine, and when"


class ReportTest(ScriptTest):
    def report(self, *documents, answer=""):
        named = enumerate(documents)
        paths = [self.write(f"{number}.json", each) for number, each in named]
        self.output = self.folder / "report"
        further = ["--answer", self.write("pick.txt", answer)] if answer else []
        return run("report.py", *paths, "--page", self.output, *further)

    def page(self):
        return (self.output / "index.html").read_text(encoding="utf-8")

    def figures(self):
        return re.findall(r'<figure id="([^"]*)"', self.page())

    def look(self, width):
        """What the page says of itself in a window so wide."""
        page = self.page().replace("<head>", f"<head><script>{CHECKS}</script>", 1)
        # A frame can be narrower than Chromium's windows.
        style = f"border: 0; width: {width}px; height: 900px"
        frame = f'<!DOCTYPE html><iframe style="{style}" srcdoc="{html.escape(page)}"></iframe>'
        command = [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--window-size=1400,1000", "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"),
            *("--disable-background-networking", f"--user-data-dir={self.folder}/profile"),
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

    def test_figures_the_answer_and_measurements(self):
        few = row("x:avx2", LARGE, 1, 1e-7, checked=0.02)
        done = self.report(sample(), document(few), answer="rotation <avx2>, the pick")
        self.assert_good(done)
        self.assertEqual(done.stdout, f"{self.output}/index.html, and 4 figures beside it\n")
        files = [*(f"{name}.svg" for name in FIGURES), "index.html"]
        self.assertEqual(sorted(os.listdir(self.output)), sorted(files))
        self.assertEqual(self.figures(), FIGURES)
        lines = [re.sub(r"(<.*?>)+", "|", line) for line in self.page().splitlines()]
        for expected in (
            "|rotation &lt;avx2&gt;, the pick|",
            "|rotation:avx2|4.000|20.0 %|2.98e-8|2.98e-8|0.5|all|",
            "|sleef:avx2*|0.500|5.0 %|4.00e-4|4.00e-4|0.5|25.0 %|",
            "|x:avx2|1.000|10.0 %|1.00e-7 of 2 % of the rows|1.00e-7|0.5|25.0 %|",
            "|copy (memory)|13.000|65.0 %|",
        ):
            self.assertIn(expected, lines)
        self.assertNotIn("Not ", "".join(lines))
        links = re.findall(r'(?:src|href)="([^"]*)"', self.page())
        self.assertEqual([link for link in links if not link.startswith("data:")], [])

    def test_disturbed_documents_are_named(self):
        self.assert_good(self.report(sample(), {**sample(), "disturbed": "work ran"}))
        self.assertIn("<p>Not reliable: 1.json: work ran.</p>", self.page())

    @unittest.skipUnless(CHROMIUM, "there is no chromium (Debian: chromium)")
    def test_page_is_good_in_a_browser(self):
        several = [row("y:avx2", table(rows, 2), 1, 1e-7, checked=0.1) for rows in range(100, 120)]
        self.assert_good(self.report(sample(), {**document(*several), "disturbed": LONG},
                                     sample("Another <CPU>, of quite a long name"),
                                     answer=LONG))  # fmt: skip
        for width in (1280, 768, 390):
            self.assertEqual(self.look(width), {"wrong": [], "width": width})

    def test_what_the_command_writes_is_read(self):
        """posenc accuracy, measure and pick, with tables that take no time."""
        path, times, pick = (self.folder / name for name in ("e.json", "t.json", "p.txt"))
        shape = ["--rows", "64", "--d-model", "16"]
        backend = ["--backend", "rotation", "--format", "json", "--output"]
        mae = ["--preset", "mae", "--processes", "2"]
        for command in (("accuracy", *shape, *backend, path), ("measure", *mae, *backend, times),
                        ("pick", times, "--output", pick)):  # fmt: skip
            done = subprocess.run([binary("posenc"), *command], check=False, capture_output=True)
            self.assertIn(done.returncode, (0, 1))  # 1: the machine was busy
        output = self.folder / "report"
        self.assert_good(run("report.py", path, times, "--answer", pick, "--page", output))
        self.assertEqual({path.stem for path in output.glob("*.svg")}, set(FIGURES))
        page = (output / "index.html").read_text(encoding="utf-8")
        self.assertRegex(page, r"\n.* to \d.*iB +rotation:\w+ .* 2\.98e-08")
        self.assert_good(run("report.py", times))
        picture = self.folder / "heat_map.svg"
        plot = ("plot_encoding.py", "--posenc", binary("posenc"), "--output", picture, "--")
        contents = []
        for _ in range(2):
            self.assert_good(run(*plot, "--d-model", 4, "--backend=rotation", "--rows=9"))
            contents.append(picture.read_text(encoding="utf-8"))
        self.assertRegex(contents[0], r"^<svg\b")
        self.assertEqual(contents[0], contents[1])
        self.assert_refused(run(*plot, "--d-model", 7), "d_model is 7", "even")

    def test_nothing_to_draw_and_no_folder(self):
        self.assert_refused(self.report(document()), "DOCUMENT has nothing to draw")
        self.assertEqual(os.listdir(self.output), [])
        path = self.write("sample.json", sample())
        done = run("report.py", path, "--page", "/dev/null/report")
        self.assert_refused(done, "/dev/null")

    def test_the_python_that_has_matplotlib_is_found(self):
        path = self.write("sample.json", document(row("x:avx2", table(8, 4), 1, 1e-7)))
        done = run("report.py", path, "--page", self.folder / "r", flags=["-S"])
        self.assert_good(done)  # although that Python has no site-packages
        scripts = shutil.copytree(SCRIPTS, self.folder / "scripts")
        none = f'while [[ $1 != -- ]]; do shift; done\nshift\nexec {sys.executable} -S "$@"\n'
        (scripts / "python_with.sh").write_text(f"#!/bin/bash\n{none}", encoding="utf-8")
        done = run(scripts / "report.py", path, "--page", self.folder / "none", flags=["-S"])
        self.assertEqual(done.returncode, SKIPPED)
        reason = r"^report.py: skipped: .* has no matplotlib \(Debian: python3-matplotlib\)\n$"
        self.assertRegex(done.stderr, reason)
        self.assertFalse((self.folder / "none").exists())


if __name__ == "__main__":
    script_support.main()
