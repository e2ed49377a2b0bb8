"""For PyTorch: modules that replace those of the tutorial and of Transformers, and a check.

>>> import posenc.torch
>>> positions = posenc.torch.PositionalEncoding(512)     # the tutorial's
>>> rotary = posenc.torch.RotaryEmbedding(model.config)  # LlamaRotaryEmbedding's
>>> posenc.torch.check(model)
"""

from posenc.torch.checking import Finding, check
from posenc.torch.modules import PositionalEncoding, RotaryEmbedding

__all__ = ["Finding", "PositionalEncoding", "RotaryEmbedding", "check"]
