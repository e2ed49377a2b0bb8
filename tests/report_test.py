"""scripts/report.py: the page opens in headless Chromium without a console error, cut or overlapping text, at 1280 and 400 pixels; figures
appear whole; bad input is one line. First argument: the folder of the built programs."""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import script_support
from script_support import ScriptTest, binary, run, skip_without

skip_without("matplotlib", "numpy")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
in_browser = unittest.skipUnless(CHROMIUM, "there is no chromium (Debian: chromium)")

FIGURES = ("speed_error", "throughput", "error_position", "error_channel", "error_quantiles", "latency", "threads")
BRIEF = ("--benchmark_min_time=0.0005", "--benchmark_repetitions=2", "--benchmark_out_format=json")

# Runs first in the page: keeps what goes wrong, then looks at what is drawn. Text in figures is drawn as groups "text_N".
CHECKS = """<script>
const wrong = [];
addEventListener("error", event => wrong.push("error: " + event.message), true);
for (const kind of ["error", "warn"]) console[kind] = (...words) => wrong.push(kind + ": " + words.join(" "));
addEventListener("load", () => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) wrong.push("the page is " + document.documentElement.scrollWidth + " wide");
  const shown = [...document.querySelectorAll("figure svg")].filter(svg => svg.getBoundingClientRect().width > 0);
  for (const svg of shown) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('[id*="-text_"]')].filter(text => text.querySelector("use, path"));
    const boxes = texts.map(text => text.getBoundingClientRect());
    boxes.forEach((box, i) => {
      const name = texts[i].id + " in " + svg.closest("figure").id;
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        wrong.push("cut: " + name);
      for (let j = 0; j < i; ++j) {
        const across = Math.min(box.right, boxes[j].right) - Math.max(box.left, boxes[j].left);
        const down = Math.min(box.bottom, boxes[j].bottom) - Math.max(box.top, boxes[j].top);
        if (across > 2 && down > 2) wrong.push("overlap: " + texts[j].id + " and " + name);
      }
    });
  }
  for (const element of document.querySelectorAll("h1, h2, h3, p, td, th, dd, dt, figcaption, a, caption")) {
    const box = element.getBoundingClientRect();
    if (box.width && (box.right > width + 1 || box.left < -1 || element.scrollWidth > element.clientWidth + 1 && element.clientWidth))
      wrong.push("cut: " + element.tagName + " " + element.textContent.slice(0, 40));
  }
  const table = document.querySelector("table.sortable"), sorted = [];
  if (table) {
    const column = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === "Gfloat/s");
    for (const order of ["ascending", "descending"]) {
      table.tHead.rows[0].cells[column].querySelector("button").click();
      const values = [...table.tBodies[0].rows].map(row => parseFloat(row.cells[column].dataset.value));
      sorted.push(table.tHead.rows[0].cells[column].ariaSort === order &&
                  values.every((value, i) => i === 0 || (order === "ascending" ? values[i - 1] <= value : values[i - 1] >= value)));
    }
  }
  const result = {wrong, width, sorted, figures: shown.map(svg => svg.closest("figure").id), dark: matchMedia("(prefers-color-scheme: dark)").matches,
                  paper: getComputedStyle(document.body).backgroundColor};
  parent.document.documentElement.append(Object.assign(document.createElement("pre"), {id: "checks", textContent: JSON.stringify(result)}));
});
</script>"""


def write_torch(path, cpu):
    """What compare_torch.py --output writes of a kept table: it stands beside the backends."""
    entry = {
        "name": "encode/pytorch/preset:chunk/rows:8/d:512",
        "run_name": "encode/pytorch/preset:chunk/rows:8/d:512",
        "run_type": "iteration",
        "real_time": 14000.0,
        "cpu_time": 14000.0,
        "time_unit": "ns",
        "items_per_second": 8 * 512 / 14e-6,
        "label": "d_model=512 base=10000 layout=interleaved spacing=paper first=0 count=8 dtype=float32",
        "max_abs": 3.8e-7,
        "correctly_rounded": 0.588,
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"context": {"cpu": cpu, "torch_version": "1"}, "benchmarks": [entry]}, file)


