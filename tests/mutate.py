#!/usr/bin/env python3
"""Whether the tests notice a change: makes single changes in the sources, and runs the tests.

Usage: tests/mutate.py core|suite COUNT [--seed N] [--jobs N] [--list]

Draws COUNT changes of the core (simd, exact, backends) or of the suite: an operator, a comparison,
an integer by one, a condition negated, or a statement deleted. Each is made alone, in a copy of the
committed tree below build/mutants, which is built and tested. A change that does not compile is
replaced by another. Prints those that no test notices, and the share that tests do. Outcomes are
kept in build/mutants/COMMIT.tsv, so that a run that is cut off goes on where it was.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import queue
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "mutants"
PARTS = {"core": ("simd", "exact", "backends"), "suite": ("suite",)}
# Of each part: the tests, those that take long last. Others cover other parts.
TESTS = {
    "core": ("*Hash*:*Exact*:*Frequency*:*RotationErrors*:*Entry*:*Float32*",
             "*-*Check*:*Command*:*Config*:*Pick*:*Measure*:*Timing*:*Compare*:*Page*:*Progress*"),
    "suite": ("*-*Check.Five*:*Check.Good*:All/*:*Hash*:*Exact*", "*Check*"),
}
BUILD_SECONDS, TEST_SECONDS = 900, 600

OPERATORS = {
    " + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ", " += ": " -= ", " -= ": " += ",
    " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
    " && ": " || ", " || ": " && ", " << ": " >> ", " >> ": " << ", " & ": " | ", " | ": " & ",
    " % ": " / ",
}
INTEGER = re.compile(r"(?<![\w.'])\d+(?![\w.'])")
CONDITION = re.compile(r"\bif (?:constexpr )?\((.*)\)(?= )|\bwhile \((.*)\)(?= )")
STATEMENT = re.compile(r"^ +(?!return|using|const|static|constexpr|typedef|break|continue)"
                       r"[\w.\->\[\]():]+(?: [+\-*/|&^]?= |\(|\+\+|--).*;$")
# What no program runs: comments, texts, the preprocessor, checks and bounds at compile time, and
# types.
SKIPPED = re.compile(r"^\s*(//|#|\*|template|static_assert|using |namespace|friend|case .*:$)"
                     r"|throw_invalid|InvalidArgument|operator|alignas")


class Mutant(NamedTuple):
    """A line of a file, and what it becomes."""

    file: str
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        change = self.after.strip() or "(deleted)"
        return f"{self.file}:{self.line}\n  - {self.before.strip()}\n  + {change}"


def changes_of(line: str) -> Iterator[str]:
    """What a line of code may become, without its comment and texts."""
    code = re.sub(r'"[^"]*"', lambda found: "\0" * len(found[0]), line.partition("//")[0])
    for old, new in OPERATORS.items():
        for found in re.finditer(re.escape(old), code):
            if old in (" < ", " > ", " & ", " * ") and re.search(r"\btemplate\b|<.*>", code):
                continue  # of types
            yield line[:found.start()] + new + line[found.end():]
    for found in INTEGER.finditer(code):
        value = int(found[0])
        for other in {value + 1, max(value - 1, 0)} - {value}:
            yield line[:found.start()] + str(other) + line[found.end():]
    for found in CONDITION.finditer(code):
        group = 1 if found[1] is not None else 2
        first, last = found.span(group)
        if code[first:last].count("(") == code[first:last].count(")") and ";" not in found[0]:
            yield f"{line[:first]}!({line[first:last]}){line[last:]}"
    if STATEMENT.match(code.rstrip()):
        yield ""


def mutants_of(part: str) -> list[Mutant]:
    folders = [f"src/posenc/{folder}" for folder in PARTS[part]]
    files = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, check=True, text=True,
                           capture_output=True).stdout.split()
    found = []
    for file in files:
        if not file.endswith((".h", ".cpp")) or "neon64" in file:
            continue
        text = subprocess.run(["git", "show", f"HEAD:{file}"], cwd=ROOT, check=True, text=True,
                              capture_output=True).stdout
        for number, line in enumerate(text.splitlines(), 1):
            if not SKIPPED.search(line):
                found += [Mutant(file, number, line, after) for after in changes_of(line)]
    return found


class Tree:
    """A copy of the committed sources, with a build of its own."""

    def __init__(self, number: int) -> None:
        self.root = FOLDER / f"tree{number}"
        self.build = self.root / "build" / "mutants"
        subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
        if not self.root.exists():
            self._run(["git", "worktree", "add", "--detach", "--force", self.root], cwd=ROOT)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, text=True,
                              capture_output=True).stdout.strip()
        self._run(["git", "checkout", "--force", "--detach", head])
        # Less optimised, which halves the time of a mutant.
        self._run(["cmake", "-S", ".", "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                   "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DPOSENC_BENCHMARKS=OFF"])
        self._run(["cmake", "--build", self.build, "--target", "posenc_tests"])

    def _run(self, command: list[object], cwd: Path | None = None) -> None:
        subprocess.run([str(each) for each in command], cwd=cwd or self.root, check=True,
                       stdout=subprocess.DEVNULL)

    def outcome(self, mutant: Mutant, tests: tuple[str, ...]) -> str:
        """What becomes of it: "invalid", "killed" or "survived"."""
        file = self.root / mutant.file
        original = file.read_text()
        lines = original.split("\n")
        lines[mutant.line - 1] = mutant.after
        try:
            file.write_text("\n".join(lines))
            build = ["cmake", "--build", str(self.build), "-j1", "--target", "posenc_tests"]
            if not self._succeeds(build, BUILD_SECONDS):
                return "invalid"
            program = str(self.build / "bin" / "posenc_tests")
            for tests_of_step in tests:
                if not self._succeeds([program, "--gtest_fail_fast", "--gtest_brief=1",
                                       f"--gtest_filter={tests_of_step}"], TEST_SECONDS):
                    return "killed"
            return "survived"
        finally:
            file.write_text(original)

    def _succeeds(self, command: list[str], seconds: int) -> bool:
        with subprocess.Popen(command, cwd=self.build, start_new_session=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                return process.wait(seconds) == 0
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--list", action="store_true", help="print the changes, and try none")
    arguments = parser.parse_args()
    drawn = mutants_of(arguments.part)
    random.Random(arguments.seed).shuffle(drawn)
    if arguments.list:
        print(*drawn[:arguments.count], sep="\n")
        return
    trees: queue.Queue[Tree] = queue.Queue()
    for number in range(arguments.jobs):
        trees.put(Tree(number))
    outcomes: dict[str, list[Mutant]] = {"invalid": [], "killed": [], "survived": []}
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, check=True, text=True,
                          capture_output=True).stdout.strip()
    kept = FOLDER / f"{head}.tsv"
    lines = kept.read_text().splitlines() if kept.exists() else []
    known = dict(line.split("\t") for line in lines)

    def try_out(mutant: Mutant) -> None:
        if len(outcomes["killed"]) + len(outcomes["survived"]) >= arguments.count:
            return
        name = f"{mutant.file}:{mutant.line} {mutant.after.strip()}"
        if name not in known:
            tree = trees.get()
            known[name] = tree.outcome(mutant, TESTS[arguments.part])
            trees.put(tree)
            with kept.open("a") as file:
                file.write(f"{name}\t{known[name]}\n")
        outcomes[known[name]].append(mutant)
        if known[name] == "survived":
            print(mutant, flush=True)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(try_out, drawn))
    killed, survived = len(outcomes["killed"]), len(outcomes["survived"])
    print(f"{killed} of {killed + survived} changes are noticed, {survived} are not; "
          f"{len(outcomes['invalid'])} did not compile")


if __name__ == "__main__":
    main()
