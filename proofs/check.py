"""Checks every claim of this folder, and prints them as a table.

    check.py [NAME ...]     all claims, or those whose file has one of these names

A claim is a file of Sollya, Gappa or Coq, or a program that tries every value. Its comments state
it in lines `word: text`:

    claim       what is shown, in a few words
    unit        of the bound: an expression, 1 if not given
    bound       the number that the proof shows, in this unit; none if the claim holds as it is
    constant    the constants of the sources that must not be below the bound
    source      the file below src/posenc that the next formulas are in
    formula     code that this file must hold
    modes       fused, unfused: the proof is made for each

In the proof, @{expression} is replaced by its value (see Values), and fma(a, b, c) by a * b + c
with one rounding, or with two in mode unfused. What is proven is therefore about the numbers that
the sources hold now. Exits with 1 if a claim is refused, and with 77 if a checker is missing.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import fractions
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import sources

FOLDER = pathlib.Path(__file__).resolve().parent
CHECKERS = {".sollya": "sollya", ".gappa": "gappa", ".v": "coqc", ".cc": "c++"}
LEMMAS = pathlib.Path(tempfile.mkdtemp())  # the files of lemmas/, compiled
OPTIONS = {".gappa": ["-Eprecision=200"], ".v": ["-Q", str(LEMMAS), "Lemmas"]}
NAMES = {".sollya": "Sollya", ".gappa": "Gappa", ".v": "Coq", ".cc": "all values"}
WORD = re.compile(r"^\W*(claim|unit|bound|constant|source|formula|modes): +(.*?)(?: *\*\))?$")
SKIPPED = 77
TIME_LIMIT = 600  # seconds


class Refused(Exception):
    """Why a claim does not hold, in a few lines."""


class Values:
    """What @{...} may name, beside the constants of error_bounds.h."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.fused = mode != "unfused"
        self.constants = dict(CONSTANTS)

    def constant(self, name: str) -> fractions.Fraction:
        """A constant of error_bounds.h, of this mode if it depends on it."""
        for each in (name, f"{name}.{self.mode}"):
            if each in self.constants:
                return self.constants[each]
        raise sources.Missing(f"error_bounds.h has no constant {name}")

    def polynomial(self, name: str) -> str:
        """The polynomial of the anchors in x, for Sollya."""
        terms, first = {"sine": ("x", 13), "cosine": ("1 - x^2 / 2", 14)}[name]
        for i, coefficient in enumerate(sources.anchor_polynomials()[name]):
            terms += f" + ({coefficient}) * x^{first - 2 * i}"
        return terms

    def centre_polynomial(self) -> str:
        """The coefficients of folded_sine(), the highest first, for C++."""
        return ", ".join(sources.centre_polynomial())

    def nested(self, name: str, z: str) -> str:
        """The sum of sincos_polynomials() before its last operations, for Coq."""
        text = ""
        for coefficient in sources.anchor_polynomials()[name]:
            text = f"{coefficient} + {z} * ({text})" if text else coefficient
        return text

    def horner(self, name: str) -> str:
        """Gappa's definitions of the sums of sincos_polynomials() before the last operations: pi
        as the kernel computes them from z, and truei from square, which is not rounded."""
        first, *others = sources.anchor_polynomials()[name]
        lines = [f"p0 = {first};", f"true0 = {first};"]
        for i, coefficient in enumerate(others):
            lines.append(f"p{i + 1} = fma(p{i}, z, ({coefficient}));")
            lines.append(f"true{i + 1} = true{i} * square + ({coefficient});")
        return "\n".join(lines)

    def proven(self, name: str) -> str:
        """The bound of another claim, in its unit."""
        (path,) = FOLDER.glob(f"*/{name}.*")
        return Claim(path, self.mode).bound()

    def double(self, name: str, path: str = "simd/anchors-inl.h") -> str:
        """The double that a constant of a function is initialised with."""
        return float(sources.double(path, name)).hex()

    def parts(self, last: int, pieces: int) -> str:
        """Where Gappa divides [2^-last, 1/2]: each octave into so many pieces."""
        points = [
            2.0**-octave * (1 + i / pieces)
            for octave in range(last, 1, -1)
            for i in range(pieces)
        ]
        return ", ".join(point.hex() for point in points[1:])

    def octaves(self, last: int, limit: str) -> str:
        """Gappa's claim of angle_long.gappa for each octave of high_c from P = 2^-last on: it is
        between P and 2 P, both less 2^-30 of them, so that what is added to it stays below 2 P."""
        cases = []
        for octave in range(1, last + 1):
            least = (1 - 2.0**-30) * 2.0**-octave
            most = 2 * least if octave > 1 else 0.785399
            for values in (f"[{least.hex()}, {most.hex()}]", f"[-{most.hex()}, -{least.hex()}]"):
                roundings = float.fromhex(limit) * 2.0**-octave + 2.0**-102
                cases.append(f"(high_c in {values} -> |error| <= {roundings.hex()})")
        return " /\\\n     ".join(cases)

    def product(self, a: str, b: str) -> str:
        """Gappa's a * b as a part of a fused operation, or rounded without one."""
        return f"{a} * {b}" if self.fused else f"rnd({a} * {b})"


