#!/usr/bin/env python3
"""One page from the results of one machine or of several: speed against error, throughput, errors, latency, threads, the pick.

RESULTS are JSON files, or folders of them: of the benchmarks (--benchmark_out), posenc accuracy --format json,
posenc pick --format json, profiles, and compare_torch.py --output. Results are grouped by their CPU.

Writes index.html, which needs nothing else, and each figure as SVG and PNG."""

import html
import io
import os
import re

import figure_style as style
import report_figures as figures
import report_page as page
import summary
from common import EXIT_CODES, OTHER_PROGRAMS, ArgumentParser, BadInput, make_folder, need_module, run_main, write_whole
from report_data import read_machines

FIGURES = (
    (
        "speed_error",
        "Speed against error",
        figures.speed_against_error,
        "The plot that decides: higher is faster, further left is more accurate, no method gets above the limit of the memory, and "
        "none left of half an ulp of 1 (dotted). Hollow: what is not part of the library.",
    ),
    (
        "throughput",
        "Throughput",
        figures.throughput_over_size,
        "What each method gives as tables outgrow the caches (dotted), beside what storing or copying as many bytes costs.",
    ),
    (
        "error_position",
        "Error by position",
        figures.error_along_position,
        "Which methods drift as positions grow, and which stay at half an ulp (dotted).",
    ),
    (
        "error_channel",
        "Error by channel",
        figures.error_by_channel,
        "In which channels the largest errors are: a bright band is a channel where a method fails.",
    ),
    (
        "error_quantiles",
        "Error quantiles",
        figures.error_quantiles,
        "Whether the largest error is typical or a rare entry: the share of entries that have at most that error.",
    ),
    (
        "latency",
        "Latency",
        figures.latency,
        "What one row costs in decoding, and what planning costs before the first.",
    ),
    (
        "threads",
        "Threads",
        figures.thread_scaling,
        "What more threads gain over one thread; beyond the caches the memory is the limit.",
    ),
)
NOISY = 0.1


