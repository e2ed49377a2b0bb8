"""What the proofs take from the C++ sources: coefficients, constants and lines of code.

Constants of simd/error_bounds.h are printed by a program that includes it, so that they are those
that the kernels are compiled with. Other numbers are read from the text.
"""

from __future__ import annotations

import fractions
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

# The folder that holds the sources: of the project, or of a changed copy.
ROOT = pathlib.Path(os.environ.get("POSENC_PROOFS_ROOT", pathlib.Path(__file__).parent.parent))
POSENC = ROOT / "src" / "posenc"

NUMBER = r"-?(?:0x[0-9a-f.]+p[+-]?\d+|\d+(?:\.\d*)?(?:e[+-]?\d+)?)f?"


class Missing(Exception):
    """What a proof is about is not in the sources."""


def code_of(path: str) -> str:
    """A file below src/posenc without comments, with one space between words."""
    text = re.sub(r"//[^\n]*", " ", (POSENC / path).read_text(encoding="utf-8"))
    return " ".join(re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL).split())


def require(path: str, line: str) -> None:
    """Raises Missing unless the code of the file holds the line."""
    if " ".join(line.split()) not in code_of(path):
        raise Missing(f"{path} no longer holds `{' '.join(line.split())}`")


def fraction(literal: str) -> fractions.Fraction:
    """The double that a C++ literal stands for, exactly."""
    literal = literal.rstrip("f") if not literal.startswith(("0x", "-0x")) else literal
    is_hexadecimal = "0x" in literal
    return fractions.Fraction(
        float.fromhex(literal.removesuffix("f")) if is_hexadecimal else float(literal)
    )


def numbers_after(path: str, start: str, end: str) -> list[str]:
    """The literals between two pieces of code."""
    code = code_of(path)
    begin = code.find(start)
    if begin < 0:
        raise Missing(f"{path} no longer holds `{start}`")
    begin += len(start)
    return re.findall(NUMBER, code[begin : code.index(end, begin)])


def double(path: str, name: str) -> fractions.Fraction:
    """What the constants of this name in the functions of a file are initialised with."""
    found = re.findall(rf"constexpr double [^;{{}}]*?\b{name} = ({NUMBER})[,;]", code_of(path))
    if len(set(found)) != 1:
        raise Missing(f"{path} has {len(set(found))} constants {name}")
    return fraction(found[0])


def anchor_polynomials() -> dict[str, list[str]]:
    """The coefficients of sincos_polynomials(), the highest first: of x^13, x^11, ... x^3 for the
    sine, of x^14, x^12, ... x^4 for the cosine."""
    terms = numbers_after("simd/anchors-inl.h", "constexpr double terms[][2] = {", "};")
    if len(terms) != 12:
        raise Missing(f"sincos_polynomials() has {len(terms)} coefficients, not 12")
    return {"sine": terms[0::2], "cosine": terms[1::2]}


def centre_polynomial() -> list[str]:
    """The coefficients of folded_sine(), the highest first."""
    terms = numbers_after("simd/rotation32/rotation32-inl.h", "const F32 z = x * x;", "return")
    coefficients = [term for term in terms if "p" in term]
    if len(coefficients) != 5:
        raise Missing(f"folded_sine() has {len(coefficients)} coefficients, not 5")
    return coefficients


def compiler() -> list[str]:
    """The compiler of C++, as a command."""
    return shlex.split(os.environ.get("CXX", "c++"))


def error_bounds() -> dict[str, fractions.Fraction]:
    """The constants of error_bounds.h by name: RotationError.anchor_cosine. With and without fused
    operations: Rotation32Error.total.fused, Rotation32Error.total.unfused."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "constants"
        source = pathlib.Path(__file__).parent / "constants.cpp"
        command = [*compiler(), "-std=c++20", f"-I{ROOT / 'src'}", str(source), "-o", str(program)]
        subprocess.run(command, check=True)
        shown = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    values = {}
    for line in shown.splitlines():
        name, value = line.split()
        values[name] = fractions.Fraction(float.fromhex(value))
    return values
