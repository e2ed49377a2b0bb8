"""PyTorch modules that replace modules of the tutorial and of Transformers, and a check.

>>> import posenc.torch
>>> positions = posenc.torch.PositionalEncoding(512)     # as in the tutorial
>>> rotary = posenc.torch.RotaryEmbedding(model.config)  # as in Transformers
>>> posenc.torch.check(model)
"""

from posenc.torch.checking import Finding, check
from posenc.torch.modules import PositionalEncoding, RotaryEmbedding

__all__ = ["Finding", "PositionalEncoding", "RotaryEmbedding", "check"]
