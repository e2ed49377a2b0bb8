#!/usr/bin/env python3
"""Times backends against each other: one benchmark binary in several processes, whose medians are ranked beyond noise.

Layout and addresses change from process to process, and times with them: one process alone would take that for a
difference between backends. Before anything else, two equal cases are compared: the noise floor is the largest difference
between two processes of the same benchmark, of a fast and of a slow backend, but for one pair of processes in five. Then come the processes, one after another,
each with its repetitions in random order. Times are medians over all samples; intervals are of 95 % and take
processes for the unit of chance. Two backends tie unless the 95 % interval of their ratio, paired
by process, excludes 1 and the ratio is further from 1 than 2 % and than the noise floor: the rule
of posenc pick. Ranks are those of a competition: 1, 2=, 2=, 4; who ties with the first of a rank
shares it.

Every sample stays in the output, in Google Benchmark's JSON format; "process" tells which process it is of."""

import collections
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import measure_data as data
import ties
from common import (
    EXIT_CODES,
    ROOT,
    ArgumentParser,
    BadInput,
    check_writable,
    integer,
    read_json,
    run_main,
    write_whole,
)

DEFAULT_BINARY = os.path.join(ROOT, "build", "release", "bin", "bench_encode")
DEFAULT_FLAGS = ("--benchmark_repetitions=3", "--benchmark_enable_random_interleaving=true")
# Two benchmarks take little time: enough repetitions that one that was disturbed does not move the median.
FLOOR_REPETITIONS = "--benchmark_repetitions=9"
# They are this script's own, or leave no samples to keep.
REFUSED = (
    "--benchmark_out",
    "--benchmark_out_format",
    "--benchmark_list_tests",
    "--benchmark_report_aggregates_only",
    "--help",
    "-h",
)
CHECK_FAILED = 1
NOISY = 0.05


class Binary:
    """A benchmark binary with its arguments."""

    def __init__(self, path, arguments, folder):
        self.path, self.arguments, self.folder = path, arguments, folder

    def call(self, *flags):
        """The finished process. Flags that come later win over earlier ones of the same name."""
        command = [self.path, *DEFAULT_FLAGS, *self.arguments, *flags]
        try:
            return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        except OSError as error:
            raise BadInput(f"--binary is '{self.path}'; allowed: a benchmark binary ({error.strerror})") from error

    def fail(self, done):
        """Its own message, and how it ended."""
        ending = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise BadInput(f"{self.path} ended with {ending}: {lines[-1] if lines else 'it said nothing'}")

    def names(self):
        done = self.call("--benchmark_list_tests")
        if done.returncode != 0:
            self.fail(done)
        return done.stdout.split()

    def measure(self, *flags):
        """The JSON document of one run, its samples alone; and what the binary said on stderr."""
        path = os.path.join(self.folder, "run.json")
        if os.path.exists(path):
            os.remove(path)
        done = self.call(*flags, f"--benchmark_out={path}", "--benchmark_out_format=json")
        # Exit code 1: an encoder failed its check and was not timed; the file says which.
        if done.returncode not in (0, CHECK_FAILED) or not os.path.exists(path) or os.path.getsize(path) == 0:
            self.fail(done)
        document = read_json(path)
        try:
            document["benchmarks"] = [entry for entry in document["benchmarks"] if entry["run_type"] == "iteration"]
            check_complete(document["benchmarks"])
        except (KeyError, TypeError) as error:
            raise BadInput(f"{self.path} wrote no result of Google Benchmark ({error!r})") from error
        if not document["benchmarks"] or done.returncode != 0 and not has_errors(document):
            self.fail(done)
        return document, done.stderr


def has_errors(document):
    return any(entry.get("error_occurred") for entry in document["benchmarks"])


def check_complete(entries):
    """Every repetition of what was timed is there."""
    failed = {entry["run_name"] for entry in entries if entry.get("error_occurred")}
    found = collections.Counter(entry["run_name"] for entry in entries)
    for entry in entries:
        name, wanted = entry["run_name"], entry["repetitions"]
        if name not in failed and found[name] != wanted:
            raise BadInput(f"{name} has {found[name]} samples in the binary's file; allowed: {wanted}, one a repetition")


def show_progress(text):
    if sys.stderr.isatty():
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)


def filter_of(names):
    """A flag that selects these benchmarks alone."""
    return f"--benchmark_filter=^({'|'.join(name.replace('.', '[.]') for name in names)})$"


def size_of(shape):
    """Elements, or bytes, of a shape such as "encode rows:512/d:512"."""
    product = 1
    for number in re.findall(r"\b(?:batch|rows|d|bytes):(\d+)", shape):
        product *= int(number)
    return product


