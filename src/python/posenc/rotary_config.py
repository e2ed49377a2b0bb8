"""Rotary embeddings from the configurations of models of Transformers.

A configuration is read as the code of its model type reads it. A key that may change the result is
either read or refused: a table from an ignored key would be wrong, and nothing would say so.
"""

from __future__ import annotations

import math
import numbers
import re
import reprlib
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from posenc._posenc import Rotary
from posenc.frequencies import (
    LinearScaling,
    Llama3Scaling,
    LongRopeScaling,
    NtkScaling,
    Scaling,
    YarnScaling,
    dynamic_ntk_scaling,
)

__all__ = ["rotary_from_config"]


class _Family(NamedTuple):
    """How the code of a model type reads its configuration."""

    channels: str = "halves"
    # The key of the dimension. "hidden_size" is for hidden_size / num_attention_heads.
    dimension: str = "hidden_size"
    derives_head_dim: bool = False  # from hidden_size, if there is no head_dim
    bases: tuple[str, ...] = ("rope_theta",)  # keys, of which those that are given agree
    base: float | None = None  # if none is given; None: it is needed
    shares: tuple[str, ...] = ()  # keys of the part of a head that is turned, likewise
    share: float | None = 1.0
    rules: tuple[str, ...] = ("default", "dynamic", "linear", "llama3", "longrope", "yarn")


_PLAIN = _Family()
_HEAD = _Family(dimension="head_dim")
_LLAMA = _Family(dimension="head_dim", derives_head_dim=True)
_PARTIAL = _Family(shares=("partial_rotary_factor",), share=None)
_GPT_J = _Family("interleaved", "rotary_dim", bases=(), base=10000.0, rules=("default",))
_DEEPSEEK = _Family("interleaved", "qk_rope_head_dim")
_FAMILIES = {
    "arcee": _LLAMA,
    "chatglm": _GPT_J._replace(dimension="kv_channels"),
    "codegen": _GPT_J,
    "cohere": _Family("interleaved"),
    "cohere2": _Family("interleaved"),
    "deepseek_v2": _DEEPSEEK,
    "deepseek_v3": _DEEPSEEK,
    "ernie4_5": _HEAD._replace(channels="interleaved"),
    "gemma": _HEAD,
    "gemma2": _HEAD,
    "glm": _PARTIAL._replace(channels="interleaved", dimension="head_dim"),
    "glm4": _PARTIAL._replace(channels="interleaved", dimension="head_dim"),
    "glm4_moe": _PARTIAL._replace(dimension="head_dim"),
    "gpt_neox": _Family(
        bases=("rope_theta", "rotary_emb_base"),
        shares=("partial_rotary_factor", "rotary_pct"),
        share=None,
    ),
    "gpt_oss": _HEAD,
    "gptj": _GPT_J,
    "granite": _PLAIN,
    "hunyuan_v1_dense": _HEAD,
    "hunyuan_v1_moe": _HEAD,
    "internlm2": _Family(rules=("default", "dynamic", "linear")),
    "kimi_k2": _DEEPSEEK,
    "llama": _LLAMA._replace(base=10000.0),
    "llama4_text": _HEAD._replace(channels="interleaved"),
    "minimax_m2": _Family(dimension="rotary_dim"),
    "mistral": _LLAMA,
    "mixtral": _LLAMA,
    "nemotron": _PARTIAL._replace(dimension="head_dim", derives_head_dim=True),
    "olmo": _PLAIN,
    "olmo2": _PLAIN,
    "olmoe": _PLAIN,
    "persimmon": _PARTIAL,
    "phi": _PARTIAL,
    "phi3": _PARTIAL._replace(share=1.0, rules=("default", "longrope")),
    "qwen2": _PLAIN,
    "qwen2_moe": _PLAIN,
    "qwen3": _HEAD,
    "qwen3_moe": _HEAD,
    "seed_oss": _HEAD,
    "smollm3": _LLAMA,
    "stablelm": _PARTIAL,
    "starcoder2": _PLAIN,
}

