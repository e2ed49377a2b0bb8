"""Checks the tables that a module of PyTorch holds."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from posenc import _posenc
from posenc.checking import check as check_table, spec_of

__all__ = ["Finding", "check"]

# Names of frequencies and of tables in widely used code. Buffers with other names are checked as
# well: a table is recognised by its values.
_FREQUENCIES = re.compile(r"(^|\.)(original_)?inv_freq(s|uencies)?$")
_TABLES = re.compile(
    r"(^|\.)(_?(cos|sin)_cached?|cos_sin_cache|(cos|sin)_cache|freqs_cis|freqs_(cos|sin)|pe|weights"
    r"|pos_embed|positional_(embedding|encoding)s?|position_(embedding|encoding)s?"
    r"|(embed_positions|position_embeddings?|pos_emb)\.(weight|weights|pe))$")
# Caches of a rotary embedding are never learned. They are wrong if they are no known table.
_CACHES = re.compile(r"(^|\.)(_?(cos|sin)_cached?|cos_sin_cache|(cos|sin)_cache)$")
_WIDTH = 100


class Finding(NamedTuple):
    """The verdict of check() on one tensor."""

    name: str  # "model.layers.0.self_attn.rotary_emb.cos_cached"
    like_it: int  # number of further tensors, of other layers, with the same verdict
    shape: tuple[int, ...]
    dtype: str
    is_good: bool
    max_error: float  # absolute for tables, relative for frequencies
    what: str
    cause: str


def check(model: torch.nn.Module, **expected: Any) -> list[Finding]:
    """Checks the tables of sines and cosines in a module, prints the findings and returns them.

    All buffers are checked, and parameters with usual names of such tables: cos_cached, inv_freq,
    pe, embed_positions.weight ... A tensor whose values are no table is left out, such as a learned
    embedding; under the name of a cache, such as cos_cached, it is wrong. expected: base, spacing,
    frequencies and the other arguments of posenc.check(), for all tables alike.
    """
    findings: dict[tuple[str, str, str], Finding] = {}
    for name, tensor in _tensors(model):
        found = _finding(name, tensor, expected)
        if found is None:
            continue
        key = (re.sub(r"\d+", "#", name), found.what, found.cause)
        if key in findings:
            first = findings[key]
            found = first._replace(like_it=first.like_it + 1,
                                   max_error=max(first.max_error, found.max_error))
        findings[key] = found
    result = sorted(findings.values(), key=lambda each: each.is_good)
    print(_text(result))
    return result


def _tensors(model: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from model.named_buffers()
    for name, parameter in model.named_parameters():
        if _TABLES.search(name) or _FREQUENCIES.search(name):
            yield name, parameter


def _finding(name: str, tensor: torch.Tensor, expected: dict[str, Any]) -> Finding | None:
    if tensor.is_meta or tensor.numel() == 0:
        return None
    values = tensor.detach().cpu()
    shape, dtype = tuple(values.shape), str(values.dtype).removeprefix("torch.")
    if values.is_complex():  # cosine + i sine
        values = torch.view_as_real(values).flatten(-2)
    if values.dtype not in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        return None
    if values.dim() == 1:
        if not _FREQUENCIES.search(name):
            return None
        rule = {key: expected.get(key) for key in ("base", "spacing", "frequencies")}
        report = _posenc.check_frequencies(values.double().tolist(), spec_of(**rule))
        return Finding(name, 0, shape, dtype, report["is_good"], report["max_relative_error"],
                       report["description"], report["cause"])
    sizes = [size for size in values.shape if size != 1]
    if len(sizes) != 2:
        return None
    table = check_table(values, **expected)
    if not table.is_identified and not _CACHES.search(name):
        return None
    cause = "" if table.is_good else table.cause.removeprefix("cause: ")
    max_error = table.max_abs if table.is_identified else float("nan")
    return Finding(name, 0, shape, dtype, table.is_good, max_error, table.description, cause)


def _text(findings: list[Finding]) -> str:
    """One line per tensor, and below it the identity of the tensor and the cause of its error."""
    if not findings:
        return "no tables of sines and cosines, and no inv_freq, in this module"
    off = sum(not each.is_good for each in findings)
    lines = [f"{len(findings)} kinds of tables, {off} of them wrong" if off else
             f"{len(findings)} kinds of tables, all good", ""]
    names = [each.name + (f" (+ {each.like_it} like it)" if each.like_it else "")
             for each in findings]
    width = min(max(len(name) for name in [*names, "tensor"]), _WIDTH - 40)
    lines.append(f"{'tensor':<{width}}  {'verdict':<7}  {'dtype':<8}  max |error|")
    lines.append("  ".join("-" * size for size in (width, 7, 8, 11)))
    for name, each in zip(names, findings):
        shown = name if len(name) <= width else "..." + name[3 - width:]
        lines.append(f"{shown:<{width}}  {'good' if each.is_good else 'wrong':<7}  "
                     f"{each.dtype:<8}  {each.max_error:>11.2e}")
        for text in (each.what, each.cause):
            lines += textwrap.wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)
