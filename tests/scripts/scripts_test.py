"""Tests scripts/run.sh and test.sh, and the scripts that they call: a failed installation stops
nothing, building and testing are quiet, and an answer comes at the end. Also tests which modules a
module of the scripts may use. First argument: the folder of the built programs, which is not
used."""

import ast
import json
import os
import pathlib
import re
import shutil
import subprocess

import script_support
from script_support import ScriptTest, sample

import reporting

TOOLS = (
    *("bash", "cat", "chmod", "cp", "date", "dirname", "env", "id", "mkdir", "python3", "rm"),
    *("awk", "grep", "sed", "sort", "tail", "tee", "touch"),
)
FAILING = "#!/bin/bash\necho chatter\nexit 100\n"
APT_GET = """#!/bin/bash
[[ $2 != install ]] || printf '%s\\n' "$@" >>"$FAKE/installed"
"""
DPKG_QUERY = """#!/bin/bash
if grep -qx "${@: -1}" "$FAKE/installed" 2>/dev/null; then echo installed; fi
"""


class ShellTest(ScriptTest):
    """Makes a copy of the scripts in a folder of its own, and a path with few commands."""

    def setUp(self):
        super().setUp()
        self.root, self.path = self.copy_scripts(), self.folder / "bin"
        self.path.mkdir()
        for tool in TOOLS:
            os.symlink(os.path.realpath(shutil.which(tool, path="/usr/bin:/bin")), self.path / tool)
        self.provide("dpkg-query", DPKG_QUERY)

    def provide(self, name, text):
        file = self.path / name
        file.unlink(missing_ok=True)  # never write through a link to the real tool
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)

    def script(self, name, *arguments):
        return subprocess.run(
            ["/bin/bash", str(self.root / "scripts" / name), *arguments],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={"PATH": str(self.path), "FAKE": str(self.path), "HOME": "/nonexistent"},
            check=False,
        )

    def log(self, name):
        return (self.root / "build" / "logs" / name).read_text(encoding="utf-8")

    def assert_warned(self, done, *words):
        """Expects exit code 0, and one line on stderr that has the words."""
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in ("install_dependencies.sh: warning: not installed by apt", *words):
            self.assertIn(word, done.stderr)


class InstallTest(ShellTest):
    def install(self, *arguments):
        return self.script("install_dependencies.sh", *arguments)

    def test_without_apt_it_names_what_is_missing_and_goes_on(self):
        (self.path / "installed").write_text("qemu-user\n", encoding="utf-8")
        done = self.install("build", "test")
        self.assert_warned(done, "ninja-build", "groff-base", "no apt-get")
        self.assertNotIn("qemu-user", done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.root / "build").exists())

    def test_apt_that_fails_stops_nothing(self):
        self.provide("apt-get", FAILING)
        self.provide("id", "#!/bin/bash\necho 0\n")
        done = self.install("test")
        self.assert_warned(done, "qemu-user", "build/logs/install.log")
        self.assertEqual(done.stdout.count("\n"), 1, done.stdout)
        self.assertRegex(done.stdout, r"^== Installing .*qemu-user.*\(log: .*install.log\)$")
        self.assertIn("chatter", self.log("install.log"))

    def test_an_installation_that_was_cut_off_is_finished(self):
        finished = '[[ -e "$FAKE/finished" ]]'
        self.provide("dpkg", """#!/bin/bash
[[ $1 != --configure ]] || touch "$FAKE/finished"
""")
        self.provide("apt-get", f"#!/bin/bash\n{finished} || exit 100\n{APT_GET}")
        self.provide("id", "#!/bin/bash\necho 0\n")
        self.assert_good(self.install())

    def test_without_root_it_names_what_is_missing_and_goes_on(self):
        self.provide("apt-get", APT_GET)
        self.provide("id", "#!/bin/bash\necho 1000\n")
        self.assert_warned(self.install(), "ninja-build")
        self.assertIn("sudo: command not found", self.log("install.log"))

    def test_unknown_groups_are_refused(self):
        self.assert_refused(self.install("tests"), "'tests'", "allowed: build test ", "torch")


