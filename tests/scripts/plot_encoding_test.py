"""scripts/plot_encoding.py: arguments, bad input, and pictures that appear whole. First argument:
the folder of the built programs."""

import os
import pathlib
import subprocess
import tempfile

import script_support
from script_support import ScriptTest, binary, run, skip_without

skip_without("matplotlib", "numpy")
PICTURES = ("heat_map", "channels", "similarity", "drift")


class PlotEncodingTest(ScriptTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.output = os.path.join(self.folder.name, "new", "pictures")

    def plot(self, *arguments):
        return run(
            "plot_encoding.py",
            "--posenc",
            binary("posenc"),
            "--output",
            self.output,
            "--dpi",
            40,
            *arguments,
        )

    def accuracy_report(self):
        path = os.path.join(self.folder.name, "accuracy.json")
        subprocess.run(
            [
                binary("posenc"),
                "accuracy",
                "--rows",
                "64",
                "--d-model",
                "8",
                "--format",
                "json",
                "--output",
                path,
            ],
            check=True,
        )
        return path

    def test_draws_every_picture_in_both_formats(self):
        self.assert_good(
            self.plot(
                "--rows",
                40,
                "--d-model",
                16,
                "--backend",
                "rotation",
                "--accuracy",
                self.accuracy_report(),
            )
        )
        files = sorted(f"{name}.{kind}" for name in PICTURES for kind in ("png", "svg"))
        self.assertEqual(sorted(os.listdir(self.output)), files)
        for name in files:
            self.assert_whole_picture(os.path.join(self.output, name))

    def test_measures_the_drift_itself(self):
        self.assert_good(
            self.plot(
                "drift", "--rows", 64, "--d-model", 4, "--backend", "rotation", "--formats", "svg"
            )
        )
        self.assert_whole_picture(os.path.join(self.output, "drift.svg"))

    def test_same_picture_same_bytes(self):
        contents = []
        for _ in range(2):
            self.assert_good(self.plot("channels"))
            contents.append(
                [
                    pathlib.Path(self.output, f"channels.{kind}").read_bytes()
                    for kind in ("png", "svg")
                ]
            )
        self.assertEqual(contents[0], contents[1])

    def test_help_documents_the_options(self):
        done = run("plot_encoding.py", "--help")
        self.assert_good(done)
        for word in (
            *PICTURES,
            "--output",
            "--formats",
            "--preset",
            "--d-model",
            "--channels",
            "--accuracy",
            "Exit codes",
        ):
            self.assertIn(word, done.stdout)

    def test_bad_input_is_one_line_and_writes_nothing(self):
        self.assert_refused(self.plot("heat"), "PICTURE", "heat", "drift")
        self.assert_refused(self.plot("--rows", 0), "--rows", "'0'", "1 to")
        self.assert_refused(self.plot("heat_map", "--d-model", 7), "d_model is 7", "even")
        self.assert_refused(self.plot("heat_map", "--preset", "none"), "none", "whisper")
        self.assert_refused(self.plot("heat_map", "--backend", "none"), "none", "rotation")
        self.assert_refused(self.plot("channels", "--channels", "7-4"), "7-4", "4-7")
        self.assert_refused(self.plot("channels", "--channels", "20"), "20", "0 to 19")
        self.assert_refused(
            self.plot("drift", "--accuracy", "/nonexistent.json"), "/nonexistent.json"
        )
        self.assert_refused(self.plot("--unknown"), "--unknown")
        self.assertEqual([name for _, _, names in os.walk(self.output) for name in names], [])

    def test_bad_reports_are_refused(self):
        for content in (
            "",
            "[]",
            "{}",
            '{"version": 2, "results": []}',
            '{"version": 1, "results": []}',
            '{"version": 1, "results": [{"backend": "rotation"}]}',
            '{"version": 1, "results": [3]}',
        ):
            path = os.path.join(self.folder.name, "bad.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            with self.subTest(content):
                self.assert_refused(
                    self.plot("drift", "--accuracy", path), "allowed" if content else "not JSON"
                )

    def test_output_that_cannot_be_written(self):
        self.output = "/dev/null/pictures"
        self.assert_refused(self.plot("channels"), "--output", "/dev/null/pictures")

    def test_no_posenc_command(self):
        self.assert_refused(
            run("plot_encoding.py", "--posenc", "/nonexistent/posenc", "--output", self.output),
            "--posenc",
        )

    def test_skipped_without_matplotlib(self):
        done = run("plot_encoding.py", flags=["-S"])  # without site-packages
        self.assertEqual(done.returncode, script_support.SKIPPED)
        self.assertRegex(
            done.stderr,
            r"^plot_encoding.py: skipped: .* has no matplotlib \(Debian: python3-matplotlib\)\n$",
        )


if __name__ == "__main__":
    script_support.main()
