"""Code that the tests of the scripts share: running a script as a person would, checking its
failures, and a document of measurements. Makes the scripts' package importable."""

import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))


def binary(name):
    """A program of the build under test, whose folder the first argument names."""
    return os.path.join(BIN, name)


def run(*command, **variables):
    """Runs a program, or a script of SCRIPTS by its name."""
    if str(command[0]).endswith(".py"):
        command = (sys.executable, SCRIPTS / command[0], *command[1:])
    environment = {key: text for key, text in os.environ.items() if not key.startswith("POSENC_")}
    environment["POSENC_COMMAND"] = binary("posenc")
    return subprocess.run([*map(str, command)], capture_output=True, text=True,
                          env=environment | variables, check=False)  # fmt: skip


def table(rows, d_model, threads=1, **spec):
    """A table of a document: the paper's table in float32, unless `spec` says otherwise."""
    paper = {"base": 10000.0, "layout": "interleaved", "spacing": "paper", "frequencies": "base"}
    return {
        "name": f"{rows}x{d_model}", "spec": {"d_model": d_model, **paper, **spec},
        "rows": {"first": 0, "count": rows}, "dtype": "float32", "stride": d_model,
        "threads": threads, "stores": "automatic",
    }  # fmt: skip


def row(name, of_table, speed=0.0, max_abs=None, role="backend", rounded=False, by_position=(),
        checked=1.0):  # fmt: skip
    """A measurement. speed: 10^9 entries per second, as the median of three processes; 0 means not
    timed. by_position: the largest errors of octaves, from position 0. checked: the share of the
    entries that the error covers."""
    backend, _, isa = name.partition(":")
    entries = of_table["rows"]["count"] * of_table["spec"]["d_model"]
    seconds = entries / speed / 1e9 if speed else 0
    error = {"max_abs": max_abs, "max_ulp": 0.5, "rms": 1e-9, "checked": checked,
             "correctly_rounded": 1.0 if rounded else 0.25}  # fmt: skip
    bound = {"max_abs": max_abs, "max_ulp": None, "correctly_rounded": rounded}
    measured = {
        "backend": backend, "isa": isa, "role": role, "table": of_table,
        "seconds": [seconds, 4 * seconds, seconds / 2] if speed else [], "self_ratios": [],
        "error": None if max_abs is None else error, "bound": None if max_abs is None else bound,
    }  # fmt: skip
    if by_position:
        parts = [{"first": 2**power >> 1, "count": (2**power + 1) >> 1, "max_abs": worst}
                 for power, worst in enumerate(by_position)]  # fmt: skip
        cells = {"rows": 2, "columns": 3, "largest": [max_abs / cell for cell in range(1, 7)]}
        measured["report"] = {"by_position": parts, "map": cells}
    return measured


def document(*rows, cpu="A CPU"):
    machine = {"cpu": cpu, "isas": ["portable", "sse2", "avx2"], "logical_cores": 2}
    machine |= {"l1_bytes": 32768, "l2_bytes": 524288, "l3_bytes": 0}
    return {
        "version": 4, "machine": machine, "compiler": "g++ 12.2.0", "library_version": "0.1.0",
        "kernels": "3f9c0a", "measured_at": "2026-11-24T05:00:00Z", "disturbed": "",
        "measurements": list(copy.deepcopy(rows)),
    }  # fmt: skip


SMALL, LARGE = table(8, 512), table(5000, 512)
LOOPS = (("store", 20), ("non_temporal_store", 8), ("copy", 13))


def sample(cpu="A CPU"):
    """Two tables by two ISAs of a backend, a second backend, a peer, and the memory loops."""
    rows = []
    for of_table, factor in ((SMALL, 1), (LARGE, 0.5)):
        octaves = {"by_position": [0.0, *[3e-8] * 3]} if of_table is SMALL else {}
        rows += [
            row("rotation:sse2", of_table, 2 * factor, 2.98e-8, rounded=True),
            row("rotation:avx2", of_table, 4 * factor, 2.98e-8, rounded=True, **octaves),
            row("rotation32:avx2", of_table, 7 * factor, 1.5e-7),
            {**row("sleef:avx2", of_table, 1 * factor, 4e-4, role="peer"), "phases": "float32"},
            *(row(name, of_table, speed * factor, role="limit") for name, speed in LOOPS),
        ]
    return document(*rows, cpu=cpu)


class ScriptTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        """Writes a text or a document to a file in the test's folder. Returns its path."""
        path = self.folder / name
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    def write_all(self, *documents):
        """Writes the documents to 0.json, 1.json, ... and returns the paths."""
        return [self.write(f"{number}.json", each) for number, each in enumerate(documents)]

    def copy_scripts(self):
        """Makes a project in the test's folder with a copy of the scripts. Returns its folder."""
        root = self.folder / "project"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SCRIPTS, root / "scripts", ignore=ignored)
        return root

    def assert_refused(self, done, *words):
        """Expects exit code 2, one line on stderr that has the words, and nothing on stdout."""
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def assert_good(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))


def main():
    global BIN
    BIN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
