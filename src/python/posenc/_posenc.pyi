"""The compiled module. Arrays are those of NumPy, or tensors of PyTorch on the CPU."""

from collections.abc import Sequence
from typing import Any, Protocol, SupportsIndex, TypeVar, Union, overload

import numpy as np
from numpy.typing import NDArray

from posenc.frequencies import Scaling

__version__: str

Array = Any  # of NumPy, or what shares its memory
NewArray = NDArray[Any]
DType = Any

class _Shaped(Protocol):
    @property
    def shape(self) -> Any: ...

# What is written to, and returned.
_Given = TypeVar("_Given")
_Table = TypeVar("_Table", bound=_Shaped)
_Pair = TypeVar("_Pair", bound=Sequence[Any])
Positions = Union[range, Sequence[int], Array]
Frequencies = Union[Scaling, Sequence[float], Array, str, None]

class Accuracy:
    @staticmethod
    def correctly_rounded() -> Accuracy: ...
    @staticmethod
    def within(error: float) -> Accuracy: ...
    @staticmethod
    def within_ulp(ulp: float) -> Accuracy: ...

class Encoder:
    def __init__(
        self,
        d_model: int,
        *,
        base: float = 10000.0,
        layout: str = "interleaved",
        spacing: str = "paper",
        frequencies: Frequencies = None,
        first: int = 0,
        backend: str | None = None,
        accuracy: Accuracy | float | None = None,
        rows: int = 4096,
        dtype: DType = "float32",
        threads: int = 1,
    ) -> None: ...
    @overload
    def encode(
        self,
        positions: Positions | SupportsIndex,
        out: None = None,
        dtype: DType = "float32",
        threads: int = 1,
        stores: str = "automatic",
    ) -> NewArray: ...
    @overload
    def encode(
        self,
        positions: Positions | SupportsIndex,
        out: _Table,
        dtype: DType = "float32",
        threads: int = 1,
        stores: str = "automatic",
    ) -> _Table: ...
    def error_bound(self, positions: range, dtype: DType = "float32") -> float: ...
    def is_correctly_rounded(self, dtype: DType = "float32") -> bool: ...
    @property
    def backend(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def d_model(self) -> int: ...
    @property
    def first(self) -> int: ...

class Cursor:
    def __init__(
        self, encoder: Encoder, first: int | None = None, dtype: DType = "float32"
    ) -> None: ...
    def seek(self, position: int) -> None: ...
    def __iter__(self) -> Cursor: ...
    def __next__(self) -> NewArray: ...
    @property
    def position(self) -> int: ...

class PositionalEncoding:
    def __init__(
        self,
        d_model: int,
        max_rows: int = 5000,
        *,
        dropout: float = 0.0,
        base: float = 10000.0,
        layout: str = "interleaved",
        spacing: str = "paper",
        frequencies: Frequencies = None,
        first: int = 0,
        accuracy: Accuracy | float | None = None,
        source: str = "automatic",
    ) -> None: ...
    @overload
    def forward(
        self,
        x: Array,
        out: None = None,
        *,
        offset: int | None = None,
        training: bool = False,
        seed: int = 0,
        threads: int = 1,
        stores: str = "automatic",
        batch_first: bool = True,
    ) -> NewArray: ...
    @overload
    def forward(
        self,
        x: Array,
        out: _Table,
        *,
        offset: int | None = None,
        training: bool = False,
        seed: int = 0,
        threads: int = 1,
        stores: str = "automatic",
        batch_first: bool = True,
    ) -> _Table: ...
    def backward(
        self, gradient: _Given, *, seed: int, threads: int = 1, batch_first: bool = True
    ) -> _Given: ...
    @property
    def reason(self) -> str: ...

class AxisPairs:
    def __init__(
        self,
        axis: int,
        d_model: int,
        *,
        base: float = 10000.0,
        layout: str = "interleaved",
        spacing: str = "paper",
        frequencies: Frequencies = None,
        picks: Sequence[int] = (),
        pairs: Sequence[int] = (),
        denominator: float = 1.0,
    ) -> None: ...

class Axes:
    def __init__(
        self,
        parts: Sequence[AxisPairs],
        *,
        layout: str = "interleaved",
        parts_have_layouts: bool = False,
    ) -> None: ...
    @property
    def d_model(self) -> int: ...
    @property
    def axes(self) -> int: ...

class AxesEncoder:
    def __init__(
        self,
        axes: Axes,
        *,
        accuracy: Accuracy | float | None = None,
        dtype: DType = "float32",
    ) -> None: ...
    @overload
    def encode(
        self,
        positions: Positions | SupportsIndex,
        out: None = None,
        dtype: DType = "float32",
        threads: int = 1,
        stores: str = "automatic",
    ) -> NewArray: ...
    @overload
    def encode(
        self,
        positions: Positions | SupportsIndex,
        out: _Table,
        dtype: DType = "float32",
        threads: int = 1,
        stores: str = "automatic",
    ) -> _Table: ...
    @property
    def d_model(self) -> int: ...
    @property
    def axes(self) -> Axes: ...
    @property
    def reason(self) -> str: ...

class Rotary:
    def __init__(
        self,
        dimension: int | None = None,
        *,
        base: float = 10000.0,
        channels: str = "halves",
        frequencies: Frequencies = None,
        axes: Axes | None = None,
        attention_factor: float | None = None,
        accuracy: Accuracy | float | None = None,
    ) -> None: ...
    @overload
    def cache(
        self,
        positions: Positions | SupportsIndex,
        layout: str = "halves",
        *,
        out: None = None,
        dtype: DType = "float32",
        threads: int = 1,
    ) -> NewArray: ...
    @overload
    def cache(
        self,
        positions: Positions | SupportsIndex,
        layout: str = "halves",
        *,
        out: _Table,
        dtype: DType = "float32",
        threads: int = 1,
    ) -> _Table: ...
    @overload
    def cosines_and_sines(
        self,
        positions: Positions | SupportsIndex,
        repeat: str = "once",
        *,
        out: None = None,
        dtype: DType = "float32",
        threads: int = 1,
    ) -> tuple[NewArray, NewArray]: ...
    @overload
    def cosines_and_sines(
        self,
        positions: Positions | SupportsIndex,
        repeat: str = "once",
        *,
        out: _Pair,
        dtype: DType = "float32",
        threads: int = 1,
    ) -> _Pair: ...
    def apply(
        self,
        x: _Given,
        first: int = 0,
        *,
        positions: Positions | None = None,
        inverse: bool = False,
        threads: int = 1,
        heads_first: bool = False,
    ) -> _Given: ...
    def apply_cache(
        self,
        cache: Array | tuple[Array, Array],
        x: _Given,
        layout: str = "halves",
        *,
        first: int = 0,
        positions: Positions | None = None,
        inverse: bool = False,
        threads: int = 1,
        heads_first: bool = False,
    ) -> _Given: ...
    @property
    def channels(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def attention_factor(self) -> float: ...
    @property
    def axes(self) -> Axes: ...
    @property
    def reason(self) -> str: ...

class RotaryReading:
    def __init__(
        self, text: str, rows: int | None = None, channels: str | None = None, strict: bool = True
    ) -> None: ...
    def rotary(self, kind: str = "") -> Rotary: ...
    @property
    def kinds(self) -> list[str]: ...
    @property
    def model_type(self) -> str: ...
    @property
    def most_rows(self) -> int: ...
    @property
    def unturned(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...

class CheckReport:
    @property
    def is_good(self) -> bool: ...
    @property
    def is_identified(self) -> bool: ...
    @property
    def identity(self) -> dict[str, Any]: ...
    @property
    def causes(self) -> list[tuple[str, str]]: ...
    @property
    def max_abs(self) -> float: ...
    @property
    def max_ulp(self) -> float: ...
    @property
    def rms(self) -> float: ...
    @property
    def correctly_rounded(self) -> float: ...
    @property
    def allowed_error(self) -> float: ...
    @property
    def entries(self) -> int: ...
    @property
    def entries_off(self) -> int: ...
    @property
    def entries_not_finite(self) -> int: ...
    @property
    def worst_position(self) -> int: ...
    @property
    def worst_column(self) -> int: ...
    @property
    def verdict(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def cause(self) -> str: ...

class FrequencyReport:
    @property
    def is_good(self) -> bool: ...
    @property
    def is_identified(self) -> bool: ...
    @property
    def max_relative_error(self) -> float: ...
    @property
    def cause(self) -> str: ...
    @property
    def description(self) -> str: ...

def accuracy(
    encoder: Encoder, positions: range, dtype: DType = "float32", threads: int = 1
) -> dict[str, Any]: ...
def axes_alternating(
    sections: Sequence[int],
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
    spacing: str = "paper",
    frequencies: Frequencies = None,
) -> Axes: ...
def axes_presets() -> dict[str, str]: ...
def axes_table(
    name: str, sizes: Sequence[int] | None = None
) -> tuple[Axes, NDArray[np.int64]]: ...
def axis_multiples(
    axes: Axes, positions: NDArray[np.floating[Any]]
) -> NDArray[np.int64]: ...
def axes_in_blocks(
    channels: Sequence[int],
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
    spacing: str = "paper",
    frequencies: Frequencies = None,
) -> Axes: ...
def axes_in_sections(
    sections: Sequence[int],
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
    spacing: str = "paper",
    frequencies: Frequencies = None,
) -> Axes: ...
def axes_interleaved(
    sections: Sequence[int],
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
    spacing: str = "paper",
    frequencies: Frequencies = None,
) -> Axes: ...
def backends() -> list[str]: ...
def check_frequencies(
    inv_freq: Sequence[float],
    *,
    base: float | None = None,
    spacing: str | None = None,
    frequencies: Frequencies = None,
) -> FrequencyReport: ...
def check_table(
    table: Array,
    *,
    d_model: int | None = None,
    base: float | None = None,
    layout: str | None = None,
    spacing: str | None = None,
    frequencies: Frequencies = None,
    first: int | None = None,
    max_error: float | None = None,
    threads: int = 1,
    rotary: Rotary | None = None,
) -> CheckReport: ...
def cpu() -> str: ...
def dynamic_ntk_factor(factor: float, trained_rows: int, rows: int) -> float: ...
def encode_grid(
    rows: int,
    columns: int,
    d_model: int,
    convention: str = "mae",
    *,
    dtype: DType = "float32",
    threads: int = 1,
) -> NewArray: ...
def grid_positions(sizes: Sequence[int], firsts: Sequence[int] = ()) -> NDArray[np.int64]: ...
def known_model_types() -> list[str]: ...
def encode_like(
    system: str,
    positions: range | SupportsIndex,
    d_model: int,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
    spacing: str = "paper",
    frequencies: Frequencies = None,
    first: int = 0,
    dtype: DType = "float32",
    threads: int = 1,
) -> NewArray: ...
def measure(
    file: str,
    *,
    shapes: Sequence[tuple[int, int]] = (),
    dtype: DType = "float32",
    threads: int = 1,
    samples: int = 9,
    seconds_per_sample: float = 0.005,
) -> None: ...
def pick(file: str, accuracy: Accuracy | float | None = None) -> list[dict[str, Any]]: ...
def preset(name: str) -> dict[str, Any]: ...
def presets() -> dict[str, str]: ...
def row_count(positions: Positions | SupportsIndex) -> int: ...
def round_positions(
    positions: NDArray[np.float64], denominator: float | None = None
) -> tuple[NDArray[np.int64], float, float]: ...
