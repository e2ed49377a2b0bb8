"""Tests scripts/report.py --page: the page has the figures and the speeds. In headless Chromium, it
opens without an error, and no part is wider than the window. First argument: the folder of the
built programs."""

import html
import json
import os
import re
import shutil
import subprocess
import unittest

import script_support
from script_support import (
    SKIPPED, ScriptTest, binary, document, row, run, sample, skip_without,
    table,
)  # fmt: skip

skip_without("matplotlib", "numpy")
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FIGURES = ["speed_error", "throughput", "error_position", "error_map"]
COMPUTED = ["table", "channels", "shift"]
# Runs in the page: lists errors, and elements that are wider than the window and do not scroll, in
# the parent document.
CHECKS = """
const wrong = [];
addEventListener("error", event => wrong.push("error: " + event.message), true);
addEventListener("load", () => {
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) wrong.push("the page is " + root.scrollWidth + " wide");
  for (const each of document.querySelectorAll("body *")) {
    if (!each.closest(".wide table") && each.getBoundingClientRect().right > root.clientWidth)
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
    def report(self, *documents):
        paths = self.write_all(*documents)
        self.output = self.folder / "report"
        return run("report.py", *paths, "--page", self.output, "--posenc", binary("posenc"))

    def page(self):
        return (self.output / "index.html").read_text(encoding="utf-8")

    def figures(self):
        return re.findall(r'<figure id="([^"]*)"', self.page())

    def look(self, width):
        """The result of CHECKS in a window of this width."""
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
        # Chromium keeps files in the home folder, whatever --user-data-dir says.
        environment = {**os.environ, "HOME": str(self.folder)}
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, env=environment
        )
        found = re.search(r'<pre id="checks">(.*?)</pre>', done.stdout, re.DOTALL)
        self.assertIsNotNone(found, done.stderr[-2000:])
        return json.loads(html.unescape(found[1]))

    def test_figures_and_speeds(self):
        done = self.report(sample())
        self.assert_good(done)
        self.assertEqual(done.stdout, f"{self.output}/index.html, and 7 figures beside it\n")
        files = [*(f"{name}.svg" for name in FIGURES + COMPUTED), "index.html"]
        self.assertEqual(sorted(os.listdir(self.output)), sorted(files))
        self.assertEqual(self.figures(), FIGURES + COMPUTED)
        lines = [re.sub(r"(<.*?>)+", "|", line) for line in self.page().splitlines()]
        for expected in (
            "|rotation:avx2|2.98e-8|2.98e-8|all|4.0|2.0|",
            "|sleef:avx2*|4.00e-4|4.00e-4|25.0 %|1.0|0.50|",
            "|copy|13|6.5|",
        ):
            self.assertIn(expected, lines)
        links = re.findall(r'(?:src|href)="([^"]*)"', self.page())
        self.assertEqual([link for link in links if not link.startswith("data:")], [])

    def test_the_pick_stands_first(self):
        self.assert_good(self.report(sample(), {**sample(), "compiler": "g++ 13.3.0"}))
        page = self.page()
        headings = re.findall(r"<h2>(.*?)</h2>", page)
        cpu = "A CPU, avx2; g++"
        self.assertEqual(headings, [
            f"The pick for {cpu} 12.2.0, 2026-11-24", f"The pick for {cpu} 13.3.0, 2026-11-24",
            f"Times and errors: {cpu} 12.2.0, 2026-11-24",
            f"Times and errors: {cpu} 13.3.0, 2026-11-24", "What is computed",
        ])  # fmt: skip
        verdict = "rotation:avx2 is the fastest correctly rounded backend for tables of every size."
        self.assertEqual(re.findall(r'<p class="verdict">(.*?)</p>', page), [verdict] * 2)
        self.assertLess(page.index(verdict), page.index("<figure"))

    def test_disturbed_documents_are_named(self):
        self.assert_good(self.report(sample(), {**sample(), "disturbed": "work ran"}))
        self.assertIn("Z. Not reliable: work ran.</p>", self.page())

    @unittest.skipUnless(CHROMIUM, "there is no chromium (Debian: chromium)")
    def test_page_is_good_in_a_browser(self):
        several = [row("y:avx2", table(rows, 2), 1, 1e-7, checked=0.1) for rows in range(100, 120)]
        self.assert_good(self.report(sample(), {**document(*several), "disturbed": LONG},
                                     sample("Another <CPU>, of quite a long name")))  # fmt: skip
        for width in (1280, 768, 390):
            self.assertEqual(self.look(width), {"wrong": [], "width": width})

    def test_what_the_command_writes_is_read(self):
        """Runs posenc accuracy and posenc measure with tables that take no time."""
        path, times = self.folder / "e.json", self.folder / "t.json"
        shape = ["--rows", "64", "--d-model", "16"]
        backend = ["--backend", "rotation", "--format", "json", "--output"]
        mae = ["--preset", "mae", "--processes", "2"]
        for command in (("accuracy", *shape, *backend, path), ("measure", *mae, *backend, times)):
            done = subprocess.run([binary("posenc"), *command], check=False, capture_output=True)
            self.assertIn(done.returncode, (0, 1))  # 1: the machine was busy
        output = self.folder / "report"
        self.assert_good(run("report.py", path, times, "--page", output,
                             "--posenc", binary("posenc")))
        names = {path.stem.partition("-")[2] or path.stem for path in output.glob("*.svg")}
        self.assertEqual(names, set(FIGURES + COMPUTED))
        self.assert_good(run("report.py", times))

    def test_nothing_to_draw_and_no_folder(self):
        self.assert_refused(self.report(document()), "DOCUMENT has nothing to draw")
        self.assertEqual(os.listdir(self.output), [])
        path = self.write("sample.json", sample())
        done = run("report.py", path, "--page", "/dev/null/report")
        self.assert_refused(done, "/dev/null")

    def test_a_python_without_matplotlib_skips_it(self):
        path = self.write("sample.json", sample())
        done = run("report.py", path, "--page", self.folder / "none", flags=["-S"])
        self.assertEqual(done.returncode, SKIPPED)
        reason = r"^report.py: skipped: .* has no (\w+) \(Debian: python3-\1\)\n$"
        self.assertRegex(done.stderr, reason)
        self.assertFalse((self.folder / "none").exists())


if __name__ == "__main__":
    script_support.main()
