#!/usr/bin/env python3
"""One table of speed and accuracy, from the results of bench_encode and of posenc accuracy.

Speed: medians over the repetitions, of all processes where there are several. Shapes in the order of their size, the fastest backend first.
"""

import argparse
import re
import statistics
import sys

from common import OTHER_PROGRAMS, BadInput, read_json, write_whole

NAME = re.compile(r"encode/(?P<backend>[^:/]+)(?::(?P<isa>[^/]+))?/preset:(?P<preset>[^/]+)/rows:(?P<rows>\d+)/d:(?P<d_model>\d+)")
SPEC_KEYS = ("d_model", "base", "layout", "spacing")
HEADER = ("shape", "rows x d", "backend", "ISA", "Gfloat/s", "of limit", "max |error|", "correctly rounded")
LEFT_ALIGNED = 4


def spec_from_label(label):
    """bench_encode's label, "d_model=512 base=10000 layout=halves ...", as spec, first position and row count."""
    values = dict(part.split("=", 1) for part in label.split())
    spec = {
        "d_model": int(values["d_model"]),
        "base": float(values["base"]),
        "layout": values["layout"],
        "spacing": values["spacing"],
    }
    return spec, int(values["first"]), int(values["count"])


def read_benchmarks(document):
    """The preset benchmarks of a document: dictionaries with name parts, spec, rows, and medians or an error."""
    groups = {}
    for run in document.get("benchmarks", []):
        match = NAME.fullmatch(run.get("run_name", ""))
        # Without repetitions in the file, Google Benchmark's own median stands for them.
        if match and (run["run_type"] == "iteration" or run.get("aggregate_name") == "median"):
            groups.setdefault(run["run_name"], (match, []))[1].append(run)
    return [summarise(match, runs) for match, runs in groups.values()]


def median_of(runs, counter):
    """None where the runs have no such counter."""
    return statistics.median(run[counter] for run in runs) if counter in runs[0] else None


def summarise(match, runs):
    found = match.groupdict(default="-")
    errors = [run["error_message"] for run in runs if run.get("error_occurred")]
    if errors:
        return {**found, "error": errors[0]}
    repetitions = [run for run in runs if run["run_type"] == "iteration"] or runs
    spec, first, count = spec_from_label(repetitions[0]["label"])
    return {
        **found,
        "spec": spec,
        "first": first,
        "count": count,
        "gfloats": median_of(repetitions, "items_per_second") / 1e9,
        "share_of_limit": median_of(repetitions, "share_of_limit"),
        # What another program's table brings with it: posenc has no accuracy report of it.
        "max_abs": median_of(repetitions, "max_abs"),
        "correctly_rounded": median_of(repetitions, "correctly_rounded"),
    }


def noise_lines(documents):
    """How far equal cases of backends differ, where measure.py found it."""
    return [
        f"Medians over {context['processes']} processes; two equal cases differ by up to {100 * context['noise_floor']:.1f} %"
        for context in (document.get("context", {}) for document in documents)
        if "processes" in context
    ]


def read_accuracy(paths):
    results = []
    for path in paths:
        report = read_json(path)
        if report.get("version") != 1:
            raise BadInput(f"{path}: version is {report.get('version')}; allowed: 1")
        results += report["results"]
    return results


def find_accuracy(reports, benchmark):
    """The report of the same rows, else the smallest that covers them; and whether it covers more than was timed."""
    if benchmark["backend"] in OTHER_PROGRAMS:
        return (benchmark if benchmark.get("max_abs") is not None else None), False
    first, end = benchmark["first"], benchmark["first"] + benchmark["count"]
    fitting = [
        report
        for report in reports
        if (report["backend"], report["isa"]) == (benchmark["backend"], benchmark["isa"])
        and all(report["spec"][key] == benchmark["spec"][key] for key in SPEC_KEYS)
        and report["rows"]["first"] <= first
        and end <= report["rows"]["first"] + report["rows"]["count"]
    ]
    if not fitting:
        return None, False
    best = min(fitting, key=lambda report: report["rows"]["count"])
    return best, best["rows"]["count"] > benchmark["count"]


def share_text(share):
    """Percent, cut and not rounded, so that 100 % means all."""
    if share == 1:
        return "100 %"
    digits = 6 if share > 0.9999 else 2
    return f"{int(share * 100 * 10**digits) / 10**digits:.{digits}f} %"


