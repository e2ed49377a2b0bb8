"""Calls that type checkers must refuse.

.ci/python runs mypy --strict on this file. mypy reports a comment that suppresses no error, so
a call that it accepts fails the check. Nothing runs this file.
"""

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
