"""Checks and repairs the tables that a module of PyTorch holds."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

from posenc import _posenc
from posenc.checking import check as check_table, spec_of
from posenc.rotary import Config, Rotary, read_config

__all__ = ["Finding", "WrongTables", "assert_tables", "check", "repair_tables"]

# Names of frequencies and of tables in widely used code. Buffers with other names are checked as
# well: a table is recognised by its values.
_FREQUENCIES = re.compile(r"^((?P<kind>\w+?)_)?(original_|long_|short_)?inv_freq(s|uencies)?$")
_TABLES = re.compile(
    r"(^|\.)(_?(cos|sin)_cached?|cos_sin_cache|(cos|sin)_cache|freqs_cis|freqs_(cos|sin)|pe|weights"
    r"|pos_embed|positional_(embedding|encoding)s?|position_(embedding|encoding)s?"
    r"|(embed_positions|position_embeddings?|pos_emb)\.(weight|weights|pe))$")
# Caches of a rotary embedding are never learned. They are wrong if they are no known table.
_CACHES = re.compile(r"(^|\.)(_?(cos|sin)_cached?|cos_sin_cache|(cos|sin)_cache|freqs_cis)$")
# The configuration of a multimodal model describes its text model, and not these parts.
_OTHER_PARTS = re.compile(r"vision|visual|image|audio|video|talker|code2wav|speech|tower")
_SLIDING = re.compile(r"local|sliding|swa")
# The tolerance of a factor, which a model may compute in float32.
_CLOSE = 1e-6
# How right tables are computed in float32, as opposed to tables of something else.
_INEXACT = {"float32_phases", "inexact_functions"}
_FLOAT32_PHASES = 0.05  # more than phases in float32 cost in any cache
_LAST_ROWS = 1024
_VERDICTS = ["wrong", "not recognised", "inexact", "good"]
_WIDTH = 100


class Finding(NamedTuple):
    """The verdict of check() on one tensor, or on one factor of a module.

    verdict: "good"; "inexact", a right table whose phases or functions were computed in float32;
    "wrong"; or "not recognised", which is neither right nor wrong.
    """

    name: str  # "model.layers.0.self_attn.rotary_emb.cos_cached"
    like_it: int  # number of further tensors, of other layers, with the same verdict
    shape: tuple[int, ...]  # of a factor: ()
    dtype: str
    verdict: str
    max_error: float  # absolute for tables, relative for frequencies and factors
    what: str
    cause: str

    @property
    def is_good(self) -> bool:
        return self.verdict == "good"


class WrongTables(ValueError):
    """What assert_tables() raises; `findings` has the verdicts on the wrong tensors."""

    def __init__(self, text: str, findings: list[Finding]) -> None:
        super().__init__(text)
        self.findings = findings


def check(model: nn.Module, config: Config | None = None, **expected: Any) -> list[Finding]:
    """Checks the tables of sines and cosines in a module, prints the findings and returns them.

    Checked are all buffers, and parameters and attributes with usual names of such tables:
    cos_cached, inv_freq, freqs_cis, pe, embed_positions.weight ... Tensors that share their memory
    count once. A tensor whose values are no table is left out, such as a learned embedding; under
    the name of a cache or of frequencies, it is wrong.

    config: as in posenc.rotary_from_config(); by default, the attribute `config` of the module or
    of a module that holds it, if posenc knows the model type and nothing else is expected.
    Frequencies, caches, the factor
    attention_scaling and, with latent attention, the scale of the softmax must be those of the
    configuration. expected: base, spacing, frequencies and the other arguments of posenc.check(),
    for all tables alike.
    """
    findings = _findings(model, config, expected)
    print(_text(findings))
    return findings


def assert_tables(model: nn.Module, config: Config | None = None) -> None:
    """Raises WrongTables if a table, a frequency or a factor in the model is wrong.

    Call it once a model is loaded. The arguments are those of check(). The message names each wrong
    tensor and the cause. A table that is inexact or not recognised raises nothing. If `config` is
    given, it raises ValueError if posenc cannot read it.
    """
    wrong = [each for each in _findings(model, config, {}, is_quick=True)
             if each.verdict == "wrong"]
    if wrong:
        raise WrongTables(f"{_text(wrong)}\n\nposenc.torch.repair_tables(model, config) computes "
                          "the tables of a configuration anew", wrong)


def repair_tables(model: nn.Module, config: Config | None = None) -> list[str]:
    """Computes wrong frequencies, rotary caches and factors anew, and returns their names.

    Values are correctly rounded. Frequencies in 16 bits become float32. A tensor on the device
    "meta" moves to the device of the model's parameters. The arguments are those of check(). Raises
    WrongTables, after it has repaired the others, if a wrong table is left: a table whose right
    values the configuration does not determine.
    """
    repaired: dict[str, None] = {}
    device = next((each.device for each in model.parameters() if not each.is_meta),
                  torch.device("cpu"))
    for held, judge in _judged(model, config, {}, is_quick=True):
        finding = judge()
        if finding is not None and finding.verdict == "wrong" and held.repair(device):
            repaired[held.path] = None
    assert_tables(model, config)
    return list(repaired)


# ---- What a configuration says ------------------------------------------------------------------


class _Expectation:
    """The rotary embeddings of a configuration."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._read: dict[int | None, dict[str, Rotary]] = {}
        self.read(None)  # raises ValueError if the configuration cannot be read

    def read(self, rows: int | None) -> dict[str, Rotary]:
        """The embeddings by kinds of layers, for sequences of so many rows."""
        if rows not in self._read:
            self._read[rows] = read_config(self._config, rows, None, None)[0]
        return self._read[rows]

    def rotaries(self, path: str, owner: nn.Module, kind: str | None = None,
                 is_original: bool = False) -> list[Rotary]:
        """The embeddings that a module may have; the first one is the likeliest.

        A dynamic rule follows the longest sequence so far, max_seq_len_cached. LongRoPE has two
        lists of factors, and changes between them.
        """
        rows = getattr(owner, "max_seq_len_cached", None)
        chosen = self._of_kinds(None, path, kind)
        text = repr(chosen[0])
        if "rule ntk" in text and isinstance(rows, int) and rows > 0 and not is_original:
            return self._of_kinds(rows, path, kind)
        return chosen + (self._of_kinds(1, path, kind) if "rule longrope" in text else [])

    def _of_kinds(self, rows: int | None, path: str, kind: str | None) -> list[Rotary]:
        kinds = self.read(rows)
        if kind in kinds:
            return [kinds[kind]]
        is_sliding = bool(_SLIDING.search(path))
        likely = [each for each in kinds if bool(_SLIDING.search(each)) == is_sliding]
        return [kinds[each] for each in likely or kinds]


