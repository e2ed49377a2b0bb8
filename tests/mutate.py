#!/usr/bin/env python3
"""Finds changes that no test notices: makes single changes in the sources, and runs the tests.

Draws COUNT changes of the core (simd, exact, backends) or of the suite: another operator, an
integer changed by one, a negated condition, or a deleted statement. Each change is made alone, in a
copy of the committed tree below build/mutants, which is built and tested. If it does not compile,
another change replaces it. Prints the changes that no test notices. With ccache
(CMAKE_CXX_COMPILER_LAUNCHER=ccache), a restored file costs no compilation. Outcomes are kept in
build/mutants by the hash of src: a run that was cut off continues, and new
tests are tried on the changes that survived. --isas compiles fewer kernels, which takes less time;
the sources of the other instruction sets are not changed then.
"""

import argparse
import concurrent.futures
import os
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "mutants"
PARTS = {"core": ("simd", "exact", "backends"), "suite": ("suite",)}
# The tests of each part; tests that take long come last. Other tests cover other parts.
TESTS = {
    "core": ("*Hash*:*Exact*:*Frequency*:*Float32*:*RoundedEntry*:*Rotary*:Layers/*",
             "*-*Check*:*Command*:*Config*:*Pick*:*Measure*:*Timing*:*Compare*:*Page*:*Progress*:"
             "All/BoundsOfPreset.*", "All/BoundsOfPreset.*/whisper"),
    "suite": ("*-Check.Right*:Check.Good*:CheckM*:All/*:*Hash*:*Rotation*:*LongContext*",
              "Check.Right*:Check.Good*:CheckM*"),
}

OPERATORS = {
    " + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ", " += ": " -= ", " -= ": " += ",
    " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
    " && ": " || ", " || ": " && ", " << ": " >> ", " >> ": " << ", " & ": " | ", " | ": " & ",
    " % ": " / ",
}
INTEGER = re.compile(r"(?<![\w.'])\d+(?![\w.'])")
CONDITION = re.compile(r"\b(?:if|if constexpr|while) \((.*)\)(?= )")
STATEMENT = re.compile(r"^ +(?!return|using|const|static|constexpr|typedef|break|continue)"
                       r"[\w.\->\[\]():]+(?: [+\-*/|&^]?= |\(|\+\+|--).*;$")
# Lines that no test sees: comments, the preprocessor, compile-time checks, types, and prefetches.
SKIPPED = re.compile(r"^\s*(//|#|\*|template|static_assert|using |namespace|friend|case .*:$)"
                     r"|throw_invalid|InvalidArgument|operator|alignas|prefetch")


def run(*command: object, cwd: Path = ROOT) -> str:
    return subprocess.run([str(each) for each in command], cwd=cwd, check=True, text=True,
                          capture_output=True).stdout


def succeeds(seconds: int, *command: object) -> bool:
    """True if the command succeeds in time. If it does not, the processes that it started end."""
    limited = ["timeout", "--signal=KILL", str(seconds), *(str(each) for each in command)]
    return subprocess.run(limited, cwd=FOLDER, check=False, capture_output=True).returncode == 0


class Mutant(NamedTuple):
    """A line of a file, and the line that replaces it."""

    file: str
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return "\n".join((f"{self.file}:{self.line}", f"  - {self.before.strip()}",
                          f"  + {self.after.strip() or '(deleted)'}"))


def changes_of(line: str) -> Iterator[str]:
    """The possible changes of a line of code. Its comment and its texts are not changed."""
    code = re.sub(r'"[^"]*"', lambda found: "\0" * len(found[0]), line.partition("//")[0])
    for old, new in OPERATORS.items():
        for found in re.finditer(re.escape(old), code):
            if old in (" < ", " > ", " & ", " * ") and re.search(r"\btemplate\b|<.*>", code):
                continue  # part of a type
            yield line[:found.start()] + new + line[found.end():]
    for found in INTEGER.finditer(code):
        value = int(found[0])
        for other in {value + 1, max(value - 1, 0)} - {value}:
            yield line[:found.start()] + str(other) + line[found.end():]
    for found in CONDITION.finditer(code):
        first, last = found.span(1)
        if found[1].count("(") == found[1].count(")") and ";" not in found[1]:
            yield f"{line[:first]}!({line[first:last]}){line[last:]}"
    if STATEMENT.match(code.rstrip()):
        yield ""


