#!/usr/bin/env python3
"""Runs posenc pick repeatedly and checks that the picks agree: in every shape class, two runs must
pick the same backend, or one of them must list the other's pick among its ties. Runs that refuse
because the machine is busy are left out. Run this by hand: it takes the whole machine for minutes,
so that it is no part of ctest.

usage: repeated_picks.py COMMAND [--runs N] [--busy-loops N] [--presets NAME ...]
example: repeated_picks.py build/release/bin/posenc --runs 10 --busy-loops 2"""

import argparse
import json
import subprocess
import sys

REFUSED = 1


def pick(command, presets):
    """The picks by shape class (None if the command refused), and its standard error. Each pick has
    the names of the backends that tie with it."""
    call = [command, "pick", "--format", "json"]
    for name in presets:
        call += ["--preset", name]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode not in (0, REFUSED):
        sys.exit(f"{command} ended with exit code {done.returncode}: {done.stderr}")
    picks = {}
    for each in json.loads(done.stdout)["classes"]:
        ties = [name_of(other) for other in each["others"] if other["tied"]]
        picks[each["shape_class"]] = {**each["pick"], "ties": ties}
    return (picks if done.returncode == 0 else None), done.stderr.strip()


def name_of(one):
    return f"{one['backend']}:{one['isa']}"


def agree(one, other):
    return (
        name_of(one) == name_of(other)
        or name_of(one) in other["ties"]
        or name_of(other) in one["ties"]
    )


def disagreements(runs):
    """One line for each pair of runs and each class in which they differ without a tie."""
    lines = []
    for i, one in enumerate(runs):
        for j, other in enumerate(runs[:i]):
            for shape in one.keys() & other.keys():
                if not agree(one[shape], other[shape]):
                    names = f"{name_of(other[shape])}, {name_of(one[shape])}"
                    lines.append(f"runs {j + 1} and {i + 1}, {shape}: {names}")
    return lines


def text_of(picks):
    words = []
    for shape, each in picks.items():
        ties = f" (tie: {', '.join(each['ties'])})" if each["ties"] else ""
        words.append(f"{shape} {name_of(each)}{ties}")
    return "; ".join(words)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", metavar="COMMAND")
    parser.add_argument("--runs", type=int, default=10, metavar="N")
    parser.add_argument("--busy-loops", type=int, default=0, metavar="N")
    parser.add_argument("--presets", nargs="+", default=[], metavar="NAME")
    options = parser.parse_args()
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(options.busy_loops)
    ]
    runs = []
    try:
        for number in range(options.runs):
            picks, said = pick(options.command, options.presets)
            print(f"{number + 1}: {text_of(picks) if picks is not None else said}", flush=True)
            if picks is not None:
                runs.append(picks)
    finally:
        for loop in loops:
            loop.kill()
    wrong = disagreements(runs)
    print("\n".join(wrong) or f"{len(runs)} picks agree, {options.runs - len(runs)} runs refused")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