@dataclasses.dataclass
class Claim:
    """A proof in one mode."""

    path: pathlib.Path
    mode: str

    def __post_init__(self) -> None:
        self.text = self.path.read_text(encoding="utf-8")
        self.words: dict[str, list[str]] = {}
        self.formulas: list[tuple[str, str]] = []
        source = ""
        for line in self.text.splitlines():
            if match := WORD.match(line):
                word, value = match.groups()
                self.words.setdefault(word, []).append(value)
                if word == "source":
                    source = value
                if word == "formula":
                    self.formulas.append((source, value))

    def word(self, name: str, default: str = "") -> str:
        return " ".join(self.words.get(name, [default]))

    @property
    def name(self) -> str:
        return self.word("claim") + {"unfused": ", without FMA"}.get(self.mode, "")

    @property
    def checker(self) -> str:
        return NAMES[self.path.suffix]

    def bound(self) -> str:
        """The number of this mode: of two, the second is that without fused operations."""
        numbers = self.word("bound").split()
        return numbers[-1 if self.mode == "unfused" else 0] if numbers else ""

    def unit(self) -> fractions.Fraction:
        return power(self.word("unit", "1"))

    def limit(self) -> str:
        """The largest double up to the bound, without its unit, as a literal."""
        if not self.bound():
            return ""
        exact = fractions.Fraction(self.bound()) * self.unit()
        nearest = float(exact)
        return (nearest if nearest <= exact else math.nextafter(nearest, 0)).hex()

    def constant(self) -> fractions.Fraction | None:
        names = self.words.get("constant", [])
        if not names:
            return None
        name, _, divisor = names[0].partition(" / ")
        return Values(self.mode).constant(name) / power(divisor or "1")

    def proof(self) -> str:
        """The proof with the numbers of the sources."""
        values = Values(self.mode)
        scope = {name: getattr(values, name) for name in dir(values) if not name.startswith("_")}
        scope |= {"bound": self.bound(), "limit": self.limit(), "int": int}

        def replaced(match: re.Match[str]) -> str:
            return str(eval(match[1], {"__builtins__": {}}, scope))

        text = re.sub(r"@\{([^}]+)\}", replaced, self.text)
        product = r"rnd(\1 * \2 + \3)" if values.fused else r"rnd(rnd(\1 * \2) + \3)"
        return re.sub(r"(?<!:)\bfma\(([\w-]+), ([\w-]+), (-?\w+|\([^()]+\))\)", product, text)

    def check(self) -> None:
        """Raises Refused unless the claim holds for the sources."""
        try:
            for path, formula in self.formulas:
                sources.require(path, formula)
            constant = self.constant()
            text = self.proof()
        except sources.Missing as error:
            raise Refused(str(error)) from error
        if constant is not None and constant < fractions.Fraction(self.bound()):
            raise Refused(
                f"the constant {self.word('constant')} is {shown(constant)}, below what was"
                f" proven: {self.bound()}"
            )
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / f"{self.path.stem}{self.path.suffix}"
            file.write_text(text, encoding="utf-8")
            suffix = self.path.suffix
            command = [CHECKERS[suffix], *OPTIONS.get(suffix, []), file.name]
            if suffix == ".cc":
                options = ["-std=c++20", "-O2", "-ffp-contract=off", "-o", "every_value"]
                subprocess.run([*sources.compiler(), *options, file], cwd=folder, check=True)
                command = ["./every_value"]
            try:
                run = subprocess.run(
                    command, cwd=folder, capture_output=True, text=True, timeout=TIME_LIMIT
                )
            except subprocess.TimeoutExpired as error:
                raise Refused(f"{command[0]} took more than {TIME_LIMIT} s") from error
        output = run.stdout + run.stderr
        is_shown = run.returncode == 0
        if self.path.suffix == ".v" and re.search(r"\b(Admitted|Axiom|Parameter|admit)\b", text):
            raise Refused("a part of the proof is missing")
        if self.path.suffix == ".sollya":  # whose exit status says nothing
            is_shown = is_shown and output.strip().endswith("true")
        if not is_shown:
            raise Refused("\n    ".join([f"{command[0]} says:", *output.splitlines()[-12:]]))


