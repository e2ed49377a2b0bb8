"""PyTorch modules that replace modules of the tutorial and of Transformers, and a check.

>>> import posenc.torch
>>> positions = posenc.torch.PositionalEncoding(512)     # as in the tutorial
>>> rotary = posenc.torch.RotaryEmbedding(model.config)  # as in Transformers
>>> posenc.torch.assert_tables(model)  # once the model is loaded
"""

from posenc.torch.checking import Finding, WrongTables, assert_tables, check, repair_tables
from posenc.torch.modules import PositionalEncoding, RotaryEmbedding, rotate

__all__ = ["Finding", "PositionalEncoding", "RotaryEmbedding", "WrongTables", "assert_tables",
           "check", "repair_tables", "rotate"]
