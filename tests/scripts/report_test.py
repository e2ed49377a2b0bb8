"""scripts/report.py: the page opens in headless Chromium without a console error, cut or
overlapping text, at 1280 and 400 pixels; figures appear whole; bad input is one line. First
argument: the folder of the built programs."""

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
from script_support import ScriptTest, binary, read_json, run, skip_without, write_json

skip_without("matplotlib", "numpy")
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
in_browser = unittest.skipUnless(CHROMIUM, "there is no chromium (Debian: chromium)")

FIGURES = (
    "speed_error",
    "throughput",
    "error_position",
    "error_channel",
    "error_quantiles",
    "latency",
    "threads",
)
BRIEF = ("--benchmark_min_time=0.0005", "--benchmark_repetitions=2", "--benchmark_out_format=json")

CHECKS = pathlib.Path(__file__).with_name("page_checks.js").read_text(encoding="utf-8")


def write_torch(path, cpu):
    """What compare_torch.py --output writes of a kept table: PyTorch's stands beside the backends,
    and all of them side by side."""
    entry = {
        "name": "encode/pytorch/preset:chunk/rows:8/d:512",
        "run_name": "encode/pytorch/preset:chunk/rows:8/d:512",
        "run_type": "iteration",
        "real_time": 14000.0,
        "cpu_time": 14000.0,
        "time_unit": "ns",
        "items_per_second": 8 * 512 / 14e-6,
        "label": "d_model=512 base=10000 layout=interleaved spacing=paper "
        "first=0 count=8 dtype=float32",
        "max_abs": 3.8e-7,
        "correctly_rounded": 0.588,
    }
    entries = [entry]
    for side, microseconds in (("torch", 14), ("posenc", 2), ("posenc:again", 2.2)):
        name = f"table_kept_memory/{side}/batch:1/rows:8/d:512/threads:1"
        compared = {"run_name": name, "max_difference": 4e-7, "tolerance": 2e-6}
        entries.append({**entry, **compared, "cpu_time": microseconds, "time_unit": "us"})
    write_json(path, {"context": {"cpu": cpu, "torch_version": "1"}, "benchmarks": entries})


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
        "sizes",
        "bench_encode",
        "--set",
        "cache-to-memory",
        "--backend",
        "rotation",
        "--benchmark_filter=d:(64|512)$",
    )
    # Of the kinds of benchmarks that no figure shows, and that no figure may take for others.
    bench(
        "slowdowns",
        "bench_encode",
        "--set",
        "slowdowns",
        "--backend",
        "rotation",
        "--benchmark_filter=^(widths|strides)/",
    )
    bench("limits", "bench_limits", "--benchmark_filter=bytes:(16384|524288)$")
    bench("rows", "bench_rows", "--benchmark_filter=^row_.*d:512$")
    bench("plan", "bench_plan", "--benchmark_filter=^plan/.*d:512/spacing:paper")
    bench("threads", "bench_threads", "--benchmark_filter=d:512/")
    # A benchmark shape is no preset: its report is asked for by its size.
    for name, shape in (
        ("chunk", ["--rows", "8", "--d-model", "512"]),
        ("model_garden", ["--preset", "model_garden"]),
    ):
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
            [binary("posenc"), "pick", "--preset", "ggml", "--processes", "2", "--force"]
            + ["--format", "json", "--save", f"{folder}/profile.json"],
            check=False,
            stdout=file,
            env={**os.environ, "POSENC_PROFILE": f"{folder}/profile_of_pick"},
        )
    # Exit code 1 says that the machine was busy; what was measured is there all the same.
    if done.returncode not in (0, 1):
        raise subprocess.CalledProcessError(done.returncode, done.args)


def page_of(folder):
    return pathlib.Path(folder, "index.html").read_text(encoding="utf-8")


class ReportTest(ScriptTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.results = os.path.join(cls.folder.name, "results")
        os.mkdir(cls.results)
        measure(cls.results)
        presets = read_json(os.path.join(cls.results, "presets.json"))
        write_torch(os.path.join(cls.results, "torch.json"), presets["context"]["cpu"])
        cls.output = os.path.join(cls.folder.name, "report")
        cls.done = run("report.py", cls.results, "--output", cls.output)

    def look(self, output, width, *flags):
        """What the page says of itself in a window so wide."""
        page = page_of(output).replace("<head>", f"<head><script>{CHECKS}</script>", 1)
        # A frame can be narrower than Chromium's windows.
        style = f"border: 0; width: {width}px; height: 900px"
        content = html.escape(page)
        frame = f'<!DOCTYPE html><iframe style="{style}" srcdoc="{content}"></iframe>'
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
        page = page_of(self.output)
        row = next(line for line in page.splitlines() if ">pytorch*<" in line)
        for cell in (">chunk<", ">0.293<", ">3.80e-07<", ">58.80 %<"):
            self.assertIn(cell, row)
        self.assertIn("* not part of the library, cannot be picked", page)

    def test_works_of_pytorch_stand_side_by_side(self):
        page = page_of(self.output)
        (row,) = [line for line in page.splitlines() if ">table, kept memory<" in line]
        for cell in (">1 x 8 x 512<", ">14.0 us<", ">2.00 us<", ">7.00<", ">4.0e-07<"):
            self.assertIn(cell, row)
        self.assertIn("two equal cases of posenc differ by up to 10 %", page)

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
        page = page_of(self.output)
        self.assertEqual(
            [
                link
                for link in re.findall(r'(?:src|href)="([^"]*)"', page)
                if not re.match(r"#|data:", link)
            ],
            [],
        )
        self.assertNotRegex(page, r"@import|url\((?!#)")

    def test_several_machines_are_compared(self):
        other = os.path.join(self.folder.name, "other")
        os.mkdir(other)
        for name in ("presets", "accuracy_chunk", "pick"):
            document = read_json(os.path.join(self.results, f"{name}.json"))
            if "context" in document:
                document["context"]["cpu"] = "Another CPU with quite a long name (model 1)"
            else:
                document["cpu"]["model"] = "Another CPU with quite a long name (model 1)"
            write_json(os.path.join(other, f"{name}.json"), document)
        output = os.path.join(self.folder.name, "compared")
        self.assert_good(run("report.py", self.results, other, "--output", output))
        page = page_of(output)
        figures = re.findall(r'<figure id="([^"]*)"', page)
        self.assertEqual(figures[0], "across_cpus")
        self.assertEqual(len(figures), 1 + len(FIGURES) + 5)
        if CHROMIUM:
            self.assert_good_page(output, figures)

    def test_neither_a_profile_nor_the_same_pick_again_adds_anything(self):
        self.assertTrue(os.path.exists(os.path.join(self.results, "profile.json")))
        folder = os.path.join(self.folder.name, "picked_twice")
        shutil.copytree(self.results, folder)
        shutil.copy(os.path.join(folder, "pick.json"), os.path.join(folder, "same_pick.json"))
        output = os.path.join(self.folder.name, "of_picked_twice")
        self.assert_good(run("report.py", folder, "--output", output))
        page = page_of(output)
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
            run("report.py", self.results, "--output", "/dev/null/report"),
            "--output",
            "/dev/null/report",
        )
        self.assertEqual(
            [
                name
                for _, _, names in os.walk(os.path.join(self.folder.name, "none"))
                for name in names
            ],
            [],
        )


if __name__ == "__main__":
    script_support.main()