def compile_lemmas(chosen: list[Claim]) -> None:
    """Compiles what proofs in Coq have in common and require, which does not depend on the sources.
    A file requires only those whose names come before its own."""
    imports = re.compile(r"^From Lemmas Require Import (.*)\.$", re.MULTILINE)
    required = " ".join(name for claim in chosen for name in imports.findall(claim.text)).split()
    for path in sorted((FOLDER / "lemmas").glob("*.v")):
        if path.stem not in required and path.stem != "angles":
            continue
        shutil.copy(path, LEMMAS)
        subprocess.run(["coqc", *OPTIONS[".v"], path.name], cwd=LEMMAS, check=True)


def power(text: str) -> fractions.Fraction:
    """The value of 1 or 2^-53."""
    base, _, exponent = text.partition("^")
    return fractions.Fraction(base) ** int(exponent or 1)


def shown(value: fractions.Fraction | None) -> str:
    return "" if value is None else f"{float(value):.6g}"


def aligned(rows: list[list[str]]) -> str:
    """A table of columns as wide as their texts."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)


def claims(names: list[str]) -> list[Claim]:
    files = sorted(path for path in FOLDER.glob("*/*") if path.suffix in CHECKERS)
    if unknown := set(names) - {path.stem for path in files}:
        known = " ".join(path.stem for path in files)
        sys.exit(f"check.py: claim is '{' '.join(sorted(unknown))}'; allowed: {known}")
    found = []
    for path in files:
        if not names or path.stem in names:
            modes = Claim(path, "").word("modes", "either").split()
            found += [Claim(path, mode) for mode in modes]
    return [claim for claim in found if claim.word("claim")]


def main(names: list[str]) -> int:
    chosen = claims(names)
    wanted = {CHECKERS[claim.path.suffix] for claim in chosen}
    if missing := sorted(program for program in wanted if shutil.which(program) is None):
        print(f"check.py: missing: {', '.join(missing)} (proofs/check.sh --install installs them)")
        return SKIPPED
    start = time.monotonic()
    if "coqc" in wanted:
        compile_lemmas(chosen)

    def refusal(claim: Claim) -> str:
        try:
            claim.check()
        except Refused as refused:
            return str(refused)
        return ""

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        refusals = list(pool.map(refusal, chosen))
    rows = [["claim", "constant", "bound", "unit", "checker", ""]]
    for claim, why in zip(chosen, refusals):
        bound = "-" if why else claim.bound() or "holds"
        verdict = "REFUSED" if why else "accepted"
        constant = shown(claim.constant())
        rows.append([claim.name, constant, bound, claim.word("unit"), claim.checker, verdict])
    print(aligned(rows))
    for claim, why in zip(chosen, refusals):
        if why:
            print(f"\n{claim.path.relative_to(FOLDER.parent)}: REFUSED: {claim.name}\n  {why}")
    refused = sum(map(bool, refusals))
    seconds = time.monotonic() - start
    print(f"\n{len(chosen) - refused} accepted, {refused} refused, in {seconds:.0f} s")
    return 1 if refused else 0


if __name__ == "__main__":
    CONSTANTS = sources.error_bounds()
    try:
        sys.exit(main(sys.argv[1:]))
    finally:
        shutil.rmtree(LEMMAS)
