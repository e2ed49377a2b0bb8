"""Tests check() and check_rotated(): what is claimed, and what a report has."""

import json
import pathlib
import tempfile
import unittest

from modules import np, torch

import posenc

ROWS, D_MODEL = 600, 64
QWEN = {"model_type": "qwen2", "hidden_size": 256, "num_attention_heads": 4,
        "max_position_embeddings": 1024, "rope_theta": 1000000.0,
        "rope_scaling": {"type": "yarn", "factor": 4.0,
                         "original_max_position_embeddings": 4096}}  # fmt: skip


def kinds(report):
    return [kind for kind, _ in report.causes]


class CheckRotatedTest(unittest.TestCase):
    def setUp(self):
        generator = np.random.default_rng(1)
        self.before = generator.standard_normal((100, 4, 96), dtype=np.float32)
        self.rotary = posenc.Rotary(64)

    def test_positions_and_errors(self):
        positions = range(131072 - 100, 131072)
        after = self.rotary.apply(self.before.copy(), positions=positions)
        report = posenc.check_rotated(self.before, after, positions, self.rotary)
        self.assertTrue(report.is_good, str(report))
        self.assertLess(report.errors["rms"], 5e-8)
        self.assertEqual(report.by_position[0][:2], (positions[0], positions[-1]))
        report = posenc.check_rotated(self.before, after, 100, self.rotary)
        self.assertEqual(kinds(report), ["shifted_rows"], str(report))

    def test_offsets_fractions_and_other_embeddings(self):
        other = posenc.Rotary(64, frequencies="linear:factor=4")
        after, quarters = self.before.copy(), np.arange(100)
        after[..., 32:] = other.apply(after[..., 32:].copy(), positions=quarters)
        report = posenc.check_rotated(self.before, after, quarters / 4, self.rotary, offset=32)
        self.assertTrue(report.is_good, str(report))
        report = posenc.check_rotated(self.before, after, 100, self.rotary, offset=32,
                                      others={"a video model": other})
        self.assertIn("is that of a video model", str(report))
        with self.assertRaises(TypeError):
            posenc.check_rotated(self.before, after, 100, self.rotary, others={"text": "rotary"})


class CheckTest(unittest.TestCase):
    def test_good_tables_of_every_type_shape_and_stride(self):
        tables = [posenc.encode(ROWS, D_MODEL, dtype=dtype)
                  for dtype in ("float32", "float64", "float16")]
        tables += [np.asfortranarray(table) for table in tables]
        if torch is not None:
            half = torch.empty(ROWS, D_MODEL, dtype=torch.bfloat16)
            tables.append(posenc.Encoder(D_MODEL).encode(range(ROWS), out=half))
        for table in tables:
            for each in (table, table[None, :, None]):
                report = posenc.check(each)
                self.assertTrue(report.is_good, f"{table.dtype}: {report}")
                self.assertEqual(report.identity["layout"], "interleaved")
                self.assertEqual(report.identity["first"], 0)
                self.assertEqual(report.causes, [])
        table = tables[0]
        for each in (table.reshape(ROWS, -1, 2), table[:, 1::2] + 1j * table[:, ::2]):
            self.assertTrue(posenc.check(each, base=10000.0, first=0).is_good)

    def test_positions_of_rows(self):
        frequencies = 10000.0 ** (-np.arange(0, D_MODEL, 2) / D_MODEL)
        for positions in ([3, 1, 4, 1, 5], np.arange(90) * 0.75 + 1.5,
                          np.random.default_rng(2).uniform(0, 1000, 40)):
            positions = np.asarray(positions)
            phases = np.outer(positions, frequencies)
            table = np.stack([np.sin(phases), np.cos(phases)], -1).reshape(len(phases), -1)
            table = table.astype(np.float32)
            report = posenc.check(table, base=10000.0, positions=positions)
            self.assertTrue(report.is_good, str(report))
            report = posenc.check(table, base=10000.0, positions=positions + 0.5)
            self.assertFalse(report.is_good, str(report))
        config = {"model_type": "qwen2_5_vl", "hidden_size": 512, "num_attention_heads": 4,
                  "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}}
        cells = np.stack([np.arange(24) // 8, np.arange(24) // 4 % 2, np.arange(24) % 4])
        table = posenc.rotary_from_config(config).cache(cells)
        self.assertTrue(posenc.check(table, config=config, positions=cells).is_good)
        self.assertFalse(posenc.check(table, config=config, positions=cells[::-1]).is_good)
        with self.assertRaisesRegex(ValueError, "first is 1 with positions"):
            posenc.check(table, first=1, positions=cells)

    def test_what_is_expected_can_be_named(self):
        table = posenc.encode(ROWS, D_MODEL, base=500000.0, first=3)
        report = posenc.check(table)
        self.assertEqual((report.identity["base"], report.identity["first"]), (500000.0, 3))
        self.assertEqual(kinds(posenc.check(table, base=10000.0, first=3)), ["other_base"])
        self.assertEqual(kinds(posenc.check(table, first=0)), ["shifted_rows"])
        self.assertTrue(posenc.check(table, base=500000.0, first=3, layout="interleaved").is_good)
        whisper = {**posenc.preset("whisper"), "d_model": D_MODEL}
        table = posenc.Encoder(**whisper).encode(ROWS)
        self.assertTrue(posenc.check(table, "whisper").is_good)
        self.assertEqual(kinds(posenc.check(table, "hf_marian")), ["other_spacing"])

    def test_a_model_says_what_its_cache_should_be(self):
        cache = posenc.rotary_from_config(QWEN).cache(range(ROWS))
        self.assertTrue(posenc.check(cache, config=QWEN).is_good)
        without_rule = {**QWEN, "rope_scaling": None}
        self.assertIn("other_rule", kinds(posenc.check(cache, config=without_rule)))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "config.json"
            file.write_text(json.dumps(QWEN), encoding="utf-8")
            self.assertTrue(posenc.check(cache, config=folder).is_good)
            self.assertTrue(posenc.check(cache, config=str(file)).is_good)

    def test_a_report_has_its_errors_and_causes(self):
        inverse = np.float32(10000) ** -(np.arange(0, D_MODEL, 2, dtype=np.float32) / D_MODEL)
        phases = np.outer(np.arange(ROWS, dtype=np.float32), inverse)
        table = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
        report = posenc.check(table)
        self.assertEqual(kinds(report), ["float32_phases"])
        self.assertGreater(report.max_abs, 1e-6)
        self.assertEqual(len(str(report).splitlines()), 3)
        table[500:] = np.nan
        self.assertEqual(posenc.check(table).entries_not_finite, 100 * D_MODEL)

    def test_bad_input_is_refused(self):
        table = posenc.encode(4, 8)
        for message, call in {
            "table.shape is": lambda: posenc.check(np.zeros((2, 3, 4), np.float32)),
            "table.dtype is int64": lambda: posenc.check(table.astype(np.int64)),
            "before.shape is .*; allowed: .rows, heads, chan":
                lambda: posenc.check_rotated(table[0], table, range(4), posenc.Rotary(8)),
            "layout is 'rows'|arrangement is 'rows'": lambda: posenc.check(table, layout="rows"),
            "preset is 'wisper'": lambda: posenc.check(table, "wisper"),
            "layers is 'x' without config": lambda: posenc.check(table, layers="x"),
        }.items():
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                call()


if __name__ == "__main__":
    unittest.main()
