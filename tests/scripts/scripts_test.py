"""Tests scripts/run.sh and test.sh, and the scripts that they call: a failed installation stops
nothing, building and testing are quiet, and an answer comes at the end. First argument: the folder
of the built programs, which is not used."""

import os

import script_support
from script_support import ScriptTest, run, sample


class ShellTest(ScriptTest):
    """Makes a copy of the scripts in a folder of its own, and stands in for some commands."""

    def setUp(self):
        super().setUp()
        self.root = self.copy_scripts()
        self.provide("bin/dpkg-query", "echo installed")
        self.provide("bin/cmake", "true")

    def provide(self, path, text):
        """Makes a command in the test's folder."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        self.write(path, f"#!/bin/bash\n{text}\n").chmod(0o755)

    def script(self, name, *arguments):
        variables = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "FAKE": str(self.folder)}
        return run(self.root / "scripts" / name, *arguments, **variables)

    def log(self, name):
        return (self.root / "build" / "logs" / name).read_text(encoding="utf-8")


class BuildTest(ShellTest):
    def test_apt_that_fails_stops_nothing(self):
        self.provide("bin/dpkg-query", '[[ ${@: -1} != ninja-build ]] || echo installed')
        for name in ("apt-get", "sudo"):
            self.provide(f"bin/{name}", "echo chatter; exit 100")
        done = self.script("install_dependencies.sh", "build", "test")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1), done.stderr)
        self.assertIn("warning: not installed by apt: g++ cmake git ", done.stderr)
        self.assertRegex(done.stdout, r"^== Installing .*qemu-user.* \(log: .*install.log\)\n$")
        self.assertIn("chatter", self.log("install.log"))

    def test_unknown_groups_are_refused(self):
        done = self.script("install_dependencies.sh", "tests")
        self.assert_refused(done, "'tests'", "allowed: build test ", "torch")

    def test_chatter_goes_to_the_log_and_failures_show_its_end(self):
        self.provide("bin/cmake", 'echo "cmake $*"; seq 100; echo warned >&2; [[ $1 != --build ]]')
        done = self.script("build.sh", "release", "one", "two")
        self.assertEqual(done.returncode, 1)
        line = "== Building preset release (log: build/logs/build-release.log)\n"
        self.assertEqual(done.stdout, line)
        log = self.log("build-release.log").splitlines()
        calls = ["cmake --preset release", "cmake --build --preset release --target one two"]
        self.assertEqual([each for each in log if each.startswith("cmake")], calls)
        *shown, last = done.stderr.splitlines()
        self.assertEqual(shown, log[-40:])
        self.assertIn("build/logs/build-release.log", last)


CTEST = """      Start  1: good
 1/2 Test  #1: good ......   Passed    0.01 sec
      Start  2: bad
 2/2 Test  #2: bad ......***Failed    0.02 sec
why it failed

50% tests passed, 1 tests failed out of 2
"""


class TestTest(ShellTest):
    """Tests scripts/test.sh with a ctest that prints CTEST."""

    def setUp(self):
        super().setUp()
        self.provide("bin/ctest", f"echo \"ctest $*\"\ncat <<'E'\n{CTEST}E\nexit 8")

    def test_shows_failures_and_the_summary_alone(self):
        done = self.script("test.sh", "-R", "a|b")
        self.assertEqual(done.returncode, 8)
        _, _, *shown = done.stdout.splitlines()
        self.assertEqual(shown, [
            "ctest --preset release -j2 -R a|b", " 2/2 Test  #2: bad ......***Failed    0.02 sec",
            "why it failed", "50% tests passed, 1 tests failed out of 2",
        ])  # fmt: skip
        self.assertEqual(self.log("test.log"), f"ctest --preset release -j2 -R a|b\n{CTEST}")

    def test_thorough_tests_run_if_they_are_selected(self):
        for arguments, passed in [((), "-LE thorough"), (("-V",), "-LE thorough -V"),
                                  (("-L", "thorough"), "-L thorough"), (("-E", "a"), "-E a")]:
            self.script("test.sh", *arguments)
            first = self.log("test.log").splitlines()[0]
            self.assertEqual(first, f"ctest --preset release -j2 {passed}")


# Stands for the programs: prints its arguments, and writes the sample as its document.
PROGRAM = """what=$1
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
        self.write("sample.json", sample())
        self.provide("project/scripts/python_with.sh", 'echo "$*"; exit 77')
        for name in ("posenc", "posenc_peers", "bench_encode"):
            self.provide(f"project/build/release/bin/{name}", program)
        return self.script("run.sh")

    def test_ends_with_the_answer_and_writes_below_build(self):
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        measured = "build/results/measurements.json"
        for line in (
            "posenc accuracy --preset tutorial\n",
            "\nbench_encode --benchmark_min_time=0.1\n",
            f"posenc_peers measure --processes 3 --format json --output {measured}\n",
            "\n8 x 512                 4.0         7.0    13     20\n",
            f"\nmatplotlib numpy -- ./scripts/report.py {measured} build/results/accuracy_long",
            f"posenc pick {measured} --save build/results/profile.json\n",
            "\nProfile:   build/results/profile.json",
        ):
            self.assertIn(line, done.stdout)
        self.assertNotIn("\nFigures:", done.stdout)
        self.assertEqual(sorted(os.listdir(self.root)), ["build", "scripts"])
        self.assertEqual(os.listdir(self.root / "build" / "tmp"), [])

    def test_a_disturbed_measurement_is_shown_and_no_profile(self):
        fails = "[[ $what != measure && $what != pick ]]\n"
        done = self.run_it(PROGRAM.replace("--output | --save", "--output") + fails)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nDocuments: build/results\n", done.stdout)
        self.assertNotIn("\nProfile:", done.stdout)

    def test_an_error_beyond_its_bound_stops_it(self):
        done = self.run_it(PROGRAM + "[[ $what != accuracy ]]\n")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("The answer", done.stdout)


if __name__ == "__main__":
    script_support.main()