class _Configs:
    """The expectation for each module: of the given configuration, or of the module's own."""

    def __init__(self, model: nn.Module, config: Config | None, is_searched: bool) -> None:
        self._given = None if config is None else _Expectation(config)
        self._is_searched = is_searched
        self._modules = dict(model.named_modules())
        self._known: dict[int, _Expectation | None] = {}

    def of(self, path: str) -> _Expectation | None:
        """`path` is the path of a module. The nearest module around it that has `config` counts."""
        if self._given is not None:
            return None if _OTHER_PARTS.search(path) else self._given
        holder = path
        while self._is_searched:
            config = getattr(self._modules.get(holder), "config", None)
            if config is not None:
                is_other = _OTHER_PARTS.search(path[len(holder):])
                return None if is_other else self._of_config(config)
            if not holder:
                break
            holder = holder.rpartition(".")[0]
        return None

    def _of_config(self, config: Any) -> _Expectation | None:
        if id(config) not in self._known:
            try:
                self._known[id(config)] = _Expectation(config)
            except (ValueError, TypeError, OSError):  # a type that posenc does not know
                self._known[id(config)] = None
        return self._known[id(config)]


# ---- Tensors and factors ------------------------------------------------------------------------


class _Held(NamedTuple):
    """A tensor, or a factor, that a module holds."""

    path: str  # "model.rotary_emb.inv_freq"
    owner: nn.Module
    name: str  # "inv_freq"
    value: Any
    rotaries: list[Rotary]  # of the configuration; the first one is the likeliest

    @property
    def module(self) -> str:
        return self.path.rpartition(".")[0]

    def repair(self, device: torch.device) -> bool:
        """Writes the right value. False if the configuration does not determine it."""
        right = self.right() if self.rotaries else None
        if right is None:
            return False
        if not isinstance(right, torch.Tensor):
            setattr(self.owner, self.name, right)
            return True
        tensor = self.value
        right = right.to(device if tensor.is_meta else tensor.device)
        if tensor.is_meta or tensor.dtype != right.dtype or tensor.numel() != right.numel():
            setattr(self.owner, self.name, right)  # keeps a buffer a buffer
        else:
            with torch.no_grad():
                tensor.copy_(right.view(tensor.shape))
        return True

    def right(self) -> torch.Tensor | float | None:
        """The right value in CPU memory; None if the configuration does not determine it."""
        rotary, value = self.rotaries[0], self.value
        if isinstance(value, float):
            return (rotary.attention_factor if "attention" in self.name
                    else _softmax_scale(self.owner, rotary))
        columns = value.shape[-1]
        if _FREQUENCIES.search(self.name):
            return torch.tensor(rotary.inv_freq, dtype=torch.float64).to(
                torch.promote_types(value.dtype, torch.float32))
        if value.is_complex() and columns == rotary.dimension // 2:
            return torch.from_numpy(rotary.cache(value.numel() // columns, "complex"))
        is_both = self.name == "cos_sin_cache" and columns == rotary.dimension
        repeats: dict[int, Any] = {rotary.dimension // 2: "once",
                                   rotary.dimension: rotary.channels}
        repeat = repeats.get(columns)
        if rotary.axes.axes > 1 or not (is_both or (repeat and re.search("cos|sin", self.name))):
            return None
        out = torch.empty(value.numel() // columns, columns, dtype=value.dtype)
        if is_both:
            return rotary.cache(len(out), "halves", out=out)
        other = torch.empty_like(out)
        pair = (out, other) if "cos" in self.name else (other, out)
        rotary.cosines_and_sines(len(out), repeat or "once", out=pair)
        return out


def _held(model: nn.Module, configs: _Configs) -> Iterator[_Held]:
    """The tensors, each memory once, and the factors of rotary embeddings and attention."""
    seen = set()
    for path, owner in model.named_modules():
        tensors = dict(owner.named_buffers(recurse=False))
        others = {**dict(owner.named_parameters(recurse=False)),
                  **{name: each for name, each in vars(owner).items()
                     if isinstance(each, torch.Tensor)}}
        tensors.update({name: each for name, each in others.items()
                        if _FREQUENCIES.search(name) or _TABLES.search(f"{path}.{name}")})
        expectation = configs.of(path) if tensors or _has_factor(owner) else None
        for name, tensor in tensors.items():
            key = (str(tensor.device), id(tensor) if tensor.is_meta else tensor.data_ptr(),
                   tensor.shape, tensor.stride(), tensor.dtype)
            if key in seen or tensor.numel() == 0:
                continue
            seen.add(key)
            named = _FREQUENCIES.search(name)
            rotaries = [] if expectation is None else expectation.rotaries(
                path, owner, named["kind"] if named else None, "original" in name)
            yield _Held(f"{path}.{name}".lstrip("."), owner, name, tensor, rotaries)
        if expectation is not None:
            for name, kind in _factors(owner):
                yield _Held(f"{path}.{name}".lstrip("."), owner, name, getattr(owner, name),
                            expectation.rotaries(path, owner, kind))


def _has_factor(owner: nn.Module) -> bool:
    return any(True for _ in _factors(owner))


def _factors(owner: nn.Module) -> Iterator[tuple[str, str | None]]:
    """The names of the factors in a module, and the kind of layers that a name tells."""
    for name, value in vars(owner).items():
        if isinstance(value, float) and name.endswith("attention_scaling"):
            yield name, name.removesuffix("attention_scaling").rstrip("_") or None
        elif isinstance(value, float) and name in ("scaling", "softmax_scale") and hasattr(
                owner, "qk_rope_head_dim"):
            yield name, None


def _softmax_scale(owner: Any, rotary: Rotary) -> float:
    """The scale of the softmax in latent attention: 1 / sqrt(channels), and YaRN's factor."""
    channels = owner.qk_rope_head_dim + owner.qk_nope_head_dim
    return float(rotary.softmax_factor / math.sqrt(channels))


# ---- Verdicts -----------------------------------------------------------------------------------


def _judged(model: nn.Module, config: Config | None, expected: dict[str, Any],
            is_quick: bool) -> Iterator[tuple[_Held, Callable[[], Finding | None]]]:
    """The tensors and factors, and a function that judges each.

    Layers often hold equal copies. A copy of a tensor that was judged has the same verdict.
    """
    known: list[tuple[_Held, Finding | None]] = []

    def judge(held: _Held) -> Finding | None:
        for other, finding in known:
            if (isinstance(held.value, torch.Tensor) and held.name == other.name
                    and held.rotaries == other.rotaries and _are_equal(held.value, other.value)):
                return None if finding is None else finding._replace(name=held.path)
        found = _finding(held, expected, is_quick)
        if isinstance(held.value, torch.Tensor) and not held.value.is_meta:
            known.append((held, found))
        return found

    for held in _held(model, _Configs(model, config, is_searched=not expected)):
        yield held, lambda held=held: judge(held)  # type: ignore[misc]


def _are_equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return (not a.is_meta and a.shape == b.shape and a.dtype == b.dtype and a.device == b.device
            and torch.equal(a, b))


def _findings(model: nn.Module, config: Config | None, expected: dict[str, Any],
              is_quick: bool = False) -> list[Finding]:
    """The findings; tensors of other layers with the same verdict are counted together."""
    findings: dict[tuple[str, str, str], Finding] = {}
    for _, judge in _judged(model, config, expected, is_quick):
        found = judge()
        if found is None:
            continue
        key = (re.sub(r"\d+", "#", found.name), found.what, found.cause)
        if key in findings:
            first = findings[key]
            found = first._replace(like_it=first.like_it + 1,
                                   max_error=max(first.max_error, found.max_error))
        findings[key] = found
    return sorted(findings.values(), key=lambda each: _VERDICTS.index(each.verdict))


def _finding(held: _Held, expected: dict[str, Any], is_quick: bool) -> Finding | None:
    if isinstance(held.value, float):
        return _factor_finding(held)
    tensor = held.value.detach()
    is_frequencies = bool(_FREQUENCIES.search(held.name)) and tensor.dim() == 1
    blank = Finding(held.path, 0, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."),
                    "wrong", math.nan, "", "")
    is_named = is_frequencies or bool(_CACHES.search(held.path))
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    if tensor.is_meta:
        cause = "it is on the device meta, so nobody has written its values"
        return blank._replace(what="no values", cause=cause) if is_named else None
    values = tensor.cpu()
    if values.is_complex():  # cosine + i sine
        values = torch.view_as_real(values).flatten(-2)
    if is_frequencies:
        return _frequency_finding(blank, values.double(), held.rotaries, expected)
    if len([size for size in values.shape if size != 1]) != 2:
        return None
    if not is_named:
        return _table_finding(blank, values, None, False, expected)
    rotary = held.rotaries[0] if held.rotaries else None
    right = held.right() if is_quick and rotary is not None else None
    if isinstance(right, torch.Tensor):
        if right.is_complex():
            right = torch.view_as_real(right).flatten(-2)
        off = (values.view(right.shape) - right).abs().max().item()
        if off <= torch.finfo(values.dtype).eps:
            return blank._replace(verdict="good", what=repr(rotary), max_error=off)
        if off <= _FLOAT32_PHASES and len(right) > _LAST_ROWS:
            # The errors of phases in float32 are the largest in the last rows.
            expected = {**expected, "first": len(right) - _LAST_ROWS}
            values = values.view(right.shape)[-_LAST_ROWS:]
    return _table_finding(blank, values, rotary, True, expected)


def _frequency_finding(blank: Finding, values: torch.Tensor, rotaries: list[Rotary],
                       expected: dict[str, Any]) -> Finding:
    claims = [each._core.convention() for each in rotaries] or [
        spec_of(**{key: expected.get(key) for key in ("base", "spacing", "frequencies")})]
    try:
        reports = [_posenc.check_frequencies(values.tolist(), claim) for claim in claims]
    except ValueError as error:
        return blank._replace(what="other frequencies than the configuration has",
                              cause=str(error))
    report = next((each for each in reports if each["is_good"]), reports[0])
    if report["is_good"]:
        return blank._replace(verdict="good", max_error=report["max_relative_error"],
                              what=report["description"])
    right = rotaries[0].inv_freq.tolist() if rotaries else None
    fault = _unwritten(values, right) or _cast(values, right)
    is_known = bool(fault) or report["is_identified"]
    return blank._replace(verdict="wrong" if is_known else "not recognised",
                          max_error=report["max_relative_error"], what=report["description"],
                          cause=fault or report["cause"])


def _unwritten(values: torch.Tensor, right: list[float] | None) -> str:
    """Why values cannot have been computed; empty if they may have been."""
    if not values.any():
        return "all values are zero: nobody has written them"
    lost = int((~values.isfinite()).sum())
    if lost:
        return f"{lost} of {values.numel()} values are NaN or infinite: nobody has written them"
    if right is None:
        # The first frequency of every published model is between 0.01 and 200 radians.
        if not 1e-4 < float(values.abs().max()) < 1e4:
            return f"the largest value is {values.abs().max():.3g}: nobody has written them"
    elif len(right) == len(values):
        wanted = torch.tensor(right, dtype=torch.float64)
        ratio = (values / wanted).abs()
        # No wrong base or rule changes a frequency by such a factor.
        off = torch.nonzero((wanted != 0) & ((ratio < 1e-9) | (ratio > 1e9)))
        if len(off) > 0:
            k = int(off[0])
            return (f"value {k} is {values[k]:.3g} and should be {right[k]:.3g}: nobody has "
                    "written them")
    return ""


def _cast(values: torch.Tensor, right: list[float] | None) -> str:
    if right is not None and len(right) == len(values):
        for dtype in (torch.bfloat16, torch.float16):
            if torch.equal(torch.tensor(right).to(dtype).double(), values):
                return (f"the values are rounded to {str(dtype).removeprefix('torch.')}, as by a "
                        "cast of the model; frequencies need float32")
    return ""


def _table_finding(blank: Finding, values: torch.Tensor, rotary: Rotary | None, is_cache: bool,
                   expected: dict[str, Any]) -> Finding | None:
    cause = _unwritten(values.double(), None) if is_cache else ""
    if cause:
        return blank._replace(what="no table", cause=cause)
    table = check_table(values, rotary=rotary, **expected)
    if not table.is_identified and not is_cache:
        return None
    verdict = "good"
    if not table.is_good:
        kinds = {kind for kind, _ in table.causes}
        verdict = ("not recognised" if not table.is_identified and rotary is None
                   else "inexact" if kinds and kinds <= _INEXACT else "wrong")
    return blank._replace(
        verdict=verdict, what=table.description,
        max_error=table.max_abs if table.is_identified else math.nan,
        cause="" if table.is_good else table.cause.removeprefix("cause: "))


def _factor_finding(held: _Held) -> Finding:
    rights = [held._replace(rotaries=[each]).right() for each in held.rotaries]
    numbers = [each for each in rights if isinstance(each, float)]
    off = [abs(held.value - each) for each in numbers]
    right = numbers[off.index(min(off))]
    error = abs(held.value / right - 1)
    what = f"{held.value:.9g}, the factor of cosines and sines"
    of_yarn = held.rotaries[0].attention_factor
    if "attention" not in held.name:
        what = f"{held.value:.9g}, the scale of the softmax"
        of_yarn = held.rotaries[0].softmax_factor
    cause = ""
    if error > _CLOSE:
        cause = f"it should be {right:.9g}"
        for wrong, text in ((right / of_yarn, "is missing"),
                            (right * of_yarn, "is applied twice"),
                            (2 * of_yarn - 1, "has YaRN's logarithm twice")):
            if math.isclose(held.value, wrong, rel_tol=_CLOSE):
                cause += f": the factor {of_yarn:.6g} of the configuration {text}"
    return Finding(held.path, 0, (), "float", "wrong" if cause else "good", error, what, cause)


def _text(findings: list[Finding]) -> str:
    """One line per tensor, and below it the identity of the tensor and the cause of its error."""
    if not findings:
        return "no tables of sines and cosines, and no inv_freq, in this module"
    verdicts = [each.verdict for each in findings]
    counts = [(verdicts.count(each), each) for each in _VERDICTS if each in verdicts]
    if len(findings) == 1:
        lines = [f"1 kind of table: {verdicts[0]}", ""]
    elif len(counts) == 1:
        lines = [f"{len(findings)} kinds of tables, all {verdicts[0]}", ""]
    else:
        parts = ", ".join(f"{count} {each}" for count, each in counts)
        lines = [f"{len(findings)} kinds of tables: {parts}", ""]
    names = [each.name + (f" (+ {each.like_it} like it)" if each.like_it else "")
             for each in findings]
    width = min(max(len(name) for name in [*names, "tensor"]), _WIDTH - 40)
    wide = max(map(len, ["verdict", *verdicts]))
    lines.append(f"{'tensor':<{width}}  {'verdict':<{wide}}  {'dtype':<8}  max |error|")
    lines.append("  ".join("-" * size for size in (width, wide, 8, 11)))
    for name, each in zip(names, findings):
        shown = name if len(name) <= width else "..." + name[3 - width:]
        lines.append(f"{shown:<{width}}  {each.verdict:<{wide}}  "
                     f"{each.dtype:<8}  {each.max_error:>11.2e}")
        for text in (each.what, each.cause):
            lines += textwrap.wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)
