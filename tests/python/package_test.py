"""Tests the Python package: the library's bits in every type, shared memory, error messages, copies
and pickles, empty arrays, and types of other libraries."""

import array
import copy
import dataclasses
import pathlib
import pickle
import re
import subprocess
import sys
import threading
import time
import types
import unittest

from modules import expect_equal, np, torch

import posenc

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROWS, D_MODEL = 40, 66


def exact(positions, d_model=D_MODEL):
    """The encodings in double, for small positions."""
    k = np.arange(d_model // 2)
    angles = np.outer(positions, 10000.0 ** (-2.0 * k / d_model))
    table = np.empty((len(positions), d_model))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table


class Convertible:
    """Converts to an array, but shares no memory with NumPy, as tensors of other libraries."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __array__(self, *_, **__):
        return np.array(self.values)


class Exporter:
    """Has no other protocol than DLPack."""

    def __init__(self, given):
        self.given = given

    def __dlpack__(self, **options):
        return self.given.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.given.__dlpack_device__()


class EncoderTest(unittest.TestCase):
    def setUp(self):
        self.encoder = posenc.Encoder(D_MODEL)

    def test_positions_of_every_kind_are_alike(self):
        first, rows = 1000, range(1000, 1000 + ROWS)
        table = self.encoder.encode(rows)
        self.assertEqual((table.shape, table.dtype), ((ROWS, D_MODEL), np.float32))
        np.testing.assert_allclose(table, exact(rows), atol=6e-8, rtol=0)
        listed = list(rows)
        integers = array.array("q", listed)
        for same in (listed, tuple(listed), np.array(listed), np.array(listed, np.int32),
                     np.repeat(listed, 2)[::2], integers, memoryview(integers),
                     Exporter(np.array(listed)), Convertible(listed)):
            with self.subTest(type(same)):
                expect_equal(self.encoder.encode(same), table)
        expect_equal(self.encoder.encode(range(first, first + ROWS, 3)), table[::3])
        expect_equal(self.encoder.encode(np.array([first])), table[:1])
        for count in (ROWS, np.int64(ROWS), np.uint8(ROWS), np.array(ROWS)):
            expect_equal(posenc.encode(count, np.int32(D_MODEL), first=first), table)

    def test_real_positions_are_exact(self):
        times = np.array([0, 0.125, 731.4, 999.9])
        real = posenc.real_positions(times)
        self.assertEqual(real.max_error, 0)
        encoder = posenc.Encoder(D_MODEL, frequencies=real.frequencies)
        table = encoder.encode(real.multiples, dtype="float64")
        np.testing.assert_allclose(table, exact(times), atol=1e-12, rtol=0)
        halves = posenc.real_positions([0.5, 1.25], denominator=2)
        expect_equal(halves.multiples, [1, 2])
        self.assertEqual((halves.frequencies.factor, halves.max_error), (2, 0.25))
        for bad in ([2**53 + 1], np.array([1], np.longdouble) / 3, [1j], ["1"]):
            with self.assertRaisesRegex(ValueError, r"positions has .*; allowed: "):
                posenc.real_positions(bad)
        expect_equal(posenc.real_positions(np.array([1, 2], np.float16)).multiples, [1, 2])
        with self.assertRaisesRegex(ValueError, r"positions.shape is \(1, 1\); allowed: one dim"):
            posenc.real_positions([[0.5]])

    def test_every_type_is_rounded_once(self):
        wide = self.encoder.encode(range(ROWS), dtype="float64")
        self.assertEqual(wide.dtype, np.float64)
        expect_equal(self.encoder.encode(range(ROWS), dtype=np.float32), wide.astype(np.float32))
        expect_equal(self.encoder.encode(range(ROWS), dtype="float16"), wide.astype(np.float16))
        bits = np.empty((ROWS, D_MODEL), np.uint16)
        self.encoder.encode(range(ROWS), out=bits, dtype="bfloat16_bits")
        as_float = (bits.astype(np.uint32) << 16).view(np.float32)
        np.testing.assert_allclose(as_float, wide, rtol=2.0**-8, atol=0)
        expect_equal(self.encoder.encode(range(ROWS), dtype="bfloat16_bits"), bits)

    def test_integers_are_no_bfloat16_unless_asked_for(self):
        """Otherwise a program would compute with the bits as if they were numbers."""
        rotary, rows = posenc.Rotary(D_MODEL), range(ROWS)
        for integers in (np.uint16, np.int16):
            out = np.full((ROWS, D_MODEL), 7, integers)
            for call in (lambda: self.encoder.encode(rows, out=out),
                         lambda: self.encoder.encode(rows, out=out, dtype="bfloat16"),
                         lambda: rotary.cache(rows, out=out), lambda: rotary.apply(out),
                         lambda: self.encoder.encode(rows, dtype=integers),
                         lambda: posenc.check(out)):
                with self.assertRaisesRegex(ValueError, "dtype is u?int16; allowed: .*, bfloat16 "):
                    call()
            self.assertTrue((out == 7).all())
        with self.assertRaisesRegex(ValueError, "out.dtype is float32; allowed: bfloat16"):
            self.encoder.encode(1, out=np.empty((1, D_MODEL), np.float32), dtype="bfloat16_bits")

    def test_bfloat16_is_the_type_of_ml_dtypes(self):
        try:
            import ml_dtypes
        except ImportError:
            with self.assertRaisesRegex(ValueError, "dtype is bfloat16, .*ml_dtypes.*; allowed .*"
                                                    "torch.bfloat16, .*bfloat16_bits"):
                self.encoder.encode(1, dtype="bfloat16")
            return
        table = self.encoder.encode(range(ROWS), dtype="bfloat16")
        self.assertEqual(table.dtype, ml_dtypes.bfloat16)
        expect_equal(table.view(np.uint16),
                     self.encoder.encode(range(ROWS), dtype="bfloat16_bits"))
        out = np.zeros_like(table)
        expect_equal(self.encoder.encode(range(ROWS), out=out), table)
        self.assertTrue(posenc.check(table, base=10000.0).is_good)

    def test_writes_into_the_given_memory_alone(self):
        table = self.encoder.encode(ROWS)
        shared, buffer = np.zeros_like(table), array.array("f", [0] * ROWS * D_MODEL)
        for memory, out in (
                (shared, types.SimpleNamespace(__array_interface__=shared.__array_interface__)),
                (buffer, memoryview(buffer).cast("B").cast("f", table.shape))):
            self.assertIs(self.encoder.encode(ROWS, out=out), out)
            expect_equal(np.reshape(memory, table.shape), table)
        self.assertTrue(posenc.check(Exporter(table), base=10000.0).is_good)
        memory = np.full((ROWS, D_MODEL + 7), 42, np.float32)
        out = memory[:, 3 : 3 + D_MODEL]
        self.assertIs(self.encoder.encode(ROWS, out=out), out)
        expect_equal(out, table)
        self.assertTrue((memory[:, :3] == 42).all() and (memory[:, 3 + D_MODEL :] == 42).all())

    def test_says_which_backend_and_why(self):
        self.assertTrue(self.encoder.backend.startswith("rotation:"))
        self.assertTrue(self.encoder.is_correctly_rounded())
        fast = posenc.Encoder(D_MODEL, accuracy=1e-6)
        self.assertLessEqual(fast.error_bound(range(10**6)), 1e-6)
        self.assertTrue(fast.reason)
        for name in posenc.backends():
            self.assertEqual(posenc.Encoder(D_MODEL, backend=name).backend, name)
        with self.assertRaisesRegex(ValueError, "within 0.1 ulp"):
            posenc.Encoder(D_MODEL, accuracy="0.1 ulp")

    def test_presets(self):
        for name, description in posenc.presets().items():
            self.assertTrue(description)
            posenc.Encoder(**posenc.preset(name))
        # fairseq's first row is at position 2 if no position is given.
        fairseq = posenc.preset("fairseq")
        encoder = posenc.Encoder(**fairseq)
        table = encoder.encode(range(2, 2 + ROWS))
        self.assertEqual((fairseq["first"], encoder.first), (2, 2))
        for same in (encoder.encode(ROWS), posenc.encode(ROWS, **fairseq)):
            expect_equal(same, table)

    def test_picks_are_verdicts_on_measurements(self):
        file = str(next((ROOT / "docs" / "measured").glob("*.json")))
        exact = posenc.pick(file)
        self.assertEqual({each["pick"] for each in posenc.pick(file, 1e-12)}, {None})
        for each in exact + posenc.pick(file, accuracy=1e-6):
            self.assertLessEqual(each["pick"]["error_bound"], 1e-6)
            self.assertEqual(each["pick"]["time_ratio"], 1)
            self.assertTrue(each["others"])
        self.assertTrue(all(each["pick"]["backend"].startswith("rotation:") for each in exact))
        with self.assertRaisesRegex(ValueError, "nothing.json"):
            posenc.pick("/nonexistent/nothing.json")

    def test_grids_are_those_of_their_systems(self):
        y, x = np.divmod(np.arange(15), 5)
        halves = [posenc.encode(each, 8, layout="halves") for each in (x, y)]
        table = posenc.encode_grid(3, 5, 16)
        expect_equal(table, np.hstack(halves))
        expect_equal(posenc.encode_grid(3, 5, 16, dtype="float16"), table.astype(np.float16))
        detr = posenc.encode_grid(3, 5, 16, "detr")
        self.assertAlmostEqual(float(detr[-1, 1]), 1.0, 6)  # cos of almost 2 pi
        for bad in ((-1, 5, 16), (3, 5, 16, "vit"), (1 << 40, 1 << 40, 16)):
            with self.subTest(bad), self.assertRaises(ValueError):
                posenc.encode_grid(*bad)

    def test_other_threads_run_meanwhile(self):
        table = np.empty((1 << 17, 512), np.float32)
        encoder = posenc.Encoder(512, backend="naive")
        worker = threading.Thread(target=lambda: encoder.encode(range(len(table)), out=table))
        worker.start()
        ticks = 0
        while worker.is_alive():
            ticks += 1
            time.sleep(0.001)
        worker.join()
        # A call takes seconds. If it kept the GIL, there would be one tick.
        self.assertGreater(ticks, 20)


class LayerTest(unittest.TestCase):
    def test_rotary_turns_by_its_cache(self):
        half = D_MODEL // 2
        x = np.linspace(-1, 1, ROWS * 4 * D_MODEL, dtype=np.float32).reshape(ROWS, 4, D_MODEL)
        for channels, first, second in (
                ("halves", np.s_[..., :half], np.s_[..., half:]),
                ("interleaved", np.s_[..., 0::2], np.s_[..., 1::2])):
            rotary = posenc.Rotary(D_MODEL, base=500000.0, channels=channels)
            turns = rotary.cache(range(9, 9 + ROWS), "complex")[:, None]
            expected = (x[first] + 1j * x[second]) * turns
            turned = x.copy()
            self.assertIs(rotary.apply(turned, 9), turned)
            np.testing.assert_allclose(turned[first], expected.real, atol=2e-7, rtol=0)
            np.testing.assert_allclose(turned[second], expected.imag, atol=2e-7, rtol=0)
            heads_first = np.ascontiguousarray(x.transpose(1, 0, 2))
            expect_equal(rotary.apply(heads_first, 9, heads_first=True), turned.transpose(1, 0, 2))
            back = rotary.apply(turned, 9, inverse=True)
            np.testing.assert_allclose(back, x, atol=2.0**-20, rtol=0)

    def test_rotary_turns_batches_in_both_orders(self):
        rotary = posenc.Rotary(D_MODEL, frequencies=posenc.YarnScaling(4.0))
        queries = np.linspace(-1, 1, 2 * 5 * 3 * D_MODEL, dtype=np.float32)
        queries = queries.reshape(2, 5, 3, D_MODEL)
        keys = np.ascontiguousarray(queries[:, :, :1])
        positions = np.array([[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]])  # padded on the left
        turned = [queries.copy(), keys.copy()]
        self.assertIs(rotary.apply(turned, positions=positions), turned)
        for b in range(2):
            for r in range(5):
                expected = rotary.apply(queries[b, r].copy()[None], positions[b, r])
                expect_equal(turned[0][b, r], expected[0])
        expect_equal(turned[1], turned[0][:, :, :1])
        heads_first = queries.transpose(0, 2, 1, 3).copy()
        rotary.apply(heads_first, positions=positions, heads_first=True, threads=2)
        expect_equal(heads_first.transpose(0, 2, 1, 3), turned[0])
        expect_equal(rotary.apply(queries.copy(), positions=positions[1:]),
                     rotary.apply(queries.copy()))

    def test_rotary_caches_have_every_layout(self):
        half, positions = D_MODEL // 2, np.arange(-3, ROWS - 3)
        rotary = posenc.Rotary(D_MODEL, attention_factor=1.25)
        for dtype in ("float32", "float64"):
            cache = rotary.cache(positions, dtype=dtype)
            each = cache[:, :half], cache[:, half:]
            pairs = np.stack(each, 2)
            expect_equal(
                rotary.cache(positions, "interleaved", dtype=dtype), pairs.reshape(cache.shape))
            for repeat, expected in (("once", each), ("halves", [np.tile(a, 2) for a in each]),
                                     ("interleaved", [np.repeat(a, 2, 1) for a in each])):
                expect_equal(rotary.cosines_and_sines(
                    positions, repeat, dtype=dtype, threads=2), expected)
            turns = rotary.cache(positions, "complex", dtype=dtype)
            expect_equal(turns.view(dtype).reshape(pairs.shape), pairs)
            self.assertIs(rotary.cache(positions, "complex", out=turns), turns)
        of_batch = np.array([positions, positions[::-1]])
        batch = rotary.cache(of_batch, dtype="float64")
        expect_equal(batch, np.stack([cache, cache[::-1]]))
        self.assertIs(rotary.cache(of_batch, out=batch), batch)
        table = np.zeros((ROWS, D_MODEL + 3), np.float32)
        posenc.Rotary(D_MODEL).cosines_and_sines(
            positions, out=(table[:, :half], table[:, half:D_MODEL]))
        expect_equal(table[:, :D_MODEL], posenc.Rotary(D_MODEL).cache(positions))


class AxesTest(unittest.TestCase):
    def test_each_pair_has_the_position_of_its_axis(self):
        positions = np.array([[0, 1, 9, 9], [0, 1, 9, 10], [0, 1, 11, -9]])
        axes = posenc.axes_in_sections([1, 1, 2], base=1e6, layout="halves")
        self.assertEqual((axes.d_model, axes.axes), (8, 3))
        table = posenc.AxesEncoder(axes).encode(positions)
        of_axes = [posenc.Encoder(8, base=1e6, layout="halves").encode(each) for each in positions]
        for k, axis in enumerate([0, 1, 2, 2]):
            for channel in (k, 4 + k):
                expect_equal(table[:, channel], of_axes[axis][:, channel])
        out = np.zeros((2, 4, 8), np.float64)
        encoder = posenc.AxesEncoder(axes, dtype="float64")
        self.assertIs(encoder.encode(np.stack([positions, positions], 1), out), out)
        expect_equal(out[0], out[1])
        expect_equal(
            encoder.encode([3, 4]), posenc.Encoder(8, base=1e6, layout="halves").encode([3, 4]))

    def test_grids_have_blocks_of_their_axes(self):
        grid = posenc.grid_positions([2, 3], [0, -1])
        expect_equal(grid, [[0, 0, 0, 1, 1, 1], [-1, 0, 1, -1, 0, 1]])
        blocks = posenc.axes_in_blocks([4, 2], base=256)
        of_blocks = [posenc.encode(grid[axis], width, base=256)
                     for axis, width in enumerate((4, 2))]
        expect_equal(posenc.AxesEncoder(blocks).encode(grid), np.hstack(of_blocks))
        for name in posenc.axes_presets():
            axes, positions = posenc.axes_table(name)
            self.assertEqual((axes, len(positions)), (pickle.loads(pickle.dumps(axes)), axes.axes))

    def test_rotary_turns_each_pair_by_its_axis(self):
        rotary = posenc.Rotary(axes=posenc.axes_in_sections([2, 1]))
        self.assertEqual((rotary.axes, rotary.dimension, rotary.attention_factor),
                         (posenc.axes_in_sections([2, 1]), 6, 1.0))
        x = np.linspace(-1, 1, 2 * 5 * 3 * 6, dtype=np.float32).reshape(2, 5, 3, 6)
        positions = np.arange(10).reshape(2, 5) ** 2
        turned = rotary.apply(x.copy(), positions=np.stack([positions, positions + 1], 1))
        for axis, pairs in ((0, [0, 1, 3, 4]), (1, [2, 5])):
            for b in range(2):
                alone = posenc.Rotary(6).apply(x[b].copy(), positions=positions[axis] + b)
                expect_equal(turned[b][..., pairs], alone[..., pairs])


class FrequenciesTest(unittest.TestCase):
    def test_encodings_lack_no_attention_factor_silently(self):
        for rule in (posenc.YarnScaling(4.0), posenc.LongRopeScaling([1.0] * 4)):
            with self.assertRaisesRegex(ValueError, "^attention_factor is .*; allowed in an"):
                posenc.Encoder(8, frequencies=rule)
            without = dataclasses.replace(rule, attention_factor=1.0)
            expect_equal(posenc.Rotary(8, frequencies=without).cache(range(ROWS)), posenc.encode(
                ROWS, 8, layout="halves_cos_first", frequencies=without))

    def test_rules_take_arrays(self):
        factors = np.array([1, 2.5])
        self.assertEqual(str(posenc.LongRopeScaling(factors, 1)),
                         "longrope:factors=1.0/2.5,attention_factor=1")
        self.assertEqual(str(posenc.TurnFrequencies(array.array("q", (1, 2)), np.array([3, 4]))),
                         "turns:numerators=1/2,denominators=3/4")
        for wrong in ("4", None):
            with self.assertRaisesRegex(TypeError, "^factor is .*; allowed: a number"):
                posenc.Encoder(8, frequencies=posenc.LinearScaling(wrong))

    def test_rules_are_the_texts_of_the_library(self):
        rules = {
            posenc.LinearScaling(4): "linear:factor=4", posenc.NtkScaling(2.5): "ntk:factor=2.5",
            posenc.YarnScaling(np.float32(0.1), 9, truncate=np.False_):
                f"yarn:factor={float(np.float32(0.1))},trained_rows=9,truncate=false",
            posenc.Llama3Scaling(trained_rows=np.int64(7)): "llama3:trained_rows=7",
            posenc.LongRopeScaling((1, 2.5), 1e-3): "longrope:factors=1/2.5,attention_factor=1e-3",
            posenc.ProportionalScaling(turned=3): "proportional:turned=3",
            posenc.TurnFrequencies((1, 2), (3, 2**53)):
                f"turns:numerators=1/2,denominators=3/{2**53}",
            posenc.BaseTurns(denominator=5): "base_turns:denominator=5"}  # fmt: skip
        for rule, text in rules.items():
            with self.subTest(text):
                written = posenc._posenc.frequency_rule(text)
                self.assertEqual(posenc._posenc.frequency_rule(str(rule)), written)
                self.assertEqual(re.findall(r"[:,](\w+)=", written),
                                 [each.name for each in dataclasses.fields(rule)])
                self.assertEqual(pickle.loads(pickle.dumps(rule)), rule)
                self.assertTrue(text.startswith(rule.rule + ":"))


class BadInputTest(unittest.TestCase):
    def test_is_refused_with_its_reason_and_nothing_is_written(self):
        encoder = posenc.Encoder(D_MODEL)
        rotary = posenc.Rotary(D_MODEL)
        on_axes = posenc.Rotary(axes=posenc.axes_in_sections([1, 1, 1]))
        out = np.full((ROWS, D_MODEL), 42, np.float32)
        read_only = out.view()
        read_only.flags.writeable = False
        cases = {
            "accuracy is given with": lambda: posenc.Encoder(8, backend="naive", accuracy=1.0),
            "out.dtype is >f4": lambda: encoder.encode(range(ROWS), out=out.astype(">f4")),
            "out.strides is": lambda: encoder.encode(range(ROWS), out=out[:, ::-1]),
            "out is read-only": lambda: encoder.encode(range(ROWS), out=read_only),
            "dtype is int8": lambda: encoder.encode(range(ROWS), dtype="int8"),
            "positions is -1; allowed: at least 0": lambda: encoder.encode(-1),
            "frequencies has dtype float64 and shape \\(1, 4\\); allowed":
                lambda: posenc.Encoder(8, frequencies=Convertible([[1.0, 0.5, 0.25, 0.0]])),
            "positions has dtype float64 and shape \\(1,\\); allowed: int32 or int64":
                lambda: encoder.encode([1.5], out=out),
            "a range of step 1": lambda: encoder.error_bound(range(0, 9, 2)),
            "accuracy is 'high'; allowed": lambda: posenc.Encoder(8, accuracy="high"),
            "x.shape is \\(66,\\); allowed: two to four": lambda: rotary.apply(out[0]),
            "x\\[1\\] is read-only": lambda: rotary.apply([out, read_only]),
            "first is 1 with positions": lambda: rotary.apply(out, 1, positions=range(ROWS)),
            "positions has 40 sequences of 1 rows": lambda: rotary.apply(
                out, positions=np.zeros((ROWS, 1), int)),
            "positions.shape is \\(2, 40\\); allowed: \\(rows\\), \\(3, rows\\)":
                lambda: on_axes.cache(np.zeros((2, ROWS), int)),
            "layout is 'once'": lambda: rotary.cache(range(3), "once"),
            "repeat is 'twice'": lambda: rotary.cosines_and_sines(range(3), "twice"),
            "out is not a pair": lambda: rotary.cosines_and_sines(range(3), out=out),
            "dtype float16; allowed with the layout complex: complex64 with float32":
                lambda: rotary.cache(range(3), "complex", dtype="float16"),
            "out.dtype is float32, and dtype None; allowed with the layout complex":
                lambda: rotary.cache(range(ROWS), "complex", out=out[:, :33]),
            "dimension is not given": lambda: posenc.Rotary(),
            r"parts\[0\].axis is -1; allowed: 0 to 15":
                lambda: posenc.Axes([posenc.AxisPairs(-1, 4)]),
            "base is given with axes": lambda: posenc.Rotary(axes=on_axes.axes, base=5e5),
            "out.dtype is float32; allowed: float64, the dtype that was given":
                lambda: encoder.encode(ROWS, out=out, dtype="float64"),
            "cosines.dtype is float32": lambda: rotary.cosines_and_sines(
                ROWS, "halves", out=(out, out.copy()), dtype="float16"),
            "dimension is 8; allowed: the dimension of the axes, 6":
                lambda: posenc.Rotary(8, axes=posenc.axes_in_sections([1, 1, 1])),
            "rows at equal distances": lambda: rotary.cache(
                np.zeros((2, 3), int), out=np.zeros((2, 5, D_MODEL), np.float32)[:, :3]),
        }
        for message, call in cases.items():
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                call()
        # No rows or columns may keep their old values: `out` must have the shape of the result.
        three = np.full((2, ROWS, D_MODEL), 42, np.float32)
        for rows, given in ((ROWS - 1, out), (ROWS + 1, out), (ROWS, out[:, :-1]), (ROWS, three)):
            allowed = re.escape(f".shape is {given.shape}; allowed: ({rows}, {D_MODEL})") + "$"
            for call in (encoder.encode, lambda rows, out: rotary.cosines_and_sines(
                    rows, "halves", out=(out, out))):
                with self.assertRaisesRegex(ValueError, "^(out|cosines)" + allowed):
                    call(rows, out=given)
        self.assertTrue((three == 42).all())
        self.assertTrue((out == 42).all())


    def test_wrong_types_are_named_in_one_line(self):
        encoder, rotary = posenc.Encoder(8), posenc.Rotary(8)
        x = np.zeros((3, 8), np.float32)
        for message, call in {
            "d_model is '8'; allowed: 64-bit integers": lambda: posenc.Encoder("8"),
            "d_model is 8.0; allowed: 64-bit integers": lambda: posenc.Encoder(8.0),
            "rows is 10{30}; allowed: 64-bit integers": lambda: posenc.encode(10**30, 8),
            "backend is 3; allowed: texts, None": lambda: posenc.Encoder(8, backend=3),
            "layout is 3; allowed: texts": lambda: posenc.Encoder(8, layout=3),
            r"base is array\('a'.*; allowed: numbers": lambda: posenc.check(x, base=np.array("a")),
            "inverse is 'yes'; allowed: True, False": lambda: rotary.apply(x, inverse="yes"),
            "threads is 2147483648; allowed: 32-bit integers":
                lambda: encoder.encode(3, threads=2**31),
            "axes is of type int; allowed: Axes": lambda: posenc.Rotary(axes=5),
            r"sizes is \[1, 2.5\]; allowed: sequences of 64-bit integers":
                lambda: posenc.grid_positions([1, 2.5]),
            r"sizes is \[1, 2\]; allowed: sequences of three 64-bit integers, None":
                lambda: posenc.axes_table("flux", [1, 2]),
            "accuracy is 1j; allowed: a largest error, a text such as '1 ulp', None":
                lambda: posenc.Encoder(8, accuracy=1j),
            "positions is 5.0; allowed: a range, an array": lambda: encoder.encode(5.0),
            "positions is 'abc'; allowed: a range": lambda: encoder.encode("abc"),
            "out is of type list; allowed: an array": lambda: encoder.encode(1, out=[[1.0]]),
            "out is of type Convertible; allowed: an array":
                lambda: rotary.cache(1, "complex", out=Convertible([[1j] * 4])),
            "x is of type float; allowed: an array": lambda: rotary.apply(1.0),
            "frequencies is 5; allowed: None, a seq": lambda: posenc.Encoder(8, frequencies=5),
            "layout is b'halves'; allowed: texts": lambda: posenc.Encoder(8, layout=b"halves"),
            "layout is bytearray.*; allowed: texts":
                lambda: posenc.Encoder(8, layout=bytearray(b"halves")),
            "heads_first is 1; allowed: True, False": lambda: rotary.apply(x, heads_first=1),
            r"first is (np.float32\()?1.5\)?; allowed: 64-bit integers":
                lambda: rotary.apply(x, np.float32(1.5)),
            r"query_scaling is \(0.1,\); allowed: \(beta,":
                lambda: posenc.Rotary(8, query_scaling=(0.1,)),
            "a part is of type int; allowed: AxisPairs": lambda: posenc.Axes([5]),
            "axis is None; allowed: an integer": lambda: posenc.AxisPairs(None, 4),
            "indices is 3; allowed: a sequence": lambda: posenc.AxisPairs(0, 4, indices=3),
            ".*unexpected keyword argument 'dtypo'": lambda: encoder.encode(3, dtypo="float16"),
        }.items():
            with self.subTest(message), self.assertRaisesRegex(TypeError, f"^{message}[^\n]*$"):
                call()


CONFIG = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 8}
ENCODERS = [
    posenc.Encoder(**posenc.preset("fairseq")),
    posenc.Encoder(8, backend="naive", base=3.25, layout="halves_cos_first", first=7),
    posenc.Encoder(8, accuracy=1e-6, dtype="float64", rows=77),
    posenc.Encoder(8, accuracy="1 ulp", frequencies=[1, 0.1, 1e-3, 0]),
    posenc.Encoder(8, frequencies=posenc.TurnFrequencies([1, 2, 3, 4], [5, 6, 7, 8])),
    posenc.AxesEncoder(posenc.axes_interleaved([2, 1, 1], base=500.0)),
]
ROTARIES = [
    posenc.Rotary(8, base=5e5),
    posenc.Rotary(8, channels="interleaved", frequencies=posenc.YarnScaling(4.0)),
    posenc.Rotary(axes=posenc.axes_in_blocks([2, 6]), attention_factor=0.75),
    posenc.rotary_from_config(CONFIG),
]


class ObjectsTest(unittest.TestCase):
    def copies(self, each):
        """Yields every copy by pickle. Other copies are the object itself."""
        self.assertIs(copy.copy(each), each)
        self.assertIs(copy.deepcopy([each])[0], each)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            yield pickle.loads(pickle.dumps(each, protocol))

    def test_copies_compute_the_same(self):
        for each in ENCODERS:
            for other in self.copies(each):
                for positions in (5, range(10**12, 10**12 + 5)):
                    expect_equal(other.encode(positions), each.encode(positions))
                if isinstance(each, posenc.Encoder):
                    self.assertEqual((other.backend, other.first), (each.backend, each.first))
        for each in ROTARIES:
            for other in self.copies(each):
                self.assertEqual((repr(other), other.channels), (repr(each), each.channels))
                expect_equal(other.cache([10**12, 3]), each.cache([10**12, 3]))

    def test_objects_are_values(self):
        blocks = posenc.axes_in_blocks
        pairs = [
            (posenc.Encoder(8, base=5e5), posenc.Encoder(8, base=500000)),
            (posenc.Encoder(8, frequencies="linear:factor=4"),
             posenc.Encoder(8, frequencies=posenc.LinearScaling(4))),
            (posenc.Encoder(4, frequencies=[1, 0.5]),
             posenc.Encoder(4, frequencies=np.array([1, 0.5]))),
            (blocks([4, 4]), posenc.Axes([posenc.AxisPairs(0, 4), posenc.AxisPairs(1, 4)])),
            (posenc.AxesEncoder(blocks([4, 4])), posenc.AxesEncoder(blocks([4, 4]))),
            (posenc.Rotary(8), posenc.Rotary(axes=posenc.Rotary(8).axes)),
            (posenc.LinearScaling(4.0), posenc.LinearScaling(4)),
        ]  # fmt: skip
        for a, b in pairs:
            self.assertEqual(a, b)
            self.assertEqual(hash(a), hash(b))
        self.assertEqual(len({each for pair in pairs for each in pair}), len(pairs))
        for other in (posenc.Encoder(8, first=1), posenc.Encoder(8, layout="halves"), 8):
            self.assertNotEqual(posenc.Encoder(8), other)
        encoder = posenc.Encoder(8, backend="naive")
        self.assertEqual(repr(encoder), f"Encoder(d_model=8, backend='{encoder.backend}')")
        self.assertEqual((encoder.base, encoder.layout, encoder.spacing, encoder.frequencies),
                         (10000.0, "interleaved", "paper", None))
        for each, _ in pairs[:5]:
            self.assertEqual(eval(repr(each), vars(posenc)), each)
        class Named(posenc.Encoder):
            def __init__(self, name):
                super().__init__(8)
                self.name = name

        self.assertEqual(Named("a").name, "a")
        for each in (ENCODERS[0], ROTARIES[0]):
            with self.assertRaisesRegex(AttributeError, "first cannot be set"):
                each.first = 3
        with self.assertRaisesRegex(AttributeError, "d_model cannot be deleted"):
            del ENCODERS[0].d_model

    def test_a_pickle_has_the_arguments_as_they_were(self):
        own = [1.0, 0.5, 0.25, 0.0]
        encoder = posenc.Encoder(8, frequencies=own)
        own[0] = 2.0
        expect_equal(pickle.loads(pickle.dumps(encoder)).encode(9), encoder.encode(9))

    def test_no_rows(self):
        axes, rotary = posenc.AxesEncoder(posenc.axes_in_blocks([4, 4])), ROTARIES[0]
        for none in (0, range(5, 5), [], np.empty(0, np.int32), np.arange(6)[6:],
                     Convertible(np.empty(0, np.int64))):
            with self.subTest(none):
                for encode in (ENCODERS[1].encode, axes.encode, rotary.cache):
                    self.assertEqual(encode(none).shape, (0, 8))
                out = np.empty((9, 8), np.float32)[9:]
                self.assertIs(ENCODERS[1].encode(none, out=out), out)
                self.assertEqual(rotary.cache(none, "complex").shape, (0, 4))
                self.assertEqual(np.shape(rotary.cosines_and_sines(none)), (2, 0, 4))
        for shape in ((0,), (0, 3), (3, 0)):
            self.assertEqual(axes.encode(np.empty((2, *shape), int)).shape, (*shape, 8))
            x = np.empty((*shape, 8), np.float16)
            self.assertEqual(np.shape(rotary.apply([x, x], heads_first=True)), (2, *x.shape))
        self.assertEqual(posenc.encode_grid(0, 5, 8).shape, (0, 8))

    def test_numbers_of_other_types_are_converted(self):
        own = [1.0, 0.5, 0.25, 0.0]
        for same in (Convertible(own), np.array(own, np.float32), tuple(own)):
            expect_equal(posenc.encode(9, 8, frequencies=same),
                         posenc.encode(9, 8, frequencies=own))
        for number in (np.float32(1e-6), np.array(1e-6)):
            encoder = posenc.Encoder(8, accuracy=number)
            self.assertLessEqual(encoder.error_bound(range(9)), 1e-6)

    def test_the_package_does_not_import_torch(self):
        program = ("import sys, posenc; posenc.encode(3, 8, dtype=None); "
                   "sys.exit(any(name.split('.')[0] == 'torch' for name in sys.modules))")
        subprocess.run([sys.executable, "-c", program], check=True)


@unittest.skipIf(torch is None, "there is no PyTorch")
class TorchTest(unittest.TestCase):
    def test_values_may_be_bfloat16(self):
        exact = torch.tensor([1, 0.5, 0.25, 0.125])
        expect_equal(posenc.encode(ROWS, 8, frequencies=exact.bfloat16()),
                     posenc.encode(ROWS, 8, frequencies=exact))
        positions = exact.bfloat16()
        self.assertEqual(posenc.real_positions(positions).frequencies, posenc.LinearScaling(8.0))
        with self.assertRaisesRegex(ValueError, "^positions has dtype float32"):
            posenc.encode(positions, 8)

    def test_tensors_share_their_memory(self):
        encoder = posenc.Encoder(D_MODEL)
        for name in ("float32", "float64", "float16", "bfloat16"):
            out = torch.zeros(ROWS, D_MODEL, dtype=getattr(torch, name))
            self.assertIs(encoder.encode(range(ROWS), out=out), out)
            is_bfloat16 = name == "bfloat16"
            expected = encoder.encode(range(ROWS), dtype=name + is_bfloat16 * "_bits")
            written = out.view(torch.int16).numpy().view(np.uint16) if is_bfloat16 else out.numpy()
            expect_equal(written, expected)

    def test_rotary_turns_views_of_tensors(self):
        rotary = posenc.Rotary(64, base=5e5)
        # The views of one projection are strided, and are rotated in place.
        projected = torch.linspace(-1, 1, 2 * 7 * 8 * 64).reshape(2, 7, 8, 64)
        positions = torch.tensor([[0, 0, 0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5, 6]])
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            x = projected.to(dtype)
            wide = rotary.apply(x.float().numpy().copy(), positions=positions)
            expected = torch.from_numpy(wide).to(dtype)  # each element is rounded once
            expected[:, :, 7] = x[:, :, 7]
            queries, keys = x[:, :, :6].transpose(1, 2), x[:, :, 6:7].transpose(1, 2)
            turned = rotary.apply([queries, keys], positions=positions, heads_first=True)
            self.assertIs(turned[0], queries)
            self.assertTrue(torch.equal(x, expected))
        with self.assertRaisesRegex(ValueError, "head_stride is 0|has .*head_stride 0"):
            rotary.apply(projected[:, :, :1].expand(2, 7, 4, 64))
        complex_cache = torch.zeros(7, 32, dtype=torch.complex64)
        self.assertIs(rotary.cache(range(7), "complex", out=complex_cache), complex_cache)
        expect_equal(complex_cache.numpy(), rotary.cache(range(7), "complex"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
