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

    def test_model_types_that_are_not_read(self):
        self.refuse([
            ("the configuration has no model_type, which is needed", {"hidden_size": 64}),
            ("model_type is 'spiral'; allowed: one that docs/config-json.md lists, such as smolvlm, ",
             LLAMA | {"model_type": "spiral"}),
            ("model_type is \\[\"llama\"\\]; allowed: one that", LLAMA | {"model_type": ["llama"]}),
            ("model_type is 'bert'; allowed: none; its positions are learned",
             LLAMA | {"model_type": "bert"}),
            ("model_type is 'bloom'; allowed: none; it has ALiBi", {"model_type": "bloom"}),
            ("model_type is 'jamba'; allowed: none; it has no pos", {"model_type": "jamba"}),
            ("the configuration has no text_config", {"model_type": "gemma3"}),
            ("the configuration has no thinker_config.text_config",
             {"model_type": "qwen2_5_omni", "thinker_config": {}}),
            ("text_config is 'llama'; allowed: an object",
             {"model_type": "llava", "text_config": "llama"}),
            ("text_config.model_type is 'gemma3'; allowed: one that",
             {"model_type": "llava", "text_config": {"model_type": "gemma3"}}),
            ("text_config.model_type is 'llama'; allowed: gemma3_text$",
             {"model_type": "gemma3", "text_config": LLAMA}),
            ("text_config.model_type is 'spiral'; allowed: one that",
             {"model_type": "llava", "text_config": LLAMA | {"model_type": "spiral"}}),
            ("the configuration has no text_config.model_type",
             {"model_type": "kimi_k25", "text_config": {}}),
        ])  # fmt: skip

    def test_equal_rules_under_both_names(self):
        rule = {"factor": 4.0, "original_max_position_embeddings": 32768}
        config = LLAMA | {"rope_theta": 5e5, "rope_scaling": rule | {"type": "yarn"},
                          "rope_parameters": rule | {"rope_type": "yarn", "rope_theta": 5e5}}
        self.assertIn("base 500000, rule yarn:factor=4,", repr(posenc.rotary_from_config(config)))
        self.refuse([
            ("rope_scaling is .*; allowed: rope_parameters, which is given too", config | {
                "rope_parameters": config["rope_parameters"] | other})
            for other in ({"rope_type": "linear"}, {"factor": 2.0}, {"beta_fast": 16})
        ] + [
            ("rope_parameters.rope_theta is 7.0; allowed: 500000.0, which rope_theta is", config | {
                "rope_parameters": config["rope_parameters"] | {"rope_theta": 7}}),
        ])  # fmt: skip

    def test_keys_that_contradict_each_other(self):
        def rule(**keys):
            return LLAMA | {"rope_scaling": keys}

        self.refuse([
            ("rope_scaling.type is 'linear'; allowed: 'yarn', which rope_scaling.rope_type is",
             rule(rope_type="yarn", type="linear", factor=2.0)),
            ("rope_scaling.rope_theta is 5.0; allowed: 7.0, which rope_theta is",
             rule(rope_theta=5) | {"rope_theta": 7}),
            ("rope_scaling is .*; allowed: rope_parameters",
             rule(rope_type="linear", factor=2) | {"rope_parameters": {"rope_theta": 1e4}}),
            ("max_position_embeddings is 4096; allowed: 2048, which original_max",
             rule(rope_type="dynamic", factor=2, original_max_position_embeddings=2048)),
            ("max_position_embeddings / original_max_position_embeddings is 32.0; allowed: 4.0",
             PHI_3 | {"original_max_position_embeddings": 4096, "rope_scaling": {
                 "type": "su", "factor": 4.0, "short_factor": SHORT, "long_factor": LONG}}),
            ("head_dim is 64; allowed: 128, which hidden_size / num_attention_heads is",
             LLAMA | {"model_type": "cohere2", "head_dim": 64}),
            ("head_dim is 192; allowed: 64, which qk_rope", DEEPSEEK_V3 | {"head_dim": 192}),
            ("attention_head_dim is 64; allowed: 128", HUNYUAN | {"attention_head_dim": 64}),
            ("rope_scaling.finetuned is false; allowed: true",
             rule(rope_type="yarn", factor=2, finetuned=False)),
            ("rope_scaling.mscale is 0.5; allowed: mscale and mscale_all_dim",
             rule(rope_type="yarn", factor=2, mscale=0.5)),
        ])  # fmt: skip

    def test_rules_that_are_not_read(self):
        trained = {"original_max_position_embeddings": 4096}

        def rule(**keys):
            return LLAMA | {"rope_scaling": keys}

        self.refuse([
            ("rope_type is 'spiral'; allowed: default, dynamic, linear, llama3, longrope, yarn",
             {"model_type": "llama", "rope_scaling": {"type": "spiral", "factor": 2.0}}),
            ("rope_type is 'mrope'", rule(type="mrope", mrope_section=[16, 24, 24])),
            ("rope_type is 'proportional'", rule(rope_type="proportional")),
            ("rope_type is 'su'", rule(type="su")),
            ("rope_type is ''", rule(type="")),
            ("rope_scaling.type is 4; allowed: a text", rule(type=4)),
            ("rope_type is 'yarn'; allowed: default$",
             {"model_type": "gptj", "rope_scaling": {"type": "yarn", "factor": 2.0}}),
            ("rope_scaling is 'yarn'; allowed: an object", LLAMA | {"rope_scaling": "yarn"}),
            ("rope_parameters.sliding_attention is 2; allowed: an object", {
                "model_type": "gemma3_text", "rope_parameters": {
                    "full_attention": {"rope_type": "default"}, "sliding_attention": 2}}),
            ("rope_scaling is .*; allowed: one rule, since the model has one rotary embedding",
             rule(rope_type={})),
            ("the configuration has no rule for sliding_attention in rope_parameters",
             {"model_type": "gemma3_text", "rope_parameters": {"full_attention": {}}}),
            ("rope_parameters.chunked_attention is {}; allowed: a rule for a kind",
             {"model_type": "gemma3_text", "rope_parameters": {
                 "full_attention": {}, "sliding_attention": {}, "chunked_attention": {}}}),
            ("rope_type is 'default'; allowed: proportional$",
             {"model_type": "gemma4_text", "rope_parameters": {
                 "full_attention": {}, "sliding_attention": {}}}),
            ("rope_parameters.full_attention.mscale is 2", {
                "model_type": "gemma3_text", "rope_parameters": {
                    "full_attention": {"mscale": 2}, "sliding_attention": {}}}),
            ("the configuration has no rope_scaling.factor", rule(rope_type="yarn")),
            ("the configuration has no original_max_position_embeddings",
             rule(rope_type="llama3", factor=8.0, low_freq_factor=1, high_freq_factor=4)),
            ("rope_scaling.long_factor is null; allowed: a list of 48 numbers",
             PHI_3 | trained | {"rope_scaling": {"type": "su", "short_factor": SHORT}}),
            ("the configuration has no original_max_position_embeddings",
             PHI_3 | {"rope_scaling": {"type": "su", **trained}}),
            ("rope_type is 'linear'; allowed: default, longrope",
             PHI_3 | {"rope_scaling": {"type": "linear", "factor": 2}}),
            ("rope_scaling.short_factor is .*; allowed: a list of 48 numbers",
             PHI_3 | trained | {"rope_scaling": {"type": "su", "short_factor": ["1"] * 48}}),
            ("rope_scaling.attention_factor is 0;",
             rule(rope_type="yarn", factor=2, attention_factor=0)),
            ("rope_scaling.truncate is 1; allowed: true, false",
             rule(rope_type="yarn", factor=2, truncate=1)),
            ("factor is 0.5; allowed: 1 to", rule(rope_type="yarn", factor=0.5)),
            ("rope_scaling.high_freq_factor is 1; allowed: at least 4, as low_freq_factor",
             rule(rope_type="llama3", factor=8.0, low_freq_factor=4, high_freq_factor=1)),
        ])  # fmt: skip

    def test_sizes_and_numbers(self):
        def without(config, key):
            return {name: value for name, value in config.items() if name != key}

        def number(value):
            return shown(str(value).replace("nan", "NaN") if value != value else value)

        integer = "allowed: an integer from 1 to 9007199254740992"
        self.refuse([
            (f"{key} is {number(value)}; {integer}", LLAMA | {key: value})
            for key in ("hidden_size", "num_attention_heads", "head_dim")
            for value in (0, -1, 32.5, 32.0, True, "32", float("nan"), 2**53 + 1)
        ] + [
            (f"rope_theta is {name}; allowed: a finite number above 1", LLAMA | {"rope_theta": bad})
            for name, bad in (("0", 0), ("1", 1), ("-5.0", -5.0), ("true", True), ("'1'", "1"),
                              ("'Infinity'", float("inf")), ("'NaN'", float("nan")),
                              ("'10+\\.\\.\\.0+'", 10**400))
        ] + [
            (f"the configuration has no {key}, which is needed", without(config, key))
            for config, key in (
                (LLAMA, "hidden_size"), (LLAMA, "num_attention_heads"), (PHI_3, "rope_theta"),
                (without(HUNYUAN, "attention_head_dim"), "head_dim"),
                (DEEPSEEK_V3, "qk_rope_head_dim"),
                (LLAMA | {"model_type": "cohere"}, "rope_theta"),
                (LLAMA | {"model_type": "qwen3", "head_dim": 128}, "rope_theta"))
        ] + [
            ("partial_rotary_factor is 1.5; allowed: a finite number above 0, at most 1",
             PHI_3 | {"partial_rotary_factor": 1.5}),
            ("the configuration has no partial_rotary_factor", PHI_3 | {"model_type": "phi"}),
            ("the dimension, from head_dim, is 25; allowed: even", LLAMA | {"head_dim": 25}),
            ("rotary_dim is 128; allowed: at most 64",
             {"model_type": "gptj", "n_embd": 64, "n_head": 1, "rotary_dim": 128}),
            ("no_rope_layers is \\[0,0\\]; allowed: a list with at least one 1",
             LLAMA | {"model_type": "smollm3", "rope_theta": 1e4, "no_rope_layers": [0, 0]}),
            ("no_rope_layers is 'all'; allowed: a list of integers from 0",
             LLAMA | {"model_type": "smollm3", "rope_theta": 1e4, "no_rope_layers": "all"}),
            ("hidden_size is 5120; allowed: 4096; larger models have ALiBi",
             {"model_type": "baichuan", "hidden_size": 5120, "num_attention_heads": 40}),
            ("position_embedding_type is null; allowed: rotary", LLAMA | {"model_type": "esm"}),
            ("position_embedding_type is 'nope'; allowed: rope$",
             LLAMA | {"model_type": "granitemoehybrid", "position_embedding_type": "nope"}),
            ("use_mem_rope is null; allowed: true",
             {"model_type": "zamba2", "attention_head_dim": 160}),
            ("decoder_num_attention_heads is 4; allowed: 8, which encoder_num_attention_heads is",
             {"model_type": "moonshine", "hidden_size": 288, "encoder_num_attention_heads": 8,
              "decoder_num_attention_heads": 4}),
            ("sliding_window is null; allowed: a number",
             LLAMA | {"model_type": "cohere2", "sliding_window": None}),
            ("layer_types is \\[\"full_attention\"\\]; allowed: at least one kind",
             LLAMA | {"model_type": "cohere2", "layer_types": ["full_attention"]}),
            ("attention_factor is 9000000; allowed: ", LLAMA | {"rope_scaling": {
                "rope_type": "yarn", "factor": 2.0, "attention_factor": 9e6}}),
        ])  # fmt: skip

    def test_sections_of_axes(self):
        def of(model_type, **keys):
            return LLAMA | {"model_type": model_type, "head_dim": 128, "rope_theta": 1e6,
                            "rope_scaling": keys}

        self.refuse([
            ("rope_scaling.mrope_section is \\[16,24,23\\]; allowed: a list whose sum is 64",
             of("qwen2_vl_text", mrope_section=[16, 24, 23])),
            ("rope_scaling.mrope_section is \\[9007199254740992,9007199254740992\\]; allowed: a",
             of("qwen2_vl_text", mrope_section=[2**53, 2**53])),
            ("rope_scaling.mrope_section is \\[\\]; allowed: a list whose sum",
             of("qwen2_vl_text", mrope_section=[])),
            ("rope_scaling.mrope_section is \\[1,\"2\"\\]; allowed: a list of integers",
             of("qwen2_vl_text", mrope_section=[1, "2"])),
            ("rope_scaling.mrope_section is \\[32,32\\]; allowed: a list whose sum is 64",
             of("qwen3_vl_text", mrope_section=[32, 32])),
            ("rope_scaling.mrope_section is \\[64\\]; allowed: a list whose sum is 64",
             of("qwen2_vl_text", mrope_section=[64])),
            ("rope_scaling.xdrope_section is \\[16,24,24\\]; allowed: a list whose sum is 64",
             of("hunyuan_vl_text", type="xdrope", alpha=2.0, xdrope_section=[16, 24, 24])),
            ("rope_scaling.mrope_section is \\[22,20,22\\]; allowed: equal sections of height",
             of("ernie4_5_vl_moe_text", mrope_section=[22, 20, 22])),
            ("the configuration has no rope_scaling.mrope_section",
             of("qwen2_5_vl_text", rope_type="default")),
            ("rope_scaling.mrope_interleaved is true; allowed: false",
             of("qwen2_5_vl_text", mrope_section=[16, 24, 24], mrope_interleaved=True)),
            ("rope_scaling.mrope_interleaved is false; allowed: true",
             of("qwen3_vl_text", mrope_section=[24, 20, 20], mrope_interleaved=False)),
            ("rope_type is 'mrope'; allowed: default", of("qwen3", type="mrope")),
            ("freq_allocation is 21; allowed: up to 64, with an even rest",
             LLAMA | {"model_type": "ernie4_5_moe_vl", "rope_3d": True, "freq_allocation": 21}),
        ])  # fmt: skip

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
