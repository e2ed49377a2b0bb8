"""rotary_from_config() on the configurations of each model type, against the formula of its code.

The configurations have the keys of published ones that decide the rotary embedding, and those whose
names look as if they did.
"""

import json
import pathlib
import re
import unittest

from modules import np

import posenc
from posenc._posenc import known_model_types

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "rotary_configs.json"
CLASSES = DATA.with_name("rotary_classes.json")
POSITIONS = range(1000, 1020)
LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
         "rope_theta": 10000.0}  # fmt: skip
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 8192, "rope_type": "llama3"}  # fmt: skip


def power(dimension, base):
    return float(base) ** (-np.arange(0, dimension, 2) / dimension)


def llama3(dimension, base, factor, low, high, trained_rows):
    w = power(dimension, base)
    turns = trained_rows * w / (2 * np.pi)
    smooth = np.clip((turns - low) / max(high - low, 1e-300), 0, 1)
    return (1 - smooth) * w / factor + smooth * w


def yarn(dimension, base, factor, trained_rows, fast=32, slow=1):
    def index(turns):
        return dimension * np.log(trained_rows / (turns * 2 * np.pi)) / (2 * np.log(base))

    low, high = max(np.floor(index(fast)), 0), min(np.ceil(index(slow)), dimension - 1)
    w = power(dimension, base)
    ramp = np.clip((np.arange(dimension // 2) - low) / (high - low), 0, 1)
    return w / factor * ramp + w * (1 - ramp)


def halves(dimension, base):
    return (power(dimension, base), "halves")


def pairs(dimension, base):
    return (power(dimension, base), "interleaved")


def heads(model_type, hidden, count, **keys):
    return {"model_type": model_type, "hidden_size": hidden, "num_attention_heads": count,
            "max_position_embeddings": 32768, **keys}  # fmt: skip


def mrope(*sections, **keys):
    return {"rope_type": "default", "type": "default", "mrope_section": list(sections), **keys}


def latent(model_type, **keys):
    return heads(model_type, 2048, 16, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128,
                 kv_lora_rank=512, **keys)


LONG = {"type": "longrope", "short_factor": [1.0 + k / 9 for k in range(48)],
        "long_factor": [1.0 + k for k in range(48)]}  # fmt: skip
GLM = {"head_dim": 128, "partial_rotary_factor": 0.5, "rope_theta": 10000}
GLM_PAIRS = {"head_dim": 128, "partial_rotary_factor": 0.5, "rope_theta": 10000.0,
             "rope_scaling": {"type": "default", "mrope_section": [8, 12, 12]}}  # fmt: skip
HUNYUAN = {"head_dim": 128, "attention_head_dim": 128, "rope_theta": 10000.0,
           "rope_scaling": {"alpha": 1000.0, "beta_fast": 32, "beta_slow": 1, "factor": 1.0,
                            "mscale": 1.0, "mscale_all_dim": 1.0, "type": "dynamic"}}  # fmt: skip
XDROPE = HUNYUAN["rope_scaling"] | {"type": "xdrope", "xdrope_section": [16, 16, 16, 16]}
ALPHA = halves(128, 1e4 * 1000 ** (128 / 126))

def in_halves(hidden, count, dimension, base, **keys):
    """Model types that are read alike, and that configuration of each."""
    return lambda *types: [
        (heads(each, hidden, count, **keys), halves(dimension, base)) for each in types]


LLAMA_4_SCALING = {"type": "yarn", "rope_theta": 1e4, "factor": 128.0, "mscale": 1.0,
                   "original_max_position_embeddings": 8192, "mscale_all_dim": 1.0,
                   "max_position_embeddings": 32768, "llama_4_scaling_beta": 0.1,
                   "partial_rotary_factor": 0.5}  # fmt: skip

# Of model types whose layers with a rotary embedding have the same.
ALIKE = [
    *in_halves(4096, 64, 128, 1e6)("solar_open"),
    *in_halves(4096, 64, 128, 11158840)("hy_v3"),
    *in_halves(2048, 16, 128, 1e4)("afmoe"),
    *in_halves(6144, 64, 128, 1e6, head_dim=128, rope_theta=1e6)("exaone_moe", "exaone4_5_text"),
    *in_halves(4096, 32, 128, 1e4)("granite4_vision_text"),
    *in_halves(2304, 8, 256, 1e4)("t5_gemma_module"),
    *in_halves(3840, 30, 128, 5e5, linear_key_head_dim=96, rope_parameters={"rope_theta": 5e5})(
        "olmo_hybrid"),
    *in_halves(6144, 64, 64, 5e6, rotary_dim=64, partial_rotary_factor=0.5)("minimax_m3_vl_text"),
    *in_halves(1024, 16, 128, 5e5, rope_scaling=mrope(16, 24, 24))("paddleocr_vl_text"),
    ({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "max_seq_len": 32768,
      "attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "rope_theta": 500000}}, halves(128, 5e5)),
    (latent("glm_moe_dsa", rope_parameters={"rope_theta": 1e6, "rope_type": "default"},
            index_head_dim=128, head_dim=64), pairs(64, 1e6)),
    (heads("mistral4", 4096, 32, qk_rope_head_dim=64, qk_nope_head_dim=64, v_head_dim=128,
           head_dim=128, rope_parameters=LLAMA_4_SCALING),
     (yarn(64, 1e4, 128, 8192), "interleaved")),
    (heads("glm_ocr_text", 1024, 16, head_dim=128, rope_parameters=mrope(
        16, 24, 24, partial_rotary_factor=1.0, rope_theta=10000)), pairs(128, 1e4)),
    # Both kinds of layers have one base here.
    (heads("deepseek_v4", 4096, 64, head_dim=512, qk_rope_head_dim=64, rope_theta=10000,
           compress_rope_theta=10000, index_head_dim=128), pairs(64, 1e4)),
    (heads("esm", 1280, 20, position_embedding_type="rotary", rope_parameters={
        "rope_type": "default", "rope_theta": 10000.0}), halves(64, 1e4)),
    ({"model_type": "qwen", "n_embd": 4096, "n_head": 32, "kv_channels": 128, "n_positions": 6144,
      "pos_emb": "rotary", "rotary_emb_base": 10000, "rotary_pct": 1.0, "seq_length": 2048,
      "use_dynamic_ntk": False}, halves(128, 1e4)),
    (heads("granite", 4096, 32, head_dim=64), halves(64, 1e4)),
    (heads("qwen3_moe", 2048, 32, rope_theta=1e6), halves(64, 1e6)),
    (heads("nomic_bert", 768, 12, rope_parameters={"rope_theta": 1000.0}), halves(64, 1e3)),
    (heads("apertus", 4096, 32, rope_theta=12e6, rope_scaling=LLAMA3),
     (llama3(128, 12e6, 8, 1, 4, 8192), "halves")),
    (heads("arcee", 2560, 20, head_dim=128, rope_theta=10000.0), halves(128, 1e4)),
    (heads("baichuan", 4096, 32, model_max_length=4096), halves(128, 1e4)),
    (heads("bailing_moe", 2048, 16, head_dim=128, rope_theta=600000), halves(128, 6e5)),
    (heads("bailing_moe_v2", 2048, 16, head_dim=128, rope_theta=600000,
           partial_rotary_factor=0.5), halves(64, 6e5)),
    (heads("bamba", 4096, 32, attn_rotary_emb=64, rope_theta=10000.0, rope_scaling=None,
           mamba_d_head=64, time_step_limit=[0.0, float("inf")]), halves(64, 1e4)),
    (heads("bitnet", 2560, 20, rope_theta=500000.0), halves(128, 5e5)),
    ({"model_type": "chatglm", "hidden_size": 4096, "num_attention_heads": 32,
      "kv_channels": 128, "rope_ratio": 500, "original_rope": True, "seq_length": 131072},
     pairs(64, 5e6)),
    ({"model_type": "codegen", "n_embd": 1024, "n_head": 16, "rotary_dim": 32,
      "n_positions": 2048}, pairs(32, 1e4)),
    (heads("cohere", 8192, 64, rope_theta=8000000.0), pairs(128, 8e6)),
    (heads("cohere2", 4096, 32, head_dim=128, rope_theta=50000.0, sliding_window=4096,
           position_embedding_type="rope_gptj", rotary_pct=1.0,
           layer_types=["sliding_attention", "full_attention"]), pairs(128, 5e4)),
    (heads("deepseek", 2048, 16, rope_theta=10000), halves(128, 1e4)),
    (latent("deepseek_v2", rope_theta=10000), pairs(64, 1e4)),
    (latent("deepseek_v3", rope_theta=10000, qk_head_dim=192, head_dim=64), pairs(64, 1e4)),
    (latent("deepseek_v32", rope_theta=10000, index_head_dim=128), pairs(64, 1e4)),
    (heads("diffllama", 2048, 16, rope_theta=10000.0), halves(128, 1e4)),
    (heads("dots1", 4096, 32, head_dim=128, rope_theta=10000000), halves(128, 1e7)),
    (heads("ernie4_5", 1024, 16, head_dim=128, rope_theta=500000.0), pairs(128, 5e5)),
    (heads("ernie4_5_moe", 2560, 20, rope_theta=500000, compression_ratio=1.0), pairs(128, 5e5)),
    (heads("ernie4_5_moe_vl", 2560, 20, rope_theta=500000, rope_3d=True, freq_allocation=20,
           vision_config={"rope_theta": 7}), pairs(128, 5e5)),
    (heads("ernie4_5_vl_moe_text", 2560, 20, rope_parameters={
        "rope_type": "default", "rope_theta": 500000, "mrope_section": [22, 22, 20]}),
     pairs(128, 5e5)),
    (heads("esm", 1280, 20, position_embedding_type="rotary"), halves(64, 1e4)),
    (heads("eurobert", 768, 12, head_dim=64, rope_theta=250000), halves(64, 2.5e5)),
    (heads("exaone", 4096, 32, rope_theta=500000.0, rope_scaling=LLAMA3),
     (llama3(128, 5e5, 8, 1, 4, 8192), "halves")),
    (heads("exaone4", 5120, 40, head_dim=128, rope_theta=1000000, sliding_window=4096,
           sliding_window_pattern="LLLG"), halves(128, 1e6)),
    (heads("exaone4", 2048, 32, head_dim=64, rope_theta=1000000, sliding_window=None),
     halves(64, 1e6)),
    (heads("falcon", 4544, 71, alibi=False, rotary=True), halves(64, 1e4)),
    (heads("falcon_h1", 2048, 8, head_dim=128, rope_theta=100000000000.0), halves(128, 1e11)),
    (heads("gemma", 3072, 16, head_dim=256, rope_theta=10000.0), halves(256, 1e4)),
    (heads("gemma2", 3584, 16, head_dim=256, rope_theta=10000.0), halves(256, 1e4)),
    (heads("glm", 4096, 32, **GLM), pairs(64, 1e4)),
    (heads("glm4", 4096, 32, **GLM), pairs(64, 1e4)),
    (heads("glm4_moe", 4096, 96, **GLM), halves(64, 1e4)),
    (latent("glm4_moe_lite", rope_theta=1000000, partial_rotary_factor=1.0), pairs(64, 1e6)),
    (latent("glm4_moe_lite", rope_parameters={
        "rope_theta": 1000000, "rope_type": "default", "partial_rotary_factor": 1.0}),
     pairs(64, 1e6)),
    (latent("kimi_k2", rope_theta=50000.0, rope_scaling={
        "beta_fast": 1.0, "beta_slow": 1.0, "factor": 32.0, "mscale": 1.0, "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 4096, "type": "yarn"}),
     (yarn(64, 5e4, 32, 4096, 1, 1), "interleaved")),
    (heads("glm4v_text", 4096, 32, **GLM_PAIRS), pairs(64, 1e4)),
    (heads("glm4v_moe_text", 4096, 96, **GLM_PAIRS), halves(64, 1e4)),
    (heads("gpt_neox", 4096, 32, rotary_pct=0.25, rotary_emb_base=10000), halves(32, 1e4)),
    (heads("gpt_neox_japanese", 2560, 32, rotary_pct=1.0, rotary_emb_base=10000),
     halves(80, 1e4)),
    (heads("gpt_oss", 2880, 64, head_dim=64, rope_parameters={"rope_theta": 150000}),
     halves(64, 1.5e5)),
    ({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "rotary_dim": 64, "rotary": True,
      "n_positions": 2048}, pairs(64, 1e4)),
    (heads("granite", 4096, 32, rope_theta=10000000.0), halves(128, 1e7)),
    (heads("granitemoe", 1024, 16, rope_theta=10000), halves(64, 1e4)),
    (heads("granitemoehybrid", 1536, 12, rope_theta=10000, position_embedding_type="rope",
           layer_types=["mamba", "attention"]), halves(128, 1e4)),
    (heads("granitemoeshared", 1024, 16, rope_theta=10000), halves(64, 1e4)),
    (heads("helium", 2560, 20, head_dim=128, rope_theta=20000.0), pairs(128, 2e4)),
    (heads("hunyuan_v1_dense", 4096, 32, **HUNYUAN), ALPHA),
    (heads("hunyuan_v1_moe", 4096, 32, **HUNYUAN), ALPHA),
    (heads("hunyuan_vl_text", 1024, 16, **(HUNYUAN | {"rope_scaling": XDROPE})), ALPHA),
    (heads("internlm2", 4096, 32, rope_theta=1000000), halves(128, 1e6)),
    (heads("internlm3", 4096, 32, head_dim=128, rope_theta=50000000, rope_scaling={
        "factor": 6.0, "rope_type": "dynamic"}), halves(128, 5e7)),
    (latent("kimi_k2", rope_theta=50000.0), pairs(64, 5e4)),
    (heads("lfm2_moe", 2048, 32, rope_theta=1000000.0), halves(64, 1e6)),
    (heads("lfm2", 2048, 32, rope_theta=1000000.0, theta=1000000,
           layer_types=["conv", "full_attention"]),
     halves(64, 1e6)),
    (heads("llama", 4096, 32), halves(128, 1e4)),
    (heads("llama", 4096, 32, rope_scaling={
        "factor": 32.0, "original_max_position_embeddings": 4096, "type": "yarn",
        "finetuned": True, "attention_factor": 1}), (yarn(128, 1e4, 32, 4096), "halves")),
    (heads("llama4_text", 5120, 40, head_dim=128, rope_theta=500000.0, no_rope_layers=[],
           num_hidden_layers=48, rope_scaling=LLAMA3 | {"high_freq_factor": 1.0}),
     (llama3(128, 5e5, 8, 1, 1, 8192), "interleaved")),
    (latent("longcat_flash", rope_theta=10000000.0), pairs(64, 1e7)),
    (heads("mimo", 4096, 32, head_dim=128, rope_theta=640000), halves(128, 6.4e5)),
    (heads("minicpm", 2304, 36, rope_theta=10000.0, sparse_config={"use_nope": False}),
     halves(64, 1e4)),
    (heads("minicpm3", 2560, 40, qk_rope_head_dim=32, qk_nope_head_dim=64, rope_theta=10000.0),
     halves(32, 1e4)),
    (heads("minimax", 6144, 64, head_dim=128, rope_theta=10000000), halves(128, 1e7)),
    (heads("minimax_m1", 6144, 64, head_dim=128, rotary_dim=64, rope_theta=10000000),
     halves(64, 1e7)),
    (heads("minimax_m2", 3072, 48, head_dim=128, rotary_dim=64, rope_theta=5000000),
     halves(64, 5e6)),
    (heads("minimax_m2", 3072, 48, head_dim=128, rope_parameters={
        "rope_type": "default", "rope_theta": 5000000, "partial_rotary_factor": 0.5}),
     halves(64, 5e6)),
    (heads("minimax_text_01", 6144, 64, head_dim=128, rotary_dim=64, rope_theta=10000000),
     halves(64, 1e7)),
    (heads("ministral", 4096, 32, head_dim=128, rope_theta=100000000.0), halves(128, 1e8)),
    (heads("ministral3", 4096, 32, head_dim=128, rope_parameters={
        "type": "yarn", "rope_theta": 1000000.0, "factor": 2.0, "beta_fast": 32.0,
        "original_max_position_embeddings": 16384, "max_position_embeddings": 32768,
        "beta_slow": 1.0, "mscale_all_dim": 1.0, "mscale": 1.0, "llama_4_scaling_beta": 0.1}),
     (yarn(128, 1e6, 2, 16384), "halves")),
    (heads("mistral", 5120, 32, head_dim=128, rope_theta=1000000000.0), halves(128, 1e9)),
    (heads("mixtral", 4096, 32, rope_theta=1000000.0), halves(128, 1e6)),
    (heads("mllama_text_model", 4096, 32, rope_theta=500000.0, rope_scaling=LLAMA3),
     (llama3(128, 5e5, 8, 1, 4, 8192), "halves")),
    ({"model_type": "moonshine", "hidden_size": 288, "encoder_num_attention_heads": 8,
      "decoder_num_attention_heads": 8, "partial_rotary_factor": 0.9, "rope_theta": 10000.0,
      "pad_head_dim_to_multiple_of": 8}, pairs(32, 1e4)),
    (heads("nemotron", 3072, 24, head_dim=128, partial_rotary_factor=0.5, rope_theta=10000),
     halves(64, 1e4)),
    (heads("nemotron-nas", 8192, 64, rope_theta=500000.0, rope_scaling=LLAMA3),
     (llama3(128, 5e5, 8, 1, 4, 8192), "halves")),
    ({"model_type": "nomic_bert", "n_embd": 768, "n_head": 12, "rotary_emb_base": 1000,
      "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False, "n_positions": 8192,
      "rotary_emb_scale_base": None, "rotary_scaling_factor": None,
      "max_trained_positions": 2048}, halves(64, 1e3)),
    (heads("new", 1024, 16, rope_theta=160000, position_embedding_type="rope",
           rope_scaling={"type": "ntk", "factor": 2.0}),
     (power(64, 320000) / 2 ** (2 / 64), "halves")),
    (heads("olmo", 2048, 16, rope_theta=10000.0), halves(128, 1e4)),
    (heads("olmo2", 4096, 32, rope_theta=500000), halves(128, 5e5)),
    (heads("olmoe", 2048, 16, rope_theta=10000.0), halves(128, 1e4)),
    (heads("persimmon", 4096, 64, rope_theta=25000.0, partial_rotary_factor=0.5),
     halves(32, 25000)),
    (heads("phi", 2560, 32, rope_theta=10000.0, partial_rotary_factor=0.4), halves(32, 1e4)),
    (heads("phi3", 3072, 24, rope_theta=10000.0, partial_rotary_factor=0.75), halves(96, 1e4)),
    (heads("phi3_v", 3072, 32, rope_theta=10000.0), halves(96, 1e4)),
    (heads("phi4_multimodal", 3072, 24, rope_theta=10000.0, partial_rotary_factor=0.75,
           audio_config={"rope_theta": 7}), halves(96, 1e4)),
    (heads("phi4mm", 3072, 24, rope_theta=10000.0, partial_rotary_factor=0.75),
     halves(96, 1e4)),
    (heads("phimoe", 4096, 32, rope_theta=10000.0), halves(128, 1e4)),
    (heads("qwen", 4096, 32, kv_channels=128, rotary_emb_base=10000, rotary_pct=1.0,
           seq_length=8192, use_dynamic_ntk=True, use_logn_attn=True), halves(128, 1e4)),
    (heads("qwen2", 3584, 28, rope_theta=1000000.0, use_mrope=False), halves(128, 1e6)),
    (heads("qwen2_5_omni_text", 3584, 28, rope_theta=1000000.0, rope_scaling=mrope(16, 24, 24)),
     halves(128, 1e6)),
    (heads("qwen2_5_vl_text", 3584, 28, rope_theta=1000000.0, rope_scaling=mrope(16, 24, 24)),
     halves(128, 1e6)),
    (heads("qwen2_moe", 2048, 16, rope_theta=1000000.0), halves(128, 1e6)),
    (heads("qwen2_vl_text", 3584, 28, rope_theta=1000000.0, rope_scaling=mrope(16, 24, 24)),
     halves(128, 1e6)),
    (heads("qwen3", 4096, 32, head_dim=128, rope_theta=1000000), halves(128, 1e6)),
    (heads("qwen3_5_moe_text", 2048, 16, head_dim=256, rope_parameters=mrope(
        11, 11, 10, mrope_interleaved=True, rope_theta=10000000, partial_rotary_factor=0.25)),
     halves(64, 1e7)),
    (heads("qwen3_5_text", 5120, 24, head_dim=256, linear_key_head_dim=128,
           linear_value_head_dim=128, rope_parameters=mrope(
               11, 11, 10, mrope_interleaved=True, rope_theta=10000000,
               partial_rotary_factor=0.25)), halves(64, 1e7)),
    (heads("qwen3_moe", 2048, 32, head_dim=128, rope_theta=1000000.0), halves(128, 1e6)),
    (heads("qwen3_next", 2048, 16, head_dim=256, partial_rotary_factor=0.25, rope_theta=10000000,
           linear_key_head_dim=128, linear_value_head_dim=128,
           layer_types=["linear_attention", "full_attention"]), halves(64, 1e7)),
    (heads("qwen3_omni_moe_text", 2048, 32, head_dim=128, rope_theta=1000000, rope_scaling=mrope(
        24, 20, 20, interleaved=True, mrope_interleaved=True)), halves(128, 1e6)),
    (heads("qwen3_vl_moe_text", 2048, 32, head_dim=128, rope_theta=5000000, rope_scaling={
        "rope_type": "default", "mrope_section": [24, 20, 20], "mrope_interleaved": True}),
     halves(128, 5e6)),
    (heads("qwen3_vl_text", 4096, 32, head_dim=128, rope_theta=5000000, rope_scaling={
        "rope_type": "default", "mrope_section": [24, 20, 20], "mrope_interleaved": True}),
     halves(128, 5e6)),
    (heads("recurrent_gemma", 2560, 10, head_dim=256, rope_theta=10000.0,
           partial_rotary_factor=0.5), halves(128, 1e4)),
    (heads("roformer", 768, 12, rotary_value=False), pairs(64, 1e4)),
    (heads("seed_oss", 5120, 80, head_dim=128, rope_theta=10000000.0), halves(128, 1e7)),
    (heads("smollm3", 2048, 16, rope_theta=5000000.0, no_rope_layers=[1, 1, 1, 0]),
     halves(128, 5e6)),
    (heads("stablelm", 2048, 32, rope_theta=10000, partial_rotary_factor=0.25,
           rope_pct=0.25, rotary_scaling_factor=1.0), halves(16, 1e4)),
    (heads("starcoder2", 3072, 24, rope_theta=999999.4420358813), halves(128, 999999.4420358813)),
    (heads("xverse", 4096, 32), halves(128, 1e4)),
    (heads("zamba2", 2560, 32, attention_head_dim=160, kv_channels=80, use_mem_rope=True,
           rope_theta=10000), halves(160, 1e4)),
]  # fmt: skip

GEMMA3 = {"head_dim": 256, "rope_theta": 1000000, "rope_local_base_freq": 10000,
          "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}  # fmt: skip
GEMMA3_NOW = {"head_dim": 256, "rope_parameters": {
    "full_attention": {"factor": 8.0, "rope_type": "linear", "rope_theta": 1000000},
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000}}}  # fmt: skip
GEMMA3_W = {"full_attention": power(256, 1e6) / 8, "sliding_attention": power(256, 1e4)}
GEMMA4_W = {"full_attention": np.where(np.arange(256) < 64, power(512, 1e6), 0),
            "sliding_attention": power(256, 1e4)}  # fmt: skip
OLMO3 = {"factor": 8.0, "rope_type": "yarn", "original_max_position_embeddings": 8192,
         "attention_factor": 1.0, "beta_fast": 32, "beta_slow": 1}  # fmt: skip
MIMO_W = {"full_attention": power(64, 5e6), "sliding_attention": power(64, 1e4)}
BERT_W = {"full_attention": power(64, 160000), "sliding_attention": power(64, 1e4)}
TWO_RULES = {"full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 5e5},
             "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}  # fmt: skip

# Of model types with a rotary embedding for each kind of layers.
KINDS = [
    (heads("gemma3_text", 2560, 8, **GEMMA3), GEMMA3_W),
    (heads("gemma3_text", 2560, 8, **GEMMA3_NOW), GEMMA3_W),
    (heads("gemma3_text", 2560, 8, **(GEMMA3 | GEMMA3_NOW | {"rope_scaling": None})), GEMMA3_W),
    (heads("gemma3n_text", 2048, 8, **GEMMA3), GEMMA3_W),
    (heads("gemma4_text", 3840, 16, head_dim=256, global_head_dim=512), GEMMA4_W),
    (heads("gemma4_text", 3840, 16, rope_parameters={
        "full_attention": {"rope_type": "proportional", "rope_theta": 1000000.0,
                           "partial_rotary_factor": 0.25},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}), GEMMA4_W),
    (heads("mimo_v2_flash", 4096, 64, head_dim=192, v_head_dim=128, rope_theta=5000000,
           swa_head_dim=192, swa_v_head_dim=128,
           swa_rope_theta=10000, partial_rotary_factor=0.334), MIMO_W),
    (heads("modernbert", 768, 12, global_rope_theta=160000.0, local_rope_theta=10000.0,
           position_embedding_type="absolute"), BERT_W),
    (heads("modernbert", 768, 12, rope_parameters={
        "full_attention": {"rope_type": "default", "rope_theta": 160000.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}), BERT_W),
    (heads("olmo3", 4096, 32, rope_theta=500000, rope_scaling=OLMO3),
     {"full_attention": yarn(128, 5e5, 8, 8192), "sliding_attention": power(128, 5e5)}),
    (heads("olmo3", 4096, 32, rope_parameters=TWO_RULES),
     {"full_attention": power(128, 5e5) / 2, "sliding_attention": power(128, 1e4)}),
    (heads("modernbert-decoder", 768, 12, global_rope_theta=160000.0, local_rope_theta=10000.0),
     BERT_W),
    (heads("gemma4_unified_text", 3840, 16), GEMMA4_W),
    # As Transformers 5.16 saves it.
    (heads("gemma4_text", 3840, 16, head_dim=256, layer_types=["sliding_attention",
           "full_attention"], per_layer_config={"1": {"head_dim": 512,
                                                      "num_key_value_heads": 4}}), GEMMA4_W),
]  # fmt: skip

TEXT = {"head_dim": 128, "rope_theta": 5000000, "rope_scaling": {
    "rope_type": "default", "mrope_section": [24, 20, 20], "mrope_interleaved": True}}  # fmt: skip
VISION = {"vision_config": {"rope_theta": 7, "rotary_dim": 3, "head_dim": 80}}


def holding(model_type, text, **keys):
    return {"model_type": model_type, "text_config": text, **VISION, **keys}


# A multimodal model, and the text of what is read of it.
MULTIMODAL = [
    (holding(outer, LLAMA | {"model_type": inner, "head_dim": 128}), f"{inner}")
    for outer, inner in {
        "deepseek_vl": "llama", "deepseek_vl_hybrid": "llama", "janus": "llama",
        "ovis2": "qwen2", "qwen3_asr": "qwen3", "perception_lm": "llama",
        "audioflamingo3": "qwen2", "video_llama_3": "qwen2", "granite_speech": "granite", "idefics2": "mistral",
        "idefics3": "llama",
        "internvl": "qwen2", "lfm2-vl": "lfm2", "lfm2_vl": "lfm2", "llava": "mistral",
        "llava_next": "llama",
        "llava_next_video": "llama", "llava_onevision": "qwen2", "mistral3": "mistral",
        "qwen2_audio": "qwen2", "smolvlm": "llama", "video_llava": "llama", "vipllava": "llama",
        "voxtral": "llama", "got_ocr2": "qwen2"}.items()
] + [
    (heads("llava", 4096, 32, mm_hidden_size=1024, rope_scaling=None), "llama: dimension 128"),
    (holding("exaone4_5", heads("exaone4", 5120, 40, head_dim=128, rope_theta=1e6)), "exaone4"),
    (holding("granite4_vision", {}), "granite4_vision_text: dimension 128"),
    (holding("minicpmv4_6", heads("qwen3_5_text", 1024, 8, rope_parameters={"rope_theta": 1e7})),
     "qwen3_5_text, full_attention: dimension 64"),
    (holding("minimax_m3_vl", heads("minimax_m2", 6144, 64, rotary_dim=64)),
     "minimax_m3_vl_text: dimension 64, base 5000000"),
    (holding("glm_ocr", heads("glm_ocr_text", 1024, 16, head_dim=128, rope_parameters=mrope(
        16, 24, 24, partial_rotary_factor=1.0))), "axes in sections of 16, 24, 24 pairs"),
    (heads("paddleocr_vl", 1024, 16, head_dim=128, rope_theta=5e5, rope_is_neox_style=True,
           rope_scaling=mrope(16, 24, 24), **VISION), "paddleocr_vl_text: dimension 128"),
    ({"model_type": "colpali", "vlm_config": holding(
        "paligemma", heads("gemma", 2048, 8, head_dim=256))}, "gemma: dimension 256"),
    ({"model_type": "colqwen2", "vlm_config": heads(
        "qwen2_vl", 1536, 12, rope_theta=1e6, rope_scaling=mrope(16, 24, 24))},
     "qwen2_vl_text: dimension 128"),
    ({"model_type": "t5gemma", "encoder": heads("t5_gemma_module", 2304, 8),
      "decoder": heads("t5_gemma_module", 2304, 8)}, "t5_gemma_module: dimension 256"),
    (holding("aya_vision", heads("cohere2", 4096, 32, rope_theta=50000)), "cohere2"),
    (holding("cohere2_vision", heads("cohere2", 4096, 32, rope_theta=50000)), "cohere2"),
    (holding("ernie4_5_vl_moe", heads("ernie4_5_vl_moe_text", 2560, 20)),
     "ernie4_5_vl_moe_text: dimension 128, base 500000, rule base, channels interleaved, axes "
     "alternating, of 20, 22, 22 pairs"),
    (holding("fuyu", heads("persimmon", 4096, 64, rope_theta=25000), rope_theta=25000.0,
             partial_rotary_factor=0.5, rope_scaling=None, max_position_embeddings=32768),
     "persimmon: dimension 32"),
    (holding("glm4v", heads("glm4v_text", 4096, 32, **GLM_PAIRS)),
     "channels interleaved, axes in sections of 8, 12, 12 pairs"),
    (heads("glm4v", 4096, 32, **GLM_PAIRS, **VISION),
     "channels interleaved, axes in sections of 8, 12, 12 pairs"),
    (holding("glm4v_moe", heads("glm4v_moe_text", 4096, 96, **GLM_PAIRS)),
     "channels halves, axes in sections of 8, 12, 12 pairs"),
    (heads("hunyuan_vl", 1024, 16, **(HUNYUAN | {"rope_scaling": XDROPE}), **VISION),
     "rule ntk:factor=1000, channels halves, axes in sections of 16, 16, 16, 16 pairs"),
    ({"model_type": "internvl_chat", "llm_config": heads("internlm2", 4096, 32, rope_theta=1e6)},
     "internlm2: dimension 128, base 1000000"),
    (holding("kimi_k25", latent("kimi_k2", rope_theta=50000.0)), "kimi_k2: dimension 64"),
    (holding("kimi_vl", latent("deepseek_v3", rope_theta=800000.0)), "deepseek_v3: dimension 64"),
    (holding("llama4", heads("llama4_text", 5120, 40, head_dim=128, num_hidden_layers=8)),
     "channels interleaved"),
    (holding("mllama", heads("mllama_text_model", 4096, 32)), "base 500000"),
    (holding("paligemma", heads("gemma", 2048, 8, head_dim=256)), "gemma: dimension 256"),
    ({"model_type": "qwen2_5_omni", "talker_config": {"rope_theta": 7}, "thinker_config": {
        "model_type": "qwen2_5_omni_thinker", "position_id_per_seconds": 25,
        "audio_config": {"rope_theta": 7},
        "text_config": heads("qwen2_5_omni_text", 3584, 28, rope_theta=1e6,
                             rope_scaling=mrope(16, 24, 24))}},
     "axes in sections of 16, 24, 24 pairs"),
    ({"model_type": "qwen3_omni_moe", "thinker_config": {
        "text_config": heads("qwen3_omni_moe_text", 2048, 32, head_dim=128, rope_theta=1e6)}},
     "axes interleaved, of 24, 20, 20 pairs"),
    (heads("qwen2_vl", 3584, 28, rope_theta=1e6, **VISION,
           rope_scaling={"type": "mrope", "mrope_section": [16, 24, 24]}),
     "qwen2_vl_text: dimension 128, base 1000000, rule base, channels halves, axes in sections "
     "of 16, 24, 24 pairs"),
    (heads("qwen2_5_vl", 3584, 28, rope_theta=1e6, **VISION,
           rope_scaling={"type": "mrope", "mrope_section": [16, 24, 24]}),
     "axes in sections of 16, 24, 24 pairs"),
    # Both places say the same, one in the older words.
    (holding("qwen2_5_vl", heads("qwen2_5_vl_text", 3584, 28, rope_theta=1e6,
                                 rope_scaling=mrope(16, 24, 24)),
             rope_theta=1000000, rope_scaling={"type": "mrope", "mrope_section": [16, 24, 24]},
             hidden_size=3584, num_attention_heads=28, max_position_embeddings=32768),
     "axes in sections of 16, 24, 24 pairs"),
    (holding("qwen3_vl", heads("qwen3_vl_text", 4096, 32, **TEXT)),
     "qwen3_vl_text: dimension 128, base 5000000, rule base, channels halves, axes interleaved, "
     "of 24, 20, 20 pairs"),
    (holding("qwen3_vl_moe", heads("qwen3_vl_moe_text", 4096, 32, **TEXT)), "axes interleaved"),
    (holding("qwen3_5", heads("qwen3_5_text", 5120, 24, rope_parameters={"rope_theta": 1e7})),
     "dimension 64, base 10000000, rule base, channels halves, axes interleaved, of 11, 11, 10"),
    (holding("qwen3_5_moe", heads("qwen3_5_moe_text", 5120, 24,
                                  rope_parameters={"rope_theta": 1e7})), "axes interleaved"),
]  # fmt: skip
# Gemma's have kinds of layers.
WITH_KINDS = [
    (holding("gemma3", heads("gemma3_text", 2560, 8, **GEMMA3)), GEMMA3_W),
    (holding("gemma3n", heads("gemma3n_text", 2048, 8, **GEMMA3)), GEMMA3_W),
    (holding("gemma4", heads("gemma4_text", 3840, 16)), GEMMA4_W),
    (holding("gemma4_unified", heads("gemma4_unified_text", 3840, 16)), GEMMA4_W),
]  # fmt: skip


class FamiliesTest(unittest.TestCase):
    def assert_frequencies(self, rotary, w, channels):
        angles = np.outer(POSITIONS, w)
        expected = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        np.testing.assert_allclose(rotary.cache(POSITIONS), expected, atol=1e-7, rtol=0)
        x = np.zeros((1, rotary.dimension), np.float32)
        x[0, 0] = 1
        partner = np.flatnonzero(rotary.apply(x, 1)[0])[1]
        self.assertEqual(partner, {"halves": len(w), "interleaved": 1}[channels])
        self.assertIn(f"channels {channels}", repr(rotary))

    def test_model_types_whose_layers_are_alike(self):
        for config, (w, channels) in ALIKE:
            with self.subTest(config["model_type"]):
                rotary = posenc.rotary_from_config(config)
                self.assert_frequencies(rotary, w, channels)
                self.assertEqual(rotary.attention_factor, 1)
                self.assertTrue(repr(rotary).startswith(f"Rotary({config['model_type']}"))

    def test_model_types_with_kinds_of_layers(self):
        for config, kinds in KINDS + WITH_KINDS:
            with self.subTest(config["model_type"]):
                every = posenc.rotary_from_config(config, layers="all")
                self.assertEqual(set(every), set(kinds))
                for kind, w in kinds.items():
                    one = posenc.rotary_from_config(config, layers=kind)
                    for rotary in (every[kind], one):
                        self.assert_frequencies(rotary, w, "halves")
                        self.assertIn(f", {kind}: dimension {2 * len(w)}, ", repr(rotary))
                with self.assertRaisesRegex(ValueError, "^layers is not given; allowed for .*: "
                                                        "full_attention, sliding_attention$"):
                    posenc.rotary_from_config(config)
                with self.assertRaisesRegex(ValueError, "^layers is 'global'; allowed for "):
                    posenc.rotary_from_config(config, layers="global")

    def test_multimodal_models_are_read_for_their_text(self):
        for config, text in MULTIMODAL:
            with self.subTest(config["model_type"]):
                self.assertIn(text, repr(posenc.rotary_from_config(config)))

    def test_every_model_type_is_tested(self):
        tested = {config["model_type"] for config, _ in ALIKE + KINDS + MULTIMODAL + WITH_KINDS}
        self.assertEqual(tested, set(known_model_types()))

    def test_every_model_type_is_documented(self):
        page = (DATA.parent.parent.parent / "docs" / "config-json.md").read_text(encoding="utf-8")
        documented = set(re.findall("`([\\w-]+)`", page.partition("## Which model")[2]))
        self.assertEqual(set(known_model_types()) - documented, set())

    def test_layers_without_a_rotary_embedding_are_named(self):
        from posenc._posenc import RotaryReading

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
        config = heads("gemma3_text", 2560, 8, layer_types=["full_attention"] * 3, **GEMMA3_NOW)
        self.assertEqual(list(posenc.rotary_from_config(config, layers="all")), ["full_attention"])
        self.assert_frequencies(
            posenc.rotary_from_config(config), GEMMA3_W["full_attention"], "halves")
        olmo3 = heads("olmo3", 4096, 32, rope_parameters=TWO_RULES,
                      layer_types=["sliding_attention"])
        self.assert_frequencies(posenc.rotary_from_config(olmo3), power(128, 1e4), "halves")

    def test_kinds_that_are_alike_need_no_choice(self):
        config = heads("olmo3", 4096, 32, rope_theta=500000)
        self.assert_frequencies(posenc.rotary_from_config(config), power(128, 5e5), "halves")
        self.assertEqual(list(posenc.rotary_from_config(LLAMA, layers="all")), ["all"])

    def test_phimoe_has_a_factor_for_long_and_for_short_sequences(self):
        rule = {"type": "longrope", "short_factor": LONG["short_factor"] + [2.0] * 16,
                "long_factor": LONG["long_factor"] + [2.0] * 16, "short_mscale": 1.25,
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
            w = power(128, 1e4 * alpha ** (128 / 126))
            self.assert_frequencies(posenc.rotary_from_config(config, rows=rows), w, "halves")


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
            ("hunyuan_vl_text", ALPHA[0], in_sections(16, 16, 16, 16)),
        ):
            with self.subTest(model_type):
                config = next(each for each, _ in ALIKE if each["model_type"] == model_type)
                rotary = posenc.rotary_from_config(config)
                positions = np.arange(5 * (axes.max() + 1)).reshape(-1, 5) ** 2
                angles = positions[axes].T * w
                expected = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
                np.testing.assert_allclose(rotary.cache(positions), expected, atol=1e-7, rtol=0)

    def test_text_is_turned_as_by_one_axis(self):
        config = next(each for each, _ in ALIKE if each["model_type"] == "qwen3_vl_text")
        np.testing.assert_array_equal(
            posenc.rotary_from_config(config).cache(POSITIONS),
            posenc.Rotary(128, base=5e6).cache(POSITIONS))


class ClassesTest(unittest.TestCase):
    """tests/data/rotary_classes.json: what classes have and read, and what their versions differ in."""

    def test_readings_and_refusals(self):
        for model in json.loads(CLASSES.read_text(encoding="utf-8"))["models"]:
            with self.subTest(model["about"], type=model["config"]["model_type"]):
                if "refused" in model:
                    with self.assertRaisesRegex(ValueError, "^" + re.escape(model["refused"])):
                        posenc.rotary_from_config(model["config"])
                    continue
                reading, rotary = model["reading"], posenc.rotary_from_config(model["config"])
                self.assertEqual(rotary.dimension, reading["dimension"])
                self.assertIn(f"channels {reading['channels']}", repr(rotary))
                self.assertAlmostEqual(rotary.attention_factor, reading["attention_factor"], 12)
                cosines, sines = np.split(rotary.cache([1]).astype(float)[0], 2)
                w = np.arctan2(sines, cosines)[[0, len(sines) // 2, -1]]
                np.testing.assert_allclose(w, reading["frequencies"], rtol=1e-6)

    def test_both_readings_are_named_where_versions_differ(self):
        for config, text in (
            (heads("cohere", 4096, 32), "; Transformers 4 takes 10000, Transformers 5 500000"),
            (heads("olmo3", 4096, 32), "; Transformers 4 takes 10000, Transformers 5 500000"),
            (heads("gpt_oss", 64, 1, head_dim=64, rope_scaling=None), "; Transformers 4 reads none"),
            (heads("qwen2_vl", 512, 4, rope_scaling={"type": "longrope"}), "; Transformers 4 foll"),
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
        hunyuan = heads("hunyuan_v1_dense", 4096, 32, **HUNYUAN)
        posenc.rotary_from_config(hunyuan, rows=32768)
        with self.assertRaisesRegex(ValueError, "^rows is 32769; allowed: at most 32768, max_pos"):
            posenc.rotary_from_config(hunyuan, rows=32769)

    def test_what_a_model_does_beside_is_said(self):
        text = repr(posenc.rotary_from_config(
            heads("ministral3", 64, 1, rope_parameters=LLAMA_4_SCALING | {
                "partial_rotary_factor": 1.0})))
        self.assertIn("attention factor 1; queries at p times 1 + 0.1 ln(1 + floor(p / 8192))", text)

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
        for model in json.loads(DATA.read_text(encoding="utf-8"))["models"]:
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
