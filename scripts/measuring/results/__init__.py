"""What the benchmark binaries and the posenc command write, as objects: the only reader of it.

Every function takes a document, as JSON gives it, and throws KeyError, TypeError, ValueError or
AttributeError if it has another form: errors.reading makes one line of that."""

from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]
ISAS = ("scalar", "sse2", "neon64", "avx2", "avx512")  # ascending
# Whose tables compare_torch.py times: no part of the library, and without an ISA in their names.
OTHER_PROGRAMS = ("pytorch", "numpy")