_OF_LAYERS = "none; its kinds of layers have a rule each: call Rotary() for each kind"
_OF_AXES = "none; positions of several axes are not read"
_OF_TEXT = "none; pass the configuration of the text model, config['text_config']"
_NOT_READ = {
    "bert": "none; its positions are learned",
    "gemma3_text": _OF_LAYERS,
    "gemma4_text": _OF_LAYERS,
    "modernbert": _OF_LAYERS,
    "qwen2_5_vl": _OF_AXES,
    "qwen2_vl": _OF_AXES,
    "qwen3_5_text": _OF_AXES,
    "qwen3_vl_text": _OF_AXES,
}
_HINTS = {
    "mrope_section": _OF_AXES,
    "rope_local_base_freq": _OF_LAYERS,
    "text_config": _OF_TEXT,
    "xdrope_section": _OF_AXES,
}
# Keys with the value that changes nothing, of models that do not read them.
_NEUTRAL = {
    "alibi": False,
    "compression_ratio": 1.0,
    "mrope_interleaved": False,
    "original_rope": True,
    "partial_rotary_factor": 1.0,
    "position_embedding_xdrope": False,
    "rope_interleaved": False,
    "rope_ratio": 1.0,
    "rotary": True,
    "rotary_pct": 1.0,
    "use_mrope": False,
    "use_rotary_pos_emb": True,
}
_EVERY_KEY = re.compile("")
_ROPE_LIKE = re.compile(
    "rope|nope|rotary|rotate|theta|yarn|ntk|mscale|^alpha$|_pct$|position|pos_emb|alibi|head_dim|"
    "head_size|kv_channels|compression_ratio|base_freq",
    re.IGNORECASE,
)


def _refusal(key: str, value: Any, allowed: str) -> ValueError:
    return ValueError(f"{key} is {reprlib.repr(value)}; allowed: {allowed}")


def _is_real(value: Any) -> bool:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max


class _Keys:
    """A mapping that knows which of its keys were read. A key whose value is None is absent."""

    def __init__(self, mapping: Mapping[str, Any], prefix: str = "") -> None:
        self._values = {str(key): value for key, value in mapping.items() if value is not None}
        self._prefix = prefix
        self._read: set[str] = set()

    def get(self, key: str) -> Any:
        self._read.add(key)
        return self._values.get(key)

    def refuse(self, key: str, allowed: str) -> ValueError:
        return _refusal(self._prefix + key, self._values.get(key), allowed)

    def integer(self, key: str, least: int = 1) -> int | None:
        value = self.get(key)
        is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        if value is not None and not (is_integer and least <= value <= 2**53):
            raise self.refuse(key, f"an integer from {least} to {2**53}")
        return None if value is None else int(value)

    def real(self, key: str, above: float = 0.0, most: float = math.inf) -> float | None:
        value = self.get(key)
        if value is not None and (not _is_real(value) or not above < value <= most):
            limit = "" if most == math.inf else f", at most {most:g}"
            raise self.refuse(key, f"a finite number above {above:g}{limit}")
        return None if value is None else float(value)

    def boolean(self, key: str, default: bool) -> bool:
        value = self.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.refuse(key, "true, false")
        return default if value is None else value

    def reals(self, key: str, count: int) -> list[float]:
        values = self.get(key)
        if not isinstance(values, list) or len(values) != count or not all(map(_is_real, values)):
            raise self.refuse(key, f"a list of {count} numbers, one for each pair of channels")
        return [float(each) for each in values]

    def check_all_read(self, names: re.Pattern[str]) -> None:
        """Raises ValueError for a key of these names that was not read and may change the result.

        A mapping that was not read may not have such keys either.
        """
        for key, value in self._values.items():
            if key in self._read:
                continue
            neutral = _NEUTRAL.get(key)
            allowed = _HINTS.get(key, "none, since it is not read" if neutral is None else neutral)
            if names.search(key) and (neutral is None or value != neutral):
                raise self.refuse(key, str(allowed))
            for inner in filter(names.search, value if isinstance(value, Mapping) else ()):
                raise _refusal(f"{key}.{inner}", value[inner], str(allowed))


