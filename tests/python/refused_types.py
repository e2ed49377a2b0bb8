"""Calls that type checkers must refuse, and the types of results.

.ci/python runs mypy --strict on this file. mypy reports a comment that suppresses no error, so
a call that it accepts fails the check. Nothing runs this file.
"""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import posenc
import posenc.torch

posenc.encode(4, 8, layuot="halves")  # type: ignore[call-arg]
posenc.encode(4, 8, layout="halfs")  # type: ignore[arg-type]
posenc.encode(4)  # type: ignore[call-arg]
posenc.Encoder(8, spacing="papr")  # type: ignore[arg-type]
posenc.Rotary(8, channels="half")  # type: ignore[arg-type]
posenc.Rotary(8).cache(4, "halfs")  # type: ignore[call-overload]
posenc.axes_in_blocks([4, 4], bas=3.0)  # type: ignore[call-arg]
posenc.torch.PositionalEncoding(8, max_length=5)  # type: ignore[call-arg]
posenc.encode(4, 8, layout="halves")
posenc.Encoder(**posenc.preset("whisper"))

out, encoder, rotary = np.empty((3, 8), np.float32), posenc.Encoder(8), posenc.Rotary(8)
axes = posenc.AxesEncoder(rotary.axes)
for array in (posenc.encode(3, 8), encoder.encode(3), axes.encode(3), rotary.cache(3),
              posenc.encode_grid(1, 3, 8), posenc.encode_like("tutorial", 3, 8)):
    assert_type(array, NDArray[Any])
assert_type(rotary.cosines_and_sines(3), tuple[NDArray[Any], NDArray[Any]])
for same in (encoder.encode(3, out), axes.encode(3, out=out), rotary.cache(3, out=out),
             rotary.apply(out)):
    assert_type(same, NDArray[np.float32])
assert_type(posenc.rotary_from_config("config.json"), posenc.Rotary)
encoder.encode(3).nonsense  # type: ignore[attr-defined]
encoder.encode(3, threads="2")  # type: ignore[call-overload]
