"""Tests rotary_from_config(): the readings and refusals in tests/data, and its arguments."""

import json
import pathlib
import tempfile
import types
import unittest

from modules import np

import posenc
from posenc._posenc import known_model_types

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
         "max_position_embeddings": 4096}  # fmt: skip


def data(name):
    return json.loads((ROOT / f"tests/data/rotary_{name}.json").read_text(encoding="utf-8"))


READINGS, CLASSES = data("readings")["models"], data("classes")


def known(model_type):
    """A configuration of this type that is read, and its reading."""
    return next((each["config"], each["reading"]) for each in READINGS
                if each["config"]["model_type"] == model_type and "reading" in each)


def of_all_layers(text):
    """The rotary embeddings of this text model, which need not be complete within another."""
    return posenc.rotary_from_config({"model_type": "llava", "text_config": text}, layers="all")


class ReadingsTest(unittest.TestCase):
    def assert_reading(self, rotary, reading):
        self.assertEqual(rotary.dimension, reading["dimension"])
        self.assertIn(f"channels {reading['channels']}", repr(rotary))
        self.assertAlmostEqual(rotary.attention_factor, reading["attention_factor"], 12)
        w, pairs = rotary.inv_freq, rotary.dimension // 2
        quarters = [0, pairs // 4, pairs // 2, pairs * 3 // 4, -1]
        if len(reading["frequencies"]) == 3:  # frequencies in float32
            np.testing.assert_allclose(w[quarters[::2]], reading["frequencies"], rtol=1e-6)
        else:
            np.testing.assert_allclose(w[quarters], reading["frequencies"], rtol=1e-12)
        x = np.zeros((1, rotary.dimension), np.float32)
        x[0, 0] = 1
        partner = {"halves": pairs, "interleaved": 1}[reading["channels"]]
        self.assertEqual(np.flatnonzero(rotary.apply(x, 1)[0])[1], partner)

    def test_readings(self):
        for model in READINGS:
            config = model["config"]
            with self.subTest(model["about"], type=config["model_type"]):
                if "kinds" in model:
                    self.check_kinds(config, model["kinds"])
                elif "texts" in model:
                    every = posenc.rotary_from_config(config, layers="all")
                    self.assertEqual({kind: repr(rotary) for kind, rotary in every.items()},
                                     {kind: f"Rotary({text})" for kind, text
                                      in model["texts"].items()})
                else:
                    rotary = posenc.rotary_from_config(config, **model.get("arguments", {}))
                    self.assertIn(model.get("text", ""), repr(rotary))
                    if "reading" in model:
                        self.assert_reading(rotary, model["reading"])

    def test_defaults_of_classes(self):
        for each in CLASSES["classes"]:
            for model_type in each["types"].split():
                every = of_all_layers({"model_type": model_type})
                for kind, reading in each["kinds"].items():
                    with self.subTest(model_type, kind=kind):
                        self.assert_reading(every[kind], reading)

    def test_wrappers(self):
        vision = {"rope_theta": 7, "rotary_dim": 3, "head_dim": 80}
        texts = {each["config"]["model_type"]: each["config"] for each in reversed(READINGS)}
        for text_type, wrappers in CLASSES["wrappers"].items():
            text = texts.get(text_type, {"model_type": text_type})
            expected = repr(of_all_layers(text))
            untyped = {key: value for key, value in text.items() if key != "model_type"}
            for wrapper in wrappers.split():
                for inner in (text, untyped):
                    config = {"model_type": wrapper, "text_config": inner, "vision_config": vision}
                    with self.subTest(wrapper, text=inner):
                        read = posenc.rotary_from_config(config, layers="all")
                        self.assertEqual(repr(read), expected)

    def check_kinds(self, config, kinds):
        every = posenc.rotary_from_config(config, layers="all")
        self.assertEqual(set(every), set(kinds))
        for kind, reading in kinds.items():
            for rotary in (every[kind], posenc.rotary_from_config(config, layers=kind)):
                self.assert_reading(rotary, reading)
                self.assertIn(f", {kind}: dimension {reading['dimension']}, ", repr(rotary))
        for message, arguments in (
                ("not given; allowed for .*: full_attention, sliding_attention$", {}),
                ("'global'; allowed for ", {"layers": "global"})):
            with self.assertRaisesRegex(ValueError, f"^layers is {message}"):
                posenc.rotary_from_config(config, **arguments)

    def test_every_model_type_is_tested(self):
        tested = {each["config"]["model_type"] for each in READINGS}
        tested.update(*(each["types"].split() for each in CLASSES["classes"]))
        tested.update(*(each.split() for each in CLASSES["wrappers"].values()))
        self.assertEqual(tested, set(known_model_types()))
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertIn(f"  # {len(known_model_types())} model types;", readme)

    def test_channels_can_be_given(self):
        for channels in ("halves", "interleaved"):
            for model_type in ("llama", "deepseek_v3"):
                config, reading = known(model_type)
                self.assert_reading(posenc.rotary_from_config(config, channels=channels),
                                    reading | {"channels": channels})

    def test_axes_of_pairs(self):
        in_sections, interleaved = posenc.axes_in_sections, posenc.axes_interleaved
        for model_types, arrange, sections in (
            ("qwen2_vl_text qwen2_5_vl_text qwen2_5_omni_text", in_sections, (16, 24, 24)),
            ("glm4v_text glm4v_moe_text", in_sections, (8, 12, 12)),
            ("qwen3_vl_text qwen3_vl_moe_text qwen3_omni_moe_text", interleaved, (24, 20, 20)),
            ("qwen3_5_text qwen3_5_moe_text", interleaved, (11, 11, 10)),
            ("ernie4_5_vl_moe_text ernie4_5_moe_vl", posenc.axes_alternating, (20, 22, 22)),
            ("hunyuan_vl_text", in_sections, (16, 16, 16, 16)),
        ):  # fmt: skip
            for model_type in model_types.split():
                axes = posenc.rotary_from_config(known(model_type)[0]).axes
                first = axes.parts[0]
                self.assertEqual(axes, arrange(sections, base=first.base,
                                               frequencies=first.frequencies), model_type)


class RefusalTest(unittest.TestCase):
    def refuse(self, config, message, **arguments):
        with self.subTest(message), self.assertRaisesRegex(ValueError, f"^{message}") as raised:
            posenc.rotary_from_config(config, **arguments)
        self.assertNotIn("\n", str(raised.exception))

    def test_configurations(self):
        for each in data("refusals")["configurations"]:
            self.refuse(**each)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "config.json")
            with self.assertRaises(FileNotFoundError):
                posenc.rotary_from_config(folder)
            file.write_text(json.dumps(LLAMA | {"rms": [float("inf")]}), encoding="utf-8")
            for path in (folder, str(file), file):
                self.assertEqual(posenc.rotary_from_config(path).dimension, 128)
            file.write_text("{", encoding="utf-8")
            with self.assertRaisesRegex(ValueError, "^the configuration is not JSON near byte 2"):
                posenc.rotary_from_config(file)
            file.write_bytes(b"{\xff}")
            with self.assertRaisesRegex(ValueError, "config.json is not UTF-8 at byte 1; allowed"):
                posenc.rotary_from_config(file)

    def test_arguments(self):
        with self.assertRaisesRegex(TypeError, "^config is of type .*; allowed: a mapping"):
            posenc.rotary_from_config([("model_type", "llama")])
        with self.assertRaisesRegex(ValueError, "^config is the text of a configuration; allowed"):
            posenc.rotary_from_config(json.dumps(LLAMA))
        endless, deep = dict(LLAMA), LLAMA
        endless["itself"] = endless
        for _ in range(5000):
            deep = {"deeper": deep}
        for bad in (endless, deep):
            # Python's json module or the library refuses it, depending on the version of Python.
            nested = r"^(config is nested too|the configuration is nested \d+) deep; allowed: at"
            with self.assertRaisesRegex(ValueError, nested):
                posenc.rotary_from_config(bad)
        for bad in ({"channels": 3}, {"layers": 3}, {"rows": 2.5}):
            with self.assertRaisesRegex(TypeError, "^(channels|layers|rows) is .*; allowed: "):
                posenc.rotary_from_config(LLAMA, **bad)
        with self.assertRaisesRegex(ValueError, "^rows is .*; allowed: 1 to 9007199254740992$"):
            posenc.rotary_from_config(LLAMA, rows=0)
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


if __name__ == "__main__":
    unittest.main()
