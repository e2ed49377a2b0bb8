"""Tests posenc.torch: its modules replace modules of PyTorch's tutorial and of Transformers."""

import contextlib
import copy
import inspect
import io
import json
import math
import pathlib
import pickle
import sys
import tempfile
import unittest

try:
    import numpy as np
    import torch
except ImportError:
    print("Skipped: this Python has no NumPy or no PyTorch")
    sys.exit(77)

import torch_module
from numpy.testing import assert_array_equal as expect_equal
from torch import nn

import posenc
import posenc.torch

LLAMA = {
    "model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "rope_theta": 500000.0,
    "max_position_embeddings": 512,
    "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                     "high_freq_factor": 4.0, "original_max_position_embeddings": 64},
}  # fmt: skip
YARN = {**LLAMA, "model_type": "qwen2", "rope_scaling": {
    "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}}
ROWS, BATCH, D_MODEL = 50, 3, 32
HAS_COMPILE = hasattr(torch, "compile")
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


class Configuration:
    """Behaves like a PretrainedConfig of Transformers."""

    def __init__(self, keys):
        self.__dict__.update(keys)

    def to_dict(self):
        return {**self.__dict__, "return_dict": True, "output_attentions": False,
                "torch_dtype": None, "pruned_heads": {}, "id2label": {0: "LABEL_0"},
                "transformers_version": "4.57.0", "use_cache": True, "_name_or_path": ""}


class Model(nn.Module):
    """A model that holds both modules, as other models do."""

    def __init__(self, **options):
        super().__init__()
        self.embed = nn.Linear(D_MODEL, D_MODEL)
        self.positions = posenc.torch.PositionalEncoding(D_MODEL, 0.0, ROWS, **options)
        self.rotary = posenc.torch.RotaryEmbedding(LLAMA, **options)

    def forward(self, x, position_ids):
        cosines, sines = self.rotary(x, position_ids)
        return self.positions(self.embed(x)).sum() + cosines.sum() - sines.sum()


def arguments():
    torch.manual_seed(1)
    return torch.randn(ROWS, BATCH, D_MODEL), torch.randint(0, 512, (BATCH, ROWS))


def table_of(module):
    return module.pe if hasattr(module, "pe") else module.cos_sin_cache


def expected_of(module):
    """The values that the buffer of a module must have, each rounded once to its type."""
    table = torch.empty_like(table_of(module))
    if hasattr(module, "pe"):
        posenc.Encoder(D_MODEL).encode(ROWS, out=table[:, 0])
        return table
    return posenc.rotary_from_config(LLAMA).cache(512, out=table)


class ModulesTest(unittest.TestCase):
    def assert_right(self, model, dtype=torch.float32):
        for module in (model.positions, model.rotary):
            self.assertEqual(table_of(module).dtype, dtype)
            self.assertTrue(torch.equal(table_of(module), expected_of(module)))

    def test_the_tutorials_module_is_replaced(self):
        x = torch.randn(ROWS, BATCH, 64)
        for batch_first in (False, True):
            ours = posenc.torch.PositionalEncoding(64, batch_first=batch_first).eval()
            theirs = torch_module.Tutorial(64).eval()
            y = ours(x.transpose(0, 1)).transpose(0, 1) if batch_first else ours(x)
            # The tutorial's phases are float32: at position 49, half an ulp is 2e-6.
            self.assertTrue(torch.allclose(y, theirs(x), atol=1e-5, rtol=0))
            table = torch.from_numpy(posenc.encode(ROWS, 64))
            self.assertTrue(torch.equal(y, x + table[:, None]))
        torch.manual_seed(7)
        dropped = posenc.torch.PositionalEncoding(64, 0.5)(x)
        torch.manual_seed(7)
        self.assertTrue(torch.equal(dropped, nn.Dropout(0.5)(x + table[:, None])))
        fairseq = posenc.torch.PositionalEncoding(**posenc.preset("fairseq"), max_len=9)
        expect_equal(fairseq.pe[:, 0].numpy(), posenc.Encoder(**posenc.preset("fairseq")).encode(9))

    def test_checkpoints_of_the_tutorial_are_loaded(self):
        theirs = nn.Sequential(nn.Linear(64, 64), torch_module.Tutorial(64)).state_dict()
        self.assertIn("1.pe", theirs)
        model = nn.Sequential(nn.Linear(64, 64), posenc.torch.PositionalEncoding(64))
        model.load_state_dict(theirs)
        expect_equal(model[1].pe[:, 0].numpy(), posenc.encode(5000, 64))
        model = nn.Sequential(nn.Linear(64, 64),
                              posenc.torch.PositionalEncoding(64, persistent=True))
        model.load_state_dict(theirs)
        self.assertTrue(torch.equal(model[1].pe, theirs["1.pe"]))
        self.assertTrue(torch.equal(model.double()[1].pe, theirs["1.pe"].double()))
        with self.assertRaisesRegex(RuntimeError, "Unexpected key.*1.pf"):
            model.load_state_dict({**theirs, "1.pf": theirs["1.pe"]})

    def test_transformers_module_is_replaced(self):
        position_ids = torch.tensor([[0, 0, 1, 2, 3], [507, 508, 509, 510, 511]])
        for keys in (LLAMA, YARN):
            rotary = posenc.rotary_from_config(keys)
            phases = position_ids[:, :, None] * torch.from_numpy(rotary.inv_freq)
            twice = torch.cat((phases, phases), -1)  # as in LlamaRotaryEmbedding
            theirs = [each * rotary.attention_factor for each in (twice.cos(), twice.sin())]
            ours = posenc.torch.RotaryEmbedding(Configuration(keys), device="cpu")
            # The tolerance is one ulp between 1 and 2, of float32 or of bfloat16.
            for dtype, atol in ((torch.float32, 2.0**-23), (torch.bfloat16, 2.0**-7)):
                x = torch.empty(2, 4, 5, 64, dtype=dtype)
                for got, wanted in zip(ours(x, position_ids), theirs):
                    self.assertEqual((got.shape, got.dtype), (wanted.shape, dtype))
                    self.assertTrue(torch.allclose(got, wanted.to(dtype), atol=atol, rtol=0))
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "config.json").write_text(json.dumps(keys))
                for same in (keys, folder):
                    self.assertTrue(torch.equal(posenc.torch.RotaryEmbedding(same).cos_sin_cache,
                                                ours.cos_sin_cache))

    def test_rotary_repeats_as_the_pairs_of_the_model_are(self):
        for layout, model_type, given in (("once", "llama", "once"),
                                          ("interleaved", "cohere", None)):
            config = {**LLAMA, "rope_scaling": None, "model_type": model_type}
            module = posenc.torch.RotaryEmbedding(config, repeat=given)
            self.assertEqual(module.repeat, layout)
            wanted = posenc.Rotary(64, base=5e5).cosines_and_sines(range(5), layout)
            for got, each in zip(module(torch.empty(1), torch.arange(5)[None]), wanted):
                expect_equal(got[0].numpy(), each)

    def test_tables_compute_themselves_when_their_memory_is_new(self):
        model = Model(device="meta")
        self.assertTrue(model.positions.pe.is_meta and model.rotary.cos_sin_cache.is_meta)
        model.embed.to("meta")
        self.assert_right(model.to_empty(device="cpu"))
        self.assert_right(model.to_empty(device="cpu"))  # this loses the previous values
        for dtype in DTYPES:
            self.assert_right(copy.deepcopy(model).to(dtype), dtype)
            self.assert_right(Model(device="meta", dtype=dtype).to_empty(device="cpu"), dtype)
            self.assert_right(Model(dtype=dtype), dtype)
        self.assert_right(model.half().double(), torch.float64)
        self.assertTrue(model.to("meta").positions.pe.is_meta)
        skipped = torch.nn.utils.skip_init(posenc.torch.PositionalEncoding, D_MODEL, max_len=ROWS)
        self.assertTrue(torch.equal(skipped.pe, expected_of(skipped)))
        skipped.pe.zero_()
        skipped.reset_parameters()
        self.assertTrue(torch.equal(skipped.pe, expected_of(skipped)))
        kept = Model(device="meta", persistent=True)
        kept.embed.to("meta")
        self.assert_right(kept.to_empty(device="cpu"))

    @unittest.skipUnless(hasattr(torch, "set_default_device"), "PyTorch 2 has default devices")
    def test_the_default_device_and_type_are_followed(self):
        with torch.device("meta"):
            model = Model()
        self.assertTrue(all(each.is_meta for each in model.buffers()))
        self.assert_right(model.to_empty(device="cpu"))
        try:
            torch.set_default_dtype(torch.float64)
            self.assertEqual(posenc.torch.PositionalEncoding(8).pe.dtype, torch.float64)
            self.assertEqual(posenc.torch.RotaryEmbedding(LLAMA).cos_sin_cache.dtype, torch.float32)
        finally:
            torch.set_default_dtype(torch.float32)

    @unittest.skipUnless("assign" in inspect.signature(torch.nn.Module.load_state_dict).parameters,
                         "PyTorch assigns from 2.1 on")
    def test_models_on_meta_are_loaded_by_assignment(self):
        model = Model(device="meta")
        model.load_state_dict(Model().state_dict(), assign=True)
        self.assert_right(model)

    def test_models_are_copied_saved_and_loaded(self):
        model, given = Model(), arguments()
        expected = model(*given)
        self.assertEqual(sorted(model.state_dict()), ["embed.bias", "embed.weight"])
        self.assertEqual(sorted(Model(persistent=True).state_dict()),
                         ["embed.bias", "embed.weight", "positions.pe", "rotary.cos_sin_cache"])
        file = io.BytesIO()
        torch.save(model, file)
        file.seek(0)
        whole = {"weights_only": False} if HAS_COMPILE else {}
        for other in (copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model)),
                      torch.load(file, **whole)):
            self.assert_right(other)
            self.assertTrue(torch.equal(other(*given), expected))
        other = Model()
        other.load_state_dict(Model(persistent=True).state_dict())

    def test_what_a_checkpoint_has_of_a_replaced_module_is_compared(self):
        model = Model()
        own = model.state_dict()
        pe, cache = model.positions.pe, model.rotary.cos_sin_cache
        half = cache.shape[1] // 2
        inv_freq = torch.atan2(cache[1, half:], cache[1, :half])
        for right in ({"rotary.inv_freq": inv_freq}, {"rotary.inv_freq": inv_freq.bfloat16()},
                      {"positions.pe": pe.clone()}, {"positions.pe": pe.half()}):  # fmt: skip
            model.load_state_dict({**own, **right})
        for wrong in ({"rotary.inv_freq": torch.ones(half)}, {"rotary.inv_freq": inv_freq[:-1]},
                      {"positions.pe": torch.randn_like(pe)},
                      {"positions.pe": pe[: len(pe) // 2]}):  # fmt: skip
            (name,) = wrong
            for strict in (True, False):
                with self.assertRaisesRegex(RuntimeError, f"{name} of the checkpoint"):
                    model.load_state_dict({**own, **wrong}, strict=strict)

    def test_tensors_that_are_written_are_known_to_have_changed(self):
        rotary, z = posenc.Rotary(8), torch.randn(3, 2, 8, requires_grad=True)
        turned = z * 1
        product = turned * turned  # keeps `turned` for its gradient
        rotary.apply(turned.detach())
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            product.sum().backward()
        with torch.inference_mode():
            rotary.apply(torch.randn(3, 2, 8))

    def test_scripted_modules_compute_the_same(self):
        x, position_ids = arguments()
        layer = posenc.torch.PositionalEncoding
        modules = [(layer(D_MODEL, 0.5, ROWS), (x[:7],)),
                   (layer(D_MODEL, 0.0, ROWS, batch_first=True), (x.transpose(0, 1),)),
                   (Model(), (x, position_ids))]
        modules += [(posenc.torch.RotaryEmbedding(LLAMA, repeat=repeat), (x, position_ids))
                    for repeat in ("once", "halves", "interleaved")]
        for module, given in modules:
            file = io.BytesIO()
            torch.jit.save(torch.jit.script(module.eval()), file)
            file.seek(0)
            got, wanted = torch.jit.load(file)(*given), module(*given)
            pairs = zip(got, wanted) if isinstance(wanted, tuple) else [(got, wanted)]
            for one, other in pairs:
                self.assertTrue(torch.equal(one, other) and one.dtype == other.dtype)

    @unittest.skipUnless(HAS_COMPILE, "PyTorch before 2 compiles nothing")
    def test_compiled_models_have_no_graph_break(self):
        model, given = Model(), arguments()
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
        self.assertTrue(torch.equal(compiled(*given), model(*given)))
        x, position_ids = given
        shorter = x[:20], position_ids[:, :7]
        self.assertTrue(torch.equal(compiled(*shorter), model(*shorter)))

    @unittest.skipUnless(hasattr(torch, "export"), "PyTorch before 2.1 exports nothing")
    def test_exported_models_compute_the_same(self):
        model, given = Model().eval(), arguments()
        rows, positions = torch.export.Dim("rows", max=ROWS), torch.export.Dim("positions")
        exported = torch.export.export(
            model, given, dynamic_shapes={"x": {0: rows}, "position_ids": {1: positions}})
        for x, position_ids in (given, (given[0][:20], given[1][:, :7])):
            self.assertTrue(torch.equal(exported.module()(x, position_ids), model(x, position_ids)))

    def test_the_table_grows_with_the_positions(self):
        for config in (LLAMA, DYNAMIC):
            module = posenc.torch.RotaryEmbedding(config, dtype=torch.float64)
            for position, rows in ((511, 512), (600, 1024 if config is LLAMA else 601),
                                   (3000, 3001)):
                cosines, _ = module(torch.empty(1, dtype=torch.float64), torch.tensor([[position]]))
                self.assertEqual(len(module.cos_sin_cache), rows)
                right = posenc.rotary_from_config(config, max(rows, 512))
                expect_equal(cosines[0].numpy(), right.cosines_and_sines(
                    [position], "halves", dtype="float64")[0])

    def test_gradients_pass_through_rotate(self):
        rotary = posenc.rotary_from_config({**YARN, "hidden_size": 16})
        x = torch.randn(2, 5, 3, 6, dtype=torch.float32, requires_grad=True)
        for options in ({"first": 7}, {"positions": torch.tensor([3, 1, 4, 1, 5])}):
            rotated = posenc.torch.rotate(x, rotary, **options)
            expect_equal(rotated.detach().numpy(),
                         rotary.apply(x.detach().clone(), **options).numpy())
            weight = torch.randn_like(rotated)
            (gradient,) = torch.autograd.grad((rotated * weight).sum(), x, create_graph=True)
            expect_equal(gradient.detach().numpy(),
                         rotary.apply(weight.clone(), inverse=True, **options).numpy())
            product = x * 1
            same = posenc.torch.rotate(product, rotary, inplace=True, **options)
            self.assertEqual((same.data_ptr(), same._version), (product.data_ptr(), 2))
            (again,) = torch.autograd.grad((same * weight).sum(), x)
            self.assertTrue(torch.equal(again, gradient))
        before = x.detach().clone()
        with self.assertRaisesRegex(RuntimeError, "x is a leaf that requires a gradient"):
            posenc.torch.rotate(x, rotary, inplace=True)
        self.assertTrue(torch.equal(x.detach(), before))
        positions = np.array([3, 1, 4, 1, 5])
        rotated = posenc.torch.rotate(x, rotary, positions=positions)
        positions[:] = 0  # changes nothing
        (gradient,) = torch.autograd.grad(rotated.sum(), x)
        expect_equal(gradient.numpy(), rotary.apply(
            torch.ones_like(rotated), positions=[3, 1, 4, 1, 5], inverse=True).numpy())

    def test_bad_arguments_are_refused(self):
        encoding = posenc.torch.PositionalEncoding(8, max_len=4)
        several = {**LLAMA, "model_type": "qwen2_vl", "rope_scaling":
                   {"type": "mrope", "mrope_section": [8, 12, 12]}}
        without = {key: LLAMA[key] for key in LLAMA if key != "max_position_embeddings"}
        cases = {
            "max_len is -1; allowed": lambda: posenc.torch.PositionalEncoding(8, max_len=-1),
            r"x.shape is \(5, 1, 8\); allowed: three dimensions, up to max_len, 4":
                lambda: encoding(torch.zeros(5, 1, 8)),
            r"x.shape is \(4, 1, 1\); .* and 8 in the last":
                lambda: encoding(torch.zeros(4, 1, 1)),
            r"x.shape is \(4, 8\)": lambda: encoding(torch.zeros(4, 8)),
            "repeat is 'x'": lambda: posenc.torch.RotaryEmbedding(LLAMA, repeat="x"),
            "config has positions on 3 axes": lambda: posenc.torch.RotaryEmbedding(several),
            "rows is not given, and config has no max_position_embeddings":
                lambda: posenc.torch.RotaryEmbedding({**without, "rope_scaling": None}),
            "rows is 0": lambda: posenc.torch.RotaryEmbedding(LLAMA, rows=0),
            "model_type is 'x'|'x'":
                lambda: posenc.torch.RotaryEmbedding({**LLAMA, "model_type": "x"}),
        }
        for message, call in cases.items():
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                call()
        rotary = posenc.torch.RotaryEmbedding(LLAMA)
        with self.assertRaises(IndexError):
            rotary(torch.empty(1), torch.tensor([[-1]]))
        with self.assertRaises(IndexError):
            posenc.torch.RotaryEmbedding(LLAMA, persistent=True)(torch.empty(1),
                                                                 torch.tensor([[512]]))
        self.assertTrue(math.isclose(rotary(torch.empty(1), torch.tensor([[511]]))[0][0, 0, 0],
                                     math.cos(511), abs_tol=1e-7))


DEEPSEEK = {
    "model_type": "deepseek_v3", "hidden_size": 64, "num_attention_heads": 2, "rope_theta": 1e4,
    "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "max_position_embeddings": 163840,
    "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096,
                     "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0},
}  # fmt: skip
DYNAMIC = {**LLAMA, "rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}
GEMMA = {"model_type": "gemma3_text", "head_dim": 64, "rope_theta": 1e6,
         "rope_local_base_freq": 1e4, "rope_scaling": {"rope_type": "linear", "factor": 8.0},
         "layer_types": ["sliding_attention", "full_attention"],
         "max_position_embeddings": 512}  # fmt: skip


class Rotary4(nn.Module):
    """A rotary module of Transformers 4: two buffers of frequencies, and a factor."""

    def __init__(self, config, layers=None, rows=None):
        super().__init__()
        rotary = posenc.rotary_from_config(config, rows, layers=layers)
        self.attention_scaling = rotary.attention_factor
        self.max_seq_len_cached = rows or config["max_position_embeddings"]
        inv_freq = torch.tensor(rotary.inv_freq, dtype=torch.float32)
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        is_long = "rule longrope" in repr(rotary)  # modules begin with the short factors
        first = posenc.rotary_from_config(config, 1 if is_long else None, layers=layers).inv_freq
        self.original_inv_freq = torch.tensor(first, dtype=torch.float32)


class Attention(nn.Module):
    """Latent attention."""

    qk_nope_head_dim, qk_rope_head_dim, v_head_dim = 32, 16, 32

    def __init__(self, factor):
        super().__init__()
        self.scaling = 48**-0.5 * factor


def loaded(config, **modules):
    """A model of several layers with a rotary module, as Transformers loads it."""
    model = nn.Module()
    model.config = Configuration(config)
    model.model = nn.Module()
    model.model.embed = nn.Linear(4, 4)
    model.model.rotary_emb = Rotary4(config)
    for name, module in modules.items():
        model.model.add_module(name, module)
    return model


def right_configurations():
    """Configurations of models with one kind of layers and one axis, a rule or a type each."""
    data = pathlib.Path(__file__).parent.parent / "data/rotary_readings.json"
    for each in json.loads(data.read_text(encoding="utf-8"))["models"]:
        rotaries = posenc.rotary_from_config(each["config"], layers="all")
        rotary = next(iter(rotaries.values()))
        config = {"max_position_embeddings": 512, **each["config"]}
        if len(rotaries) == 1 and rotary.axes.axes == 1 and "text_config" not in config:
            yield each["about"], config


def checked(model, **expected):
    """What check() returns, and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        findings = posenc.torch.check(model, **expected)
    return findings, text.getvalue()


class TablesTest(unittest.TestCase):
    """assert_tables(), check() and repair_tables() on models as Transformers loads them."""

    def assert_wrong(self, model, name, cause, config=None):
        with self.assertRaisesRegex(posenc.torch.WrongTables, cause) as raised:
            posenc.torch.assert_tables(model, config)
        self.assertIn(name, [each.name for each in raised.exception.findings])
        self.assertIn("repair_tables", str(raised.exception))

    def assert_repaired(self, model, names, config=None):
        self.assertEqual(posenc.torch.repair_tables(model, config), names)
        posenc.torch.assert_tables(model, config)

    def test_models_that_are_right_pass(self):
        count = 0
        for about, config in right_configurations():
            with self.subTest(about, type=config["model_type"]):
                posenc.torch.assert_tables(loaded(config))
                count += 1
        self.assertGreaterEqual(count, 20)
        for rows in (None, 512, 2048):
            posenc.torch.assert_tables(loaded(DYNAMIC, grown=Rotary4(DYNAMIC, rows=rows)))
        kinds = nn.Module()
        kinds.config = Configuration(GEMMA)
        kinds.rotary_emb = Rotary4(GEMMA, "full_attention")
        kinds.rotary_emb_local = Rotary4(GEMMA, "sliding_attention")
        posenc.torch.assert_tables(kinds)
        posenc.torch.assert_tables(kinds, GEMMA)
        kinds.rotary_emb, kinds.rotary_emb_local = kinds.rotary_emb_local, kinds.rotary_emb
        self.assert_wrong(kinds, "rotary_emb.inv_freq", "base 10000")
        posenc.torch.assert_tables(nn.Linear(3, 3))
        posenc.torch.assert_tables(loaded(LLAMA, cache=posenc.torch.RotaryEmbedding(LLAMA)))

    def test_buffers_that_nobody_wrote_are_found_and_repaired(self):
        name, original = "model.rotary_emb.inv_freq", "model.rotary_emb.original_inv_freq"
        garbage = torch.tensor([6.9e-18, 4.6e-41] * 16)

        def cast(dtype):
            return lambda rotary: setattr(rotary, "inv_freq", rotary.inv_freq.to(dtype))

        other = posenc.Rotary(64, base=1e4).inv_freq
        cases = [
            (lambda rotary: rotary.inv_freq.zero_(), name, "all values are zero: nobody"),
            (lambda rotary: rotary.inv_freq.copy_(garbage), name,
             "value 0 is 6.9e-18 and should be 1: nobody"),
            (lambda rotary: rotary.inv_freq.fill_(math.nan), name, "32 of 32 values are NaN"),
            (lambda rotary: setattr(rotary, "inv_freq", torch.empty(32, device="meta")), name,
             "on the device meta"),
            (cast(torch.bfloat16), name, "rounded to bfloat16"),
            (cast(torch.float16), name, "rounded to float16"),
            (lambda rotary: rotary.inv_freq.copy_(torch.tensor(other)), name, "base 10000"),
            (lambda rotary: rotary.original_inv_freq.zero_(), original, "all values are zero"),
            (lambda rotary: setattr(rotary, "inv_freq", torch.ones(16)), name,
             "16 frequencies; allowed with d_model 64: 32"),
        ]  # fmt: skip
        for change, wrong, cause in cases:
            with self.subTest(cause):
                model = loaded(LLAMA)
                change(model.model.rotary_emb)
                for config in (None, LLAMA, Configuration(LLAMA)):
                    self.assert_wrong(model, wrong, cause, config)
                self.assert_repaired(model, [wrong])
                expect_equal(model.model.rotary_emb.inv_freq.numpy(),
                             posenc.rotary_from_config(LLAMA).inv_freq.astype(np.float32))
                self.assertEqual(list(dict(model.named_buffers())), [name])

    def test_frequencies_are_stale_after_growth(self):
        model = loaded(DYNAMIC)
        model.model.rotary_emb.max_seq_len_cached = 2048
        self.assert_wrong(model, "model.rotary_emb.inv_freq", "the frequencies are those of")
        self.assert_repaired(model, ["model.rotary_emb.inv_freq"])

    def test_factors_are_checked_and_repaired(self):
        model = loaded(YARN)
        right = model.model.rotary_emb.attention_scaling
        self.assertGreater(right, 1.1)
        for value, cause in ((1.0, "is missing"), (right * right, "is applied twice"),
                             (2 * right - 1, "logarithm twice"),
                             (1.5, "it should be 1.13")):
            model.model.rotary_emb.attention_scaling = value
            self.assert_wrong(model, "model.rotary_emb.attention_scaling", cause)
            self.assert_repaired(model, ["model.rotary_emb.attention_scaling"])
            self.assertEqual(model.model.rotary_emb.attention_scaling, right)
        squared = (0.1 * math.log(40) + 1) ** 2
        self.assertAlmostEqual(posenc.rotary_from_config(DEEPSEEK).softmax_factor, squared, 12)
        posenc.torch.assert_tables(loaded(DEEPSEEK, attention=Attention(squared)))
        model = loaded(DEEPSEEK, attention=Attention(1.0))
        self.assert_wrong(model, "model.attention.scaling", "the factor 1.87385 .* is missing")
        self.assert_repaired(model, ["model.attention.scaling"])

    def test_caches_are_checked_and_repaired(self):
        rotary = posenc.rotary_from_config(YARN)
        cosines, sines = (torch.from_numpy(each) for each in
                          rotary.cosines_and_sines(range(64), "halves"))
        both = torch.from_numpy(rotary.cache(range(64)))
        for buffers in ({"cos_cached": cosines, "sin_cached": sines}, {"cos_sin_cache": both},
                        {"freqs_cis": torch.from_numpy(rotary.cache(range(64), "complex"))}):
            module = nn.Module()
            for name, value in buffers.items():
                module.register_buffer(name, value.clone())
            model = loaded(YARN, cache=module)
            posenc.torch.assert_tables(model)
            for name, value in buffers.items():
                module.get_buffer(name).zero_()
                self.assert_wrong(model, f"model.cache.{name}", "all values are zero")
            self.assert_repaired(model, [f"model.cache.{name}" for name in buffers])
            for name, value in buffers.items():
                self.assertTrue(torch.equal(module.get_buffer(name), value))

    def test_what_no_configuration_determines_is_named(self):
        model = loaded(LLAMA, positions=torch_module.Tutorial(64, max_len=9))
        posenc.torch.assert_tables(model)
        model.model.positions.pe[3:] += 0.5
        self.assert_wrong(model, "model.positions.pe", "wrong")
        model.model.rotary_emb.inv_freq.zero_()
        with self.assertRaisesRegex(posenc.torch.WrongTables, "1 kind of table: wrong"):
            posenc.torch.repair_tables(model)
        self.assertTrue(model.model.rotary_emb.inv_freq.any())

    def test_the_configuration_of_the_model_or_the_given_one_counts(self):
        model = loaded(LLAMA)
        del model.config
        posenc.torch.assert_tables(model)
        self.assert_wrong(model, "model.rotary_emb.inv_freq", "", YARN)
        with self.assertRaisesRegex(ValueError, "model_type is 'x'"):
            posenc.torch.assert_tables(model, {**LLAMA, "model_type": "x"})
        # The configuration does not count if something else is expected.
        model = loaded(LLAMA)
        model.model.rotary_emb.inv_freq.copy_(torch.tensor(posenc.Rotary(64).inv_freq))
        self.assert_wrong(model, "model.rotary_emb.inv_freq", "base 10000")
        verdicts = {each.name: each.verdict for each in checked(model, base=1e4)[0]}
        self.assertEqual(verdicts["model.rotary_emb.inv_freq"], "good")
        # A part for images has frequencies of its own.
        model = loaded(LLAMA, visual=nn.Module())
        model.model.visual.inv_freq = torch.tensor(posenc.Rotary(40).inv_freq)
        for config in (None, LLAMA):
            posenc.torch.assert_tables(model, config)

    def test_other_buffers_are_no_tables(self):
        lowest = torch.finfo(torch.float32).min
        for buffer in (torch.full((77, 77), lowest).triu(1), torch.ones(64, 16),
                       torch.full((64, 64), -1e9).triu(1), torch.eye(4).to_sparse(),
                       0.9 ** torch.arange(64)[:, None].sub(torch.arange(64)).abs(),
                       torch.ones(12, 768)):
            model = loaded(LLAMA)
            model.register_buffer("mask", buffer)
            posenc.torch.assert_tables(model)
            self.assertNotIn("wrong", [each.verdict for each in checked(model)[0]])

    def test_layers_tell_their_kind(self):
        kinds = ["sliding_attention", "full_attention", "sliding_attention"]
        for types in (kinds, None):
            config = {**GEMMA, "layer_types": types}
            model = nn.Module()
            model.layers = nn.ModuleList([Rotary4(config, kind) for kind in kinds])
            posenc.torch.assert_tables(model, config)
            if types:
                model.layers[1].inv_freq.copy_(model.layers[0].inv_freq)
                self.assert_wrong(model, "layers.1.inv_freq", "base 10000", config)
                self.assert_repaired(model, ["layers.1.inv_freq"], config)

    def test_aliases_are_repaired_together(self):
        layers = nn.ModuleList([nn.Module() for _ in range(3)])
        for wrong in (torch.empty(32, device="meta"),
                      torch.tensor(posenc.rotary_from_config(LLAMA).inv_freq).bfloat16()):
            for layer in layers:
                layer.inv_freq = layer.original_inv_freq = wrong
            self.assertEqual(posenc.torch.repair_tables(layers, LLAMA), ["0.inv_freq"])
            self.assertEqual(len({layer.original_inv_freq.data_ptr() for layer in layers}), 1)
        # Under a dynamic rule, the two tensors differ once the sequences are longer.
        module = Rotary4(DYNAMIC)
        module.original_inv_freq = module.inv_freq
        module.max_seq_len_cached = torch.tensor(2048)
        self.assert_repaired(module, ["inv_freq"], DYNAMIC)
        posenc.torch.assert_tables(module, DYNAMIC)

    def test_longrope_has_two_lists(self):
        factors = [1.0 + k / 8 for k in range(32)]
        config = {**LLAMA, "model_type": "phi3", "original_max_position_embeddings": 64,
                  "rope_scaling": {"type": "longrope", "short_factor": [1.0] * 32,
                                   "long_factor": factors}}
        model = nn.Module()
        names = ("inv_freq", "original_inv_freq", "short_inv_freq", "long_inv_freq")
        for name in names:
            model.register_buffer(name, torch.zeros(32))
        self.assert_repaired(model, list(names), config)
        short, long = (posenc.rotary_from_config(config, rows).inv_freq for rows in (1, None))
        for name, right in zip(names, (short, short, short, long)):
            expect_equal(model.get_buffer(name).numpy(), right.astype(np.float32))
        model.inv_freq.copy_(model.long_inv_freq)  # after a long prompt
        posenc.torch.assert_tables(model, config)
        model.original_inv_freq.copy_(model.long_inv_freq)
        self.assert_wrong(model, "original_inv_freq", "", config)

    def test_caches_are_those_of_their_names(self):
        rotary = posenc.rotary_from_config(LLAMA)
        cosines, sines = (torch.from_numpy(each) for each in
                          rotary.cosines_and_sines(range(512), "halves"))
        phases = torch.arange(512)[:, None] * torch.tensor(rotary.inv_freq).float()
        inexact = torch.cat((phases, phases), -1).cos()
        corrupted = inexact.clone()
        corrupted[:200] = corrupted[:200].flip(0)
        for cache, cause in ((cosines, None), (inexact, None), (cosines.double(), None),
                             (cosines[None, None], None), (sines, "the table holds sines"),
                             (cosines[:, :16], "16 columns"), (corrupted, ""),
                             (torch.zeros(2, 512, 64), "all values are zero")):
            model = nn.Module()
            model.register_buffer("cos_cached", cache.clone())
            if cause is None:
                posenc.torch.assert_tables(model, LLAMA)
            else:
                self.assert_wrong(model, "cos_cached", cause, LLAMA)

    def test_numbers_of_other_types_are_read(self):
        model = loaded(LLAMA)
        for value in (math.nan, torch.tensor(2.0), 2, np.float32(2)):
            model.model.rotary_emb.attention_scaling = value
            self.assert_wrong(model, "model.rotary_emb.attention_scaling", "it should be 1")
        self.assert_repaired(model, ["model.rotary_emb.attention_scaling"])
        grown = loaded(DYNAMIC, grown=Rotary4(DYNAMIC, rows=2048))
        for rows in (torch.tensor(2048), np.int64(2048), 2048.0):
            grown.model.grown.max_seq_len_cached = rows
            posenc.torch.assert_tables(grown)
        indexer = nn.Module()
        indexer.qk_rope_head_dim, indexer.softmax_scale = 16, 0.5  # no latent attention
        posenc.torch.assert_tables(loaded(DEEPSEEK, indexer=indexer))
        with self.assertRaisesRegex(TypeError, "model is of type NoneType; allowed: torch.nn"):
            posenc.torch.assert_tables(None)
        with self.assertRaisesRegex(ValueError, "config is given with base"):
            posenc.torch.check(model, LLAMA, base=1e4)

    def test_copies_and_shared_memory_count_once(self):
        layers = nn.ModuleList([Rotary4(LLAMA) for _ in range(100)])
        model = loaded(LLAMA, layers=layers)
        for layer in layers:
            layer.inv_freq = model.model.rotary_emb.inv_freq
            layer.original_inv_freq = torch.zeros(32)
        findings, text = checked(model)
        wrong = [each for each in findings if not each.is_good]
        self.assertEqual([(each.name, each.like_it) for each in wrong],
                         [("model.layers.0.original_inv_freq", 99)])
        self.assertIn("5 kinds of tables: 1 wrong, 4 good", text)

    def test_a_module_is_walked(self):
        model, rotary = nn.Module(), nn.Module()
        phases = torch.arange(600)[:, None] * torch.tensor(posenc.Rotary(64).inv_freq).float()
        twice = torch.cat((phases, phases), -1)
        rotary.register_buffer("inv_freq", phases[1].clone())
        rotary.register_buffer("cos_cached", twice.cos()[None, None])
        rotary.register_buffer("sin_cached", twice.sin()[None, None], persistent=False)
        model.replaced = nn.ModuleList([
            rotary, posenc.torch.PositionalEncoding(D_MODEL),
            posenc.torch.RotaryEmbedding({**LLAMA, "rope_scaling": None})])
        model.pe = nn.Parameter(torch.from_numpy(posenc.encode(9, 8)))
        model.weight = nn.Parameter(torch.randn(8, 8))
        model.norm = nn.BatchNorm1d(16)  # has a buffer without dimensions
        model.register_buffer("running_mean", torch.randn(16, 16))
        model.register_buffer("inv_freq", torch.zeros(32))
        model.register_buffer("sin_cached", torch.rand(64, 64))
        self.assertTrue(posenc.check(model.pe).is_good)  # it requires gradients
        findings, text = checked(model)
        self.assertEqual({each.name: each.verdict for each in findings}, {
            "replaced.0.inv_freq": "good", "replaced.0.cos_cached": "inexact",
            "replaced.0.sin_cached": "inexact", "replaced.1.pe": "good",
            "replaced.2.cos_sin_cache": "good", "pe": "good",
            "inv_freq": "wrong", "sin_cached": "not recognised"})  # fmt: skip
        self.assertIn("phases in float32", findings[2].cause)
        self.assertIn("8 kinds of tables: 1 wrong, 1 not recognised, 2 inexact, 4 good", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertIn("1 kind of table: good", checked(model.replaced[1])[1])
        self.assertEqual(checked(nn.Linear(4, 4))[0], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
