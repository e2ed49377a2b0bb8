"""What a comparison shows to people, and its samples in Google Benchmark's format."""

import datetime
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from measuring.comparison.bench import KEPT_TABLE, Comparison, shape_text
from measuring.comparison.programs import Side
from measuring.statistics import noise_floor_of
from measuring.tables import text_table
from measuring.units import error_text, percent, seconds_text, truncated_percent

# Presets of posenc in the tutorial's convention: their tables are those of PyTorch's module.
PRESETS = {
    (8, 512): "chunk",
    (5000, 512): "tutorial",
    (131072, 128): "long_context",
    (8192, 4096): "wide",
}
HEADER = (
    "work", "batch x rows x d", "threads", "torch", "rel. IQR", "posenc", "way", "rel. IQR",
    "torch / posenc", "max |diff|", "tolerance",
)  # fmt: skip
LEFT = (0, 1, 6)
ERROR_HEADER = ("rows x d", "program", "time", "Gfloat/s", "max |error|", "correctly rounded")


def times_text(comparisons: Iterable[Comparison]) -> str:
    """Times side by side. A work is named once, on its first line."""
    rows = []
    for each in comparisons:
        work = [
            each.work,
            shape_text(each.shape),
            str(each.threads),
            seconds_text(each.torch.median),
            percent(each.torch.relative_iqr, 0),
        ]
        for side, difference in zip(each.ours, each.differences):
            if side.variant == "again":
                continue
            ours = [
                seconds_text(side.median),
                side.variant,
                percent(side.relative_iqr, 0),
                f"{each.torch.median / side.median:.2f}",
                f"{difference:.1e}",
                f"{each.tolerance:.1e}",
            ]
            rows.append(work + ours)
            work = [""] * len(work)
    return text_table(HEADER, rows, LEFT)


def errors_text(comparisons: Iterable[Comparison]) -> str:
    """The kept tables of one thread against the reference; empty if there are none."""
    rows = [
        _error_cells(each, side)
        for each in comparisons
        if each.is_kept_table
        for side in [each.torch, *each.others, each.ours[0]]
    ]
    heading = "The kept table of one thread, and what it gets wrong"
    return f"{heading}\n\n{text_table(ERROR_HEADER, rows, left=(0, 1))}" if rows else ""


def _error_cells(comparison: Comparison, side: Side) -> list[str]:
    """See ERROR_HEADER."""
    _, rows, d_model = comparison.shape
    gfloats = rows * d_model / side.median / 1e9
    error = comparison.errors.get(side.program)
    return [
        shape_text((rows, d_model)),
        side.program,
        seconds_text(side.median),
        f"{gfloats:.3f}",
        error_text(error.max_abs) if error else "-",
        truncated_percent(error.correctly_rounded) if error else "-",
    ]


def noise_floor(comparisons: Iterable[Comparison]) -> float:
    """How far the two equal cases of the kept tables differ: the largest over the run."""
    tables = [each.ours for each in comparisons if each.work == KEPT_TABLE]
    return noise_floor_of([ours[0].median / ours[1].median] for ours in tables)


def _entries(
    name: str, side: Side, comparison: Comparison, further: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """One entry for each sample, times in ns of a call."""
    batch, rows, d_model = comparison.shape
    return [
        {
            "name": name,
            "run_name": name,
            "run_type": "iteration",
            "repetitions": len(side.samples),
            "repetition_index": index,
            "threads": comparison.threads,
            "iterations": side.calls,
            "real_time": 1e9 * seconds,
            "cpu_time": 1e9 * seconds,
            "time_unit": "ns",
            "items_per_second": batch * rows * d_model / seconds,
            **further,
        }
        for index, seconds in enumerate(side.samples)
    ]


def _encode_entries(side: Side, comparison: Comparison) -> list[dict[str, Any]]:
    """The kept table once more, named and labelled as bench_encode names its own, so that both
    stand in one table."""
    _, rows, d_model = comparison.shape
    program = {"torch": "pytorch"}.get(side.program, side.program)
    preset = f"preset:{PRESETS[rows, d_model]}/" if (rows, d_model) in PRESETS else ""
    further: dict[str, Any] = {
        "label": f"d_model={d_model} base=10000 layout=interleaved spacing=paper "
        f"first=0 count={rows} dtype=float32"
    }
    error = comparison.errors.get(side.program)
    if error:
        further.update(max_abs=error.max_abs, correctly_rounded=error.correctly_rounded)
    name = f"encode/{program}/{preset}rows:{rows}/d:{d_model}"
    return _entries(name, side, comparison, further)


def _comparison_entries(comparison: Comparison) -> list[dict[str, Any]]:
    batch, rows, d_model = comparison.shape
    work = re.sub(r"\W+", "_", comparison.work.replace("+", "plus"))
    shape = f"batch:{batch}/rows:{rows}/d:{d_model}/threads:{comparison.threads}"
    torch = f"{work}/{comparison.torch.program}/{shape}"
    entries = _entries(torch, comparison.torch, comparison, {})
    for side, difference in zip(comparison.ours, comparison.differences):
        variant = f":{side.variant}" if side.variant else ""
        compared = {"max_difference": difference, "tolerance": comparison.tolerance}
        name = f"{work}/{side.program}{variant}/{shape}"
        entries += _entries(name, side, comparison, compared)
    if comparison.is_kept_table:
        for side in [comparison.torch, *comparison.others]:
            entries += _encode_entries(side, comparison)
    return entries


def document_of(
    comparisons: Sequence[Comparison], torch_version: str, cpu: str, backend: str
) -> dict[str, Any]:
    """In Google Benchmark's format, with every sample."""
    now = datetime.datetime.now(datetime.timezone.utc)
    context = {
        "date": now.isoformat(timespec="seconds"),
        "num_cpus": os.cpu_count(),
        "executable": "scripts/compare_torch.py",
        "torch_version": torch_version,
        "python_version": platform.python_version(),
        "cpu": cpu,
        "posenc_backend": backend,
        "noise_floor": noise_floor(comparisons),
    }
    entries = [entry for each in comparisons for entry in _comparison_entries(each)]
    return {"context": context, "benchmarks": entries}
