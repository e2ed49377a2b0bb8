"""Accuracy reports: posenc accuracy --format json."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from measuring.results import Document

VERSION = 1


@dataclass(frozen=True)
class Spec:
    """What was encoded."""

    d_model: int
    base: float
    layout: str
    spacing: str
    frequencies: str = "base"


@dataclass(frozen=True)
class Rows:
    """A run of positions."""

    first: int
    count: int

    @property
    def last(self) -> int:
        return self.first + self.count - 1

    def covers(self, other: "Rows") -> bool:
        return self.first <= other.first and other.last <= self.last


@dataclass
class AccuracyReport:
    """The error of one encoder over given rows."""

    backend: str
    isa: str
    spec: Spec
    rows: Rows
    max_abs: float
    correctly_rounded: float  # share of the entries
    can_be_picked: bool = True  # False: not part of the library
    by_position: list[tuple[int, float]] = field(default_factory=list)  # octaves: last, max_abs
    by_channel: list[float] = field(default_factory=list)  # max_abs
    quantiles: list[tuple[float, float]] = field(default_factory=list)  # share, abs_error


def spec_of(values: Mapping[str, Any]) -> Spec:
    base, layout, spacing = float(values["base"]), str(values["layout"]), str(values["spacing"])
    frequencies = str(values.get("frequencies", "base"))
    return Spec(int(values["d_model"]), base, layout, spacing, frequencies)


def rows_of(values: Mapping[str, Any]) -> Rows:
    return Rows(int(values["first"]), int(values["count"]))


def error_of(value: float | None) -> float:
    """JSON has no NaN: such an error is written as null."""
    return math.nan if value is None else float(value)


def read_accuracy(document: Document) -> list[AccuracyReport]:
    if document["version"] != VERSION:
        raise ValueError(f"version is {document['version']}, not {VERSION}")
    return [_report_of(result) for result in document["results"]]


def _report_of(result: Mapping[str, Any]) -> AccuracyReport:
    octaves = [(rows_of(octave), octave["max_abs"]) for octave in result["by_position"]]
    return AccuracyReport(
        backend=str(result["backend"]),
        isa=str(result["isa"]),
        spec=spec_of(result["spec"]),
        rows=rows_of(result["rows"]),
        max_abs=error_of(result["max_abs"]),
        correctly_rounded=float(result["correctly_rounded"]),
        can_be_picked=bool(result.get("can_be_picked", True)),
        by_position=[(rows.last, error_of(error)) for rows, error in octaves],
        by_channel=[error_of(channel["max_abs"]) for channel in result["by_channel"]],
        quantiles=[(each["share"], error_of(each["abs_error"])) for each in result["quantiles"]],
    )
