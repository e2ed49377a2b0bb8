#include "posenc/model/internal/model_types.h"

#include "posenc/model/rotary_config.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace posenc::detail {
namespace {

using enum AxisOrder;
using enum HeadSize;

constexpr auto no_rule = &RuleReader::none, dynamic = &RuleReader::dynamic,
               linear = &RuleReader::linear, llama3 = &RuleReader::llama3, yarn = &RuleReader::yarn,
               alpha = &RuleReader::alpha, unsettled = &RuleReader::unsettled,
               longrope_of_phi3 = &RuleReader::longrope_of_phi3;

constexpr NamedRule default_rule[] = {{"default", no_rule}};
constexpr NamedRule internlm2_rules[] = {
    {"default", no_rule}, {"dynamic", dynamic}, {"linear", linear}};
constexpr NamedRule proportional_rule[] = {{"proportional", &RuleReader::proportional}};
constexpr NamedRule new_rules[] = {{"default", no_rule}, {"ntk", &RuleReader::ntk}};
constexpr NamedRule phi3_rules[] = {{"default", no_rule},
                                    {"longrope", longrope_of_phi3},
                                    {"su", longrope_of_phi3},
                                    {"yarn", longrope_of_phi3}};
constexpr NamedRule phimoe_rules[] = {{"default", no_rule},
                                      {"longrope", &RuleReader::longrope_of_phimoe}};
constexpr NamedRule chatglm_rules[] = {{"default", &RuleReader::rope_ratio}};
constexpr NamedRule qwen_rules[] = {{"default", &RuleReader::steps}};
constexpr auto hunyuan_rules = rules_with(&RuleReader::alpha_or_dynamic, yarn);
constexpr auto mistral_rules = rules_with(dynamic, &RuleReader::yarn_with_scaled_queries);
constexpr auto compress_rules = rules_with(dynamic, &RuleReader::yarn_with_factor_1);
constexpr NamedRule hunyuan_vl_rules[] = {{"xdrope", alpha}, {"dynamic", alpha}};
constexpr NamedRule mrope_rules[] = {
    {"default", no_rule}, {"mrope", no_rule},     {"linear", linear},     {"llama3", llama3},
    {"yarn", yarn},       {"dynamic", unsettled}, {"longrope", unsettled}};
constexpr NamedRule ernie_vl_rules[] = {{"default", no_rule}, {"mrope", no_rule}};

constexpr ModelKeys theta_in_rule = {in_rule("rope_theta")};
constexpr ModelKeys theta_echoes = {echo("rope_theta"), echo(in_rule("rope_theta"))};
constexpr ModelKeys share_and_echo = {"partial_rotary_factor",
                                      echo(in_rule("partial_rotary_factor"))};
constexpr Share partial(double by_default) {
  return {by_default, {"partial_rotary_factor", in_rule("partial_rotary_factor")}};
}
constexpr ModelKeys latent_head = {"qk_rope_head_dim"};
constexpr std::string_view latent_ignored =
    "qk_nope_head_dim qk_head_dim v_head_dim index_head_dim";
constexpr std::string_view linear_ignored = "linear_key_head_dim linear_value_head_dim";
constexpr std::string_view gpt_oss_yarn =
    R"({"rope_type": "yarn", "rope_theta": 150000, "factor": 32, "beta_fast": 32, "beta_slow": 1, )"
    R"("truncate": false, "original_max_position_embeddings": 4096})";

// The layout of the table is made by hand: clang-format would give each field a line of its own.
// clang-format off

/// A value has no default where Transformers 4 and 5 have different ones.
constexpr TextModels text_models[] = {
    {"aria_text granite granite4_vision_text hyperclovax llama mistral qwen2 chameleon moshi", {
      .head = {either}, .sizes = {4096, 32}}},
    {"arcee", {.head = {either}, .sizes = {2560, 32}}},
    {"diffllama qwen3_moe", {.head = {either}, .sizes = {2048, 32}}},
    {"doge", {.head = {either}, .sizes = {1024, 8}}},
    {"dots1", {.head = {either}, .sizes = {4608, 32}}},
    {"esmc", {.head = {either}, .sizes = {2560, 40}}},
    {"hrm_text", {.head = {either}, .sizes = {1536, 12}}},
    {"ministral", {.head = {either}}},
    {"kyutai_speech_to_text", {.head = {either}, .sizes = {2048, 32}, .base = 0}},
    {"bailing_moe eurobert internlm3 mimo nemotron-nas", {.head = {either}, .base = 0}},
    {"falcon_h1", {.head = {either}, .sizes = {4096, 32}, .base = 0}},
    {"bitnet", {.head = {either}, .sizes = {2560, 20}, .base = 5e5}},
    {"csm", {.head = {either}, .sizes = {2048, 32}, .base = 5e5}},
    {"jais2", {.head = {either, 128}}},
    {"mimi neucodec voxtral_realtime_encoder xcodec2", {.head = {given, 64}}},
    {"timesfm2_5", {.head = {given, 80}}},
    {"muse_glimmer_assistant", {.head = {given, 128}, .base = 5e5}},
    {"cwm", {.head = {either, 128}, .base = 0,
      .default_rule =
        R"({"rope_type": "llama3", "rope_theta": 1e6, "factor": 16, )"
        R"("original_max_position_embeddings": 8192, "low_freq_factor": 1, )"
        R"("high_freq_factor": 4})"}},
    {"higgs_audio_v2", {.head = {either, 128}, .base = 0,
      .default_rule =
        R"({"rope_type": "llama3", "rope_theta": 5e5, "factor": 32, )"
        R"("original_max_position_embeddings": 1024, "low_freq_factor": 0.125, )"
        R"("high_freq_factor": 0.5})"}},
    {"granite_swa", {.turned_layers = "layer_rope_theta", .head = {either}, .sizes = {2560, 20},
      .base_keys = {"layer_rope_theta.{}", "rope_theta", in_rule("rope_theta")}}},
    {"granitemoe_swa", {.turned_layers = "layer_rope_theta", .head = {either}, .sizes = {4096, 32},
      .base_keys = {"layer_rope_theta.{}", "rope_theta", in_rule("rope_theta")}}},
    {"muse_glimmer_text", {.turned_layers = "layer_rope_theta", .head = {either, 128},
      .sizes = {2560, 20}, .base = 0,
      .base_keys = {"layer_rope_theta.{}", "rope_theta", in_rule("rope_theta")}}},
    {"apertus", {.head = {either}, .sizes = {4096, 32}, .base = 0,
      .default_rule =
        R"({"rope_type": "llama3", "rope_theta": 12e6, "factor": 8, )"
        R"("original_max_position_embeddings": 8192, "low_freq_factor": 1, )"
        R"("high_freq_factor": 4})"}},
    {"ministral3", {.head = {either, 128}, .base = 0, .rules = mistral_rules,
      .default_rule =
        R"({"rope_type": "yarn", "rope_theta": 1e6, "factor": 16, )"
        R"("original_max_position_embeddings": 16384, "beta_fast": 32, "beta_slow": 1, )"
        R"("mscale_all_dim": 1, "mscale": 1, "llama_4_scaling_beta": 0.1})"}},
    {"mixtral", {.head = {either}, .rules_need_head = true, .sizes = {4096, 32}, .base = 1e6}},
    {"smollm3", {.turned_layers = "no_rope_layers", .unturned_interval = 4, .head = {either},
      .sizes = {2048, 16}, .base = 2e6}},
    {"bailing_moe_v2", {.head = {either}, .share = partial(1), .base = 0}},
    {"helium", {.is_interleaved = true, .head = {either, 128}, .base = 1e5}},
    {"nemotron", {.head = {either}, .share = partial(0), .base = 0}},
    {"deepseek minicpm", {}},
    {"falcon", {.sizes = {4544, 71}}},
    {"granitemoe granitemoeshared olmo olmo2", {.sizes = {4096, 32}}},
    {"olmoe qwen2_moe", {.sizes = {2048, 16}}},
    {"starcoder2", {.sizes = {3072, 24}}},
    {"exaone", {.base = 0}},
    {"emu3_text_model", {.sizes = {4096, 32}, .base = 1e6}},
    {"flex_olmo mllama_text_model", {.sizes = {4096, 32}, .base = 5e5}},
    {"jetmoe", {.head = {given, 128, {"kv_channels"}}}},
    {"jina_embeddings_v3", {.sizes = {1024, 16}, .base = 2e4}},
    {"lasr_encoder", {.sizes = {512, 8}, .ignored = "dropout_positions"}},
    {"idefics", {.sizes = {4096, 32}, .base_keys = theta_echoes, .rules = default_rule}},
    {"internlm2", {.base = 0, .rules = internlm2_rules}},
    {"dbrx", {.width_keys = {"d_model"}, .heads_keys = {"n_heads"}, .base = 0,
      .base_keys = {"attn_config.rope_theta"}, .rules = default_rule}},
    {"new", {.base = 0, .rules = new_rules}},
    {"phimoe", {.sizes = {4096, 32}, .base = 1e6, .rules = phimoe_rules}},
    {"xverse", {.rules = default_rule}},
    {"baichuan", {.rules = default_rule,
      .needs = {{{"hidden_size", "4096"}, {"num_attention_heads", "32"}}}}},
    {"granitemoehybrid", {.layers = "full_attention", .unturned = "mamba",
      .needs = {{{"position_embedding_type", R"("rope")"}}}}},
    {"gpt_oss", {.head = {given, 64}, .base = 0, .default_rule = gpt_oss_yarn}},
    {"openai_privacy_filter", {.is_interleaved = true, .head = {given, 64}, .base = 0,
      .default_rule = gpt_oss_yarn}},
    {"qwen3 seed_oss voxtral_realtime_text", {.head = {given, 128}}},
    {"pe_audio_encoder pe_audio_video_encoder pe_video_encoder", {.is_interleaved = true,
      .head = {given, 128}, .base = 2e4}},
    {"gemma gemma2 t5_gemma_module vaultgemma", {.head = {given, 256}}},
    {"hy_v3", {.head = {given, 128}, .base = 11158840}},
    {"solar_open", {.head = {given, 128}, .share = partial(1), .base = 1e6}},
    {"exaone4 exaone4_5_text exaone_moe", {.layers = "sliding_attention",
      .unturned = "full_attention", .all_if_no_window = true, .head = {either},
      .sizes = {4096, 32}}},
    {"afmoe", {.layers = "sliding_attention", .unturned = "full_attention", .head = {given, 128}}},
    {"cohere", {.is_interleaved = true, .sizes = {8192, 64}, .base = 0}},
    {"cohere2", {.layers = "sliding_attention", .unturned = "full_attention",
      .is_interleaved = true, .sizes = {8192, 64}, .not_null = "sliding_window"}},
    {"cohere2_moe", {.layers = "sliding_attention", .unturned = "sparse_full_attention",
      .is_interleaved = true, .sizes = {8192, 64}, .not_null = "sliding_window"}},
    {"llama4_text", {.turned_layers = "no_rope_layers", .unturned_interval = 4,
      .is_interleaved = true, .head = {given, 128}, .base = 5e5}},
    {"ernie4_5", {.is_interleaved = true, .head = {either, 128}, .base = 5e5}},
    {"ernie4_5_moe", {.is_interleaved = true, .head = {either}, .sizes = {2560, 20}, .base = 5e5}},
    {"glm glm4", {.is_interleaved = true, .head = {given, 128}, .share = partial(0.5)}},
    {"glm4_moe", {.head = {either}, .sizes = {4096, 96}, .share = partial(0.5)}},
    {"glmasr_encoder", {.sizes = {1280, 20}, .share = partial(0.5)}},
    {"phi", {.sizes = {2048, 32}, .share = partial(0.5)}},
    {"phi3 phi3_v phi4_multimodal phi4mm", {.sizes = {3072, 32}, .share = partial(1),
      .rules = phi3_rules}},
    {"persimmon", {.sizes = {4096, 64}, .share = partial(0.5), .base = 0}},
    {"stablelm", {.sizes = {2560, 32},
      .share = {0.25, {"partial_rotary_factor", in_rule("partial_rotary_factor"), "rope_pct"}}}},
    {"gpt_neox", {.sizes = {6144, 64},
      .share = {0.25, {"rotary_pct", in_rule("partial_rotary_factor")}},
      .base_keys = {"rotary_emb_base", in_rule("rope_theta"), echo("rope_theta")},
      .ignored = "partial_rotary_factor"}},
    {"gpt_neox_japanese", {.sizes = {2560, 32},
      .share = {1, {"rotary_pct", in_rule("partial_rotary_factor")}},
      .base_keys = {"rotary_emb_base", in_rule("rope_theta"), echo("rope_theta")},
      .ignored = "partial_rotary_factor"}},
    {"gptj codegen", {.is_interleaved = true, .width_keys = {"n_embd"}, .heads_keys = {"n_head"},
      .turned = {0, {"rotary_dim"}}, .base_keys = {}, .rules = default_rule,
      .ignored = "n_positions"}},
    {"roformer", {.is_interleaved = true, .base_keys = {}, .rules = default_rule,
      .ignored = "max_position_embeddings rotary_value"}},
    {"esm", {.base_keys = theta_echoes, .rules = default_rule,
      .ignored = "max_position_embeddings esmfold_config",
      .needs = {{{"position_embedding_type", R"("rotary")"}}}}},
    {"nomic_bert", {.interleaved_key = "rotary_emb_interleaved",
      .width_keys = {"hidden_size", "n_embd"}, .heads_keys = {"num_attention_heads", "n_head"},
      .share = {1, {"rotary_emb_fraction"}}, .base = 0,
      .base_keys = {"rotary_emb_base", "rope_theta", in_rule("rope_theta")}, .rules = default_rule,
      .ignored = "n_positions max_trained_positions", .dependent = "n_embd",
      .dependent_on = "rotary_emb_fraction"}},
    {"chatglm", {.is_interleaved = true, .head = {either, 0, {"kv_channels"}}, .share = {0.5},
      .base_keys = {}, .rules = chatglm_rules}},
    {"qwen", {.head = {either, 0, {"kv_channels"}}, .share = {1, {"rotary_pct"}},
      .base_keys = {"rotary_emb_base"}, .rules = qwen_rules, .ignored = "n_positions",
      .allows = {{{"pos_emb", R"("rotary")"}}}}},
    {"moonshine", {.is_interleaved = true,
      .heads_keys = {"encoder_num_attention_heads", "decoder_num_attention_heads"},
      .share = {0.9, share_and_echo}, .ignored = "pad_head_dim_to_multiple_of"}},
    {"minimax_m1 minimax_text_01", {.layers = "full_attention", .unturned = "linear_attention",
      .head = {either}, .turned = {0, {"rotary_dim"}}, .share = partial(1), .base = 0}},
    {"minimax_m2", {.head = {either, 128}, .turned = {0, {"rotary_dim"}}, .share = partial(1),
      .base = 5e6}},
    {"minimax_m3_vl_text", {.head = {given, 128}, .turned = {0, {"rotary_dim"}},
      .share = partial(0), .base = 5e6, .ignored = "index_head_dim"}},
    {"hunyuan_v1_dense hunyuan_v1_moe", {.head = {given, 0, {"head_dim", "attention_head_dim"}},
      .rules = hunyuan_rules}},
    {"recurrent_gemma", {.layers = "full_attention", .unturned = "recurrent", .head = {either},
      .sizes = {2560, 10}, .share = partial(0.5), .rules = default_rule}},
    {"bamba", {.layers = "full_attention", .unturned = "mamba", .sizes = {4096, 32},
      .share = {0.5, {echo("partial_rotary_factor"), echo(in_rule("partial_rotary_factor"))}},
      .allows = {{{"attn_rotary_emb", "64"}}}}},
    {"lfm2", {.layers = "full_attention", .unturned = "conv", .sizes = {2560, 32}, .base = 1e6,
      .base_keys = {"rope_theta", in_rule("rope_theta"), "theta"}}},
    {"lfm2_moe", {.layers = "full_attention", .unturned = "conv", .sizes = {2048, 32}, .base = 1e6,
      .base_keys = {"rope_theta", in_rule("rope_theta"), "theta"}}},
    {"minimax", {.layers = "full_attention", .unturned = "linear_attention", .head = {either},
      .sizes = {4096, 32}, .base = 1e6}},
    {"zamba2", {.layers = "full_attention", .unturned = "mamba",
      .head = {given, 0, {"attention_head_dim"}}, .rules = default_rule, .ignored = "kv_channels",
      .needs = {{{"use_mem_rope", "true"}}}, .allows = {{{"use_long_context", "false"}}}}},
    {"qwen3_next", {.layers = "full_attention", .unturned = "linear_attention",
      .head = {given, 256}, .share = {0.25, share_and_echo}, .ignored = linear_ignored}},
    {"olmo_hybrid", {.layers = "full_attention", .unturned = "linear_attention", .base = 0,
      .ignored = linear_ignored}},
    {"axk1 deepseek_v3 kimi_k2 glm4_moe_lite youtu", {.is_interleaved = true,
      .interleaved_key = "rope_interleave", .head = {latent}, .turned = {64, latent_head},
      .ignored = latent_ignored}},
    {"deepseek_v2 deepseek_v32", {.is_interleaved = true, .head = {latent},
      .turned = {64, latent_head},
      .ignored = "rope_interleave qk_nope_head_dim qk_head_dim v_head_dim index_head_dim"}},
    {"longcat_flash", {.is_interleaved = true, .head = {latent}, .turned = {64, latent_head},
      .base = 1e7,
      .ignored = "rope_interleave qk_nope_head_dim qk_head_dim v_head_dim index_head_dim"}},
    {"glm_moe_dsa", {.is_interleaved = true, .head = {latent}, .turned = {64, latent_head},
      .ignored = latent_ignored, .allows = {{{"rope_interleave", "true"}}}}},
    {"axk2", {.is_interleaved = true, .head = {latent}, .turned = {32, latent_head},
      .ignored = latent_ignored, .allows = {{{"rope_interleave", "true"}}}}},
    {"minicpm3", {.head = {latent}, .turned = {32, latent_head}, .ignored = latent_ignored}},
    {"hy_v4", {.head = {latent}, .turned = {64, latent_head}, .ignored = latent_ignored}},
    {"mistral4", {.is_interleaved = true, .interleaved_key = "rope_interleave", .head = {either},
      .sizes = {4096, 32}, .turned = {64, latent_head}, .share = partial(0), .rules = mistral_rules,
      .default_rule =
        R"({"rope_type": "yarn", "rope_theta": 1e4, "factor": 128, )"
        R"("original_max_position_embeddings": 8192, "beta_fast": 32, "beta_slow": 1, )"
        R"("mscale_all_dim": 1, "mscale": 1, "llama_4_scaling_beta": 0.1})",
      .ignored = "qk_nope_head_dim qk_head_dim v_head_dim"}},
    {"gemma3_text gemma3n_text t5gemma2_text t5gemma2_decoder",
     {.layers = "full_attention", .head = {given, 256}, .base = 1e6, .needs_rope_type = true},
     {.layers = "sliding_attention", .head = {given, 256},
      .base_keys = {"rope_local_base_freq", in_rule("rope_theta")}, .ignores_common_rule = true,
      .needs_rope_type = true}},
    {"gemma4_text gemma4_unified_text",
     {.layers = "full_attention",
      .head = {given, 512, {"global_head_dim", "per_layer_config.{}.head_dim"}}, .base = 1e6,
      .base_keys = theta_in_rule, .rules = proportional_rule,
      .default_rule = R"({"rope_type": "proportional", "partial_rotary_factor": 0.25})"},
     {.layers = "sliding_attention", .head = {given, 256}, .base_keys = theta_in_rule,
      .rules = default_rule, .ignores_common_rule = true}},
    {"modernbert modernbert-decoder",
     {.layers = "full_attention", .sizes = {768, 12}, .base = 160e3,
      .base_keys = {"global_rope_theta", in_rule("rope_theta")}, .rules = default_rule,
      .ignored = "position_embedding_type", .not_null = "local_rope_theta"},
     {.layers = "sliding_attention", .sizes = {768, 12},
      .base_keys = {"local_rope_theta", in_rule("rope_theta")}, .rules = default_rule}},
    {"mimo_v2_flash",
     {.layers = "full_attention", .head = {given, 192}, .share = partial(0), .base = 5e6,
      .ignored = "v_head_dim swa_v_head_dim"},
     {.layers = "sliding_attention", .head = {given, 0, {"head_dim", "swa_head_dim"}},
      .share = partial(0), .base_keys = {"swa_rope_theta", in_rule("rope_theta")},
      .ignores_common_rule = true}},
    {"laguna",
     {.layers = "full_attention", .head = {given, 128},
      .share = {0, {in_rule("partial_rotary_factor")}}, .base = 0, .base_keys = theta_in_rule,
      .default_rule =
        R"({"rope_type": "default", "rope_theta": 5e5, "partial_rotary_factor": 0.5})"},
     {.layers = "sliding_attention", .head = {given, 128},
      .share = {0, {in_rule("partial_rotary_factor")}}, .base = 0, .base_keys = theta_in_rule,
      .default_rule =
        R"({"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 1})",
      .ignores_common_rule = true}},
    {"mellum",
     {.layers = "full_attention", .head = {given, 128}, .base = 5e5, .base_keys = theta_in_rule},
     {.layers = "sliding_attention", .head = {given, 128}, .base_keys = theta_in_rule,
      .ignores_common_rule = true}},
    {"zaya",
     {.layers = "hybrid", .head = {given, 128}, .share = {0, {in_rule("partial_rotary_factor")}},
      .base = 0, .base_keys = theta_in_rule,
      .default_rule =
        R"({"rope_type": "default", "rope_theta": 5e6, "partial_rotary_factor": 0.5})"},
     {.layers = "hybrid_sliding", .head = {given, 128},
      .share = {0, {in_rule("partial_rotary_factor")}}, .base = 0, .base_keys = theta_in_rule,
      .default_rule =
        R"({"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5})",
      .ignores_common_rule = true}},
    {"step3p5",
     {.layers = "full_attention", .head = {given, 128},
      .share = {1, {"partial_rotary_factors.{}", in_rule("partial_rotary_factor")}},
      .base_keys = {"rope_theta.{}", in_rule("rope_theta")}, .ignored = "attention_other_setting",
      .allows = {{{"use_rope_layers", "[]"}, {"yarn_only_types", R"(["full_attention"])"}}}},
     {.layers = "sliding_attention", .head = {given, 128},
      .share = {1, {"partial_rotary_factors.{}", in_rule("partial_rotary_factor")}},
      .base_keys = {"rope_theta.{}", in_rule("rope_theta")}, .ignores_common_rule = true}},
    {"olmo3",
     {.layers = "full_attention", .sizes = {4096, 32}, .base = 0, .needs_rope_type = true},
     {.layers = "sliding_attention", .sizes = {4096, 32}, .base = 5e5,
      .base_keys = {echo("rope_theta"), in_rule("rope_theta")}, .ignores_common_rule = true,
      .needs_rope_type = true}},
    {"deepseek_v4",
     {.layers = "main", .is_interleaved = true, .head = {given, 512}, .turned = {0, latent_head},
      .share = partial(0.125), .ignores_common_rule = true, .ignored = "index_head_dim"},
     {.layers = "compress", .is_interleaved = true, .head = {given, 512},
      .turned = {0, latent_head}, .share = partial(0.125), .base = 160e3,
      .base_keys = {"compress_rope_theta", in_rule("rope_theta")}, .rules = compress_rules}},
    {"qwen2_vl_text qwen2_5_vl_text", {.sizes = {8192, 64}, .base = 1e6, .rules = mrope_rules,
      .axes = in_sections}},
    {"qwen2_5_omni_text", {.head = {either}, .sizes = {3584, 28}, .base = 1e6, .rules = mrope_rules,
      .axes = in_sections}},
    {"glm4v_text", {.is_interleaved = true, .head = {either}, .sizes = {4096, 32},
      .share = partial(0), .rules = mrope_rules, .axes = in_sections}},
    {"glm_image_text", {.head = {either}, .sizes = {4096, 32}, .share = partial(0),
      .rules = mrope_rules, .axes = in_sections}},
    {"glm_ocr_text", {.is_interleaved = true, .head = {either}, .sizes = {1024, 16},
      .share = partial(0), .rules = mrope_rules, .axes = in_sections}},
    {"glm4v_moe_text", {.head = {either}, .sizes = {4096, 96}, .share = partial(0.5),
      .rules = mrope_rules, .axes = in_sections}},
    {"paddleocr_vl_text", {.head = {given, 128}, .sizes = {8192, 64}, .base = 5e5,
      .rules = mrope_rules, .axes = in_sections, .allows = {{{"rope_is_neox_style", "true"}}}}},
    {"qwen3_vl_text qwen3_vl_moe_text qwen3_omni_moe_text", {.head = {given, 128},
      .sizes = {8192, 64}, .base = 0, .rules = mrope_rules, .axes = interleaved,
      .sections = {24, 20, 20}}},
    {"cosmos3_edge_text", {.head = {given, 128}, .sizes = {8192, 64}, .base = 1e8,
      .rules = mrope_rules, .axes = interleaved, .sections = {24, 20, 20}}},
    {"qwen3_5_text qwen3_5_moe_text", {.layers = "full_attention", .unturned = "linear_attention",
      .head = {given, 256}, .share = {0.25, share_and_echo}, .rules = mrope_rules,
      .axes = interleaved, .sections = {11, 11, 10}, .ignored = linear_ignored}},
    {"ernie4_5_vl_moe_text", {.is_interleaved = true, .head = {either}, .sizes = {2560, 20},
      .base = 5e5, .rules = ernie_vl_rules, .axes = alternating, .sections = {22, 22, 20}}},
    {"ernie4_5_moe_vl", {.is_interleaved = true, .head = {either}, .sizes = {2560, 20}, .base = 5e5,
      .rules = default_rule, .axes = alternating, .sections = {22, 22, 20},
      .needs = {{{"rope_3d", "true"}}}, .allows = {{{"freq_allocation", "20"}}}}},
    {"hunyuan_vl_text", {.head = {given, 0, {"head_dim", "attention_head_dim"}},
      .rules = hunyuan_vl_rules, .axes = four_in_sections, .ignored = "position_embedding_xdrope"}},
};