class BuildTest(ShellTest):
    def test_chatter_goes_to_the_log(self):
        self.provide("cmake", '#!/bin/bash\necho "cmake $*"\necho warned >&2\n')
        done = self.script("build.sh", "release", "one", "two")
        self.assert_good(done)
        line = "== Building preset release (log: build/logs/build-release.log)\n"
        self.assertEqual(done.stdout, line)
        log = self.log("build-release.log")
        self.assertIn("cmake --preset release\n", log)
        self.assertIn("cmake --build --preset release --target one two\n", log)
        self.assertIn("warned\n", log)
        self.script("build.sh", "release")
        self.assertIn("cmake --build --preset release\n", self.log("build-release.log"))

    def test_failures_show_the_end_of_the_log_and_keep_the_exit_code(self):
        lines = 'for ((i = 1; i <= 100; ++i)); do echo "line $i"; done'
        self.provide("cmake", f"#!/bin/bash\n{lines}\nexit 7\n")
        done = self.script("build.sh", "release")
        self.assertEqual(done.returncode, 7)
        lines = done.stderr.splitlines()
        self.assertEqual((lines[0], lines[-2]), ("line 61", "line 100"))
        self.assertIn("exit code 7", lines[-1])
        self.assertIn("build/logs/build-release.log", lines[-1])
        self.assertEqual(done.stdout.count("\n"), 1)


CTEST = """Test project /x
      Start  1: good
 1/20 Test  #1: good ......   Passed    0.01 sec
      Start  2: bad
 2/20 Test  #2: bad ......***Failed    0.02 sec
why it failed
      Start  3: fine
 3/20 Test  #3: fine ......   Passed    0.01 sec
what it says
      Start 20: left_out
20/20 Test #20: left_out ......***Skipped   0.00 sec

95% tests passed, 1 tests failed out of 20

Total Test time (real) =   0.09 sec

The following tests did not run:
\t 20 - left_out (Skipped)

The following tests FAILED:
\t  2 - bad (Failed)
Errors while running CTest
"""


class TestTest(ShellTest):
    """Tests scripts/test.sh with a ctest that prints CTEST."""

    def setUp(self):
        super().setUp()
        self.provide("cmake", "#!/bin/bash\n")
        self.ctest(CTEST, 8)

    def ctest(self, text, code):
        self.provide("ctest", f"""#!/bin/bash
echo "ctest $*"
cat <<'E'
{text}E
exit {code}
""")

    def test_shows_failures_and_the_summary_alone(self):
        done = self.script("test.sh", "-R", "a|b")
        self.assertEqual(done.returncode, 8)
        lines = done.stdout.splitlines()
        start = lines.index("== Testing preset release (log: build/logs/test.log)") + 1
        self.assertEqual(lines[start:], [
            "  10 % of 20 tests",
            " 2/20 Test  #2: bad ......***Failed    0.02 sec",
            "why it failed",
            " 100 % of 20 tests",
            "20/20 Test #20: left_out ......***Skipped   0.00 sec",
            "95% tests passed, 1 tests failed out of 20",
            "Total Test time (real) =   0.09 sec",
            "The following tests did not run:",
            "\t 20 - left_out (Skipped)",
            "The following tests FAILED:",
            "\t  2 - bad (Failed)",
            "Errors while running CTest",
        ])  # fmt: skip
        self.assertEqual(self.log("test.log"), f"ctest --preset release -j2 -R a|b\n{CTEST}")

    def test_thorough_tests_run_if_they_are_selected(self):
        for arguments, passed in [((), "-LE thorough"), (("-V",), "-LE thorough -V"),
                                  (("-L", "thorough"), "-L thorough"), (("-E", "a"), "-E a")]:
            self.script("test.sh", *arguments)
            first = self.log("test.log").splitlines()[0]
            self.assertEqual(first, f"ctest --preset release -j2 {passed}")

    def test_a_thousand_failures_take_few_lines(self):
        lines = [
            f"{n}/1000 Test #{n}: t ...***Failed    0.01 sec\n" + "more\n" * 50 + "why"
            for n in range(1, 1001)
        ]
        failed = [f"\t{n:4} - t (Failed)" for n in range(1, 1001)]
        head = "0% tests passed, 1000 tests failed out of 1000"
        text = "\n".join([*lines, "", head, *failed, "Errors while running CTest"])
        self.ctest(f"{text}\n", 8)
        done = self.script("test.sh")
        self.assertEqual(done.returncode, 8)
        self.assertIn(f"\n{head}\n", done.stdout)
        self.assertIn("\n... (the rest is in build/logs/test.log)\n", done.stdout)
        self.assertIn("\nmore\nwhy\n2/1000 Test #2: t ...***Failed    0.01 sec\n", done.stdout)
        self.assertLess(done.stdout.count("\n") + done.stderr.count("\n"), 150)


