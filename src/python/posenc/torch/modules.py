"""Modules whose tables are buffers, so that their lookups are scripted, compiled and exported."""

# Annotations are not postponed here: torch.jit.script() cannot read postponed ones of a class.
import json
from typing import Any, Optional

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from posenc.arguments import Layout, Repeat, Spacing, expect, rows_of
from posenc.encoders import Encoder
from posenc.rotary import Config, Rotary, read_config, rotary_from_config, text_of

__all__ = ["PositionalEncoding", "RotaryEmbedding", "rotate"]

Device = Any


class _Table(nn.Module):
    """A module with a buffer that is computed from arguments.

    The buffer is computed whenever its memory is new: at first, after a module on the device "meta"
    is materialised, and after a change of device or type. Its values are thus rounded only once to
    any type. A persistent buffer is computed only at first and when it leaves "meta".
    """

    _name: str
    # Names that a checkpoint of the replaced module may have, besides the buffer.
    _of_replaced: tuple[str, ...] = ()

    def _compute(self, out: torch.Tensor) -> None:
        """Writes the values of the buffer to a CPU tensor of the same shape and type."""
        raise NotImplementedError

    def _computed(self) -> torch.Tensor:
        like = self.get_buffer(self._name)
        host = torch.empty(like.shape, dtype=like.dtype, device="cpu")
        self._compute(host)
        return host

    def _add_buffer(self, shape: tuple[int, ...], persistent: bool, device: Device,
                    dtype: Optional[torch.dtype]) -> None:
        # torch.empty() follows PyTorch's default device and default type.
        buffer = torch.empty(shape, device=device, dtype=dtype)
        self.register_buffer(self._name, buffer, persistent=persistent)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Computes the buffer, unless it is on the device "meta"."""
        buffer = self.get_buffer(self._name)
        if not buffer.is_meta:
            with torch.no_grad():
                buffer.copy_(self._computed())

    def _apply(self, fn: Any, *arguments: Any, **options: Any) -> Any:
        before = self.get_buffer(self._name)
        parent: Any = super()  # PyTorch does not annotate _apply()
        parent._apply(fn, *arguments, **options)
        is_new = self.get_buffer(self._name) is not before
        if before.is_meta or (is_new and self._name in self._non_persistent_buffers_set):
            self.reset_parameters()
        return self

    def _expected(self, name: str) -> torch.Tensor:
        """The tensor that a checkpoint should have under this name."""
        assert name == self._name
        return self._computed()

    def _refusal(self, name: str, given: Optional[torch.Tensor]) -> str:
        """How a checkpoint's tensor, which is not loaded, differs from the computed tensor.

        Tables from float32 phases, and frequencies in bfloat16, are close enough; learned values
        are not. The text is empty if the tensor is close enough, or if it is not compared.
        """
        is_loaded = name == self._name and name not in self._non_persistent_buffers_set
        if given is None or is_loaded or given.is_meta or self.get_buffer(self._name).is_meta:
            return ""
        expected = self._expected(name)
        if given.shape != expected.shape:
            return (f"has shape {tuple(given.shape)}; allowed: {tuple(expected.shape)}, the "
                    "shape in this module")
        most = 0.05
        off = (given.detach().cpu().double() - expected.double()).abs().max().item()
        if off <= most:
            return ""
        return (f"differs by up to {off:.3g} from what this module computes; allowed: {most}, "
                "because it is not loaded. Were its values learned, or is its convention another?")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, strict: Any,
                              missing_keys: Any, unexpected_keys: list[str],
                              error_msgs: Any) -> None:
        parent: Any = super()
        parent._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys,
                                     unexpected_keys, error_msgs)
        is_assigned = local_metadata.get("assign_to_params_buffers")
        if is_assigned and self.get_buffer(self._name).is_meta:
            # Nothing else would materialise a buffer that the checkpoint lacks.
            self._buffers[self._name] = self._computed()
        # The arguments determine a buffer that is not persistent: compare, and do not load.
        for name in (self._name, *self._of_replaced):
            reason = self._refusal(name, state_dict.get(prefix + name))
            if reason:
                error_msgs.append(f"{prefix + name} of the checkpoint {reason}")
            if prefix + name in unexpected_keys:
                unexpected_keys.remove(prefix + name)


class PositionalEncoding(_Table):
    """The module of PyTorch's tutorial on Transformers, correctly rounded: dropout(x + PE).

    d_model, dropout, max_len: as in the tutorial. batch_first: if true, x has shape (batch, rows,
    d_model) instead of (rows, batch, d_model). persistent: if true, state_dict() has the table,
    `pe`. Otherwise, a table in a checkpoint is compared with `pe` and not loaded, so that
    checkpoints of the tutorial's module can be loaded. If it has another shape or other values,
    load_state_dict() raises an error. base, layout, spacing, frequencies, first, backend,
    accuracy: as in posenc.Encoder(). The arguments that posenc.preset() returns are allowed, too.
    """

    pe: torch.Tensor
    _name = "pe"

    def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 5000, *,
                 batch_first: bool = False, persistent: bool = False, device: Device = None,
                 dtype: Optional[torch.dtype] = None, base: float = 10000.0,
                 layout: Layout = "interleaved", spacing: Spacing = "paper",
                 frequencies: Any = None, first: int = 0, backend: Optional[str] = None,
                 accuracy: Any = None) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.batch_first = batch_first
        rows = rows_of(max_len, first=0, name="max_len").size
        self._encoder = Encoder(d_model, rows=rows, base=base, layout=layout, spacing=spacing,
                                frequencies=frequencies, first=first, backend=backend,
                                accuracy=accuracy)
        shape = (1, max_len, d_model) if batch_first else (max_len, 1, d_model)
        self._add_buffer(shape, persistent, device, dtype)

    def _compute(self, out: torch.Tensor) -> None:
        table = out.squeeze(0 if self.batch_first else 1)
        self._encoder.encode(len(table), out=table)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: shape (rows, batch, d_model), or (batch, rows, d_model) if batch_first."""
        rows_at = 1 if self.batch_first else 0
        rows = x.shape[rows_at] if x.dim() == 3 else 0
        most = self.pe.shape[rows_at]
        if x.dim() != 3 or rows > most or x.shape[2] != self.pe.shape[2]:
            sizes = ", ".join([str(size) for size in x.shape])
            raise ValueError(f"x.shape is ({sizes}); allowed: three dimensions, up to max_len, "
                             f"{most}, in dimension {rows_at}, and {self.pe.shape[2]} in the last")
        encoded: torch.Tensor = self.dropout(x + self.pe.narrow(rows_at, 0, rows))
        return encoded

    def extra_repr(self) -> str:
        rows = self.pe.shape[1 if self.batch_first else 0]
        return f"{self._encoder.d_model}, max_len={rows}, batch_first={self.batch_first}"