def mutants_of(part: str, isas: list[str]) -> list[Mutant]:
    found = []
    for file in run("git", "ls-files", *(f"src/posenc/{each}" for each in PARTS[part])).split():
        isa = re.search(r"/isa_(?!portable)(\w+)-inl\.h$", file)
        if not file.endswith((".h", ".cpp")) or (isa and isa[1] not in isas):
            continue
        for number, line in enumerate(run("git", "show", f"HEAD:{file}").splitlines(), 1):
            if not SKIPPED.search(line):
                found += [Mutant(file, number, line, after) for after in changes_of(line)]
    return found


class Tree:
    """A copy of the committed sources, with a build of its own."""

    def __init__(self, number: int, isas: list[str]) -> None:
        self.root = FOLDER / f"tree{number}"
        self.build = self.root / "build" / "mutants"
        if not self.root.exists():
            run("git", "worktree", "add", "--detach", "--force", self.root)
        head = run("git", "rev-parse", "HEAD").strip()
        run("git", "checkout", "--force", "--detach", head, cwd=self.root)
        run("cmake", "-S", self.root, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
            "-DPOSENC_BENCHMARKS=OFF", "-DPOSENC_UNITY_BUILD=OFF",
            f"-DPOSENC_ISAS={';'.join(isas)}")
        run("ninja", "-C", self.build, "posenc_tests")

    def outcome(self, mutant: Mutant, tests: tuple[str, ...]) -> str:
        """The outcome of the mutant: "invalid", "killed" or "survived"."""
        file = self.root / mutant.file
        original = file.read_text()
        lines = original.split("\n")
        lines[mutant.line - 1] = mutant.after
        try:
            file.write_text("\n".join(lines))
            return self.outcome_of(tests)
        finally:
            file.write_text(original)

    def outcome_of(self, tests: tuple[str, ...]) -> str:
        if not succeeds(1200, "ninja", "-C", self.build, "-j1", "posenc_tests"):
            return "invalid"
        program = (self.build / "bin" / "posenc_tests", "--gtest_fail_fast", "--gtest_shuffle")
        for seconds, those in zip((120, 240, 240), tests):  # an endless loop is noticed, too
            if not succeeds(seconds, *program, f"--gtest_filter={those}"):
                return "killed"
        return "survived"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("count", type=int)
    parser.add_argument("--isas", nargs="+", default=["sse2", "avx2", "avx512"],
                        help="instruction sets to compile, from sse2 on")
    arguments = parser.parse_args()
    drawn = mutants_of(arguments.part, arguments.isas)
    random.Random(1).shuffle(drawn)
    tests, jobs = TESTS[arguments.part], len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        trees = list(pool.map(lambda number: Tree(number, arguments.isas), range(jobs)))
    if trees[0].outcome_of(tests) != "survived":
        raise SystemExit("Tests fail without a change, too.")
    kept = FOLDER / f"{run('git', 'rev-parse', '--short', 'HEAD:src').strip()}.tsv"
    kept.touch()
    known = dict(line.split("\t") for line in kept.read_text().splitlines())
    counts = {"invalid": 0, "killed": 0, "survived": 0}

    def try_out(mutant: Mutant) -> None:
        if counts["killed"] + counts["survived"] >= arguments.count:
            return
        name = f"{mutant.file}:{mutant.line} {mutant.after.strip()}"
        if name not in known:
            tree = trees.pop()
            known[name] = tree.outcome(mutant, tests)
            trees.append(tree)
            if known[name] == "survived":
                print(mutant, flush=True)
            else:
                with kept.open("a") as file:
                    file.write(f"{name}\t{known[name]}\n")
        counts[known[name]] += 1

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(try_out, drawn))
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))


if __name__ == "__main__":
    main()