def seconds_text(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "machine"


class Report:
    def __init__(self, output):
        self.output = output
        self.paths = []

    def figure(self, name, draw, sentence):
        """Files of the wide drawing; both as a part of the page. Empty where the results for it are missing."""
        drawings = {}
        for kind in ("wide", "narrow"):
            drawn = draw(kind == "narrow")
            if drawn is None:
                return ""
            buffer = io.StringIO()
            drawn.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
            drawings[kind] = buffer.getvalue()
            if kind == "wide":
                self.paths += style.save(drawn, os.path.join(self.output, name), ("svg", "png"))
            figures.pyplot().close(drawn)
        return page.figure(name, drawings, sentence)


def noise_floor_text(context):
    """Of the presets' times, where measure.py took them; else nothing."""
    if "processes" not in context:
        return ""
    return f"{100 * context['noise_floor']:.1f} % between two equal cases of presets, {context['processes']} processes"


def machine_facts(machine):
    context = machine.context
    compiler = " ".join(str(context[key]) for key in ("compiler", "compiler_flags") if context.get(key))
    return page.facts(
        [
            ("CPU", machine.cpu),
            ("instruction sets", context.get("isas")),
            ("caches", context.get("cache_sizes")),
            ("cores", context.get("num_cpus")),
            ("huge pages", context.get("huge_pages")),
            ("compiler", compiler),
            ("posenc", ", ".join(str(context[key]) for key in ("posenc_version", "posenc_commit") if context.get(key))),
            ("xsimd", context.get("xsimd_version")),
            ("noise floor", noise_floor_text(context)),
            ("PyTorch", machine.torch_context.get("torch_version")),
            ("measured", context.get("date")),
            ("results", ", ".join(os.path.basename(path) for path in machine.files)),
        ]
    )


def speed_table(machine):
    columns = (
        ("shape", False),
        ("rows x d", False),
        ("backend", False),
        ("Gfloat/s", True),
        ("spread", True),
        ("of limit", True),
        ("max |error|", True),
        ("correctly rounded", True),
    )
    rows, any_outside = [], False
    runs = [run for run in machine.runs.values() if run.kind == "encode" and "preset" in run.parts]
    for run in sorted(runs, key=lambda run: (int(run.parts["rows"]) * int(run.parts["d"]), -run.gfloats)):
        report = figures.accuracy_of(machine, run)
        is_outside = run.backend in OTHER_PROGRAMS or report is not None and not report.get("can_be_picked", True)
        any_outside = any_outside or is_outside
        shape = [
            run.parts["preset"],
            (f"{run.parts['rows']} x {run.parts['d']}", int(run.parts["rows"]) * int(run.parts["d"])),
            run.subject + ("*" if is_outside else ""),
        ]
        if run.error:
            rows.append(shape + [("wrong", 0), ("", 0), ("", 0), ("", 0), ("", 0)])
            continue
        share = run.counters.get("share_of_limit", 0)
        rows.append(
            shape
            + [
                (f"{run.gfloats:.3f}", run.gfloats),
                (f"{100 * run.spread:.1f} %", run.spread),
                (f"{100 * share:.1f} %" if share else "-", share),
            ]
            + (
                [
                    (f"{report['max_abs']:.2e}", report["max_abs"]),
                    (summary.share_text(report["correctly_rounded"]), report["correctly_rounded"]),
                ]
                if report
                else [("-", 0), ("-", 0)]
            )
        )
    if not rows:
        return ""
    note = "<p>* not part of the library, cannot be picked</p>\n" if any_outside else ""
    return page.table("Every preset and backend; press a heading to sort by it", columns, rows) + note


def picked_text(pick):
    """Why, in words."""
    kind, most = next(iter((pick.get("budget") or {}).items()), (None, None))
    budget = f", within the budget of {most:g}{' ulp' if kind == 'max_ulp' else ''}" if kind else ""
    text = f"Its largest error is {pick['max_abs']:.2e}{budget}."
    if ties := pick.get("ties"):
        text += f" It is a tie with {', '.join(ties)}."
    elif pick.get("next"):
        text += f" The next, {pick['next']}, takes {100 * pick['margin']:.1f} % more time."
    if "noise_floor" in pick:
        text += f" A backend differs from itself by up to {100 * pick['noise_floor']:.1f} % here."
    return text


def pick_section(machine):
    if not machine.picks:
        return ""
    columns = (
        ("tables in", False),
        ("threads", True),
        ("picked", False),
        ("Gfloat/s", True),
        ("spread", True),
        ("why", False),
    )
    order = ["l1", "l2", "l3", "memory"]
    rows = [
        [
            (pick["shape_class"], order.index(pick["shape_class"]) if pick["shape_class"] in order else 9),
            (str(pick["threads"]), pick["threads"]),
            f"{pick['backend']}:{pick['isa']}",
            (f"{pick['gfloats_per_second']:.2f}", pick["gfloats_per_second"]),
            (f"{100 * pick['spread']:.1f} %", pick["spread"]),
            picked_text(pick),
        ]
        for pick in machine.picks
    ]
    noisy = ""
    if max(pick["spread"] for pick in machine.picks) > NOISY:
        noisy = "<p>The machine was noisy while these were timed: pick again when it is idle.</p>\n"
    return (
        '<h3 id="pick">The pick, and why</h3>\n'
        + page.table("The fastest backend within the error budget, by where the table lives", columns, rows)
        + noisy
    )


def torch_section(machine):
    if not machine.torch:
        return ""
    columns = (
        ("work", False),
        ("batch x rows x d", False),
        ("threads", True),
        ("torch", True),
        ("posenc", True),
        ("way", False),
        ("torch / posenc", True),
        ("max |difference|", True),
    )
    torch = {(run.kind, tuple(run.parts.items())): run for run in machine.torch.values() if run.backend == "torch"}
    rows = []
    for run in machine.torch.values():
        rival = torch.get((run.kind, tuple(run.parts.items())))
        if run.backend != "posenc" or run.isa == "again" or rival is None:
            continue
        parts = run.parts
        difference = run.counters.get("max_difference", 0)
        size = int(parts["batch"]) * int(parts["rows"]) * int(parts["d"])
        rows.append(
            [
                run.kind.replace("_plus_", " + ").replace("_", " "),
                (f"{parts['batch']} x {parts['rows']} x {parts['d']}", size),
                (parts["threads"], parts["threads"]),
                (seconds_text(rival.seconds), rival.seconds),
                (seconds_text(run.seconds), run.seconds),
                run.isa.replace("_", " ") or "-",
                (f"{rival.seconds / run.seconds:.2f}", rival.seconds / run.seconds),
                (f"{difference:.1e}", difference),
            ]
        )
    note = ""
    if machine.torch_context.get("noise_floor") is not None:
        note = f"<p>Two equal cases of posenc differ by up to {100 * machine.torch_context['noise_floor']:.0f} % in this run.</p>\n"
    return (
        "<h3>Against PyTorch</h3>\n"
        + page.table("Times side by side, equal threads, taking turns", columns, rows)
        + note
        if rows
        else ""
    )


def machine_section(report, machine, prefix):
    drawn = "".join(
        report.figure(prefix + name, lambda narrow, draw=draw: draw(machine, narrow), sentence)
        for name, _, draw, sentence in FIGURES
    )
    return (
        machine_facts(machine)
        + pick_section(machine)
        + drawn
        + '<h3 id="speeds">All speeds and errors</h3>\n'
        + speed_table(machine)
        + torch_section(machine)
    )


def introduction(machines):
    lines = []
    for machine in machines:
        best = max(machine.picks, key=lambda pick: pick["gfloats_per_second"], default=None)
        if best:
            names = sorted({f"{pick['backend']}:{pick['isa']}" for pick in machine.picks})
            budget = f" within an error of {best['max_error']:g}" if best.get("max_error") else ""
            lines.append(
                f"On {machine.cpu}, {' and '.join(names)} {'is' if len(names) == 1 else 'are'} the fastest{budget}: "
                f"up to {best['gfloats_per_second']:.3g} Gfloat/s on one thread."
                if best["threads"] == 1
                else f"On {machine.cpu}, {' and '.join(names)} {'is' if len(names) == 1 else 'are'} the fastest{budget}."
            )
    lines = lines or ["No pick is among these results: posenc pick --format json gives one."]
    return "".join(f"<p>{html.escape(line)}</p>\n" for line in lines)


def build(machines, output):
    report = Report(output)
    sections = []
    if len(machines) > 1:
        compared = report.figure(
            "across_cpus",
            lambda narrow: figures.across_cpus(machines, narrow),
            "The same shape on every machine: how far apart the methods are on each.",
        )
        if compared:
            sections.append(("across", "Across CPUs", compared))
    for number, machine in enumerate(machines, 1):
        prefix = "" if len(machines) == 1 else f"m{number}-{slug(machine.cpu)}-"
        sections.append((f"machine-{number}", machine.cpu, machine_section(report, machine, prefix)))
    if not report.paths:
        raise BadInput(
            "RESULTS have no figure in them; allowed: results of bench_encode or of posenc accuracy among them"
        )
    index = os.path.join(output, "index.html")
    links = [(name, heading) for name, heading, _ in sections]
    if len(machines) == 1:
        links = [("pick", "The pick")] * bool(machines[0].picks)
        links += [
            (name, heading) for name, heading, _, _ in FIGURES if any(f"/{name}.svg" in path for path in report.paths)
        ]
        links.append(("speeds", "All speeds and errors"))
    write_whole(
        index, page.page("Sinusoidal positional encodings: speed and error", introduction(machines), links, sections)
    )
    return [index, *report.paths]


def parse_arguments():
    parser = ArgumentParser(
        prog="report.py",
        description=__doc__,
        epilog="example: report.py build/results --output build/report\n\n" + EXIT_CODES,
    )
    parser.add_argument("results", nargs="+", metavar="RESULTS", help="JSON files, or folders of them")
    parser.add_argument("--output", required=True, metavar="DIR", help="folder, made where missing")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    machines = read_machines(arguments.results)
    need_module("matplotlib", "python3-matplotlib")
    make_folder(arguments.output)
    try:
        paths = build(machines, arguments.output)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"RESULTS have a value that posenc and its benchmarks do not write ({error!r}); allowed: their files, unchanged"
        ) from error
    print(paths[0])
    print(f"{len(paths) - 1} figure files beside it")
    return 0


if __name__ == "__main__":
    run_main("report.py", main)
