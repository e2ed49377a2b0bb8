"""The input of a Transformer and its output in PyTorch, from tokens to probabilities:

  tokens -> embedding * sqrt(d_model) -> + positional encoding -> dropout
         -> output projection with the same embedding matrix ("tied") -> softmax

The encoder and decoder layers would stand between dropout and the projection. Vaswani et al.,
"Attention Is All You Need", sections 3.4 and 3.5. transformer_input.cpp is the same in C++, and
both print the same numbers.
"""

import math

import posenc.torch
import torch
from torch import nn


class InputEmbeddings(nn.Module):
    """(batch, seq_len) of tokens -> (batch, seq_len, d_model)."""

    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.embedding(tokens) * math.sqrt(self.d_model)


class PositionalEncoding(posenc.torch.PositionalEncoding):
    """dropout(x + pe) for x of shape (batch, seq_len, d_model). The buffer `pe` has the shape
    (1, seq_len, d_model), and state_dict() has it."""

    def __init__(self, d_model: int, seq_len: int, dropout: float) -> None:
        super().__init__(d_model, dropout, seq_len, batch_first=True, persistent=True)


class TinyTransformer(nn.Module):
    """A Transformer without its layers: what stands before and after them."""

    def __init__(self, d_model: int, vocab_size: int, seq_len: int, dropout: float) -> None:
        super().__init__()
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.position = PositionalEncoding(d_model, seq_len, dropout)
        self.projection = nn.Linear(d_model, vocab_size, bias=False)
        self.projection.weight = self.embedding.embedding.weight  # tied

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.position(self.embedding(tokens))
        return self.projection(x).softmax(dim=-1)


def show(name: str, values: torch.Tensor) -> None:
    """Prints sequence 0."""
    first = values[0] if values.dim() == 3 else values
    print(f"{name}, shape {tuple(values.shape)}")
    for row, entries in enumerate(first.tolist()):
        text = ", ".join(f"{entry:7.4f}" for entry in entries)
        print(f"{'[[' if row == 0 else ' ['}{text}{']]' if row + 1 == len(first) else '],'}")
    print()


def main() -> None:
    torch.manual_seed(7)
    vocab_size, d_model, seq_len = 5, 4, 3

    # The table itself: 3 positions of 4 channels.
    show("positional encoding", torch.from_numpy(posenc.encode(seq_len, d_model)))

    model = TinyTransformer(d_model, vocab_size, seq_len, dropout=0.1).eval()
    with torch.no_grad():  # a real matrix is learned
        weights = [(i * 7 % 11 - 5) / 10 for i in range(vocab_size * d_model)]
        model.embedding.embedding.weight.copy_(torch.tensor(weights).reshape(vocab_size, d_model))
        tokens = torch.tensor([[0, 3, 1], [4, 4, 2]])
        x = model.embedding(tokens)
        show("embedding * sqrt(d_model), sequence 0", x)
        x = model.position(x)  # in inference, dropout is the identity
        show("+ positional encoding, sequence 0", x)
        show("logits of the tied projection, sequence 0", model.projection(x))
        show("softmax, sequence 0", model(tokens))
        assert model.position.pe.shape == (1, seq_len, d_model)
        assert "position.pe" in model.state_dict()

        # In training, a tenth of the entries becomes 0, and the others grow by 1 / 0.9. This module
        # takes (seq_len, batch, d_model), and has a table of 5000 rows.
        position = posenc.torch.PositionalEncoding(512, dropout=0.1, max_len=5000).train()
        assert position.pe.shape == (5000, 1, 512)
        ones = position(torch.full((5000, 1, 512), 2.0))  # 2 + PE is never 0
        share = (ones == 0).float().mean().item()
        print(f"dropout 0.1 of 5000 x 512 entries: {share:.3f} of them are 0")
        assert abs(share - 0.1) < 1e-3


if __name__ == "__main__":
    main()
