#!/usr/bin/env python3
"""Times backends against each other: one benchmark binary in several processes, whose medians are
ranked beyond noise.

Layout and addresses change from process to process, and times with them: one process alone would
take that for a difference between backends. Before anything else, two equal cases are compared: the
noise floor is the largest difference between two processes of the same benchmark, of a fast and of
a slow backend, with one pair of processes in five set aside. Then the processes run, one after
another, each with its repetitions in random order. Times are medians over all samples; intervals
are of 95 %, with processes as the unit of chance. Two backends tie unless the 95 % interval of
their ratio, paired by process, excludes 1 and the ratio is further from 1 than 2 % and than the
noise floor: the rule of posenc pick. Ranks are those of a competition: 1, 2=, 2=, 4; what ties with
the first of a rank shares it.

Every sample is written, in Google Benchmark's JSON format; "process" tells its process."""

import argparse
import sys

from measuring.command import CHECK_FAILED, ArgumentParser, integer, run_main, warn
from measuring.files import built_program, check_writable, temporary_folder, write_json
from measuring.processes import Binary, measure_floor, measure_processes
from measuring.ranking import floor_text, rank_within_shapes, table_text
from measuring.results.benchmarks import read_benchmarks, without_limits
from measuring.statistics import T_975, noise_floor_of
from measuring.units import percent

# They are this script's own, or leave no samples to keep.
REFUSED = (
    "--benchmark_out", "--benchmark_out_format", "--benchmark_list_tests",
    "--benchmark_report_aggregates_only", "--help", "-h",
)  # fmt: skip
NOISY = 0.05


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """The options, with the binary's own arguments, those after "--", as options.arguments."""
    parser = ArgumentParser(
        example="measure.py --output build/results/benchmark.json --processes 5 -- --quick --peers",
        usage="measure.py --output FILE [--binary FILE] [--processes N] [--floor-pairs N] "
        "[-- ARGUMENT ...]",
        description=__doc__,
        epilog="Arguments after -- are the binary's own. Each process repeats every benchmark\n"
        "three times unless --benchmark_repetitions=N is among them.",
    )
    parser.add_argument("--output", required=True, metavar="FILE",
                        help="every sample, as JSON in Google Benchmark's format")
    parser.add_argument("--binary", default=built_program("bench_encode"), metavar="FILE",
                        help="default: build/release/bin/bench_encode")
    parser.add_argument("--processes", type=integer(3, len(T_975) + 1), default=3, metavar="N",
                        help="more give narrower intervals, 5 half as wide as 3 "
                        "(default: %(default)s)")
    parser.add_argument("--floor-pairs", type=integer(1, 100), default=5, metavar="N",
                        help="pairs of processes that give the noise floor (default: %(default)s)")
    at = arguments.index("--") if "--" in arguments else len(arguments)
    options, unknown = parser.parse_known_args(arguments[:at])
    options.arguments = arguments[at + 1 :]
    if unknown:
        allowed = "those of --help, and the binary's own after --"
        parser.error(f"'{unknown[0]}' is no argument; allowed: {allowed}")
    for argument in options.arguments:
        if argument.split("=")[0] in REFUSED:
            allowed = f"any argument of the binary but {', '.join(REFUSED)}"
            parser.error(f"'{argument}' is after --; allowed: {allowed}")
    return options


def main() -> int:
    options = parse_arguments(sys.argv[1:])
    check_writable(options.output)
    with temporary_folder() as folder:
        binary = Binary(options.binary, options.arguments, folder)
        ratios = measure_floor(binary, options.floor_pairs)
        floor = noise_floor_of(ratios.values())
        print(floor_text(ratios), flush=True)
        if floor > NOISY:
            much = "is too much to rank smaller differences by"
            warn(f"warning: a noise floor of {percent(floor)} {much}")
        document = measure_processes(binary, options.processes)
    document["context"].update(noise_floor=floor, noise_floor_ratios=ratios)
    write_json(options.output, document)
    benchmarks = read_benchmarks(document)
    most = max((len(each) for result in benchmarks for each in result.processes), default=0)
    print(
        f"\nMedians over {options.processes} processes of {most} repetition{'s' * (most != 1)}; "
        "limit: as measured in the same process\n"
    )
    compared = without_limits(benchmarks, lambda each: each.name)
    print(table_text(rank_within_shapes(compared, floor)))
    print(f"\nSamples: {options.output}")
    failed = [each for each in benchmarks if each.error]
    for each in failed:
        warn(f"{each.name.text} was not timed: {each.error}")
    return CHECK_FAILED if failed else 0


if __name__ == "__main__":
    run_main(main)
