"""Checks and repairs the tables that a module of PyTorch holds."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

from posenc import _posenc
from posenc.checking import check as check_table, spec_of
from posenc.rotary import Config, Rotary, read_config, text_of

__all__ = ["Finding", "WrongTables", "assert_tables", "check", "repair_tables"]

# Names of frequencies and of tables in widely used code. Only check() looks at other buffers: their
# values may show that they are tables, but a mask that resembles a table is not wrong.
_FREQUENCIES = re.compile(r"^(?P<prefix>\w*?)_?inv_freq(s|uencies)?$")
_TABLES = re.compile(
    r"(^|\.)(_?(cos|sin)_cached?|cos_sin_cache|(cos|sin)_cache|freqs_cis|freqs_(cos|sin)|pe|weights"
    r"|pos_embed|positional_(embedding|encoding)s?|position_(embedding|encoding)s?"
    r"|(embed_positions|position_embeddings?|pos_emb)\.(weight|weights|pe))$")
# Caches of a rotary embedding are never learned. They are wrong if they are no known table.
_CACHES = re.compile(r"(^|\.)(_?(cos|sin)_cached?|cos_sin_cache|(cos|sin)_cache|freqs_cis)$")
# The configuration of a multimodal model describes its text model, and not these parts.
_OTHER_PARTS = re.compile(
    r"(^|[._])(vision|visual|vit|images?|audio|video|talker|code2wav|token2wav|speech"
    r"|depth_decoder)([._]|$)|tower", re.IGNORECASE)
_SLIDING = re.compile(r"(^|[._])(local|sliding|swa)([._]|$)")
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.(\d+)(?:\.|$)")
# The tolerance of a factor, which a model may compute in float32.
_CLOSE = 1e-6
# The largest cost of float32: an error of each phase that grows with the position, and of each
# function.
_OF_PHASES, _OF_FUNCTIONS = 2.0**-22, 2.0**-20
_VERDICTS = ["wrong", "not recognised", "inexact", "good"]
_RIGHT = ("good", "inexact")
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
    """The error that assert_tables() raises. `findings` has the verdicts on the wrong tensors."""

    def __init__(self, text: str, findings: list[Finding]) -> None:
        super().__init__(text)
        self.findings = findings


def check(model: nn.Module, config: Config | None = None, **expected: Any) -> list[Finding]:
    """Checks the tables of sines and cosines in a module, prints the findings and returns them.

    Checks the buffers, parameters and attributes that have a usual name of such a table:
    cos_cached, inv_freq, freqs_cis, pe, embed_positions.weight ... Tensors that share their memory
    count once. A tensor whose values are no table, such as a learned embedding, is left out. Under
    the name of a cache or of frequencies, such a tensor is wrong or not recognised. A buffer with
    any other name is shown if it is a right table.

    config: as in posenc.rotary_from_config(). By default, each module is checked against the
    attribute `config` of the module, or of the nearest module around it, if posenc knows the model
    type and nothing else is expected. Frequencies, caches, the factor attention_scaling and, with
    latent attention, the scale of the softmax must match the configuration. expected: base,
    spacing, frequencies and the other arguments of posenc.check(), for all tables alike.
    """
    if config is not None and expected.keys() & {"base", "spacing", "frequencies"}:
        raise ValueError("config is given with base, spacing or frequencies; allowed: one of them")
    findings = _findings(model, config, expected)
    print(_text(findings))
    return findings


def assert_tables(model: nn.Module, config: Config | None = None) -> None:
    """Raises WrongTables if a table, a frequency or a factor in the model is wrong.

    Call it once a model is loaded. The arguments are the same as in check(). The message names each
    wrong tensor and the cause. A table that is inexact or not recognised raises nothing. Raises
    ValueError if `config` is given and posenc cannot read it.
    """
    wrong = [each for each in _findings(model, config, {}, is_quick=True)
             if each.verdict == "wrong"]
    if wrong:
        raise WrongTables(f"{_text(wrong)}\n\nposenc.torch.repair_tables(model, config) computes "
                          "the tables of a configuration anew", wrong)


def repair_tables(model: nn.Module, config: Config | None = None) -> list[str]:
    """Computes wrong frequencies, rotary caches and factors anew, and returns their names.

    The new values are correctly rounded. Frequencies in 16 bits become float32. A tensor on the
    device "meta" moves to the device of the model's parameters. The arguments are the same as in
    check(). A wrong table stays as it is if the configuration does not determine its right values.
    WrongTables is then raised, after the other tables have been repaired.
    """
    repaired = []
    device = next((each.device for each in model.parameters() if not each.is_meta),
                  torch.device("cpu"))
    judged = list(_judged(model, config, {}, is_quick=True))
    memories = [held.memory for held, _ in judged]
    for held, finding in judged:
        if (finding is not None and finding.verdict == "wrong"
                and held.repair(device, is_shared=memories.count(held.memory) > 1)):
            repaired.append(held.path)
    assert_tables(model, config)
    return repaired


# ---- What a configuration says ------------------------------------------------------------------


class _Expectation:
    """The rotary embeddings of a configuration."""

    def __init__(self, config: Config) -> None:
        self._config = json.loads(text_of(config, "config"))
        self._read: dict[int | None, dict[str, Rotary]] = {}
        self.read(None)  # raises ValueError if the configuration cannot be read
        text = self._config.get("text_config")
        types = (text if isinstance(text, dict) else self._config).get("layer_types")
        self._layer_types = types if isinstance(types, list) else []

    def read(self, rows: int | None) -> dict[str, Rotary]:
        """The embeddings by kinds of layers, for sequences of up to `rows` rows."""
        if rows not in self._read:
            self._read[rows] = read_config(self._config, rows, None, None)[0]
        return self._read[rows]

    def rotaries(self, path: str, owner: nn.Module, siblings: str,
                 prefix: str | None) -> tuple[list[Rotary], bool]:
        """The embeddings that a module may have, and whether the first one is the only choice.

        prefix: the text before inv_freq, or before the name of a factor; None for a cache.

        A dynamic rule follows the longest sequence so far, max_seq_len_cached. LongRoPE has two
        lists of factors: modules begin with the short list, and switch between the lists.
        """
        words = (prefix or "").split("_")
        version = words.pop() if words[-1] in ("original", "long", "short") else ""
        kinds = self._kinds("_".join(words), path, siblings)
        chosen = [self.read(None)[each] for each in kinds]
        is_certain = len(kinds) == 1
        rule = repr(chosen[0])
        if "rule longrope" in rule and version != "long":
            short = [self.read(1)[each] for each in kinds]
            if version:
                return short, is_certain
            both = short + [each for each in chosen if each not in short]
            return both, is_certain and prefix is not None
        rows = _number(getattr(owner, "max_seq_len_cached", None))
        if "rule ntk" in rule and rows and 0 < rows < 2**53 and version != "original":
            chosen = [self.read(int(rows))[each] for each in kinds]
        return chosen, is_certain

    def _kinds(self, kind: str, path: str, siblings: str) -> list[str]:
        """The kinds of layers that a module may belong to, as far as names and its path tell."""
        kinds = list(self.read(None))
        if kind in kinds:
            return [kind]
        layer = _LAYER.search(path)
        if layer and int(layer[1]) < len(self._layer_types):
            of_layer = self._layer_types[int(layer[1])]
            if of_layer in kinds:
                return [of_layer]
        is_sliding = bool(_SLIDING.search(path))
        if is_sliding or _SLIDING.search(siblings):
            return [each for each in kinds if bool(_SLIDING.search(each)) == is_sliding] or kinds
        return kinds


def _number(value: Any) -> float | None:
    """A number, also of NumPy or in a tensor without dimensions."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = None if getattr(value, "is_meta", False) else value.item()
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _expectations(model: nn.Module, config: Config | None,
                  is_searched: bool) -> dict[str, _Expectation | None]:
    """The expectation for each module, by its path; None if there is none.

    The given configuration applies to all modules. If none is given and is_searched is true, the
    attribute `config` of the module, or of the nearest module around it, applies.
    """
    known: dict[int, _Expectation | None] = {}

    def read(own: Any) -> _Expectation | None:
        if id(own) not in known:
            try:
                known[id(own)] = _Expectation(own)
            except (ValueError, TypeError, OSError):  # a type that posenc does not know
                known[id(own)] = None
        return known[id(own)]

    holders: dict[str, tuple[str, _Expectation | None]] = {}  # who has the configuration, and it
    around = "", None if config is None else _Expectation(config)
    for path, module in model.named_modules():
        own = getattr(module, "config", None) if is_searched and config is None else None
        holders[path] = (holders.get(path.rpartition(".")[0], around) if own is None
                         else (path, read(own)))
    return {path: None if _OTHER_PARTS.search(path[len(holder):]) else expectation
            for path, (holder, expectation) in holders.items()}


