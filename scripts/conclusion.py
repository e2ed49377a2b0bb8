#!/usr/bin/env python3
"""The answer of a run, in a few lines: the fastest backends within the error budget, and how to use
what was found.

PICK is a report of posenc pick --format json."""

import os
import shlex

from common import EXIT_CODES, ArgumentParser, BadInput, aligned, read_json, run_main

CLASSES = {"l1": "L1 cache", "l2": "L2 cache", "l3": "L3 cache", "memory": "memory"}
PATHS = (("report", "Report"), ("profile", "Profile"), ("results", "Results"))


def budget_text(document):
    if document.get("max_ulp") is not None:
        return f"{document['max_ulp']:g} ulp"
    return f"{document['max_error']:.3g}"


def table_lines(picks):
    rows = []
    for pick in picks:
        tied = f"; as fast: {', '.join(pick['ties'])}" if pick.get("ties") else ""
        rows.append(
            [
                f"tables in {CLASSES.get(pick['shape_class'], pick['shape_class'])}",
                f"{pick['backend']}:{pick['isa']}",
                f"{pick['gfloats_per_second']:.2f} Gfloat/s",
                f"error {pick['max_abs']:.2e}{tied}",
            ]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  " + aligned(row, widths, (0, 1, 3)).rstrip() for row in rows]


def pick_lines(document):
    threads = document["threads"]
    what = f"({document['dtype']}, {threads} thread{'s' if threads != 1 else ''})"
    within = f"within an error of {budget_text(document)}"
    if not document["picks"]:
        return [document["cpu"]["model"], f"No backend is {within} {what}."]
    return [document["cpu"]["model"], f"Fastest {within} {what}:", *table_lines(document["picks"])]


def path_lines(arguments):
    """The paths that were given and that are there."""
    found = [(text, getattr(arguments, name)) for name, text in PATHS if getattr(arguments, name)]
    return [f"{text + ':':<9}{path}" for text, path in found if os.path.exists(path)]


def use_lines(arguments):
    if not arguments.profile or not os.path.exists(arguments.profile):
        return []
    path = shlex.quote(os.path.abspath(arguments.profile))
    lines = [
        "Programs get the fastest backend of the accuracy that they ask for by this profile with:",
        f"  POSENC_PROFILE={path} PROGRAM",
    ]
    if arguments.posenc:
        lines += [
            "To measure again and keep a profile for all programs of this user:",
            f"  {arguments.posenc} pick --save",
        ]
    return lines


def parse_arguments():
    parser = ArgumentParser(
        prog="conclusion.py",
        description=__doc__,
        epilog="example: conclusion.py pick.json --profile profile.json\n\n" + EXIT_CODES,
    )
    parser.add_argument("pick", metavar="PICK", help="JSON file")
    parser.add_argument("--profile", metavar="FILE", help="the saved profile; says how to use it")
    parser.add_argument("--report", metavar="FILE", help="the page of figures")
    parser.add_argument("--results", metavar="DIR", help="the folder of all results")
    parser.add_argument("--posenc", metavar="FILE", help="the command that can save a profile")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    document = read_json(arguments.pick)
    try:
        lines = pick_lines(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = f"no report of posenc pick --format json ({error!r})"
        raise BadInput(f"{arguments.pick}: {reason}") from error
    print("\n".join([*lines, "", *path_lines(arguments), *use_lines(arguments)]))
    return 0


if __name__ == "__main__":
    run_main("conclusion.py", main)
