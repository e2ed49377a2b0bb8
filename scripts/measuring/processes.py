"""Runs one benchmark binary in several processes, one after another, and measures how far two equal
cases differ. Layout and addresses change from process to process, and times with them."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from measuring.command import CHECK_FAILED, show_progress
from measuring.errors import BadInput, reading
from measuring.files import read_json
from measuring.results.benchmarks import (
    Entry, error_message, medians_of, Name, name_of, timed_entries, without_limits,
)

DEFAULT_FLAGS = ("--benchmark_repetitions=3", "--benchmark_enable_random_interleaving=true")
# Two benchmarks take little time: enough repetitions that a disturbed one does not move the median.
FLOOR_REPETITIONS = "--benchmark_repetitions=9"
SHORT_LOOK = ("--benchmark_min_time=0.001", "--benchmark_repetitions=1")

Finished = subprocess.CompletedProcess[str]


class Binary:
    """A benchmark binary with its arguments. Its result files go to `folder`."""

    def __init__(self, path: str, arguments: Sequence[str], folder: str) -> None:
        self.path, self.arguments, self.folder = path, arguments, folder

    def call(self, *flags: str) -> Finished:
        """Flags that come later win over earlier ones of the same name."""
        command = [self.path, *DEFAULT_FLAGS, *self.arguments, *flags]
        try:
            return subprocess.run(
                command, capture_output=True, text=True, errors="replace", check=False
            )
        except OSError as error:
            raise BadInput(
                f"--binary is '{self.path}'; allowed: a benchmark binary ({error.strerror})"
            ) from error

    def failure(self, done: Finished) -> BadInput:
        """Its own message, and how it ended."""
        code = done.returncode
        ending = f"signal {-code}" if code < 0 else f"exit code {code}"
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        return BadInput(f"{self.path} ended with {ending}: {lines[-1] if lines else 'no message'}")

    def names(self) -> list[str]:
        done = self.call("--benchmark_list_tests")
        if done.returncode != 0:
            raise self.failure(done)
        return done.stdout.split()

    def measure(self, *flags: str) -> tuple[dict[str, Any], str]:
        """The document of one run, with its samples alone, and what the binary said on stderr."""
        path = os.path.join(self.folder, "run.json")
        if os.path.exists(path):
            os.remove(path)
        done = self.call(*flags, f"--benchmark_out={path}", "--benchmark_out_format=json")
        has_result = os.path.exists(path) and os.path.getsize(path) > 0
        # Exit code 1: an encoder failed its check and was not timed; the file says which.
        if done.returncode not in (0, CHECK_FAILED) or not has_result:
            raise self.failure(done)
        document = read_json(path)
        with reading(path):
            document["benchmarks"] = entries = timed_entries(document)
            check_complete(entries)
        if not entries or (done.returncode != 0 and not error_message(entries)):
            raise self.failure(done)
        return document, done.stderr


def check_complete(entries: Sequence[Entry]) -> None:
    """Throws BadInput if a repetition of what was timed is missing."""
    failed = {entry["run_name"] for entry in entries if error_message([entry])}
    found = Counter(entry["run_name"] for entry in entries)
    for entry in entries:
        name, wanted = entry["run_name"], entry["repetitions"]
        if name not in failed and found[name] != wanted:
            raise BadInput(
                f"{name} has {found[name]} samples in the binary's file; "
                f"allowed: {wanted}, one for each repetition"
            )


def filter_of(names: Iterable[str]) -> str:
    """A flag that selects these benchmarks alone."""
    return f"--benchmark_filter=^({'|'.join(name.replace('.', '[.]') for name in names)})$"


def size_of(name: Name) -> int:
    """Entries, or bytes, of a shape such as "rows:512/d:512"."""
    product = 1
    for number in re.findall(r"\b(?:batch|rows|d|bytes):(\d+)", name.shape):
        product *= int(number)
    return product


def floor_names(binary: Binary) -> list[str]:
    """The fastest and the slowest benchmark of the shape of middle size, as a short look at all
    benchmarks of that shape finds them."""
    names = [name_of(name) for name in binary.names()]
    shapes: dict[str, list[str]] = {}
    for name in without_limits(names, lambda each: each):
        shapes.setdefault(name.heading, []).append(name.text)
    if not shapes:
        arguments = " ".join(binary.arguments)
        raise BadInput(f"{binary.path} has no benchmark with these arguments: {arguments}")
    groups = [names for names in shapes.values() if len(names) > 1] or list(shapes.values())
    middle = sorted(groups, key=lambda names: size_of(name_of(names[0])))[len(groups) // 2]
    document, _ = binary.measure(filter_of(middle), *SHORT_LOOK)
    medians = medians_of(document)
    if not medians:
        raise BadInput(f"{binary.path}: {error_message(document['benchmarks'])}")
    order = sorted(medians, key=medians.__getitem__)
    return list(dict.fromkeys([order[0], order[-1]]))


def measure_floor(binary: Binary, pairs: int) -> dict[str, list[float]]:
    """Ratios of the medians of two equal processes, one for each pair, by benchmark."""
    names = floor_names(binary)
    ratios: dict[str, list[float]] = {name: [] for name in names}
    flags = (filter_of(names), FLOOR_REPETITIONS)
    for pair in range(pairs):
        show_progress(f"noise floor: pair {pair + 1} of {pairs}")
        first, second = (medians_of(binary.measure(*flags)[0]) for _ in range(2))
        for name in names:
            ratios[name].append(first[name] / second[name])
    show_progress()
    return ratios


def measure_processes(binary: Binary, count: int) -> dict[str, Any]:
    """One document: the context of the first process, and the samples of all with the number of
    their process from 0."""
    merged: dict[str, Any] = {}
    for process in range(count):
        show_progress(f"process {process + 1} of {count}")
        document, messages = binary.measure()
        if not merged:
            show_progress()
            # Such as what was left out because it is slow; the others would repeat it.
            lines = messages.splitlines(keepends=True)
            sys.stderr.write("".join(line for line in lines if not line.startswith("***WARNING")))
            merged = {"context": {**document["context"], "processes": count}, "benchmarks": []}
        merged["benchmarks"] += [{**each, "process": process} for each in document["benchmarks"]]
    show_progress()
    return merged
