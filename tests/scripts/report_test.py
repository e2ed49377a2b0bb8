"""Tests scripts/report.py --page: the page has the figures, the picks and the speeds. In headless
Chromium, it opens without an error, and no part is wider than the window. First argument: the
folder of the built programs."""

import html
import json
import os
import re
import shutil
import unittest

import script_support
from script_support import ScriptTest, binary, document, row, run, sample, table

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FIGURES = ["speed_error", "throughput", "error_position", "error_map"]
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


class PageTest(ScriptTest):
    def report(self, *paths):
        self.output = self.folder / "report"
        return run("report.py", *paths, "--page", self.output, "--posenc", binary("posenc"))

    def page_of(self, *documents):
        done = self.report(*self.write_all(*documents))
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.output / "index.html").read_text(encoding="utf-8")

    def look(self, page, width):
        """The result of CHECKS in a window of this width."""
        page = page.replace("<head>", f"<head><script>{CHECKS}</script>", 1)
        # A frame can be narrower than Chromium's windows.
        style = f"border: 0; width: {width}px; height: 900px"
        frame = f'<!DOCTYPE html><iframe style="{style}" srcdoc="{html.escape(page)}"></iframe>'
        # Chromium keeps files in the home folder, whatever --user-data-dir says.
        done = run(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--window-size=1400,1000", "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom",
                   "--disable-background-networking", f"--user-data-dir={self.folder}/profile",
                   self.write("checked.html", frame).as_uri(), HOME=str(self.folder))  # fmt: skip
        found = re.search(r'<pre id="checks">(.*?)</pre>', done.stdout, re.DOTALL)
        self.assertIsNotNone(found, done.stderr[-2000:])
        return json.loads(html.unescape(found[1]))

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

    @unittest.skipUnless(CHROMIUM, "there is no chromium (Debian: chromium)")
    def test_page_is_good_in_a_browser(self):
        several = [row("y:avx2", table(rows, 2), 1, 1e-7, checked=0.1) for rows in range(100, 120)]
        page = self.page_of(sample(), {**document(*several), "disturbed": LONG},
                            sample("Another <CPU>, of quite a long name"))  # fmt: skip
        self.assertIn(f"Z. Not reliable: {LONG}.</p>", page)
        for width in (1280, 768, 390):
            self.assertEqual(self.look(page, width), {"wrong": [], "width": width})

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

    def test_nothing_to_draw_and_no_folder(self):
        done = self.report(self.write("empty.json", document()))
        self.assert_refused(done, "DOCUMENT has nothing to draw")
        self.assertEqual(os.listdir(self.output), [])
        done = run("report.py", self.write("a.json", sample()), "--page", "/dev/null/report")
        self.assert_refused(done, "/dev/null")


if __name__ == "__main__":
    script_support.main()
