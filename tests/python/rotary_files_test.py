"""rotary_from_config() on configurations as they are published: with all keys of the file.

Most of these keys have nothing to do with a rotary embedding, and some only look as if they had.
"""

import unittest
from math import log, sqrt

from modules import np

import posenc

POSITIONS = range(3000, 3020)
FP8 = {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8",
       "weight_block_size": [128, 128]}  # fmt: skip


def power(dimension, base):
    return float(base) ** (-np.arange(0, dimension, 2) / dimension)


def yarn(dimension, base, factor, trained_rows, fast=32, slow=1):
    def index(turns):
        return dimension * log(trained_rows / (turns * 2 * np.pi)) / (2 * log(base))

    low, high = max(np.floor(index(fast)), 0), min(np.ceil(index(slow)), dimension - 1)
    ramp = np.clip((np.arange(dimension // 2) - low) / max(high - low, 1e-3), 0, 1)
    w = power(dimension, base)
    return w / factor * ramp + w * (1 - ramp)


def file_of(model_type, hidden, count, **keys):
    """The keys that nearly every file has, and those of this one."""
    return {
        "_name_or_path": "", "architectures": ["ForCausalLM"], "attention_bias": False,
        "attention_dropout": 0.0, "auto_map": {"AutoConfig": "configuration.Config"},
        "bos_token_id": 1, "eos_token_id": [2, 3], "hidden_act": "silu", "hidden_size": hidden,
        "id2label": {"0": "LABEL_0"}, "initializer_range": 0.02, "intermediate_size": 11008,
        "label2id": {"LABEL_0": 0}, "max_position_embeddings": 32768, "model_type": model_type,
        "num_attention_heads": count, "num_hidden_layers": 32, "num_key_value_heads": 8,
        "pad_token_id": None, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": None,
        "sliding_window": None, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
        "transformers_version": "4.51.0", "typical_p": 1.0, "use_cache": True,
        "use_sliding_window": False, "vocab_size": 32000, **keys,
    }  # fmt: skip


def chatglm(**keys):
    return {
        "_name_or_path": "THUDM/glm-4-9b-chat", "model_type": "chatglm", "add_bias_linear": False,
        "add_qkv_bias": True, "apply_query_key_layer_scaling": True,
        "apply_residual_connection_post_layernorm": False, "attention_softmax_in_fp32": True,
        "ffn_hidden_size": 13696, "hidden_size": 4096, "kv_channels": 128,
        "layernorm_epsilon": 1.5625e-07, "multi_query_attention": True,
        "multi_query_group_num": 2, "num_attention_heads": 32, "num_layers": 40,
        "original_rope": True, "padded_vocab_size": 151552, "post_layer_norm": True,
        "rmsnorm": True, "seq_length": 131072, "eos_token_id": [151329, 151336],
        "classifier_dropout": None, **keys,
    }  # fmt: skip


DEEPSEEK_V3 = file_of(
    "deepseek_v3", 7168, 128, aux_loss_alpha=0.001, ep_size=1, first_k_dense_replace=3,
    kv_lora_rank=512, max_position_embeddings=163840, n_group=8, num_nextn_predict_layers=1,
    q_lora_rank=1536, qk_nope_head_dim=128, qk_rope_head_dim=64, quantization_config=FP8,
    rope_theta=10000, scoring_func="sigmoid", seq_aux=True, topk_method="noaux_tc",
    v_head_dim=128, rope_scaling={
        "beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 4096, "type": "yarn"})  # fmt: skip
KIMI_K2 = DEEPSEEK_V3 | {
    "model_type": "kimi_k2", "rope_theta": 50000.0, "num_attention_heads": 64,
    "rope_scaling": DEEPSEEK_V3["rope_scaling"] | {"beta_fast": 1.0, "factor": 32.0}}  # fmt: skip
LONG, SHORT = [1.0 + k for k in range(48)], [1.0 + k / 50 for k in range(48)]
PHI_4 = file_of(
    "phi3", 3072, 24, embd_pdrop=0.0, full_attn_mod=1, interpolate_factor=1, lm_head_bias=False,
    max_position_embeddings=131072, original_max_position_embeddings=4096,
    partial_rotary_factor=0.75, resid_pdrop=0.0, rope_theta=10000.0, sliding_window=262144,
    rope_scaling={"long_factor": LONG, "short_factor": SHORT, "type": "longrope"})  # fmt: skip
PHI_4_PARTS = {
    "audio_processor": {"config": {"pos_emb_type": "abs_pos", "activation": "swish",
                                   "relative_attention_bias_args": {"type": "t5"}}},
    "embd_layer": {"image_embd_layer": {"hd_transform_order": "sub_glb"}}, "img_processor": None,
    "speech_lora": {"lora_alpha": 640, "r": 320}, "vision_lora": {"lora_alpha": 512, "r": 256},
}  # fmt: skip
HUNYUAN = file_of(
    "hunyuan_v1_moe", 4096, 32, attention_head_dim=128, cla_share_factor=2, kv_lora_rank=None,
    mask_init_id=12, position_embedding_xdrope=False, qk_nope_head_dim=None, qk_rope_head_dim=None,
    rope_theta=10000.0, use_cla=False, use_mla=False, use_rotary_pos_emb=True, v_head_dim=None,
    xdrope_section=None, rope_scaling={
        "alpha": 1000.0, "beta_fast": 32, "beta_slow": 1, "factor": 1.0, "mscale": 1.0,
        "mscale_all_dim": 1.0, "type": "dynamic"})  # fmt: skip
# Text configurations without what is the default of their class.
PIXTRAL = {
    "architectures": ["LlavaForConditionalGeneration"], "model_type": "llava",
    "image_seq_length": 1, "text_config": {
        "head_dim": 128, "hidden_size": 5120, "is_composition": True, "model_type": "mistral",
        "max_position_embeddings": 1024000, "rope_theta": 1000000000.0, "sliding_window": None},
    "vision_config": {"head_dim": 64, "is_composition": True, "rope_theta": 10000.0},
}  # fmt: skip
QWEN2_AUDIO = {
    "model_type": "qwen2_audio", "audio_config": {"max_source_positions": 1500}, "text_config": {
        "intermediate_size": 11008, "max_position_embeddings": 8192, "model_type": "qwen2",
        "rms_norm_eps": 1e-05, "sliding_window": 32768, "use_mrope": False}}  # fmt: skip
GRANITE_VISION = {
    "model_type": "llava_next", "image_grid_pinpoints": [[384, 768]], "text_config": {
        "attention_multiplier": 0.015625, "hidden_size": 2048, "max_position_embeddings": 131072,
        "model_type": "granite", "num_key_value_heads": 8, "rope_theta": 300000},
    "vision_config": {"num_positions": 729}}  # fmt: skip
AYA_VISION = {
    "model_type": "aya_vision", "text_config": {
        "max_position_embeddings": 8192, "model_type": "cohere", "num_key_value_heads": 8,
        "rope_theta": 4000000}, "vision_config": {}}  # fmt: skip
IDEFICS_2 = {
    "model_type": "idefics2", "perceiver_config": {"resampler_head_dim": 96}, "text_config": {
        "max_position_embeddings": 32768, "model_type": "mistral", "sliding_window": 4096},
    "vision_config": {"hidden_size": 1152}}  # fmt: skip

# Name, file, frequencies, pairs, attention factor.
FILES = [
    ("DeepSeek-V3", DEEPSEEK_V3, yarn(64, 1e4, 40, 4096), "interleaved", 1),
    ("Kimi K2", KIMI_K2, yarn(64, 5e4, 32, 4096, 1, 1), "interleaved", 1),
    ("GLM-4-9B", chatglm(rope_ratio=500), power(64, 5e6), "interleaved", 1),
    ("GLM-4V-9B", chatglm(rope_ratio=1, boi_token_id=151339, vision_config={
        "num_positions": 6401, "hidden_size": 1792}), power(64, 1e4), "interleaved", 1),
    ("ERNIE 4.5", file_of("ernie4_5", 1024, 16, head_dim=128, compression_ratio=1.0,
                          fuse_rope=False, rope_reorder=False, rope_theta=500000.0),
     power(128, 5e5), "interleaved", 1),
    ("MiniMax-M2", file_of("minimax_m2", 3072, 48, head_dim=128, attn_type_list=[1] * 62,
                           layernorm_full_attention_beta=1.0, rope_theta=5000000, rotary_dim=64,
                           swa_rope_theta=-1.0), power(64, 5e6), "halves", 1),
    ("Phi-4-mini", PHI_4, power(96, 1e4) / LONG, "halves", sqrt(1 + log(32) / log(4096))),
    ("Phi-4-multimodal", PHI_4 | PHI_4_PARTS | {"model_type": "phi4mm"}, power(96, 1e4) / LONG,
     "halves", sqrt(1 + log(32) / log(4096))),
    ("Phi-3.5-vision", PHI_4 | {"model_type": "phi3_v", "num_attention_heads": 32,
                                "partial_rotary_factor": 1.0, "img_processor": {"name": "clip"}},
     power(96, 1e4) / LONG, "halves", sqrt(1 + log(32) / log(4096))),
    ("Qwen2.5-7B-1M", file_of("qwen2", 3584, 28, rope_theta=10000000.0, max_window_layers=28,
                              dual_chunk_attention_config={
                                  "chunk_size": 262144, "local_size": 8192,
                                  "original_max_position_embeddings": 262144}),
     power(128, 1e7), "halves", 1),
    ("Hunyuan-A13B", HUNYUAN, power(128, 1e4 * 1000 ** (128 / 126)), "halves", 1),
    ("AFM-4.5B", file_of("arcee", 2560, 20, head_dim=128, rope_theta=10000.0, rope_scaling={
        "beta_fast": 32.0, "beta_slow": 1.0, "factor": 20.0, "mscale": 1.0,
        "original_max_position_embeddings": 4096, "rope_type": "yarn", "type": "yarn"}),
     yarn(128, 1e4, 20, 4096), "halves", 0.1 * log(20) + 1),
    ("Llama, rotated before it is quantized", file_of(
        "llama", 4096, 32, rope_theta=500000.0, quantization_config={
            "transform_config": {"config_groups": {"R2": {"head_dim": 128, "type": "hadamard"}}}}),
     power(128, 5e5), "halves", 1),
    ("ESMFold", file_of("esm", 2560, 40, position_embedding_type="rotary", esmfold_config={
        "trunk": {"position_bins": 32}}), power(64, 1e4), "halves", 1),
    ("Pixtral", PIXTRAL, power(128, 1e9), "halves", 1),
    ("Qwen2-Audio", QWEN2_AUDIO, power(128, 1e4), "halves", 1),
    ("Granite Vision", GRANITE_VISION, power(64, 3e5), "halves", 1),
    ("Aya Vision", AYA_VISION, power(128, 4e6), "interleaved", 1),
    ("Idefics 2", IDEFICS_2, power(128, 1e4), "halves", 1),
]  # fmt: skip
REFUSED = [
    ("rope_ratio is 16; allowed: 1 of ChatGLM2",
     chatglm(_name_or_path="THUDM/chatglm2-6b-32k", rope_ratio=16)),
    ("position_encoding_2d is true", chatglm(position_encoding_2d=True)),
    ("original_rope is false; allowed: true", chatglm(original_rope=False)),
    ("rotary_dim is 64; allowed: none",
     file_of("minimax", 6144, 64, head_dim=128, rotary_dim=64, rope_theta=10000000)),
    ("rope_reorder is true; allowed: false",
     file_of("ernie4_5", 1024, 16, head_dim=128, rope_reorder=True)),
    ("swa_rope_theta is 10000; allowed: -1",
     file_of("minimax_m2", 3072, 48, head_dim=128, rope_theta=5e6, swa_rope_theta=10000)),
    ("model_type is 'whisper'; allowed: none; its positions are sinusoids",
     {"model_type": "whisper", "max_source_positions": 1500}),
    ("model_type is 'nemotron_h'; allowed: none; it has no positions",
     file_of("nemotron_h", 4480, 40, rope_theta=10000)),
]  # fmt: skip


class FilesTest(unittest.TestCase):
    def test_files(self):
        for name, config, w, channels, factor in FILES:
            with self.subTest(name):
                rotary = posenc.rotary_from_config(config)
                angles = np.outer(POSITIONS, w)
                expected = np.concatenate([np.cos(angles), np.sin(angles)], axis=1) * factor
                self.assertEqual(rotary.dimension, 2 * len(w))
                self.assertAlmostEqual(rotary.attention_factor, factor, 12)
                np.testing.assert_allclose(rotary.cache(POSITIONS), expected, atol=2e-7, rtol=0)
                x = np.zeros((1, rotary.dimension), np.float32)
                x[0, 0] = 1
                partner = np.flatnonzero(rotary.apply(x, 1)[0])[1]
                self.assertEqual(partner, {"halves": len(w), "interleaved": 1}[channels])

    def test_refusals(self):
        for message, config in REFUSED:
            with self.subTest(message):
                with self.assertRaisesRegex(ValueError, f"^{message}"):
                    posenc.rotary_from_config(config)


if __name__ == "__main__":
    unittest.main()
