"""Compares the table of model types with the classes of the installed Transformers.

Builds the default configuration of each class, and compares the rotary embedding of its model with
posenc's reading of the configuration as it would be saved. Skipped without Transformers.
"""

import json
import sys
import warnings

try:
    import torch
    import transformers
    from transformers.models.auto import configuration_auto, modeling_auto
except ImportError:
    print("Skipped: this Python has no Transformers")
    sys.exit(77)

import posenc
import posenc.torch
from posenc._posenc import known_model_types


def embedding_of(config):
    """The module that computes the cosines and sines of a text model."""
    with torch.device("meta"):
        model = modeling_auto.AutoModel.from_config(config)
    found = next(each for name, each in model.named_modules() if name.endswith("rotary_emb"))
    return type(found)(config)


def by_kind(module):
    """Frequencies and factor by kind of layers; "" stands for all kinds."""
    names = [name for name, _ in module.named_buffers() if name.endswith("inv_freq")]
    return {
        name.removesuffix("inv_freq").removesuffix("_"): (
            getattr(module, name).double(),
            getattr(module, name.replace("inv_freq", "attention_scaling"), 1.0))
        for name in names if "original" not in name
    }  # fmt: skip


def channels_of(module, config, dimension):
    """The layout of the rotated pairs; "" if the code has no function that shows it."""
    code = sys.modules[type(module).__module__]
    turn = getattr(code, "apply_rotary_pos_emb", None)
    if getattr(config, "rope_interleave", True):
        turn = getattr(code, "apply_rotary_pos_emb_interleave", turn)
    try:
        cosines, sines = module(torch.zeros(1, 1, dimension), torch.ones(1, 1, dtype=torch.long))
        heads = torch.eye(dimension).reshape(dimension, 1, 1, dimension)
        turned = turn(heads, heads, cosines, sines)[0].reshape(dimension, dimension) != 0
    except (AttributeError, TypeError, RuntimeError, ValueError, KeyError):
        return ""
    return "interleaved" if torch.equal(turned[0], turned[1]) else "halves"


def differences(kind, expected, factor, rotary):
    pairs = rotary.dimension // 2
    w = torch.from_numpy(rotary.inv_freq)
    if len(expected) != pairs:
        yield f"{kind}: {len(expected)} pairs, not {pairs}"
    elif not torch.allclose(w, expected, rtol=1e-5, atol=0):
        yield f"{kind}: frequencies {expected[1]:.9g} .., not {w[1]:.9g} .."
    if abs(factor - rotary.attention_factor) > 1e-6:
        yield f"{kind}: factor {factor}, not {rotary.attention_factor}"


def check(model_type):
    """The differences, as a list of lines; a text if the type cannot be compared."""
    if model_type not in configuration_auto.CONFIG_MAPPING:
        return "no class of Transformers"
    try:
        config = configuration_auto.CONFIG_MAPPING[model_type]()
        text = config.get_text_config(decoder=True)
        module = embedding_of(text)
    except Exception as error:  # Classes may fail for reasons that do not concern the table.
        return f"no model to compare with, {type(error).__name__}"
    try:
        read = posenc.rotary_from_config(json.loads(config.to_json_string()), layers="all")
    except ValueError as error:
        return f"refused, {error}"
    found = []
    try:
        posenc.torch.assert_tables(module, config)
    except posenc.torch.WrongTables as error:
        found.append(f"assert_tables(): {error}")
    for kind, (expected, factor) in by_kind(module).items():
        rotary = read.get(kind) or next(iter(read.values()))
        found += differences(kind, expected, factor, rotary)
        channels = channels_of(module, text, 2 * len(expected))
        if channels and f"channels {channels}" not in repr(rotary):
            found.append(f"{kind}: channels {channels}")
    return found


def main():
    warnings.simplefilter("ignore")
    failed = 0
    for model_type in known_model_types():
        result = check(model_type)
        for line in [result] if isinstance(result, str) else [f"WRONG {each}" for each in result]:
            print(f"{model_type}: {line}")
        failed += 0 if isinstance(result, str) else len(result)
    print(f"Transformers {transformers.__version__}: {failed} differences")
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
