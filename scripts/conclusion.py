#!/usr/bin/env python3
"""The answer of a run, in a few lines: the fastest backends within the error budget, and how to use
what was found.

PICK is a report of posenc pick --format json."""

import argparse
import os
import shlex

from measuring.answer import answer_lines
from measuring.command import ArgumentParser, run_main
from measuring.errors import reading
from measuring.files import read_json

PATHS = (("report", "Report"), ("profile", "Profile"), ("results", "Results"))


def path_lines(arguments: argparse.Namespace) -> list[str]:
    """The paths that were given and that exist."""
    found = [(text, getattr(arguments, name)) for name, text in PATHS if getattr(arguments, name)]
    return [f"{text + ':':<9}{path}" for text, path in found if os.path.exists(path)]


def use_lines(arguments: argparse.Namespace) -> list[str]:
    """How to use the profile, if it exists."""
    if not arguments.profile or not os.path.exists(arguments.profile):
        return []
    path = shlex.quote(os.path.abspath(arguments.profile))
    lines = [
        "With this profile, programs get the fastest backend of the accuracy that they ask for:",
        f"  POSENC_PROFILE={path} PROGRAM",
    ]
    if arguments.posenc:
        lines += [
            "To measure again and keep a profile for all programs of this user:",
            f"  {arguments.posenc} pick --save",
        ]
    return lines


def parse_arguments() -> argparse.Namespace:
    example = "conclusion.py pick.json --profile profile.json"
    parser = ArgumentParser(example=example, description=__doc__)
    parser.add_argument("pick", metavar="PICK", help="JSON file")
    parser.add_argument("--profile", metavar="FILE", help="the saved profile; says how to use it")
    parser.add_argument("--report", metavar="FILE", help="the page of figures")
    parser.add_argument("--results", metavar="DIR", help="the folder of all results")
    parser.add_argument("--posenc", metavar="FILE", help="the command that can save a profile")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    document = read_json(arguments.pick)
    with reading(arguments.pick):
        lines = answer_lines(document)
    print("\n".join([*lines, "", *path_lines(arguments), *use_lines(arguments)]))
    return 0


if __name__ == "__main__":
    run_main(main)