def measure(folder):
    """Small results of every kind."""

    def bench(name, program, *arguments):
        subprocess.run(
            [binary(program), f"--benchmark_out={folder}/{name}.json", *BRIEF, *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
        )

    bench("presets", "bench_encode", "--preset", "chunk", "--preset", "model_garden")
    bench(
        "sizes", "bench_encode", "--set", "cache-to-memory", "--backend", "rotation", "--benchmark_filter=d:(64|512)$"
    )
    # Of the kinds of benchmarks that no figure shows, and that no figure may take for others.
    bench("cliffs", "bench_encode", "--set", "cliffs", "--backend", "rotation", "--benchmark_filter=^(widths|strides)/")
    bench("limits", "bench_limits", "--benchmark_filter=bytes:(16384|524288)$")
    bench("rows", "bench_rows", "--benchmark_filter=^row_.*d:512$")
    bench("plan", "bench_plan", "--benchmark_filter=^plan/.*d:512/spacing:paper")
    bench("threads", "bench_threads", "--benchmark_filter=d:512/")
    # A benchmark shape is no preset: its report is asked for by its size.
    for name, shape in (("chunk", ["--rows", "8", "--d-model", "512"]), ("model_garden", ["--preset", "model_garden"])):
        subprocess.run(
            [
                binary("posenc"),
                "accuracy",
                *shape,
                "--format",
                "json",
                "--threads",
                "1",
                "--output",
                f"{folder}/accuracy_{name}.json",
            ],
            check=True,
        )
    with open(f"{folder}/pick.json", "wb") as file:
        done = subprocess.run(
            [binary("posenc"), "pick", "--preset", "ggml", "--processes", "2", "--force", "--format", "json"],
            check=False,
            stdout=file,
            env={**os.environ, "POSENC_PROFILE": f"{folder}/profile_of_pick"},
        )
    # Exit code 1 says that the machine was busy; what was measured is there all the same.
    if done.returncode not in (0, 1):
        raise subprocess.CalledProcessError(done.returncode, done.args)


class ReportTest(ScriptTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.results = os.path.join(cls.folder.name, "results")
        os.mkdir(cls.results)
        measure(cls.results)
        with open(os.path.join(cls.results, "presets.json"), encoding="utf-8") as file:
            write_torch(os.path.join(cls.results, "torch.json"), json.load(file)["context"]["cpu"])
        cls.output = os.path.join(cls.folder.name, "report")
        cls.done = run("report.py", cls.results, "--output", cls.output)

    def look(self, output, width, *flags):
        """What the page says of itself in a window so wide."""
        page = pathlib.Path(output, "index.html").read_text(encoding="utf-8").replace("<head>", "<head>" + CHECKS, 1)
        # A frame can be narrower than Chromium's windows.
        frame = f'<!DOCTYPE html><iframe style="border: 0; width: {width}px; height: 900px" srcdoc="{html.escape(page)}"></iframe>'
        checked = pathlib.Path(output, "checked.html")
        checked.write_text(frame, encoding="utf-8")
        command = [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1400,1000",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={self.folder.name}/profile",
            "--dump-dom",
            *flags,
            checked.as_uri(),
        ]
        # It keeps files in the home folder, whatever --user-data-dir says.
        environment = {**os.environ, "HOME": self.folder.name}
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, env=environment
        )
        checked.unlink()
        found = re.search(r'<pre id="checks">(.*?)</pre>', done.stdout, re.DOTALL)
        self.assertIsNotNone(found, done.stderr[-2000:])
        return json.loads(html.unescape(found[1]))

    def assert_good_page(self, output, figures):
        for width in (1280, 400):
            with self.subTest(width=width):
                seen = self.look(output, width)
                self.assertEqual(seen["wrong"], [])
                self.assertEqual(seen["width"], width)
                self.assertEqual(seen["figures"], figures)
                self.assertEqual(seen["sorted"], [True, True])

    @in_browser
    def test_page_is_good_at_both_widths(self):
        self.assert_good(self.done)
        self.assertEqual(self.done.stdout.splitlines()[0], os.path.join(self.output, "index.html"))
        self.assert_good_page(self.output, list(FIGURES))

    def test_other_programs_stand_beside_the_backends(self):
        page = pathlib.Path(self.output, "index.html").read_text(encoding="utf-8")
        row = next(line for line in page.splitlines() if ">pytorch*<" in line)
        for cell in (">chunk<", ">0.293<", ">3.80e-07<", ">58.80 %<"):
            self.assertIn(cell, row)
        self.assertIn("* not part of the library, cannot be picked", page)

    @in_browser
    def test_dark_and_light(self):
        light = self.look(self.output, 1280)
        dark = self.look(self.output, 1280, "--blink-settings=preferredColorScheme=0")
        self.assertEqual((light["dark"], light["paper"]), (False, "rgb(255, 255, 255)"))
        self.assertEqual((dark["dark"], dark["paper"]), (True, "rgb(19, 26, 33)"))

    def test_figures_stand_beside_it_whole(self):
        names = sorted(f"{name}.{kind}" for name in FIGURES for kind in ("png", "svg"))
        self.assertEqual(sorted(os.listdir(self.output)), sorted([*names, "index.html"]))
        for name in names:
            self.assert_whole_picture(os.path.join(self.output, name))

    def test_page_needs_no_network(self):
        page = pathlib.Path(self.output, "index.html").read_text(encoding="utf-8")
        self.assertEqual(
            [link for link in re.findall(r'(?:src|href)="([^"]*)"', page) if not re.match(r"#|data:", link)], []
        )
        self.assertNotRegex(page, r"@import|url\((?!#)")

    def test_several_machines_are_compared(self):
        other = os.path.join(self.folder.name, "other")
        os.mkdir(other)
        for name in ("presets", "accuracy_chunk", "pick"):
            document = json.loads(pathlib.Path(self.results, f"{name}.json").read_text(encoding="utf-8"))
            if "context" in document:
                document["context"]["cpu"] = "Another CPU with quite a long name (model 1)"
            else:
                document["cpu"]["model"] = "Another CPU with quite a long name (model 1)"
            pathlib.Path(other, f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
        output = os.path.join(self.folder.name, "compared")
        self.assert_good(run("report.py", self.results, other, "--output", output))
        page = pathlib.Path(output, "index.html").read_text(encoding="utf-8")
        figures = re.findall(r'<figure id="([^"]*)"', page)
        self.assertEqual(figures[0], "across_cpus")
        self.assertEqual(len(figures), 1 + len(FIGURES) + 5)
        if CHROMIUM:
            self.assert_good_page(output, figures)

    def test_a_profile_beside_its_pick_adds_nothing(self):
        folder = os.path.join(self.folder.name, "with_profile")
        shutil.copytree(self.results, folder)
        shutil.copy(os.path.join(folder, "pick.json"), os.path.join(folder, "profile.json"))
        output = os.path.join(self.folder.name, "of_profile")
        self.assert_good(run("report.py", folder, "--output", output))
        page = pathlib.Path(output, "index.html").read_text(encoding="utf-8")
        self.assertEqual(page.count('data-label="tables in"'), 1)

    def test_bad_input_is_one_line(self):
        def report(*arguments):
            return run("report.py", *arguments, "--output", os.path.join(self.folder.name, "none"))

        empty = os.path.join(self.folder.name, "empty")
        os.mkdir(empty)
        self.assert_refused(report(empty), empty, "JSON")
        self.assert_refused(report("/nonexistent.json"), "/nonexistent.json")
        for content in (
            "",
            "[]",
            "{}",
            '{"benchmarks": [], "context": 3}',
            '{"benchmarks": [{}], "context": {}}',
            '{"benchmarks": [], "context": {}}',
            '{"cpu": {"model": "x"}, "results": [{}]}',
        ):
            path = pathlib.Path(empty, "bad.json")
            path.write_text(content, encoding="utf-8")
            with self.subTest(content):
                self.assert_refused(report(path))
        self.assert_refused(run("report.py", self.results), "--output")
        self.assert_refused(
            run("report.py", self.results, "--output", "/dev/null/report"), "--output", "/dev/null/report"
        )
        self.assertEqual(
            [name for _, _, names in os.walk(os.path.join(self.folder.name, "none")) for name in names], []
        )


if __name__ == "__main__":
    script_support.main()