# Stands for the programs: prints its arguments, and writes the sample as its document. For the
# page, it gives no picks, and tables of bytes that are all the same.
PROGRAM = """#!/bin/bash
what=$1
case "$*" in
  pick*"--format json") echo '{"classes": []}'; exit ;;
  generate*"--format raw") printf '%0*d' $((4 * $3 * $5)) 0; exit ;;
esac
echo "${0##*/} $*"
while [[ $# -gt 0 ]]; do
  case $1 in
    --output | --save) cp "$FAKE/sample.json" "$2" ;;
  esac
  shift
done
"""


class RunTest(ShellTest):
    """Tests scripts/run.sh with programs that write the sample document."""

    def run_it(self, program=PROGRAM):
        (self.path / "sample.json").write_text(json.dumps(sample()), encoding="utf-8")
        self.provide("cmake", "#!/bin/bash\n")
        (self.root / "scripts" / "compare_torch.py").write_text("raise SystemExit(77)\n")
        programs = self.root / "build" / "release" / "bin"
        programs.mkdir(parents=True)
        for name in ("posenc", "posenc_peers", "bench_encode"):
            self.provide(name, program)
            shutil.copy(self.path / name, programs)
        return self.script("run.sh")

    def test_ends_with_the_answer_and_says_little(self):
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(done.stdout.count("\n"), 150)
        measured = "build/results/measurements.json"
        for line in (
            "posenc accuracy --preset tutorial\n",
            "\nbench_encode --benchmark_min_time=0.1\n",
            f"posenc_peers measure --processes 3 --format json --output {measured}\n",
            "\n8 x 512                 4.0         7.0    13     20\n",
            f"posenc pick {measured} --save build/results/profile.json\n",
            "\nProfile:   build/results/profile.json",
            "\n  build/release/bin/bench_encode --shape 777x768 ",
        ):
            self.assertIn(line, done.stdout)
        page = self.root / "build" / "results" / "report" / "index.html"
        self.assertEqual("\nFigures:   build/results/report" in done.stdout, page.exists())
        self.assertEqual(sorted(os.listdir(self.root)), ["build", "scripts"])
        self.assertEqual(os.listdir(self.root / "build" / "tmp"), [])

    def test_a_disturbed_measurement_is_shown_and_no_profile(self):
        fails = "[[ $what != measure && $what != pick ]]\n"
        done = self.run_it(PROGRAM.replace("--output | --save", "--output") + fails)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("8 x 512", done.stdout)
        self.assertIn("\nDocuments: build/results\n", done.stdout)
        self.assertNotIn("\nProfile:", done.stdout)

    def test_an_error_beyond_its_bound_stops_it(self):
        done = self.run_it(PROGRAM + "[[ $what != accuracy ]]\n")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("The answer", done.stdout)


class PackageTest(ScriptTest):
    """Tests that the map in scripts/reporting/__init__.py is right."""

    def imports_of(self, path):
        """The modules of reporting that a file imports."""
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "reporting":
                yield from (each.name for each in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module.startswith("reporting."):
                yield node.module.split(".")[1]

    def test_a_module_uses_only_those_above_it(self):
        order = re.findall(r"^  (\w+) ", reporting.__doc__, re.MULTILINE)
        files = sorted(pathlib.Path(reporting.__file__).parent.glob("[a-z]*.py"))
        self.assertEqual(sorted(order), [path.stem for path in files])
        for path in files:
            for name in self.imports_of(path):
                self.assertLess(order.index(name), order.index(path.stem), path)


if __name__ == "__main__":
    script_support.main()
