"""What rotary_from_config() refuses, and what it takes as a configuration."""

import json
import pathlib
import tempfile
import types
import unittest
import warnings

from modules import np

import posenc

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "rotary_refusals.json"
LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
         "max_position_embeddings": 4096}  # fmt: skip
POSITIONS = range(1000, 1040)


class RefusalTest(unittest.TestCase):
    def refuse(self, config, message, **arguments):
        with self.subTest(message), self.assertRaisesRegex(ValueError, f"^{message}") as raised:
            posenc.rotary_from_config(config, **arguments)
        self.assertNotIn("\n", str(raised.exception))

    def test_configurations(self):
        for each in json.loads(DATA.read_text(encoding="utf-8"))["configurations"]:
            self.refuse(**each)

    def test_equal_rules_under_both_names(self):
        rule = {"factor": 4.0, "original_max_position_embeddings": 32768}
        config = LLAMA | {"rope_theta": 5e5, "rope_scaling": rule | {"type": "yarn"},
                          "rope_parameters": rule | {"rope_type": "yarn", "rope_theta": 5e5}}
        self.assertIn("base 500000, rule yarn:factor=4,", repr(posenc.rotary_from_config(config)))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "config.json")
            with self.assertRaises(FileNotFoundError):
                posenc.rotary_from_config(folder)
            file.write_text(json.dumps(LLAMA | {"rms": [float("inf")]}), encoding="utf-8")
            for path in (folder, str(file), file):
                self.assertEqual(posenc.rotary_from_config(path).dimension, 128)
            for message, text in {
                "the configuration is \\[\\]; allowed: an object": "[]",
                "the configuration is not JSON near byte 2; allowed: the text": "{",
                "model_type is given twice; allowed: once": '{"model_type": 1, "model_type": 2}',
                "the configuration is nested 65 deep; allowed: at most 64": "[" * 99 + "]" * 99,
                "the configuration is not JSON near byte 6": '{"a":+1}',
                "the configuration is not JSON near byte 7; ": '{"a":01}',
                "the configuration is not JSON near byte 8": '{"a":1.}',
            }.items():
                file.write_text(text, encoding="utf-8")
                with self.assertRaisesRegex(ValueError, f"^{message}"):
                    posenc.rotary_from_config(file)
            file.write_bytes(b"{\xff}")
            with self.assertRaisesRegex(ValueError, "config.json is not UTF-8 at byte 1; allowed"):
                posenc.rotary_from_config(file)

    def test_what_is_not_strict_is_a_warning(self):
        unknown = LLAMA | {"model_type": "spiral", "rope_style": "new",
                           "rope_scaling": {"type": "helix", "turns": 4}}  # fmt: skip
        outer = {"model_type": "spiral_vl", "text_config": LLAMA, "vision_config": {}}
        for config, expected in (
            (unknown, ["model_type is 'spiral'; read as llama", "rope_type is 'helix'; read as "
                       "none", "rope_scaling.turns is 4; not read",
                       "rope_style is 'new'; not read"]),
            (outer, ["model_type is 'spiral_vl'; read as text_config"]),
        ):
            with warnings.catch_warnings(record=True) as given:
                warnings.simplefilter("always")
                rotary = posenc.rotary_from_config(config, strict=False)
            self.assertEqual([str(each.message) for each in given], expected)
            self.assertEqual({each.filename for each in given}, {__file__})
            np.testing.assert_array_equal(rotary.cache(POSITIONS),
                                          posenc.Rotary(128).cache(POSITIONS))
        self.refuse(unknown | {"num_attention_heads": 0}, "num_attention_heads is 0", strict=False)

    def test_arguments(self):
        for bad in (None, 7, [("model_type", "llama")]):
            with self.assertRaisesRegex(TypeError, "^config is of type .*; allowed: a mapping"):
                posenc.rotary_from_config(bad)
        with self.assertRaisesRegex(ValueError, "^config is the text of a configuration; allowed"):
            posenc.rotary_from_config(json.dumps(LLAMA))
        endless, deep = dict(LLAMA), LLAMA
        endless["itself"] = endless
        for _ in range(5000):
            deep = {"deeper": deep}
        for bad in (endless, deep):
            # By the JSON module of Python, or by the library, as Python allows.
            nested = r"^(config is nested too|the configuration is nested \d+) deep; allowed: at"
            with self.assertRaisesRegex(ValueError, nested):
                posenc.rotary_from_config(bad)
        for name in ("channels", "layers"):
            with self.assertRaisesRegex(TypeError, f"^{name} is of type int; allowed: a text"):
                posenc.rotary_from_config(LLAMA, **{name: 3})
        for rows in (0, -1, 2.5, "9", True, 2**70):
            with self.assertRaisesRegex(ValueError, "^rows is .*; allowed: an integer"):
                posenc.rotary_from_config(LLAMA, rows=rows)
        with self.assertRaisesRegex(ValueError, "^channels is 'pairs'; allowed: halves, inter"):
            posenc.rotary_from_config(LLAMA, channels="pairs")
        with self.assertRaisesRegex(ValueError, "^layers is 'full_attention'; allowed for llama: "
                                                "none, since all layers are alike$"):
            posenc.rotary_from_config(LLAMA, layers="full_attention")

    def test_mappings_of_every_kind(self):
        inner = types.MappingProxyType({"rope_type": "linear", "factor": np.float32(2)})
        config = types.MappingProxyType(
            LLAMA | {"rope_scaling": inner, "torch_dtype": np.float16, "hidden_size": np.int64(64),
                     "num_attention_heads": np.int32(1)})  # fmt: skip
        self.assertEqual(repr(posenc.rotary_from_config(config)),
                         "Rotary(llama: dimension 64, base 10000, rule linear:factor=2, "
                         "channels halves)")

    def test_sizes_that_a_text_config_does_not_name_are_those_of_its_class(self):
        llava = {"model_type": "llava", "text_config": {
            "model_type": "llama", "max_position_embeddings": 4096}}  # fmt: skip
        self.assertEqual(posenc.rotary_from_config(llava).dimension, 128)


if __name__ == "__main__":
    unittest.main()
