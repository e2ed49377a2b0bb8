"""The positional encoding of PyTorch's tutorial on Transformers."""

import math

import torch
from torch import nn


class Tutorial(nn.Module):
    """The formula of the tutorial, in float32: shape (rows, batch, d_model)."""

    def __init__(self, d_model, dropout=0.1, max_len=5000):
        super().__init__()
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        phase = torch.arange(max_len)[:, None] * div_term
        pe = torch.stack((phase.sin(), phase.cos()), -1).flatten(1)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", pe[:, None])

    def forward(self, x):
        return self.dropout(x + self.pe[: len(x)])