def _agreed(given: Mapping[str, Any]) -> Any:
    """The value of all keys that are present, or None. Raises ValueError if two differ."""
    present = [(key, value) for key, value in given.items() if value is not None]
    for key, value in present[1:]:
        if value != present[0][1]:
            raise _refusal(key, value, f"{present[0][1]!r}, which {present[0][0]} is")
    return present[0][1] if present else None


def _needed(key: str, value: Any) -> Any:
    if value is None:
        raise ValueError(f"the configuration has no {key}, which is needed")
    return value


def rotary_from_config(
    config: Mapping[str, Any], rows: int | None = None, channels: str | None = None
) -> Rotary:
    """The rotary embedding of a model of Transformers, from its config.json.

    rows: of the longest sequence, on which the rules "dynamic" and "longrope" depend; by default
    max_position_embeddings.
    channels: the pairs that are turned, "halves" or "interleaved" as in Rotary(); by default those
    of the model type.

    Raises ValueError, which names the key and its value, if the model type is not one that is read,
    or if the configuration has a key that may change the result and is not read.
    """
    if not isinstance(config, Mapping):
        name = type(config).__name__
        raise TypeError(f"config is of type {name}; allowed: a mapping, as json.load() returns")
    return _Reader(config, _Keys({"rows": rows}).integer("rows")).rotary(channels)