constexpr WrapperModels wrappers[] = {
    {.types = "deepseek_vl deepseek_vl_hybrid glmasr idefics3 janus llava_next "
              "llava_next_video perception_lm smolvlm video_llava vipllava",
     .text_type = "llama"},
    {.types = "audioflamingo3 fast_vlm got_ocr2 internvl llava_onevision ovis2 pp_chart2table "
              "qwen2_audio vibevoice vibevoice_asr",
     .text_type = "qwen2"},
    {.types = "fun_asr_nano lighton_ocr qianfan_ocr qwen3_asr", .text_type = "qwen3"},
    {.types = "modernvbert pe_audio pe_audio_video pe_video", .text_type = "modernbert"},
    {.types = "aya_vision cohere2_vision", .text_type = "cohere2"},
    {.types = "granite_speech granite_speech_plus", .text_type = "granite"},
    {.types = "idefics2 mistral3", .text_type = "mistral"},
    {.types = "lfm2-vl lfm2_vl", .text_type = "lfm2"},
    {.types = "glm46v glmga", .text_type = "glm4v_text"},
    {.types = "exaone4_5", .text_type = "exaone4"},
    {.types = "fuyu", .text_type = "persimmon"},
    {.types = "granite4_vision", .text_type = "granite4_vision_text"},
    {.types = "kimi_vl", .text_type = "deepseek_v3"},
    {.types = "minicpmv4_6", .text_type = "qwen3_5_text"},
    {.types = "cosmos3_omni", .text_type = "qwen3_vl_text"},
    {.types = "paligemma", .text_type = "gemma"},
    {.types = "shieldgemma2", .text_type = "gemma3_text"},
    {.types = "kimi_k25 video_llama_3"},
    {.types = "llava", .text_type = "llama", .may_be_flat = true},
    {.types = "voxtral", .text_type = "llama",
     .defaults = R"({"head_dim": 128, "rope_theta": 1e8})"},
    {.types = "musicflamingo", .text_type = "qwen2",
     .ignored = "head_dim rope_parameters max_position_embeddings"},
    {.types = "minimax_m3_vl", .text_type = "minimax_m3_vl_text", .is_forced_type = true},
    {.types = "step3p7", .text_type = "step3p5", .is_forced_type = true},
    {.types = "internvl_chat", .text = "llm_config"},
    {.types = "colmodernvbert", .text = "vlm_config", .text_type = "modernvbert",
     .is_only_type = true},
    {.types = "colqwen2", .text = "vlm_config", .text_type = "qwen2_vl", .is_only_type = true},
    {.types = "colpali", .text = "vlm_config", .text_type = "paligemma", .is_only_type = true,
     .twin = "text_config"},
    {.types = "t5gemma", .text = "decoder", .text_type = "t5_gemma_module", .is_only_type = true,
     .twin = "encoder"},
    {.types = "t5gemma2", .text = "decoder", .text_type = "t5gemma2_decoder", .is_only_type = true,
     .twin = "encoder"},
    {.types = "aria cosmos3_edge gemma3 gemma3n gemma4 gemma4_unified glm_image "
              "ernie4_5_vl_moe llama4 muse_glimmer qwen3_vl qwen3_vl_moe qwen3_5 qwen3_5_moe "
              "voxtral_realtime",
     .suffix = "_text", .is_only_type = true},
    {.types = "emu3 mllama", .suffix = "_text_model", .is_only_type = true},
    {.types = "t5gemma2_encoder", .text_type = "t5gemma2_text", .is_only_type = true},
    {.types = "glm_ocr glm4v glm4v_moe hunyuan_vl paddleocr_vl qwen2_vl qwen2_5_vl",
     .suffix = "_text", .is_only_type = true, .may_be_flat = true},
    {.types = "qwen2_5_omni qwen3_omni_moe", .text = "thinker_config.text_config",
     .suffix = "_text", .is_only_type = true, .ignored = "thinker_config.position_id_per_seconds"},
};
// clang-format on

