"""Picks and tables for the page, computed by the posenc command."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reporting.command import call_posenc, need_modules

need_modules("numpy")
import numpy


def picks(posenc: str | Path, document: Path, *accuracy: str) -> list[dict[str, Any]]:
    """The picks of posenc pick for a document: an entry for each class of tables."""
    words = ("pick", str(document), *accuracy, "--format", "json")
    found = json.loads(call_posenc(posenc, *words, quiet=True)[0])
    return list(found["classes"])


def table(posenc: str | Path, rows: int, d_model: int, backend: str = "rotation") -> Any:
    """The paper's table as an array of shape (rows, d_model), float32, from position 0."""
    shape = ("--rows", str(rows), "--d-model", str(d_model), "--backend", backend)
    data, _ = call_posenc(posenc, "generate", *shape, "--format", "raw")
    return numpy.frombuffer(data, dtype="<f4").reshape(rows, d_model)


def shift_errors(posenc: str | Path, rows: int, d_model: int, shift: int,
                 backends: Sequence[str]) -> dict[str, Any]:  # fmt: skip
    """Rotates each pair of channels of row p in double by shift times its frequency, and compares
    the result with row p + shift. Returns the largest difference over all channels, by backend and
    position p."""
    angles = shift * 10000.0 ** (-numpy.arange(0, d_model, 2) / d_model)
    sine, cosine = numpy.sin(angles), numpy.cos(angles)
    found = {}
    for backend in backends:
        values = table(posenc, rows + shift, d_model, backend).astype(float)
        sines, cosines = values[:, 0::2], values[:, 1::2]
        of_sines = sines[shift:] - (sines[:rows] * cosine + cosines[:rows] * sine)
        of_cosines = cosines[shift:] - (cosines[:rows] * cosine - sines[:rows] * sine)
        found[backend] = numpy.maximum(abs(of_sines), abs(of_cosines)).max(axis=1)
    return found
