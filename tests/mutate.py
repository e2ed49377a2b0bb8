#!/usr/bin/env python3
"""Whether the tests notice a change: makes single changes in the sources, and runs the tests.

Usage: tests/mutate.py core|suite COUNT [--seed N] [--jobs N] [--list]

Draws COUNT changes of the core (simd, exact, backends) or of the suite: an operator, a comparison,
an integer by one, a condition negated, or a statement deleted. Each is made alone, in a copy of the
committed tree below build/mutants, which is built and tested. A change that does not compile is
replaced by another. Prints those that no test notices, and the share that tests do. What is noticed
is kept in build/mutants, by the hash of src: a run that is cut off goes on where it was, and new
tests are tried on what the earlier ones did not notice.

A change of kernels is compiled for one ISA first, and for all if no test notices it there. After
each change, the build is replaced by a copy from before it, which saves building it twice.
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
    "core": ("*Hash*:*Exact*:*Frequency*:*Float32*:*RoundedEntry*:*Rotary*:Layers/*",
             "*-*Check*:*Command*:*Config*:*Pick*:*Measure*:*Timing*:*Compare*:*Page*:*Progress*:"
             "All/Bounds.*", "All/Bounds.*_whisper"),
    "suite": ("*-Check.*:CheckMistakes.*:All/*:*Hash*:*Rotation*:*LongContext*:*ForwardPass*",
              "Check.*:CheckMistakes.*"),
}

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


def run(*command: object, cwd: Path = ROOT) -> str:
    return subprocess.run([str(each) for each in command], cwd=cwd, check=True, text=True,
                          capture_output=True).stdout


def succeeds(seconds: int, *command: object) -> bool:
    with subprocess.Popen([str(each) for each in command], cwd=FOLDER, start_new_session=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            return process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return False


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
    found = []
    for file in run("git", "ls-files", *(f"src/posenc/{each}" for each in PARTS[part])).split():
        if not file.endswith((".h", ".cpp")) or "neon64" in file:
            continue
        text = run("git", "show", f"HEAD:{file}")
        for number, line in enumerate(text.splitlines(), 1):
            if not SKIPPED.search(line):
                found += [Mutant(file, number, line, after) for after in changes_of(line)]
    return found


class Tree:
    """A copy of the committed sources, with a build of its own."""

    def __init__(self, number: int) -> None:
        self.root = FOLDER / f"tree{number}"
        self.build, self.kept = self.root / "build" / "mutants", self.root / "build" / "kept"
        run("git", "worktree", "prune")
        if not self.root.exists():
            run("git", "worktree", "add", "--detach", "--force", self.root)
        run("git", "checkout", "--force", "--detach", run("git", "rev-parse", "HEAD").strip(),
            cwd=self.root)
        run("cmake", "-S", self.root, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_CXX_FLAGS_DEBUG=-O2", "-DPOSENC_BENCHMARKS=OFF", "-DPOSENC_UNITY_BUILD=OFF")
        run("ninja", "-C", self.build, "posenc_tests")
        run("rm", "-rf", self.kept)
        run("cp", "-a", self.build, self.kept)

    def outcome(self, mutant: Mutant, tests: tuple[str, ...]) -> str:
        """What becomes of it: "invalid", "killed" or "survived"."""
        file = self.root / mutant.file
        original, modified = file.read_text(), file.stat().st_mtime_ns
        lines = original.split("\n")
        lines[mutant.line - 1] = mutant.after
        try:
            file.write_text("\n".join(lines))
            outcome = self._outcome(self._library(mutant), tests[:1])
            if outcome != "survived":
                return outcome
            run("cp", "-a", f"{self.kept}/.", self.build)
            return self._outcome("ninja -j1 posenc_tests", tests)
        finally:
            file.write_text(original)
            os.utime(file, ns=(modified, modified))
            run("cp", "-a", f"{self.kept}/.", self.build)

    def _library(self, mutant: Mutant) -> str:
        """The commands that compile the libraries' objects, and link the tests with them."""
        isas = [isa for isa in ("portable", "sse2", "avx512", "avx2") if isa in str(mutant)]
        others = {"portable", "sse2", "avx512", "avx2"} - {isas[0] if isas else "avx2"}
        steps = ["ar qc src/posenc/libposenc", "-o bin/posenc"]
        for text in run("ninja", "-t", "deps", cwd=self.build).split("\n\n"):
            name = text.partition(":")[0]
            if (f"/{mutant.file}\n" in text + "\n" and name.startswith("src/posenc/")
                    and not name.endswith(tuple(f"simd/{isa}.cpp.o" for isa in others))):
                steps.append(f"-o {name} ")
        commands = run("ninja", "-t", "commands", "posenc_tests", cwd=self.build).splitlines()
        return " && ".join(each for each in commands if any(step in each for step in steps))

    def _outcome(self, build: str, tests: tuple[str, ...]) -> str:
        if not succeeds(600, "sh", "-c", f"cd {self.build} && {build}"):
            return "invalid"
        program = (self.build / "bin" / "posenc_tests", "--gtest_fail_fast", "--gtest_shuffle")
        passed = all(succeeds(600 if number else 100, *program, f"--gtest_filter={those}")
                     for number, those in enumerate(tests))
        return "survived" if passed else "killed"


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
    kept = FOLDER / f"{run('git', 'rev-parse', '--short', 'HEAD:src').strip()}.tsv"
    known = dict(line.split("\t") for line in kept.read_text().splitlines()) if kept.exists() else {}

    def try_out(mutant: Mutant) -> None:
        if len(outcomes["killed"]) + len(outcomes["survived"]) >= arguments.count:
            return
        name = f"{mutant.file}:{mutant.line} {mutant.after.strip()}"
        if name not in known:
            tree = trees.get()
            known[name] = tree.outcome(mutant, TESTS[arguments.part])
            trees.put(tree)
            if known[name] != "survived":
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