struct OtherModels {
  std::string_view types;
  std::string_view reason;
};
constexpr OtherModels models_without_rope[] = {
    {"albert bart bert camembert clip distilbert electra gpt2 gpt_bigcode gpt_neo longformer mbart "
     "opt roberta siglip vit xlm-roberta",
     "none; its positions are learned"},
    {"nanochat", "none; its angles are negated, which no Rotary does"},
    {"bloom mpt", "none; it has ALiBi, a bias, instead of a rotary embedding"},
    {"deberta deberta-v2 mt5 t5 umt5", "none; its positions are relative, by a bias"},
    {"falcon_mamba jamba kimi_linear mamba mamba2 nemotron_h rwkv", "none; it has no positions"},
    {"m2m_100 marian pegasus", "none; its positions are added, as sinusoids"},
    {"whisper", "none; its positions are sinusoids and learned ones, which are added"}};

/// The entry of the model type; nullptr if there is none.
template <class Table>
auto find_in(const Table& table, std::string_view model_type) {
  const auto entry = std::ranges::find_if(
      table, [&](const auto& each) { return is_one_of(model_type, each.types); });
  return entry == std::end(table) ? nullptr : &*entry;
}

}  // namespace

const TextModels* find_text_model(std::string_view model_type) {
  return find_in(text_models, model_type);
}

const WrapperModels* find_wrapper(std::string_view model_type) {
  return find_in(wrappers, model_type);
}

std::string_view reason_without_rope(std::string_view model_type) {
  const OtherModels* const other = find_in(models_without_rope, model_type);
  return other == nullptr ? "" : other->reason;
}

}  // namespace posenc::detail

namespace posenc::model {

std::vector<std::string> known_model_types() {
  std::string types;
  for (const detail::TextModels& each : detail::text_models) types.append(each.types).append(" ");
  for (const detail::WrapperModels& each : detail::wrappers) types.append(each.types).append(" ");
  std::vector<std::string> names = detail::split(types);
  std::ranges::sort(names);
  return names;
}

}  // namespace posenc::model
