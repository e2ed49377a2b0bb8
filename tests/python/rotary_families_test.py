"""rotary_from_config() on configurations of each model type, against the readings in tests/data.

The configurations have the keys of published ones that decide the rotary embedding, and those whose
names look as if they did.
"""

import json
import pathlib
import re
import unittest

from modules import np

import posenc
from posenc._posenc import RotaryReading, known_model_types

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
POSITIONS = range(1000, 1020)


def models_of(name):
    return json.loads((DATA / f"rotary_{name}.json").read_text(encoding="utf-8"))["models"]


READINGS = models_of("readings")


def power(dimension, base):
    return float(base) ** (-np.arange(0, dimension, 2) / dimension)


def heads(model_type, hidden, count, **keys):
    return {"model_type": model_type, "hidden_size": hidden, "num_attention_heads": count,
            "max_position_embeddings": 32768, **keys}  # fmt: skip


def known(model_type):
    """A configuration of that type that is read, and its reading."""
    return next((each["config"], each["reading"]) for each in READINGS
                if each["config"]["model_type"] == model_type and "reading" in each)


class ReadingsTest(unittest.TestCase):
    """rotary_readings.json, and rotary_classes.json: what classes have and read, and what their
    versions differ in."""

    def assert_reading(self, rotary, reading):
        self.assertEqual(rotary.dimension, reading["dimension"])
        self.assertIn(f"channels {reading['channels']}", repr(rotary))
        self.assertAlmostEqual(rotary.attention_factor, reading["attention_factor"], 12)
        cosines, sines = np.split(rotary.cache([1], dtype="float64")[0], 2)
        w, pairs = np.arctan2(sines, cosines), len(sines)
        quarters = [0, pairs // 4, pairs // 2, pairs * 3 // 4, -1]
        if len(reading["frequencies"]) == 3:  # of float32
            np.testing.assert_allclose(w[quarters[::2]], reading["frequencies"], rtol=1e-6)
        else:
            np.testing.assert_allclose(w[quarters], reading["frequencies"], rtol=1e-12)
        x = np.zeros((1, rotary.dimension), np.float32)
        x[0, 0] = 1
        partner = {"halves": pairs, "interleaved": 1}[reading["channels"]]
        self.assertEqual(np.flatnonzero(rotary.apply(x, 1)[0])[1], partner)

    def test_readings(self):
        for model in READINGS + models_of("classes"):
            config = model["config"]
            with self.subTest(model["about"], type=config["model_type"]):
                if "refused" in model:
                    with self.assertRaisesRegex(ValueError, "^" + re.escape(model["refused"])):
                        posenc.rotary_from_config(config)
                elif "kinds" in model:
                    self.check_kinds(config, model["kinds"])
                else:
                    rotary = posenc.rotary_from_config(config, **model.get("arguments", {}))
                    self.assertIn(model.get("text", ""), repr(rotary))
                    if "reading" in model:
                        self.assert_reading(rotary, model["reading"])

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

    def test_every_model_type_is_tested_and_documented(self):
        self.assertEqual({each["config"]["model_type"] for each in READINGS},
                         set(known_model_types()))
        page = (DATA.parent.parent / "docs" / "config-json.md").read_text(encoding="utf-8")
        documented = set(re.findall("`([\\w-]+)`", page.partition("## Which model")[2]))
        self.assertEqual(set(known_model_types()) - documented, set())

    def test_channels_can_be_given(self):
        for channels in ("halves", "interleaved"):
            for model_type in ("llama", "deepseek_v3"):
                config, reading = known(model_type)
                self.assert_reading(posenc.rotary_from_config(config, channels=channels),
                                    reading | {"channels": channels})

    def test_layers_without_a_rotary_embedding_are_named(self):
        llama4 = heads("llama4_text", 5120, 40, head_dim=128, no_rope_layers=[])
        smollm3 = heads("smollm3", 2048, 16, rope_theta=5e6)
        for config, unturned in [
            (llama4 | {"num_hidden_layers": 9}, "layers 3, 7"),
            (smollm3 | {"num_hidden_layers": 4, "no_rope_layer_interval": 2}, "layers 1, 3"),
            (smollm3 | {"no_rope_layers": [0, 1, 1]}, "layers 0"),
            (smollm3 | {"no_rope_layers": [1]}, ""),
            (smollm3, "the last of every 4 layers"),
            (heads("cohere2", 4096, 32), "full_attention layers"),
            (heads("exaone4", 4096, 32, rope_theta=1e6), "full_attention layers"),
            (heads("qwen3_next", 2048, 16), "linear_attention layers"),
        ]:
            reading = RotaryReading(json.dumps(config))
            self.assertEqual(reading.unturned, unturned)
            for text in (repr(reading), repr(posenc.rotary_from_config(config))):
                self.assertEqual("no rotary embedding: " + unturned in text, unturned != "")

    def test_kinds_that_no_layer_has_are_left_out(self):
        config, kinds = next((each["config"], each["kinds"]) for each in READINGS
                             if each["config"]["model_type"] == "gemma3_text"
                             and "rope_local_base_freq" not in each["config"])
        config = config | {"layer_types": ["full_attention"] * 3}
        self.assertEqual(list(posenc.rotary_from_config(config, layers="all")), ["full_attention"])
        self.assert_reading(posenc.rotary_from_config(config), kinds["full_attention"])
        alike = heads("olmo3", 4096, 32, rope_theta=500000)  # needs no choice
        self.assertIn("base 500000, rule base", repr(posenc.rotary_from_config(alike)))
        self.assertEqual(list(posenc.rotary_from_config(known("llama")[0], layers="all")), ["all"])

    def test_phimoe_has_a_factor_for_long_and_for_short_sequences(self):
        rule = {"type": "longrope", "short_factor": [1.0 + k / 9 for k in range(64)],
                "long_factor": [1.0 + k for k in range(64)], "short_mscale": 1.25,
                "long_mscale": 1.5, "original_max_position_embeddings": 4096}  # fmt: skip
        config = heads("phimoe", 4096, 32, rope_theta=10000.0, rope_scaling=rule)
        for rows, name, factor in ((None, "long", 1.5), (4096, "short", 1.25)):
            rotary = posenc.rotary_from_config(config, rows=rows)
            angles = np.outer(POSITIONS, power(128, 1e4) / rule[f"{name}_factor"])
            expected = np.concatenate([np.cos(angles), np.sin(angles)], axis=1) * factor
            np.testing.assert_allclose(rotary.cache(POSITIONS), expected, atol=2e-7, rtol=0)

    def test_qwen_1_grows_its_base_in_steps(self):
        config = heads("qwen", 4096, 32, kv_channels=128, use_dynamic_ntk=True, seq_length=8192)
        for rows, alpha in ((8192, 1), (8193, 3), (16384, 3), (16385, 7), (32768, 7)):
            self.assertIn(f"rule ntk:factor={alpha}," if alpha > 1 else "",
                          repr(posenc.rotary_from_config(config, rows=rows)))


def in_sections(*sections):
    return np.repeat(np.arange(len(sections)), sections)


def interleaved(pairs, height, width):
    """Qwen3-VL's: pair k is of axis k % 3, up to three times the section of the axis."""
    axes = np.zeros(pairs, int)
    axes[1:3 * height:3] = 1
    axes[2:3 * width:3] = 2
    return axes


class AxesTest(unittest.TestCase):
    """Positions that differ between axes, against the formulas of the models."""

    def test_axes_of_pairs(self):
        alternating = np.array([1, 2] * 22 + [0] * 20)
        for model_type, w, axes in (
            ("qwen2_vl_text", power(128, 1e6), in_sections(16, 24, 24)),
            ("qwen2_5_vl_text", power(128, 1e6), in_sections(16, 24, 24)),
            ("qwen2_5_omni_text", power(128, 1e6), in_sections(16, 24, 24)),
            ("glm4v_text", power(64, 1e4), in_sections(8, 12, 12)),
            ("glm4v_moe_text", power(64, 1e4), in_sections(8, 12, 12)),
            ("qwen3_vl_text", power(128, 5e6), interleaved(64, 20, 20)),
            ("qwen3_vl_moe_text", power(128, 5e6), interleaved(64, 20, 20)),
            ("qwen3_omni_moe_text", power(128, 1e6), interleaved(64, 20, 20)),
            ("qwen3_5_text", power(64, 1e7), interleaved(32, 11, 10)),
            ("qwen3_5_moe_text", power(64, 1e7), interleaved(32, 11, 10)),
            ("ernie4_5_vl_moe_text", power(128, 5e5), alternating),
            ("ernie4_5_moe_vl", power(128, 5e5), alternating),
            ("hunyuan_vl_text", power(128, 1e4 * 1000 ** (128 / 126)), in_sections(16, 16, 16, 16)),
        ):
            with self.subTest(model_type):
                rotary = posenc.rotary_from_config(known(model_type)[0])
                positions = np.arange(5 * (axes.max() + 1)).reshape(-1, 5) ** 2
                angles = positions[axes].T * w
                expected = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
                np.testing.assert_allclose(rotary.cache(positions), expected, atol=1e-7, rtol=0)

    def test_text_is_turned_as_by_one_axis(self):
        np.testing.assert_array_equal(
            posenc.rotary_from_config(known("qwen3_vl_text")[0]).cache(POSITIONS),
            posenc.Rotary(128, base=5e6).cache(POSITIONS))


class ClassesTest(unittest.TestCase):
    def test_both_readings_are_named_where_versions_differ(self):
        for config, text in (
            (heads("cohere", 4096, 32), "; Transformers 4 takes 10000, Transformers 5 500000"),
            (heads("olmo3", 4096, 32), "; Transformers 4 takes 10000, Transformers 5 500000"),
            (heads("gpt_oss", 64, 1, head_dim=64, rope_scaling=None),
             "; Transformers 4 reads none"),
            (heads("qwen2_vl", 512, 4, rope_scaling={"type": "longrope"}),
             "; Transformers 4 foll"),
        ):
            with self.subTest(config["model_type"]):
                with self.assertRaisesRegex(ValueError, text):
                    posenc.rotary_from_config(config)

    def test_what_classes_do_not_read_is_refused(self):
        plain = {"rope_type": "default", "rope_theta": 1e6}
        for message, config in (
            ("rope_theta is 5.0; allowed: 10000.0, which rotary_emb_base is",
             heads("gpt_neox_japanese", 64, 1, rotary_emb_base=1e4, rope_theta=5)),
            ("rope_theta is 5.0; allowed: 500000.0, which the default of its class is",
             heads("olmo3", 64, 1, rope_theta=5)),
            ("rope_parameters is .*; allowed: a rule for each kind of layers: full_attention, ",
             heads("gemma3n_text", 64, 1, rope_parameters=plain)),
            ("rope_parameters is .*; allowed: one rule",
             heads("cohere2", 64, 1, rope_parameters={"sliding_attention": plain})),
            ("rope_parameters.partial_rotary_factor is 0.5; allowed: 0.9, which partial_rotary",
             {"model_type": "moonshine", "hidden_size": 64, "encoder_num_attention_heads": 1,
              "partial_rotary_factor": 0.9, "rope_parameters": {"partial_rotary_factor": 0.5}}),
            ("rope_type is 'linear'; allowed: default, mrope$", heads(
                "ernie4_5_vl_moe_text", 2560, 20, rope_scaling={"type": "linear", "factor": 2})),
            ("head_dim is null; allowed: an integer", heads("gemma", 64, 1, head_dim=None)),
            ("partial_rotary_factor is 0.25; allowed: 0.5, which the default",
             heads("bamba", 64, 1, partial_rotary_factor=0.25)),
            ("the configuration has no per_layer_config.0.head_dim", heads(
                "gemma4_text", 64, 1, layer_types=["full_attention", "sliding_attention"],
                per_layer_config={"1": {"head_dim": 64}})),
            ("encoder is .*; allowed: the rotary embedding of decoder", {
                "model_type": "t5gemma", "decoder": {}, "encoder": {"head_dim": 64}}),
        ):
            with self.subTest(message):
                with self.assertRaisesRegex(ValueError, f"^{message}"):
                    posenc.rotary_from_config(config)
        hunyuan, _ = known("hunyuan_v1_dense")
        posenc.rotary_from_config(hunyuan, rows=32768)
        with self.assertRaisesRegex(ValueError, "^rows is 32769; allowed: at most 32768, max_pos"):
            posenc.rotary_from_config(hunyuan, rows=32769)

    def test_what_a_model_does_beside_is_said(self):
        text = repr(posenc.rotary_from_config(
            heads("ministral3", 64, 1, rope_parameters={
                "type": "yarn", "rope_theta": 1e4, "factor": 128.0, "mscale": 1.0,
                "original_max_position_embeddings": 8192, "mscale_all_dim": 1.0,
                "max_position_embeddings": 32768, "llama_4_scaling_beta": 0.1})))
        self.assertIn("attention factor 1; queries at p times 1 + 0.1 ln(1 + floor(p / 8192))",
                      text)

    def test_deepseek_v4_has_two(self):
        config = heads("deepseek_v4", 4096, 64, head_dim=512, qk_rope_head_dim=64, rope_scaling={
            "type": "yarn", "factor": 16, "original_max_position_embeddings": 65536})  # fmt: skip
        both = posenc.rotary_from_config(config, layers="all")
        self.assertIn("base 10000, rule base", repr(both["main"]))
        self.assertIn("base 160000, rule yarn:factor=16", repr(both["compress"]))
        self.assertEqual(both["compress"].attention_factor, 1)


class PublishedTest(unittest.TestCase):
    """The readings of tests/data/rotary_configs.json."""

    def test_readings(self):
        for model in models_of("configs"):
            with self.subTest(model["model"]):
                self.check(model["config"], model["reading"])

    def check(self, config, reading):
        if isinstance(reading, str):
            name = reading.removeprefix("refused: ")
            with self.assertRaisesRegex(ValueError, f"^{name} is "):
                posenc.rotary_from_config(config)
            return
        every = posenc.rotary_from_config(config, layers="all")
        kinds = reading.get("layers", {"all": reading})
        if "layers" in reading:
            self.assertEqual(set(every), set(kinds))
        for kind, of_kind in kinds.items():
            rotary = every[kind] if kind in every else next(iter(every.values()))
            self.check_rotary(rotary, of_kind, reading["channels"])

    def check_rotary(self, rotary, reading, channels):
        text = repr(rotary)
        self.assertIn(f"channels {channels}", text)
        if isinstance(reading, str):  # Gemma 4's full attention, in words
            self.assertIn("dimension 512, base 1000000, rule proportional:factor=1,turned=64", text)
            return
        self.assertEqual(rotary.dimension, reading["dimension"])
        if isinstance(reading["base"], str):  # Hunyuan's, as a formula
            self.assertIn("base 10000, rule ntk:factor=1000,", text)
            return
        self.assertIn(f"base {reading['base']}, rule ", text)
        rule = {"none": "rule base", "llama3": "rule llama3:factor=8,trained_rows=8192",
                "yarn": "rule yarn:factor=4,trained_rows=32768",
                "yarn, attention factor 1": "rule yarn:factor=40,trained_rows=4096",
                "yarn, not truncated": "truncate=false", "dynamic NTK 2": "rule ntk:factor=1",
                "linear 8": "rule linear:factor=8"}[reading["rule"]]  # fmt: skip
        self.assertIn(rule, text)
        if "attention factor 1" in reading["rule"]:
            self.assertEqual(rotary.attention_factor, 1)
        axes = {"sections 16, 24, 24": "axes in sections of 16, 24, 24 pairs",
                "interleaved: pair k": "axes interleaved, of 24, 20, 20 pairs",
                "interleaved: height": "axes interleaved, of 11, 11, 10 pairs"}  # fmt: skip
        for prefix, expected in axes.items():
            if reading.get("axes", "").startswith(prefix):
                self.assertIn(expected, text)
        self.assertEqual("axes" in reading, "axes" in text)


if __name__ == "__main__":
    unittest.main()