def table_rows(benchmarks, reports):
    """The cells of all lines, and whether any error covers more rows than were timed. A mark tells what cannot be picked."""
    peers = {(report["backend"], report["isa"]) for report in reports if not report.get("can_be_picked", True)}
    rows, any_wider = [], False
    order = sorted(benchmarks, key=lambda b: (int(b["rows"]) * int(b["d_model"]), b["preset"], -b.get("gfloats", 0)))
    for benchmark in order:
        is_outside = benchmark["backend"] in OTHER_PROGRAMS or (benchmark["backend"], benchmark["isa"]) in peers
        mark = "*" if is_outside else ""
        size = f"{benchmark['rows']} x {benchmark['d_model']}"
        shape = [benchmark["preset"], size, benchmark["backend"] + mark, benchmark["isa"]]
        if "error" in benchmark:
            rows.append(shape + ["wrong", "-", "-", "-"])
            continue
        report, is_wider = find_accuracy(reports, benchmark)
        any_wider = any_wider or is_wider
        accuracy = ["-", "-"]
        if report:
            accuracy = [f"{report['max_abs']:.2e}" + ("+" if is_wider else ""), share_text(report["correctly_rounded"])]
        share = benchmark["share_of_limit"]
        of_limit = "-" if share is None else f"{share * 100:.1f} %"
        rows.append(shape + [f"{benchmark['gfloats']:.3f}", of_limit] + accuracy)
    return rows, any_wider


def text_table(rows):
    widths = [max(len(line[i]) for line in [HEADER, *rows]) for i in range(len(HEADER))]
    lines, previous = [], None
    for row in [HEADER, *rows]:
        # A shape is named once, on its first line, so that the eye finds where the next one begins.
        cells = ["", "", *row[2:]] if row[:2] == previous else row
        previous = row[:2]
        aligned = [c.ljust(w) if i < LEFT_ALIGNED else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths))]
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def markdown_table(rows):
    lines = [HEADER, ["---" if i < LEFT_ALIGNED else "---:" for i in range(len(HEADER))], *rows]
    # A bare bar within a cell would end it.
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--benchmark", nargs="+", default=["build/results/benchmark.json"], metavar="FILE",
                        help="of measure.py, bench_encode --benchmark_out=FILE or compare_torch.py --output "
                        "(default: build/results/benchmark.json)")
    parser.add_argument("--accuracy", nargs="+", default=["build/results/accuracy.json"], metavar="FILE",
                        help="of posenc accuracy --format json (default: build/results/accuracy.json)")
    parser.add_argument("--markdown", metavar="FILE", help="also write the table as Markdown")
    parser.add_argument("files", nargs="*", metavar="RESULT", help="further result files, to be named below the table")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    try:
        benchmarks = []
        documents = [read_json(path) for path in arguments.benchmark]
        for path, document in zip(arguments.benchmark, documents):
            found = read_benchmarks(document)
            if not found:
                raise BadInput(f"{path}: no benchmark of a preset in it")
            benchmarks += found
        noise = noise_lines(documents)
        rows, any_wider = table_rows(benchmarks, read_accuracy(arguments.accuracy))
        if arguments.markdown:
            write_whole(arguments.markdown, markdown_table(rows))
    except BadInput as error:
        print(f"summary.py: {error}", file=sys.stderr)
        return 2
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        print(f"summary.py: a result file is not as bench_encode or posenc writes it ({error!r})", file=sys.stderr)
        return 2
    print(text_table(rows))
    for line in noise:
        print(f"\n{line}")
    if any_wider:
        print("\n+ over more rows than were timed")
    if any(row[2].endswith("*") for row in rows):
        print("\n* not part of the library, cannot be picked")
    for benchmark in benchmarks:
        if "error" in benchmark:
            print(f"\n{benchmark['backend']}:{benchmark['isa']} on {benchmark['preset']} was not timed: {benchmark['error']}")
    print("\nresults")
    for path in [*arguments.benchmark, *arguments.accuracy, *([arguments.markdown] if arguments.markdown else []), *arguments.files]:
        print(f"  {path}")
    return 1 if any("error" in benchmark for benchmark in benchmarks) else 0


if __name__ == "__main__":
    sys.exit(main())
