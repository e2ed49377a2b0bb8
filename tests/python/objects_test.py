"""Tests unusual uses of the package's objects and calls: copies and pickles, empty arrays, counts
and types of other libraries, and objects that were never initialised."""

import copy
import functools
import pickle
import subprocess
import sys
import unittest

from modules import expect_equal, np

import posenc

D_MODEL, FAR = 8, range(10**12, 10**12 + 5)
AXES = posenc.AxesEncoder(posenc.axes_interleaved([2, 1, 1], base=500.0))
CONFIG = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 8}
ENCODERS = [
    posenc.Encoder(D_MODEL),
    posenc.Encoder(**posenc.preset("fairseq")),
    posenc.Encoder(D_MODEL, backend="naive", base=3.25, layout="halves_cos_first", first=7),
    posenc.Encoder(D_MODEL, accuracy=1e-6, dtype="float64", rows=77),
    posenc.Encoder(D_MODEL, accuracy=posenc.Accuracy.within_ulp(1), frequencies=[1, 0.1, 1e-3, 0]),
    posenc.Encoder(D_MODEL, frequencies=posenc.TurnFrequencies([1, 2, 3, 4], [5, 6, 7, 8])),
]


class Convertible:
    """Converts to an array, but shares no memory with NumPy, as tensors of other libraries."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __array__(self, *_, **__):
        return np.array(self.values)


def rotaries():
    return [
        posenc.Rotary(D_MODEL, base=5e5),
        posenc.Rotary(D_MODEL, channels="interleaved", frequencies=posenc.YarnScaling(4.0)),
        posenc.Rotary(axes=posenc.axes_in_blocks([2, 6]), attention_factor=0.75),
        posenc.rotary_from_config(CONFIG),
    ]


class CopyTest(unittest.TestCase):
    def copies(self, each):
        """Yields every copy by pickle. Other copies are the object itself."""
        self.assertIs(copy.copy(each), each)
        self.assertIs(copy.deepcopy([each])[0], each)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            yield pickle.loads(pickle.dumps(each, protocol))
        self.assertEqual(each.__reduce__()[1:], each.__reduce_ex__(0)[1:])

    def test_encoders(self):
        for each in ENCODERS:
            for other in self.copies(each):
                self.assertEqual((other.backend, other.first, other.d_model),
                                 (each.backend, each.first, each.d_model))
                expect_equal(other.encode(5), each.encode(5))
                expect_equal(other.encode(FAR), each.encode(FAR))

    def test_axes_and_their_encoders(self):
        positions = posenc.grid_positions([2, 3, 4], firsts=[9, 8, 7])
        for other in self.copies(AXES):
            self.assertEqual(other.axes, AXES.axes)
            expect_equal(other.encode(positions), AXES.encode(positions))
        pairs = posenc.AxisPairs(0, 8, picks=[3, 1], pairs=[1, 0])
        parts = posenc.Axes([pairs], layout="halves")
        for other in self.copies(pairs):
            self.assertEqual(posenc.Axes([other], layout="halves"), parts)
        for other in self.copies(parts):
            self.assertEqual(other, parts)
        for name in posenc.axes_presets():
            axes, _ = posenc.axes_table(name)
            self.assertEqual(pickle.loads(pickle.dumps(axes)), axes)

    def test_rotary_embeddings(self):
        for each in rotaries():
            for other in self.copies(each):
                self.assertEqual(repr(other), repr(each))
                expect_equal(other.cache(FAR), each.cache(FAR))
                x = np.linspace(-1, 1, 5 * D_MODEL, dtype=np.float32).reshape(5, D_MODEL)
                expect_equal(other.apply(x.copy(), 3), each.apply(x.copy(), 3))
        self.assertIn("llama", repr(pickle.loads(pickle.dumps(posenc.rotary_from_config(CONFIG)))))

    def test_accuracies(self):
        for each in (posenc.Accuracy.correctly_rounded(), posenc.Accuracy.within(1e-6),
                     posenc.Accuracy.within_ulp(0.75)):
            for other in self.copies(each):
                self.assertEqual(repr(other), repr(each))

    def test_what_no_arguments_make_is_not_pickled(self):
        module = posenc._posenc
        heads = np.ones((9, 2, D_MODEL), np.float32)
        others = [posenc.check(posenc.encode(9, D_MODEL)), module.check_frequencies([1.0, 0.01]),
                  posenc.check_rotated(heads, heads, 9, posenc.Rotary(D_MODEL))]
        pickled = {type(each) for each in (*ENCODERS, AXES, *rotaries())}
        pickled |= {posenc.Accuracy, posenc.Axes, posenc.AxisPairs}
        self.assertEqual({each for each in vars(module).values() if isinstance(each, type)},
                         pickled | {type(each) for each in others})
        for each in others:
            message = f"^{type(each).__name__} is not pickled; allowed: objects that arguments"
            calls = [each.__reduce__, functools.partial(copy.copy, each)]
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                calls += [functools.partial(pickle.dumps, each, protocol),
                          functools.partial(each.__reduce_ex__, protocol)]
            for call in calls:
                with self.subTest(each), self.assertRaisesRegex(TypeError, message):
                    call()


class EmptyTest(unittest.TestCase):
    def test_no_positions(self):
        encoder, axes = ENCODERS[0], posenc.axes_in_blocks([4, 4])
        empties = [0, range(0), range(5, 5), [], (), np.empty(0, np.int64), np.empty(0, np.int32),
                   np.arange(6)[6:], Convertible(np.empty(0, np.int64))]
        for none in empties:
            with self.subTest(none):
                for table in (encoder.encode(none), posenc.encode(none, D_MODEL),
                              encoder.encode(none, out=np.empty((0, D_MODEL), np.float32)),
                              encoder.encode(none, out=np.empty((9, D_MODEL), np.float32)[9:])):
                    self.assertEqual(table.shape, (0, D_MODEL))
                for rotary in rotaries():
                    self.assertEqual(rotary.cache(none).shape, (0, D_MODEL))
                    self.assertEqual(rotary.cache(none, "complex").shape, (0, D_MODEL // 2))
                    self.assertEqual([each.shape for each in rotary.cosines_and_sines(none)],
                                     2 * [(0, D_MODEL // 2)])
                self.assertEqual(posenc.AxesEncoder(axes).encode(none).shape, (0, D_MODEL))
        for shape in ((0,), (0, 3), (3, 0)):
            table = posenc.AxesEncoder(axes).encode(np.empty((2, *shape), int))
            self.assertEqual(table.shape, (*shape, D_MODEL))
        self.assertEqual(posenc.encode_grid(0, 5, D_MODEL).shape, (0, D_MODEL))
        self.assertEqual(posenc.encode_like("tutorial", 0, D_MODEL).shape, (0, D_MODEL))

    def test_no_elements_in_heads(self):
        rotary = posenc.Rotary(D_MODEL)
        for shape in ((0,), (0, 5), (5, 0), (0, 0)):
            for dtype in (np.float32, np.float16):
                x = np.empty((*shape, D_MODEL), dtype)
                for y in (rotary.apply(x), rotary.apply(x, heads_first=True), rotary.apply([x, x])):
                    self.assertEqual(np.shape(y)[-x.ndim:], x.shape)


class DuckTest(unittest.TestCase):
    def test_counts_and_sizes_are_any_integers(self):
        rotary = posenc.Rotary(D_MODEL)
        for encoded in (lambda rows: posenc.encode(rows, np.int32(D_MODEL)), ENCODERS[0].encode,
                        lambda rows: posenc.encode_like("tutorial", rows, D_MODEL), AXES.encode,
                        rotary.cache, lambda rows: rotary.cosines_and_sines(rows, "halves")):
            for count in (5, np.int64(5), np.uint8(5), np.array(5)):
                expect_equal(encoded(count), encoded(range(5)))
        expect_equal(posenc.encode(np.array([5]), D_MODEL), ENCODERS[0].encode([5]))

    def test_what_has_an_array_is_positions_and_frequencies(self):
        expect_equal(posenc.encode(Convertible([7, 1]), D_MODEL), posenc.encode([7, 1], D_MODEL))
        rotary, batch = posenc.Rotary(D_MODEL), [[7, 1], [2, 3]]
        expect_equal(rotary.cache(Convertible(batch)), rotary.cache(np.array(batch)))
        own = [1.0, 0.5, 0.25, 0.0]
        for same in (Convertible(own), np.array(own, np.float32), tuple(own)):
            expect_equal(posenc.encode(9, D_MODEL, frequencies=same),
                         posenc.encode(9, D_MODEL, frequencies=own))
        with self.assertRaisesRegex(ValueError, r"^frequencies has dtype .* shape \(1, 4\); allow"):
            posenc.Encoder(D_MODEL, frequencies=Convertible([own]))
        with self.assertRaisesRegex(ValueError, "^positions has dtype float64"):
            posenc.encode(Convertible([1.5]), D_MODEL)

    def test_no_dtype_is_the_default_one(self):
        for none in (posenc.encode(3, D_MODEL, dtype=None), AXES.encode(range(3), dtype=None),
                     ENCODERS[0].encode(3, dtype=None), posenc.encode_grid(3, 1, 8, dtype=None),
                     posenc.Rotary(D_MODEL).cache(range(3), dtype=None)):
            self.assertEqual(none.dtype, np.float32)

    def test_an_accuracy_is_any_real_number(self):
        for number in (np.float32(1e-6), np.float64(1e-6), np.array(1e-6)):
            encoder = posenc.Encoder(D_MODEL, accuracy=number)
            self.assertLessEqual(encoder.error_bound(range(9)), 1e-6)

    def test_wrong_arguments_raise_what_is_promised(self):
        for error, message, call in (
                (ValueError, "rows is 10{30}; allowed: a 64-bit", lambda: posenc.encode(10**30, 8)),
                (ValueError, r"positions is range\(0, 10{30}\); allowed: up",
                 lambda: posenc.encode(range(10**30), 8)),
                (ValueError, "^dtype is int8", lambda: posenc.encode(3, 8, dtype=np.int8)),
                (ValueError, "surrogates not allowed",
                 lambda: posenc.encode(3, 8, dtype="\ud800")),
                (TypeError, "^positions is 5.0; allowed: a range", lambda: posenc.encode(5.0, 8)),
                (TypeError, "^axes is 5; allowed: Axes, None$", lambda: posenc.Rotary(axes=5)),
                (TypeError, "^accuracy is 1j; allowed", lambda: posenc.Encoder(8, accuracy=1j)),
                (TypeError, "^out is of type Convertible; allowed: an array",
                 lambda: ENCODERS[0].encode(1, out=Convertible([[1.0]])))):
            with self.subTest(message), self.assertRaisesRegex(error, message):
                call()


class UninitialisedTest(unittest.TestCase):
    def test_every_method_raises_instead_of_reading_what_is_not_there(self):
        module = posenc._posenc
        classes = [each for each in vars(module).values() if isinstance(each, type)]
        calls = 0
        for each in classes:
            for name, member in vars(each).items():
                empty = each.__new__(each)
                if isinstance(member, property):
                    with self.subTest(each=each, name=name), self.assertRaises(TypeError):
                        getattr(empty, name)
                elif not name.startswith("_") and not isinstance(member, staticmethod):
                    arguments = (range(3),) if name not in ("seek", "backward") else (3,)
                    for given in ((), arguments):
                        with self.subTest(each=each, name=name), self.assertRaises(TypeError):
                            getattr(empty, name)(*given)
                else:
                    continue
                calls += 1
        self.assertGreater(calls, 40)
        initialised = "^{} was made without __init__.*; allowed: an object that was initialised$"
        encoder, axes = (each.__new__(each) for each in (posenc.Encoder, posenc.Axes))
        accuracy = posenc.Accuracy.__new__(posenc.Accuracy)
        for name, call in (("self", lambda: encoder.backend), ("self", lambda: encoder.encode(3)),
                           ("self", lambda: posenc.Encoder(8, accuracy=accuracy)),
                           ("axes", lambda: posenc.AxesEncoder(axes)),
                           ("axes", lambda: posenc.Rotary(axes=axes))):
            with self.subTest(call), self.assertRaisesRegex(TypeError, initialised.format(name)):
                call()
        self.assertNotEqual(posenc.axes_in_blocks([4]), axes)
        with self.assertRaises(TypeError):
            pickle.dumps(posenc.Rotary.__new__(posenc.Rotary))


class ImportTest(unittest.TestCase):
    def test_the_package_does_not_import_torch(self):
        program = ("import sys, posenc; posenc.encode(3, 8, dtype=None); "
                   "sys.exit(any(name.split('.')[0] == 'torch' for name in sys.modules))")
        subprocess.run([sys.executable, "-c", program], check=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
