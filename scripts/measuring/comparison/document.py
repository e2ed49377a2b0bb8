"""The samples of a comparison in Google Benchmark's format."""

import datetime
import os
import platform
from collections.abc import Iterable
from typing import Any

from measuring.comparison.bench import Comparison
from measuring.comparison.programs import Side

# Presets of posenc in the tutorial's convention: their tables are those of PyTorch's module.
PRESETS = {
    (8, 512): "chunk",
    (5000, 512): "tutorial",
    (131072, 128): "long_context",
    (8192, 4096): "wide",
}

Entries = list[dict[str, Any]]


def _entries(name: str, side: Side, comparison: Comparison, **further: Any) -> Entries:
    """One entry for each sample, times in ns of a call."""
    batch, rows, d_model = comparison.shape
    error = comparison.errors.get(side.program)
    if error:
        further.update(max_abs=error.max_abs, correctly_rounded=error.correctly_rounded)
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


def _encode_entries(side: Side, comparison: Comparison) -> Entries:
    """The kept table once more, named and labelled as bench_encode names its own, so that both
    stand in one table."""
    _, rows, d_model = comparison.shape
    program = {"torch": "pytorch"}.get(side.program, side.program)
    preset = f"preset:{PRESETS[rows, d_model]}/" if (rows, d_model) in PRESETS else ""
    name = f"encode/{program}/{preset}rows:{rows}/d:{d_model}"
    spec = f"d_model={d_model} base=10000 layout=interleaved spacing=paper"
    return _entries(name, side, comparison, label=f"{spec} first=0 count={rows} dtype=float32")


def _comparison_entries(comparison: Comparison) -> Entries:
    batch, rows, d_model = comparison.shape
    shape = f"batch:{batch}/rows:{rows}/d:{d_model}/threads:{comparison.threads}"
    entries = []
    for side in [comparison.torch, *comparison.others]:
        entries += _entries(f"{comparison.work}/{side.program}/{shape}", side, comparison)
    for side, difference in zip(comparison.ours, comparison.differences):
        variant = f":{side.variant}" if side.variant else ""
        name = f"{comparison.work}/{side.program}{variant}/{shape}"
        compared = {"max_difference": difference, "tolerance": comparison.tolerance}
        entries += _entries(name, side, comparison, **compared)
    if comparison.is_kept_table:
        for side in [comparison.torch, *comparison.others]:
            entries += _encode_entries(side, comparison)
    return entries


def document_of(
    comparisons: Iterable[Comparison], torch_version: str, cpu: str, backend: str
) -> dict[str, Any]:
    now = datetime.datetime.now(datetime.timezone.utc)
    context = {
        "date": now.isoformat(timespec="seconds"),
        "num_cpus": os.cpu_count(),
        "executable": "scripts/compare_torch.py",
        "torch_version": torch_version,
        "python_version": platform.python_version(),
        "cpu": cpu,
        "posenc_backend": backend,
    }
    entries = [entry for each in comparisons for entry in _comparison_entries(each)]
    return {"context": context, "benchmarks": entries}