# ---- Tensors and factors ------------------------------------------------------------------------


class _Held(NamedTuple):
    """A tensor, or a factor, that modules hold."""

    path: str  # "model.rotary_emb.inv_freq"
    owner: nn.Module
    name: str  # "inv_freq"
    value: Any
    rotaries: list[Rotary]  # the embeddings that it may belong to
    is_certain: bool  # the first of them is the only choice
    holders: list[tuple[nn.Module, str]]  # all modules that hold this memory, and its names there

    @property
    def is_tensor(self) -> bool:
        """False for a factor, which may be a tensor without dimensions."""
        return isinstance(self.value, torch.Tensor) and self.value.dim() > 0

    @property
    def memory(self) -> Any:
        """A key that is equal for tensors in the same memory."""
        tensor = self.value
        if not self.is_tensor:
            return self.path
        where = id(tensor) if tensor.is_meta else tensor.data_ptr()
        return str(tensor.device), where, tensor.shape, tensor.stride(), tensor.dtype

    def repair(self, device: torch.device, is_shared: bool) -> bool:
        """Writes the right value. False if the configuration does not determine it.

        is_shared: if true, the memory also holds another tensor, which must keep its values.
        """
        right = self.right(self.rotaries[0]) if self.is_certain else None
        if right is None:
            return False
        tensor = self.value
        if isinstance(right, torch.Tensor):
            if right.numel() == tensor.numel():
                right = right.view(tensor.shape)
            right = right.to(device if tensor.is_meta else tensor.device)
            if not tensor.is_meta and tensor.dtype == right.dtype and not is_shared:
                try:
                    with torch.no_grad():
                        tensor.copy_(right)
                    return True
                except RuntimeError:  # another size, or memory that cannot be written
                    pass
            if isinstance(tensor, nn.Parameter):
                right = nn.Parameter(right, tensor.requires_grad)
        for owner, name in self.holders:
            setattr(owner, name, right)  # keeps a buffer a buffer
        return True

    def right(self, rotary: Rotary) -> torch.Tensor | float | None:
        """The right value in CPU memory; None if the embedding does not determine it."""
        if not self.is_tensor:
            return self.factor(rotary)
        value: torch.Tensor = self.value
        columns = value.shape[-1]
        if _FREQUENCIES.search(self.name):
            return torch.tensor(rotary.inv_freq, dtype=torch.float64).to(
                torch.promote_types(value.dtype, torch.float32))
        if value.is_complex() and columns == rotary.dimension // 2:
            cache = torch.from_numpy(rotary.cache(value.numel() // columns, "complex"))
            return cache.to(value.dtype)
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

    def factor(self, rotary: Rotary) -> float:
        """The right value of a factor."""
        if "attention" in self.name:
            return rotary.attention_factor
        # The scale of the softmax in latent attention, with YaRN's factor.
        owner: Any = self.owner
        channels = owner.qk_rope_head_dim + owner.qk_nope_head_dim
        return float(rotary.softmax_factor / math.sqrt(channels))


def _held(model: nn.Module, expectations: dict[str, _Expectation | None],
          has_others: bool) -> list[_Held]:
    """The tensors with usual names, and the factors of rotary embeddings and attention.

    Tensors in the same memory count once for each expectation. has_others: if true, buffers with
    any other name are included.
    """
    found: dict[Any, _Held] = {}
    modules = dict(model.named_modules())
    for path, owner in modules.items():
        expectation = expectations[path]
        parent = modules.get(path.rpartition(".")[0]) if path else None
        siblings = "" if parent is None else ".".join(dict(parent.named_children()))

        def add(name: str, value: Any, prefix: str | None) -> None:
            full = f"{path}.{name}".lstrip(".")
            rotaries, is_certain = ([], False) if expectation is None else (
                expectation.rotaries(path, owner, siblings, prefix))
            held = _Held(full, owner, name, value, rotaries, is_certain, [])
            key = held.memory, tuple(map(id, rotaries))
            found.setdefault(key, held).holders.append((owner, name))

        buffers = dict(owner.named_buffers(recurse=False))
        tensors = {**buffers, **dict(owner.named_parameters(recurse=False)),
                   **{name: each for name, each in vars(owner).items()
                      if isinstance(each, torch.Tensor)}}
        for name, tensor in tensors.items():
            named = _FREQUENCIES.search(name)
            is_usual = named or _TABLES.search(f"{path}.{name}")
            if (tensor.dim() > 0 and tensor.numel() > 0 and tensor.layout == torch.strided
                    and (is_usual or (has_others and name in buffers))):
                add(name, tensor, named["prefix"] if named else None)
        for name, kind in _factors(owner) if expectation is not None else ():
            add(name, getattr(owner, name), kind)
    return list(found.values())


def _factors(owner: nn.Module) -> Iterator[tuple[str, str]]:
    """The names of the factors in a module, each with the kind of layers in its name."""
    is_latent = all(_number(getattr(owner, each, None)) for each in
                    ("qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"))
    for name, value in vars(owner).items():
        if _number(value) is None:
            continue
        if name.endswith("attention_scaling"):
            yield name, name.removesuffix("attention_scaling").rstrip("_")
        elif name in ("scaling", "softmax_scale") and is_latent:
            yield name, ""


# ---- Verdicts -----------------------------------------------------------------------------------


def _judged(model: nn.Module, config: Config | None, expected: dict[str, Any],
            is_quick: bool) -> Iterator[tuple[_Held, Finding | None]]:
    """The tensors and factors, and the finding on each.

    Layers often hold equal copies. A copy of a tensor that was judged gets the same verdict.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model is of type {type(model).__name__}; allowed: torch.nn.Module")
    known: list[tuple[_Held, Finding | None]] = []
    expectations = _expectations(model, config, is_searched=not expected)
    for held in _held(model, expectations, has_others=not is_quick):
        has_values = held.is_tensor and not held.value.is_meta
        found = next((finding for other, finding in known if has_values
                      and held.name == other.name and held.rotaries == other.rotaries
                      and _are_equal(held.value, other.value)), ...)
        if found is ...:
            found = _finding(held, expected, is_quick)
            if has_values:
                known.append((held, found))
        yield held, found and found._replace(name=held.path)


def _are_equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return (a.shape == b.shape and a.dtype == b.dtype and a.device == b.device
            and torch.equal(a, b))


def _findings(model: nn.Module, config: Config | None, expected: dict[str, Any],
              is_quick: bool = False) -> list[Finding]:
    """The findings; tensors of other layers with the same verdict are counted together."""
    findings: dict[tuple[str, str, str], Finding] = {}
    for _, found in _judged(model, config, expected, is_quick):
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
    if not held.is_tensor:
        return _factor_finding(held)
    tensor = held.value.detach()
    is_frequencies = bool(_FREQUENCIES.search(held.name)) and tensor.dim() == 1
    blank = Finding(held.path, 0, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."),
                    "wrong", math.nan, "", "")
    is_cache = bool(_CACHES.search(held.path))
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    if tensor.is_meta:
        cause = "it is on the device meta, so nobody has written its values"
        is_named = is_frequencies or is_cache
        return blank._replace(what="no values", cause=cause) if is_named else None
    values = tensor.cpu()
    if values.is_complex():  # cosine + i sine
        values = torch.view_as_real(values.resolve_conj()).flatten(-2)
    values = values.resolve_neg()
    if is_frequencies:
        return _frequency_finding(blank, values.double(), held.rotaries, expected)
    if is_cache:
        return _cache_finding(blank, held, values, expected, is_quick)
    if len([size for size in values.shape if size != 1]) != 2:
        return None
    found = _table_finding(blank, values, None, expected)
    is_shown = _TABLES.search(held.path) or (found and found.verdict in _RIGHT)
    return found if is_shown else None


def _cache_finding(blank: Finding, held: _Held, values: torch.Tensor, expected: dict[str, Any],
                   is_quick: bool) -> Finding | None:
    for rotary in held.rotaries if is_quick else []:
        right = held.right(rotary)
        if not isinstance(right, torch.Tensor) or right.numel() != held.value.numel():
            break
        if right.is_complex():
            right = torch.view_as_real(right).flatten(-2)
        off = (values.reshape(right.shape) - right).abs().amax(1) / rotary.attention_factor
        found = blank._replace(what=repr(rotary), max_error=off.max().item())
        if found.max_error <= torch.finfo(values.dtype).eps:
            return found._replace(verdict="good")
        limits = _OF_PHASES * torch.arange(len(off)) + _OF_FUNCTIONS
        if values.dtype == torch.float32 and bool((off <= limits).all()):
            return found._replace(verdict="inexact", cause="phases or functions in float32")
    cause = _unwritten(values, None)
    if cause:
        return blank._replace(what="no table", cause=cause)
    sizes = [size for size in values.shape if size != 1]
    if len(sizes) != 2 and not (len(sizes) == 3 and sizes[2] == 2):
        return None  # no table that posenc can read
    judged: Finding | None = None
    choices: list[Rotary | None] = [*held.rotaries] or [None]
    for choice in choices:
        try:
            judged = _table_finding(blank, values, choice, expected, held.name)
        except ValueError as error:  # another width than the configuration has
            judged = blank._replace(what="another table than the configuration has",
                                    cause=str(error))
        if judged is not None and judged.verdict in _RIGHT:
            break
    return judged


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
    found = blank._replace(max_error=report["max_relative_error"], what=report["description"])
    if report["is_good"]:
        return found._replace(verdict="good")
    right = torch.from_numpy(rotaries[0].inv_freq) if rotaries else None
    if right is not None and len(right) != len(values):
        right = None
    fault = _unwritten(values, right)
    if right is not None and not fault:
        for dtype in ("bfloat16", "float16"):
            if torch.equal(right.float().to(getattr(torch, dtype)).double(), values):
                fault = (f"the values are rounded to {dtype}, as by a cast of the model; "
                         "frequencies need float32")
                break
    is_known = bool(fault) or report["is_identified"]
    return found._replace(verdict="wrong" if is_known else "not recognised",
                          cause=fault or report["cause"])


def _unwritten(values: torch.Tensor, right: torch.Tensor | None) -> str:
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
    else:
        ratio = (values / right).abs()
        # No wrong base or rule changes a frequency by such a factor.
        off = torch.nonzero((right != 0) & ((ratio < 1e-9) | (ratio > 1e9)))
        if len(off) > 0:
            k = int(off[0])
            return (f"value {k} is {values[k]:.3g} and should be {right[k]:.3g}: nobody has "
                    "written them")
    return ""


def _table_finding(blank: Finding, values: torch.Tensor, rotary: Rotary | None,
                   expected: dict[str, Any], cache: str = "") -> Finding | None:
    """The finding on a table. If `cache` is the name of a cache, it must hold that table."""
    table = check_table(values, rotary=rotary, **expected)
    if not table.is_identified and not cache:
        return None
    verdict, cause = "good", ""
    layout = str(table.identity.get("layout", ""))
    has_cosines, has_sines = "cos" in cache, "sin" in cache
    other = ("sines" if has_cosines and not has_sines else
             "cosines" if has_sines and not has_cosines else "")
    if not table.is_good:
        verdict = ("not recognised" if not table.is_identified and rotary is None
                   else "inexact" if table.is_inexact else "wrong")
        cause = table.cause.removeprefix("cause: ")
    elif other and layout.startswith(other):
        verdict, cause = "wrong", f"the table holds {other}"
    return blank._replace(verdict=verdict, what=table.description, cause=cause,
                          max_error=table.max_abs if table.is_identified else math.nan)


def _factor_finding(held: _Held) -> Finding:
    value = _number(held.value) or 0.0
    right = min(map(held.factor, held.rotaries), key=lambda each: abs(value - each))
    error = abs(value / right - 1)
    if "attention" in held.name:
        what, of_yarn = "the factor of cosines and sines", held.rotaries[0].attention_factor
    else:
        what, of_yarn = "the scale of the softmax", held.rotaries[0].softmax_factor
    cause = ""
    if not error <= _CLOSE:
        cause = f"it should be {right:.9g}"
        for wrong, text in ((right / of_yarn, "is missing"),
                            (right * of_yarn, "is applied twice"),
                            (2 * of_yarn - 1, "has YaRN's logarithm twice")):
            if math.isclose(value, wrong, rel_tol=_CLOSE):
                cause += f": the factor {of_yarn:.6g} of the configuration {text}"
    return Finding(held.path, 0, (), "float", "wrong" if cause else "good", error,
                   f"{value:.9g}, {what}", cause)


def _text(findings: list[Finding]) -> str:
    """One line per tensor, and below it the identity of the tensor and the cause of its error."""
    if not findings:
        return "no tables of sines and cosines, and no inv_freq, in this module"
    verdicts = [each.verdict for each in findings]
    if len(findings) == 1:
        heading = f"1 kind of table: {verdicts[0]}"
    elif len(set(verdicts)) == 1:
        heading = f"{len(findings)} kinds of tables, all {verdicts[0]}"
    else:
        counts = [f"{verdicts.count(each)} {each}" for each in _VERDICTS if each in verdicts]
        heading = f"{len(findings)} kinds of tables: {', '.join(counts)}"
    names = [each.name + (f" (+ {each.like_it} like it)" if each.like_it else "")
             for each in findings]
    width = min(max(len(name) for name in [*names, "tensor"]), _WIDTH - 40)
    wide = max(map(len, ["verdict", *verdicts]))
    lines = [heading, "", f"{'tensor':<{width}}  {'verdict':<{wide}}  {'dtype':<8}  max |error|",
             "  ".join("-" * size for size in (width, wide, 8, 11))]
    for name, each in zip(names, findings):
        shown = name if len(name) <= width else "..." + name[3 - width:]
        lines.append(f"{shown:<{width}}  {each.verdict:<{wide}}  "
                     f"{each.dtype:<8}  {each.max_error:>11.2e}")
        for text in (each.what, each.cause):
            lines += textwrap.wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)
