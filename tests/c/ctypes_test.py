"""Tests the self-contained library of the C interface as a program in another language uses it:
loads a copy of the file from a folder of its own, and declares what it calls. Its tables have the
hashes of tests/data/conformance.json. Argument: the library."""

import ctypes
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_uint64, c_void_p, sizeof

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TYPES = {"float32": (0, 4), "float64": (1, 8), "float16": (2, 2), "bfloat16": (3, 2)}
LAYOUTS = {"interleaved": 0, "halves": 1, "halves_cos_first": 2}
SPACINGS = {"paper": 0, "inclusive": 1}
HALVES = 0
INT64 = 1


class Spec(ctypes.Structure):
    """ctypes sets the members that are not given to 0, the default."""

    _fields_ = [("size", c_uint64), ("d_model", c_int64), ("base", c_double), ("layout", c_int32),
                ("spacing", c_int32), ("frequencies", c_char_p), ("values", POINTER(c_double)),
                ("count", c_int64)]  # fmt: skip

    def __init__(self, **members):
        super().__init__(size=sizeof(self), **members)


class Table(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("rows", c_int64), ("columns", c_int64), ("stride", c_int64),
                ("type", c_int32), ("reserved", c_int32)]  # fmt: skip


class Positions(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("first", c_int64), ("rows", c_int64), ("axes", c_int64),
                ("axis_stride", c_int64), ("type", c_int32), ("reserved", c_int32)]  # fmt: skip


def loaded(library):
    """The library, with its functions that return text or take pointers declared."""
    posenc = ctypes.CDLL(str(library))
    posenc.posenc_last_error.restype = c_char_p
    posenc.posenc_plan.argtypes = [c_char_p, POINTER(Spec), POINTER(c_void_p)]
    posenc.posenc_encode_positions.argtypes = [c_void_p, POINTER(Positions), POINTER(Table),
                                               c_void_p]
    posenc.posenc_rotary_cache.argtypes = [c_void_p, POINTER(Positions), c_int32, POINTER(Table),
                                           c_void_p, c_void_p]
    for name in ("encoder_free", "rotary_free"):
        getattr(posenc, f"posenc_{name}").argtypes = [c_void_p]
    return posenc


class CtypesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.library = pathlib.Path(folder.name, "libposenc_c.so")
        shutil.copyfile(LIBRARY, cls.library)
        cls.posenc = loaded(cls.library)

    def ok(self, status):
        self.assertEqual(status, 0, self.posenc.posenc_last_error())

    def test_tables_have_the_pinned_bits(self):
        conformance = json.loads((ROOT / "tests/data/conformance.json").read_text())
        listed = conformance["positions"]
        positions = (c_int64 * len(listed))(*listed)
        given = Positions(ctypes.addressof(positions), 0, len(listed), 0, 0, INT64, 0)
        for table in conformance["tables"]:
            spec = Spec(d_model=table["d_model"], base=table["base"],
                        frequencies=table["frequencies"].encode(),
                        layout=LAYOUTS[table["layout"]], spacing=SPACINGS[table["spacing"]])
            is_rotary = table["name"].startswith("rotary_")
            made = c_void_p()
            if is_rotary:
                self.ok(self.posenc.posenc_rotary_create(byref(spec), HALVES, None, byref(made)))
            else:
                self.ok(self.posenc.posenc_plan(b"rotation", spec, made))
            for name, expected in table["sha256"].items():
                number, element_bytes = TYPES[name]
                memory = ctypes.create_string_buffer(len(listed) * spec.d_model * element_bytes)
                out = Table(ctypes.addressof(memory), len(listed), spec.d_model, spec.d_model,
                            number, 0)
                if is_rotary:
                    self.ok(self.posenc.posenc_rotary_cache(made, given, HALVES, out, None, None))
                else:
                    self.ok(self.posenc.posenc_encode_positions(made, given, out, None))
                with self.subTest(table=table["name"], type=name):
                    self.assertEqual(hashlib.sha256(bytes(memory)).hexdigest(), expected)
            free = self.posenc.posenc_rotary_free if is_rotary else self.posenc.posenc_encoder_free
            free(made)

    def test_it_can_be_unloaded_and_loaded_again(self):
        program = """if True:
            import _ctypes, ctypes, sys
            for _ in range(3):
                posenc = ctypes.CDLL(sys.argv[1])
                assert posenc.posenc_c_abi() > 0
                assert posenc.posenc_plan(b"rotation", None, None) == 1
                _ctypes.dlclose(posenc._handle)
        """
        subprocess.run([sys.executable, "-c", program, self.library], check=True)


if __name__ == "__main__":
    LIBRARY = sys.argv.pop()
    unittest.main()
