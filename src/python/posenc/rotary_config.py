"""Rotary embeddings from the configurations of Transformers models."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union, overload

import numpy as np

from posenc._posenc import Rotary, read_config

__all__ = ["rotary_from_config"]

Config = Union[Mapping[str, Any], str, "os.PathLike[str]", Any]


@overload
def rotary_from_config(config: Config, rows: int | None = None, channels: str | None = None,
                       layers: None = None) -> Rotary: ...
@overload
def rotary_from_config(config: Config, rows: int | None = None, channels: str | None = None,
                       layers: str | None = None) -> Any: ...
def rotary_from_config(config: Config, rows: int | None = None, channels: str | None = None,
                       layers: str | None = None) -> Any:
    """Reads the rotary embedding of a Transformers model from its config.json.

    config: the mapping that json.load() returns, the path of the file or of its folder, or the
    configuration object of Transformers. For a multimodal model, the text model is read.
    rows: the rows of the longest sequence, on which the rules "dynamic" and "longrope" depend; by
    default, max_position_embeddings.
    channels: the pairs of channels that are rotated, "halves" or "interleaved" as in Rotary(); by
    default, the pairs of the model type.
    layers: the kind of layers, such as "sliding_attention". It is needed if a model has kinds with
    different rotary embeddings. "all" returns a dictionary of all kinds; if all layers are alike,
    its only key is "all".

    The repr() of the result summarises the configuration in one line. Raises ValueError, which
    names the key and its value, if the model type is not known, if two keys contradict each other,
    or if a key that is not read may change the result.
    """
    kind = None if layers == "all" else layers or ""
    rotaries, _ = read_config(text_of(config), rows, channels, kind)
    if layers == "all":
        return rotaries
    rotary: Rotary = next(iter(rotaries.values()))
    return rotary


def text_of(config: Config) -> str:
    """Returns the configuration as JSON text, as read_config() takes it."""
    allowed = "a mapping, as json.load() returns, or the path of a config.json or of its folder"
    if hasattr(config, "to_dict"):  # PretrainedConfig
        config = config.to_dict()
    if isinstance(config, Mapping):
        try:
            return json.dumps(dict(config), default=_plain)
        except (RecursionError, ValueError):  # ValueError: a mapping that contains itself
            raise ValueError("config is nested too deep; allowed: at most 64 levels") from None
    if isinstance(config, str) and config.lstrip().startswith("{"):
        raise ValueError(f"config is the text of a configuration; allowed: {allowed}")
    if isinstance(config, (str, os.PathLike)):
        path = Path(config)
        file = path / "config.json" if path.is_dir() else path
        try:
            return file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            text = f"{file} is not UTF-8 at byte {error.start}"
            raise ValueError(f"{text}; allowed: the text of a config.json") from None
    raise TypeError(f"config is of type {type(config).__name__}; allowed: {allowed}")


def _plain(value: Any) -> Any:
    """Converts values that the json module cannot write: mappings, NumPy's numbers, types ..."""
    if isinstance(value, Mapping):
        return dict(value)
    return value.item() if isinstance(value, np.generic) else str(value)