class RotaryEmbedding(_Table):
    """The rotary embedding of a Transformers model, like LlamaRotaryEmbedding(config, device).

    config: the configuration object of Transformers, its mapping, or the path of its file, read as
    by posenc.rotary_from_config(). layers: one kind of layers, as in that function. rows: the table
    has positions 0 to rows - 1, by default max_position_embeddings rows. The rules "dynamic" and
    "longrope" apply for this length. A later position makes the table longer, and these rules then
    apply for the new length. A persistent table does not grow, nor does the table of a module that
    was compiled, scripted or exported. repeat: "once" has each cosine once in a row. "halves" has
    all cosines, and then all of them again. "interleaved" has each cosine twice, side by side. The
    default follows the pairs of the model. persistent: if true, state_dict() has the table,
    `cos_sin_cache`. Otherwise, this table and an inv_freq in a checkpoint are compared and not
    loaded. If one has another shape or other values, load_state_dict() raises an error. Raises
    ValueError if the model has positions on several axes.
    """

    cos_sin_cache: torch.Tensor
    _name = "cos_sin_cache"
    _of_replaced = ("inv_freq",)

    def __init__(self, config: Config, device: Device = None, *, rows: Optional[int] = None,
                 layers: Optional[str] = None, repeat: Optional[Repeat] = None,
                 persistent: bool = False, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        rotaries, most_rows = read_config(config, rows, None, layers or "")
        self._config, self._layers = json.loads(text_of(config, "config")), layers
        self._rotary = next(iter(rotaries.values()))
        self.repeat = repeat or self._rotary.channels
        if self.repeat not in ("once", "halves", "interleaved"):
            raise ValueError(f"repeat is {repeat!r}; allowed: once, halves, interleaved")
        if self._rotary.axes.axes > 1:
            raise ValueError(f"config has positions on {self._rotary.axes.axes} axes; allowed: one")
        if rows is None and most_rows == 0:
            raise ValueError("rows is not given, and config has no max_position_embeddings; "
                             "allowed: one of them")
        shape = (rows or most_rows, self._rotary.dimension)
        self._add_buffer(shape, persistent, device, dtype)

    def _compute(self, out: torch.Tensor) -> None:
        self._rotary.cache(range(len(out)), "halves", out=out)

    def _expected(self, name: str) -> torch.Tensor:
        if name == self._name:
            return super()._expected(name)
        return torch.from_numpy(self._rotary.inv_freq)

    def forward(self, x: torch.Tensor,
                position_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns (cosines, sines) of the type of x, each of shape (*position_ids.shape, columns).

        Positions are on the device of the table. PyTorch raises an error for a negative position.
        """
        if not torch.jit.is_scripting():  # type: ignore[attr-defined]
            self._grow(position_ids)
        found = functional.embedding(position_ids, self.cos_sin_cache).to(x.dtype)
        cosines, sines = found.chunk(2, -1)
        return self._repeated(cosines), self._repeated(sines)

    @torch.jit.unused  # type: ignore
    def _grow(self, position_ids: torch.Tensor) -> None:
        """Makes the table longer if a position is beyond it."""
        is_kept = self._name not in self._non_persistent_buffers_set
        if is_kept or _is_compiling() or position_ids.is_meta or position_ids.numel() == 0:
            return
        rows, before = int(position_ids.max()) + 1, self.cos_sin_cache
        if rows <= len(before) or before.is_meta:
            return
        rotary = rotary_from_config(self._config, rows, layers=self._layers)
        if rotary == self._rotary:  # the length does not matter, so grow for later positions, too
            rows = max(rows, 2 * len(before))
        self._rotary = rotary
        self._buffers[self._name] = before.new_empty((rows, before.shape[1]))
        self.reset_parameters()

    def _repeated(self, each: torch.Tensor) -> torch.Tensor:
        if self.repeat == "once":
            return each
        if self.repeat == "halves":
            return torch.cat((each, each), -1)
        return torch.stack((each, each), -1).flatten(-2)

    def extra_repr(self) -> str:
        return f"{self._rotary}, rows={len(self.cos_sin_cache)}, repeat={self.repeat!r}"


def _is_compiling() -> bool:
    compiler: Any = getattr(torch, "compiler", None)  # since PyTorch 2
    return hasattr(compiler, "is_compiling") and bool(compiler.is_compiling())


def rotate(x: torch.Tensor, rotary: Rotary, first: int = 0, *, positions: Any = None,
           heads_first: bool = False, threads: int = 1, inplace: bool = False) -> torch.Tensor:
    """Returns the rotated x, a tensor on the CPU, and propagates gradients.

    The arguments are the same as in posenc.Rotary.apply(). inplace: if true, x is overwritten and
    returned, as in PyTorch's own in-place operations. The gradient is rotated by the opposite
    angles, so rotate() can be differentiated any number of times.
    """
    expect(x, torch.Tensor, "x")
    expect(rotary, Rotary, "rotary")
    if inplace and x.requires_grad and x.is_leaf and torch.is_grad_enabled():
        raise RuntimeError("x is a leaf that requires a gradient, in an in-place operation; "
                           "allowed: inplace=False")
    # The caller may change positions before backward().
    if isinstance(positions, torch.Tensor):
        positions = positions.detach().clone()
    elif positions is not None and not isinstance(positions, range):
        positions = np.array(positions)
    result: torch.Tensor = _Rotate.apply(x, rotary, first, positions, heads_first, threads,
                                         inplace, False)
    return result


class _Rotate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, rotary: Rotary, first: int,  # type: ignore[override]
                positions: Any, heads_first: bool, threads: int, inplace: bool,
                inverse: bool) -> torch.Tensor:
        ctx.options = (rotary, first, positions, heads_first, threads)
        ctx.inverse = inverse
        rotated = x if inplace else x.clone(memory_format=torch.contiguous_format)
        rotary.apply(rotated.detach(), first, positions=positions, inverse=inverse,
                     threads=threads, heads_first=heads_first)
        if inplace:
            ctx.mark_dirty(x)
        return rotated

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        given = _Rotate.apply(gradients[0], *ctx.options, False, not ctx.inverse)
        return (given, *[None] * 7)