def floor_names(binary):
    """The fastest and the slowest benchmark of the shape of middle size, as one short look at all of that shape finds them."""
    shapes = {}
    for name in binary.names():
        shapes.setdefault(data.place_of(name)[0], []).append(name)
    if not shapes:
        raise BadInput(f"{binary.path} has no benchmark with these arguments: {' '.join(binary.arguments)}")
    several = [shape for shape, names in shapes.items() if len(names) > 1] or list(shapes)
    middle = sorted(several, key=size_of)[len(several) // 2]
    look, _ = binary.measure(filter_of(shapes[middle]), "--benchmark_min_time=0.001", "--benchmark_repetitions=1")
    timed = [result for result in data.results_of(look["benchmarks"]) if not result.error]
    if not timed:
        raise BadInput(f"{binary.path}: {look['benchmarks'][0].get('error_message', 'no benchmark could be timed')}")
    timed.sort(key=lambda result: result.median)
    return list(dict.fromkeys([timed[0].name, timed[-1].name]))


def measure_floor(binary, pairs):
    """Ratios of the medians of two equal processes, one a pair, by the name of the benchmark."""
    names = floor_names(binary)
    ratios = {name: [] for name in names}
    flags = (filter_of(names), FLOOR_REPETITIONS)

    def medians():
        return {result.name: result.median for result in data.results_of(binary.measure(*flags)[0]["benchmarks"])}

    for pair in range(pairs):
        show_progress(f"noise floor: pair {pair + 1} of {pairs}")
        sides = medians(), medians()
        for name in names:
            ratios[name].append(sides[0][name] / sides[1][name])
    show_progress("")
    return ratios


def floor_of(ratios):
    """The largest difference between two equal cases, as a share: 0.02 for 2 %."""
    return ties.noise_floor_of(ratios.values())


def floor_text(ratios):
    """What was compared, how far two equal cases differ, and what follows from it."""
    pairs = len(next(iter(ratios.values())))
    width = max(len(name) for name in ratios)
    lines = [f"Noise floor: {pairs} pairs of processes, the first one's median over the second one's"]
    for name, of_name in ratios.items():
        lines.append(f"  {name:<{width}}  {statistics.median(of_name):.3f}, {min(of_name):.3f} .. {max(of_name):.3f}")
    lines.append(f"Up to {100 * floor_of(ratios):.1f} %: smaller differences cannot be told from none on this machine now.")
    return "\n".join(lines)


def measure_processes(binary, count):
    """One document: the context of the first process, the samples of all with their process number from 0."""
    merged = None
    for process in range(count):
        show_progress(f"process {process + 1} of {count}")
        document, said = binary.measure()
        if merged is None:
            show_progress("")
            # What was left out for its slowness, say; the others would repeat it.
            sys.stderr.write("".join(line for line in said.splitlines(True) if not line.startswith("***WARNING***")))
            merged = {"context": document["context"], "benchmarks": []}
        merged["benchmarks"] += [{**entry, "process": process} for entry in document["benchmarks"]]
    show_progress("")
    merged["context"]["processes"] = count
    return merged


def split_arguments(arguments):
    """This script's own, and those of the binary, after "--"."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def parse_arguments(arguments):
    parser = ArgumentParser(
        prog="measure.py",
        usage="measure.py --output FILE [--binary FILE] [--processes N] [--floor-pairs N] [-- ARGUMENT ...]",
        description=__doc__,
        epilog="Arguments after -- are the binary's own. Each process repeats every benchmark three times unless\n"
        "--benchmark_repetitions=N is among them.\n\n"
        "example: measure.py --output build/results/benchmark.json --processes 5 -- --quick --peers\n\n" + EXIT_CODES,
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="every sample, as JSON in Google Benchmark's format")
    parser.add_argument("--binary", default=DEFAULT_BINARY, metavar="FILE", help="default: build/release/bin/bench_encode")
    parser.add_argument(
        "--processes",
        type=integer(3, data.MOST_PROCESSES),
        default=3,
        metavar="N",
        help="more give narrower intervals, 5 half as wide as 3 (default: %(default)s)",
    )
    parser.add_argument(
        "--floor-pairs",
        type=integer(1, 100),
        default=5,
        metavar="N",
        help="pairs of processes that give the noise floor (default: %(default)s)",
    )
    own, passed = split_arguments(arguments)
    options, unknown = parser.parse_known_args(own)
    if unknown:
        parser.error(f"'{unknown[0]}' is no argument; allowed: those of --help, and the binary's own after --")
    for argument in passed:
        if argument.split("=")[0] in REFUSED:
            parser.error(f"'{argument}' is after --; allowed: any argument of the binary but {', '.join(REFUSED)}")
    options.arguments = passed
    return options


def report_errors(results):
    """A line for each that was not timed. The exit code."""
    failed = [result for result in results if result.error]
    for result in failed:
        print(f"measure.py: {result.name} was not timed: {result.error}", file=sys.stderr)
    return CHECK_FAILED if failed else 0


def main():
    options = parse_arguments(sys.argv[1:])
    check_writable(options.output)
    with tempfile.TemporaryDirectory() as folder:
        binary = Binary(options.binary, options.arguments, folder)
        ratios = measure_floor(binary, options.floor_pairs)
        floor = floor_of(ratios)
        print(floor_text(ratios), flush=True)
        if floor > NOISY:
            print(
                f"measure.py: warning: a noise floor of {100 * floor:.1f} % is too much to rank smaller differences by",
                file=sys.stderr,
            )
        document = measure_processes(binary, options.processes)
    document["context"].update(noise_floor=floor, noise_floor_ratios=ratios)
    write_whole(options.output, json.dumps(document, indent=1) + "\n")
    results = data.results_of(document["benchmarks"])
    most = max((len(group) for result in results for group in result.groups), default=0)
    print(f"\nMedians over {options.processes} processes of {most} repetitions; limit: as measured in the same process\n")
    print(data.table_text(data.rank_within_shapes(results, floor)))
    print(f"\nSamples: {options.output}")
    return report_errors(results)


if __name__ == "__main__":
    run_main("measure.py", main)
