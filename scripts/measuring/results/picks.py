"""Picks: posenc pick --format json."""

from collections.abc import Mapping
from dataclasses import dataclass

from measuring.results import Document
from measuring.results.accuracy import error_of


@dataclass
class Pick:
    """The fastest backend within an error budget, for tables that live in one level of memory."""

    shape_class: str  # "l1", "l2", "l3" or "memory"
    dtype: str
    threads: int
    backend: str  # with its ISA: "rotation:avx2"
    gfloats: float  # 10^9 entries a second
    relative_iqr: float
    max_abs: float
    ties: list[str]
    next: str  # the next best; empty if there is none
    margin: float  # how much more time the next one takes, as a share
    noise_floor: float | None
    budget: str  # "1e-06", "0.5 ulp", or empty

    @property
    def place(self) -> tuple[str, int, str]:
        """What it was picked for."""
        return self.shape_class, self.threads, self.dtype


def budget_text(budget: Mapping[str, float | None]) -> str:
    """The error budget, absolute or in ulp; empty if there is none."""
    if budget.get("max_ulp") is not None:
        return f"{budget['max_ulp']:g} ulp"
    return "" if budget.get("max_error") is None else f"{budget['max_error']:g}"


def read_picks(document: Document) -> list[Pick]:
    return [
        Pick(
            shape_class=str(pick["shape_class"]),
            dtype=str(pick.get("dtype", "")),
            threads=int(pick["threads"]),
            backend=f"{pick['backend']}:{pick['isa']}",
            gfloats=float(pick["gfloats_per_second"]),
            relative_iqr=float(pick["relative_iqr"]),
            max_abs=error_of(pick["max_abs"]),
            ties=list(pick.get("ties", [])),
            next=str(pick.get("next", "")),
            margin=float(pick.get("margin", 0)),
            noise_floor=pick.get("noise_floor"),
            budget=budget_text(document),
        )
        for pick in document.get("picks", [])
    ]