class _Reader:
    """A configuration while it is read."""

    def __init__(self, config: Mapping[str, Any], rows: int | None) -> None:
        self.config = _Keys(config)
        self.model_type = _model_type_of(self.config)
        self.family = _FAMILIES[self.model_type]
        self.scaling = _scaling_of(self.config)
        self.kind = self._kind()
        self.dimension = self._dimension()
        self.most_rows = self.config.integer("max_position_embeddings", 2)
        self.rows = rows

    def rotary(self, channels: str | None) -> Rotary:
        base, of_model, rule = self._base(), self._channels(), self._rule()
        self._check_layers()
        self.scaling.check_all_read(_EVERY_KEY)
        self.config.check_all_read(_ROPE_LIKE)
        return Rotary(self.dimension, base=base, channels=channels or of_model, frequencies=rule)

    def _kind(self) -> str:
        names = {name: self.scaling.get(name) for name in ("rope_type", "type")}
        given = _agreed(names)
        kind = "default" if given is None else given
        if self.model_type == "phi3" and kind in ("su", "yarn"):
            return "longrope"  # Its configuration renames them.
        if kind not in self.family.rules:
            raise _refusal("rope_type", kind, ", ".join(self.family.rules))
        return str(kind)

    def _dimension(self) -> int:
        dimension = int(self._turned_part() * self._share())
        if dimension < 2 or dimension % 2 != 0:
            key = self.family.dimension
            raise _refusal(f"the dimension, from {key},", dimension, "even, at least 2")
        return dimension

    def _turned_part(self) -> int:
        """The channels of which a share is turned."""
        key = self.family.dimension
        if key == "hidden_size":
            head = self._head()
            _agreed({"hidden_size / num_attention_heads": head, **self._integers("head_dim")})
            return head
        given = self.config.integer(key)
        if given is None and self.family.derives_head_dim:
            return self._head()
        given = int(_needed(key, given))
        if key == "kv_channels":
            return given // 2  # The other half of a head is not turned.
        if key == "rotary_dim":
            self._check_rotary_dim(given)
        elif key == "qk_rope_head_dim":
            self._integers("qk_head_dim", "qk_nope_head_dim", "v_head_dim")
            _agreed({key: given, **self._integers("head_dim")})
        elif self.model_type.startswith("hunyuan"):
            _agreed({key: given, **self._integers("attention_head_dim")})
        return given

    def _integers(self, *keys: str) -> dict[str, int | None]:
        return {key: self.config.integer(key) for key in keys}

    def _head(self, size: str = "hidden_size", heads: str = "num_attention_heads") -> int:
        sizes = self._integers(size, heads)
        return int(_needed(size, sizes[size]) // _needed(heads, sizes[heads]))

    def _check_rotary_dim(self, rotary_dim: int) -> None:
        if self.family == _GPT_J:
            self._integers("n_positions")
            head = self._head("n_embd", "n_head")
        else:
            head = _needed("head_dim", self.config.integer("head_dim"))
        if rotary_dim > head:
            raise self.config.refuse("rotary_dim", f"at most {head}, the channels of a head")

    def _in_both(self, names: tuple[str, ...], above: float, most: float) -> float | None:
        """The one value that the keys have, of which the first may also be the rule's."""
        given = {name: self.config.real(name, above, most) for name in names}
        if names:
            given[f"the rule's {names[0]}"] = self.scaling.real(names[0], above, most)
        value: float | None = _agreed(given)
        return value

    def _share(self) -> float:
        share = self._in_both(self.family.shares, 0, 1)
        return float(_needed("partial_rotary_factor", share or self.family.share))

    def _base(self) -> float:
        base = self._in_both(self.family.bases, 1, math.inf)
        return float(_needed("rope_theta", base or self.family.base))

    def _channels(self) -> str:
        channels = self.family.channels
        if self.family == _DEEPSEEK and not self.config.boolean("rope_interleave", True):
            channels = "halves"
        name = self.config.get("position_embedding_type")
        allowed = ("rope", "rope_gptj") if channels == "interleaved" else ("rope",)
        if name is not None and name not in allowed:
            raise self.config.refuse("position_embedding_type", ", ".join(allowed))
        return channels

    def _check_layers(self) -> None:
        """Some model types switch layers off if they are not told which to turn."""
        layers = self.config.get("no_rope_layers")
        if layers is None and self.model_type not in ("llama4_text", "smollm3"):
            return
        self.config.get("no_rope_layer_interval")  # It has no effect on given layers.
        if not isinstance(layers, list) or not layers or any(each != 1 for each in layers):
            allowed = "[1, 1, ...], for a table of the layers that are turned, since 0 is for none"
            raise self.config.refuse("no_rope_layers", allowed)

    def _rule(self) -> Scaling | None:
        rules: dict[str, Callable[[], Scaling | None]] = {
            "default": self._default,
            "dynamic": self._dynamic,
            "linear": self._linear,
            "llama3": self._llama3,
            "longrope": self._longrope,
            "yarn": self._yarn,
        }
        return rules[self.kind]()

    def _factor(self, key: str = "factor") -> float:
        return float(_needed(key, self.scaling.real(key)))

    def _most_rows(self) -> int:
        return int(_needed("max_position_embeddings", self.most_rows))

    def _trained_rows(self) -> int | None:
        key = "original_max_position_embeddings"
        of_rule = self.scaling.integer(key, 2)
        rows: int | None = _agreed({key: self.config.integer(key, 2), f"the rule's {key}": of_rule})
        return rows

    def _default(self) -> None:
        self.config.get("original_max_position_embeddings")  # It has no effect without a rule.

    def _linear(self) -> LinearScaling:
        self._default()
        return LinearScaling(self._factor())

    def _dynamic(self) -> NtkScaling:
        most_rows = self._most_rows()
        _agreed({"original_max_position_embeddings": self._trained_rows(),
                 "max_position_embeddings": most_rows})
        if self.model_type.startswith("hunyuan") and self.scaling.real("alpha") is not None:
            return self._hunyuan(most_rows)
        return dynamic_ntk_scaling(self._factor(), most_rows, self.rows or most_rows)

    def _hunyuan(self, most_rows: int) -> NtkScaling:
        """A constant scaling. For longer sequences, Transformers takes another one."""
        if self.rows is not None and self.rows > most_rows:
            raise _refusal("rows", self.rows, f"at most max_position_embeddings, {most_rows}")
        for name in ("beta_fast", "beta_slow", "factor", "mscale", "mscale_all_dim"):
            self.scaling.get(name)
        return NtkScaling(self._factor("alpha"))

    def _yarn(self) -> YarnScaling:
        return YarnScaling(
            self._factor(),
            self._trained_rows() or self._most_rows(),
            self.scaling.real("beta_fast") or 32.0,
            self.scaling.real("beta_slow") or 1.0,
            self.scaling.boolean("truncate", True),
            self._yarn_attention_factor(),
        )

    def _yarn_attention_factor(self) -> float:
        given = self.scaling.real("attention_factor")
        scale, of_all = self.scaling.real("mscale"), self.scaling.real("mscale_all_dim")
        if given is not None:
            return given
        if scale is None and of_all is None:
            return 0.0
        if scale is None or of_all is None:
            key, value = ("mscale", scale) if of_all is None else ("mscale_all_dim", of_all)
            raise _refusal(key, value, "mscale and mscale_all_dim, or neither of them")
        growth = 0.1 * math.log(max(self._factor(), 1.0))
        return (scale * growth + 1) / (of_all * growth + 1)

    def _llama3(self) -> Llama3Scaling:
        return Llama3Scaling(
            self._factor(),
            _needed("original_max_position_embeddings", self._trained_rows()),
            self._factor("low_freq_factor"),
            self._factor("high_freq_factor"),
        )

    def _longrope(self) -> LongRopeScaling:
        most_rows = self._most_rows()
        trained_rows = self._trained_rows() or most_rows
        if self.model_type == "phi3":  # Its default is not the one of the other model types.
            key = "original_max_position_embeddings"
            _needed(key, self.config.integer(key))
        pairs = self.dimension // 2
        short = self.scaling.reals("short_factor", pairs)
        long = self.scaling.reals("long_factor", pairs)
        factors = long if (self.rows or most_rows) > trained_rows else short
        extension = most_rows / trained_rows
        factor = self.scaling.real("factor")
        if extension == 1:
            extension = factor or 1.0
        _agreed({"factor": factor,
                 "max_position_embeddings / original_max_position_embeddings": extension})
        attention_factor = self.scaling.real("attention_factor")
        if attention_factor is None:
            growth = math.log(max(extension, 1.0)) / math.log(trained_rows)
            attention_factor = math.sqrt(1 + growth)
        return LongRopeScaling(factors, attention_factor)


def _model_type_of(config: _Keys) -> str:
    name = config.get("model_type")
    if isinstance(name, str) and name in _FAMILIES:
        return name
    hint = _OF_TEXT if config.get("text_config") is not None else _NOT_READ.get(str(name))
    raise _refusal("model_type", name, hint or ", ".join(_FAMILIES))


def _scaling_of(config: _Keys) -> _Keys:
    """The keys of the rule, of which there is at most one."""
    for name in ("rope_scaling", "rope_parameters"):
        value = config.get(name)
        if value is not None and not isinstance(value, Mapping):
            raise config.refuse(name, "a mapping")
        nested = [key for key, entry in (value or {}).items() if isinstance(entry, Mapping)]
        if nested:
            raise ValueError(
                f"{name} has a rule for each of {', '.join(map(str, nested))}; allowed: one rule, "
                f"such as config with {name} set to one of them"
            )
    both = [config.get(name) for name in ("rope_scaling", "rope_parameters") if config.get(name)]
    if len(both) == 2 and both[0] != both[1]:
        raise config.refuse("rope_scaling", "rope_parameters, which is given too")
    return _Keys(both[0] if both else {}, "the rule's ")
