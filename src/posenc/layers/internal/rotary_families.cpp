#include "posenc/layers/internal/rotary_families.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace posenc {
namespace {

constexpr auto interleaved = RotaryLayout::interleaved;
constexpr unsigned no_rules = rule_default;

/// The family, changed.
template <class Change>
constexpr RotaryFamily with(RotaryFamily family, const Change& change) {
  change(family);
  return family;
}

// Kinds of layers.

constexpr LayerKind gemma3_kinds[] = {{.name = "full_attention", .default_base = 1e6},
                                      {.name = "sliding_attention",
                                       .base_key = "rope_local_base_freq",
                                       .default_base = 1e4,
                                       .has_rule = false}};
constexpr LayerKind gemma4_kinds[] = {
    {.name = "full_attention",
     .base_key = {},
     .default_base = 1e6,
     .default_rule = R"({"rope_type": "proportional", "partial_rotary_factor": 0.25})",
     .rules = rule_proportional,
     .head_key = "global_head_dim",
     .default_head = 512},
    {.name = "sliding_attention",
     .base_key = {},
     .default_base = 1e4,
     .has_rule = false,
     .rules = no_rules}};
constexpr LayerKind modernbert_kinds[] = {
    {.name = "full_attention", .base_key = "global_rope_theta", .default_base = 160000},
    {.name = "sliding_attention", .base_key = "local_rope_theta", .default_base = 1e4}};
constexpr LayerKind mimo_v2_kinds[] = {{.name = "full_attention", .default_base = 5e6},
                                       {.name = "sliding_attention",
                                        .base_key = "swa_rope_theta",
                                        .default_base = 1e4,
                                        .has_rule = false,
                                        .head_key = "swa_head_dim"}};
constexpr LayerKind olmo3_kinds[] = {{.name = "full_attention"},
                                     {.name = "sliding_attention", .has_rule = false}};
constexpr LayerKind sliding_kind[] = {{.name = "sliding_attention"}};
constexpr LayerKind full_kind[] = {{.name = "full_attention"}};

// Families.

constexpr RotaryFamily divided = {};  // hidden_size / num_attention_heads
constexpr RotaryFamily given_head = {.head = HeadSize::given};
constexpr RotaryFamily any_head = {.head = HeadSize::given_or_divided};

constexpr RotaryFamily based(RotaryFamily family, double default_base) {
  family.default_base = default_base;
  return family;
}
constexpr RotaryFamily partial(RotaryFamily family, double default_share) {
  family.share_keys = {"partial_rotary_factor"};
  family.default_share = default_share;
  return family;
}
constexpr RotaryFamily in_pairs(RotaryFamily family) {
  family.channels = interleaved;
  return family;
}
constexpr RotaryFamily with_sections(RotaryFamily family, SectionOrder order,
                                     std::array<std::int64_t, 3> by_default = {}) {
  family.sections = order;
  family.default_sections = by_default;
  return family;
}
/// Of a class that leaves out these values in a configuration in another one.
constexpr RotaryFamily with_class(RotaryFamily family, std::int64_t width, std::int64_t heads,
                                  double base = 0) {
  family.default_width = width;
  family.default_heads = heads;
  family.default_nested_base = base;
  return family;
}
constexpr RotaryFamily multimodal(RotaryFamily family) {
  family.is_multimodal = true;
  return family;
}
constexpr RotaryFamily with_quirk(RotaryFamily family, Quirk quirk) {
  family.quirk = quirk;
  return family;
}
/// All layers but some have a rotary embedding.
constexpr RotaryFamily hybrid(RotaryFamily family, std::string_view unturned) {
  family.kinds = full_kind;
  family.unturned = unturned;
  return family;
}

constexpr RotaryFamily llama = with_class(based(any_head, 1e4), 4096, 32);
constexpr RotaryFamily gpt_j = {.channels = interleaved,
                                .width_key = "n_embd",
                                .heads_key = "n_head",
                                .turned_key = "rotary_dim",
                                .base_keys = {},
                                .default_base = 1e4,
                                .rules = no_rules,
                                .harmless = {"n_positions"}};
constexpr RotaryFamily gpt_neox = {.base_keys = {"rope_theta", "rotary_emb_base"},
                                   .default_base = 1e4,
                                   .share_keys = {"partial_rotary_factor", "rotary_pct"},
                                   .default_share = 0};
constexpr RotaryFamily deepseek = {
    .channels = interleaved,
    .turned_key = "qk_rope_head_dim",
    .default_base = 1e4,
    .harmless = {"qk_nope_head_dim", "qk_head_dim", "v_head_dim", "index_head_dim"},
    .quirk = Quirk::deepseek};
constexpr RotaryFamily gemma3 = {
    .head = HeadSize::given, .default_head = 256, .kinds = gemma3_kinds};
constexpr RotaryFamily qwen3_next =
    with(hybrid(partial(given_head, 0.25), "linear_attention layers"), [](RotaryFamily& family) {
      family.default_base = 1e4;
      family.default_head = 256;
      family.harmless = {"linear_key_head_dim", "linear_value_head_dim"};
    });
constexpr RotaryFamily hunyuan = {.head = HeadSize::given,
                                  .other_head_key = "attention_head_dim",
                                  .default_base = 1e4,
                                  .quirk = Quirk::hunyuan};
/// Chunks that are attended to one by one have positions of their own, and the same frequencies.
constexpr RotaryFamily in_chunks(RotaryFamily family) {
  family.harmless = {"dual_chunk_attention_config"};
  return family;
}
constexpr RotaryFamily ernie4_5 = in_pairs(based(any_head, 5e5));
constexpr RotaryFamily minimax = {.head = HeadSize::given_or_divided,
                                  .turned_key = "rotary_dim",
                                  .is_turned_key_needed = false,
                                  .share_keys = {"partial_rotary_factor"}};
constexpr RotaryFamily phi3 = {.share_keys = {"partial_rotary_factor"},
                               .rules = rule_default | rule_longrope,
                               .quirk = Quirk::phi3};

constexpr RotaryFamily lfm2 = with_class(with(hybrid(divided, "conv layers"),
                                              [](RotaryFamily& family) {
                                                family.base_keys = {"rope_theta", "theta"};
                                              }),
                                         2560, 32, 1e6);

struct Row {
  std::string_view model_type;
  RotaryFamily family;
};

/// By model type, in alphabetical order.
constexpr Row families[] = {
    {"apertus", any_head},
    {"arcee", llama},
    {"baichuan", with_quirk({.default_base = 1e4, .rules = no_rules}, Quirk::baichuan)},
    {"bailing_moe", any_head},
    {"bailing_moe_v2", partial(any_head, 1)},
    {"bamba", with_quirk(hybrid(partial(based(divided, 1e4), 0.5), "mamba layers"), Quirk::bamba)},
    {"bitnet", any_head},
    {"chatglm",
     {.channels = interleaved,
      .head = HeadSize::given_or_divided,
      .head_key = "kv_channels",
      .base_keys = {},
      .default_base = 1e4,
      .default_share = 0.5,
      .rules = no_rules,
      .is_multimodal = true,
      .quirk = Quirk::chatglm}},
    {"codegen", gpt_j},
    // Its default base has changed in Transformers 5.
    {"cohere", with_class(in_pairs(divided), 8192, 64)},
    {"cohere2", with(with_class(in_pairs(based(divided, 1e4)), 8192, 64),
                     [](RotaryFamily& family) {
                       family.kinds = sliding_kind;
                       family.unturned = "full_attention layers";
                       family.quirk = Quirk::sliding_window_needed;
                     })},
    {"deepseek", based(divided, 1e4)},
    {"deepseek_v2", deepseek},
    {"deepseek_v3", deepseek},
    {"deepseek_v32", deepseek},
    {"diffllama", any_head},
    {"dots1", any_head},
    {"ernie4_5", with(ernie4_5,
                      [](RotaryFamily& family) {
                        family.head = HeadSize::given;
                        family.default_head = 128;
                      })},
    {"ernie4_5_moe", ernie4_5},
    {"ernie4_5_moe_vl", with(with_sections(ernie4_5, SectionOrder::alternating),
                             [](RotaryFamily& family) {
                               family.is_multimodal = true;
                               family.quirk = Quirk::ernie_vl;
                             })},
    {"ernie4_5_vl_moe_text",
     with_class(with_sections(ernie4_5, SectionOrder::alternating, {22, 22, 20}), 2560, 20)},
    {"esm",
     {.base_keys = {},
      .default_base = 1e4,
      .rules = no_rules,
      .harmless = {"max_position_embeddings", "esmfold_config"},
      .quirk = Quirk::rotary_position_type}},
    {"eurobert", any_head},
    {"exaone", divided},
    {"exaone4", with(any_head,
                     [](RotaryFamily& family) {
                       family.kinds = sliding_kind;
                       family.unturned = "full_attention layers";
                       family.quirk = Quirk::exaone4;
                     })},
    {"falcon", based(divided, 1e4)},
    {"falcon_h1", any_head},
    {"gemma", with(based(given_head, 1e4), [](RotaryFamily& f) { f.default_head = 256; })},
    {"gemma2", with(based(given_head, 1e4), [](RotaryFamily& f) { f.default_head = 256; })},
    {"gemma3_text", gemma3},
    {"gemma3n_text", gemma3},
    {"gemma4_text",
     {.head = HeadSize::given, .default_head = 256, .rules = no_rules, .kinds = gemma4_kinds}},
    {"glm", in_pairs(partial(based(given_head, 1e4), 0))},
    {"glm4", in_pairs(partial(based(given_head, 1e4), 0))},
    {"glm4_moe", partial(based(given_head, 1e4), 0)},
    {"glm4_moe_lite", deepseek},
    {"glm4v_moe_text",
     with_class(with_sections(partial(based(any_head, 1e4), 0.5), SectionOrder::in_sections), 4096,
                96)},
    {"glm4v_text", with_class(with_sections(in_pairs(partial(based(any_head, 1e4), 0.5)),
                                            SectionOrder::in_sections),
                              4096, 32)},
    {"gpt_neox", gpt_neox},
    {"gpt_neox_japanese", with(gpt_neox, [](RotaryFamily& f) { f.default_share = 1; })},
    {"gpt_oss", given_head},
    {"gptj", gpt_j},
    {"granite", with_class(based(divided, 1e4), 4096, 32)},
    {"granitemoe", based(divided, 1e4)},
    {"granitemoehybrid",
     with_quirk(hybrid(based(divided, 1e4), "mamba layers"), Quirk::granite_hybrid)},
    {"granitemoeshared", based(divided, 1e4)},
    {"helium", in_pairs(any_head)},
    {"hunyuan_v1_dense", hunyuan},
    {"hunyuan_v1_moe", hunyuan},
    {"hunyuan_vl_text", with(hunyuan,
                             [](RotaryFamily& family) {
                               family.sections = SectionOrder::in_sections;
                               family.rules = rule_xdrope;
                               family.harmless = {"position_embedding_xdrope"};
                               family.is_multimodal = true;
                             })},
    {"internlm2",
     with(divided,
          [](RotaryFamily& family) { family.rules = rule_default | rule_dynamic | rule_linear; })},
    {"internlm3", any_head},
    {"kimi_k2", deepseek},
    {"lfm2", lfm2},
    {"lfm2_moe", lfm2},
    {"llama", llama},
    {"llama4_text", with_quirk(in_pairs(based(given_head, 5e5)), Quirk::no_rope_layers)},
    {"longcat_flash", based(deepseek, 0)},
    {"mimo", any_head},
    {"mimo_v2_flash", with(partial(given_head, 0),
                           [](RotaryFamily& family) {
                             family.kinds = mimo_v2_kinds;
                             family.harmless = {"v_head_dim", "swa_v_head_dim"};
                           })},
    {"minicpm", based(divided, 1e4)},
    {"minicpm3", with(deepseek,
                      [](RotaryFamily& family) {
                        family.channels = RotaryLayout::halves;
                        family.quirk = Quirk::none;
                      })},
    {"minimax", hybrid(any_head, "linear_attention layers")},
    {"minimax_m1", hybrid(minimax, "linear_attention layers")},
    {"minimax_m2", minimax},
    {"minimax_text_01", hybrid(minimax, "linear_attention layers")},
    {"ministral", based(any_head, 1e4)},
    {"ministral3", with(any_head, [](RotaryFamily& f) { f.default_head = 128; })},
    {"mistral", llama},
    {"mixtral", with_class(based(any_head, 1e6), 4096, 32)},
    {"mllama_text_model", with_class(based(divided, 5e5), 4096, 32)},
    {"modernbert",
     {.rules = no_rules,
      .kinds = modernbert_kinds,
      .harmless = {"position_embedding_type"},
      .quirk = Quirk::modernbert}},
    {"moonshine", with(in_pairs(partial(based(divided, 1e4), 0.9)),
                       [](RotaryFamily& family) {
                         family.heads_key = "encoder_num_attention_heads";
                         family.harmless = {"pad_head_dim_to_multiple_of"};
                         family.quirk = Quirk::moonshine;
                       })},
    {"nemotron", partial(any_head, 0)},
    {"nemotron-nas", any_head},
    {"new", with(divided, [](RotaryFamily& family) { family.rules = rule_default | rule_ntk; })},
    {"nomic_bert",
     {.width_key = "n_embd",
      .heads_key = "n_head",
      .base_keys = {"rotary_emb_base"},
      .share_keys = {"rotary_emb_fraction"},
      .default_share = 0,
      .rules = no_rules,
      .harmless = {"n_positions", "max_trained_positions"},
      .quirk = Quirk::nomic}},
    {"olmo", based(divided, 1e4)},
    {"olmo2", based(divided, 1e4)},
    {"olmo3", with(divided, [](RotaryFamily& family) { family.kinds = olmo3_kinds; })},
    {"olmoe", based(divided, 1e4)},
    {"persimmon", with_class(partial(divided, 0.5), 4096, 64, 25000)},
    {"phi", partial(based(divided, 1e4), 0)},
    {"phi3", phi3},
    {"phi3_v", multimodal(phi3)},
    {"phi4_multimodal", multimodal(phi3)},
    {"phi4mm", multimodal(phi3)},
    {"phimoe",
     with_quirk(with(divided, [](RotaryFamily& f) { f.rules = rule_default | rule_longrope; }),
                Quirk::phimoe)},
    {"qwen",
     {.head = HeadSize::given_or_divided,
      .head_key = "kv_channels",
      .base_keys = {"rotary_emb_base"},
      .default_base = 1e4,
      .share_keys = {"rotary_pct"},
      .rules = no_rules,
      .is_multimodal = true,
      .quirk = Quirk::qwen_v1}},
    {"qwen2", in_chunks(with_class(divided, 4096, 32, 1e4))},
    {"qwen2_5_omni_text",
     with_class(with_sections(any_head, SectionOrder::in_sections), 3584, 28, 1e6)},
    {"qwen2_5_vl_text",
     with_class(with_sections(divided, SectionOrder::in_sections), 8192, 64, 1e6)},
    {"qwen2_moe", in_chunks(divided)},
    {"qwen2_vl_text", with_class(with_sections(divided, SectionOrder::in_sections), 8192, 64, 1e6)},
    {"qwen3", in_chunks(given_head)},
    {"qwen3_5_moe_text", with_sections(qwen3_next, SectionOrder::interleaved, {11, 11, 10})},
    {"qwen3_5_text", with_sections(qwen3_next, SectionOrder::interleaved, {11, 11, 10})},
    {"qwen3_moe", in_chunks(given_head)},
    {"qwen3_next", qwen3_next},
    {"qwen3_omni_moe_text", with_sections(given_head, SectionOrder::interleaved, {24, 20, 20})},
    {"qwen3_vl_moe_text", with_sections(given_head, SectionOrder::interleaved, {24, 20, 20})},
    {"qwen3_vl_text", with_sections(given_head, SectionOrder::interleaved, {24, 20, 20})},
    {"recurrent_gemma", hybrid(partial(based(any_head, 1e4), 0.5), "recurrent layers")},
    {"roformer",
     {.channels = interleaved,
      .base_keys = {},
      .default_base = 1e4,
      .rules = no_rules,
      .harmless = {"max_position_embeddings", "rotary_value"}}},
    {"seed_oss", given_head},
    {"smollm3", with_quirk(any_head, Quirk::no_rope_layers)},
    {"stablelm", with(based(divided, 1e4),
                      [](RotaryFamily& family) {
                        family.share_keys = {"partial_rotary_factor", "rope_pct"};
                        family.default_share = 0;
                      })},
    {"starcoder2", divided},
    {"xverse", {.default_base = 1e4, .rules = no_rules}},
    {"zamba2", with_quirk(hybrid({.head = HeadSize::given,
                                  .head_key = "attention_head_dim",
                                  .default_base = 1e4,
                                  .rules = no_rules,
                                  .harmless = {"kv_channels"}},
                                 "mamba layers"),
                          Quirk::zamba2)},
};

/// Its text model has one type.
constexpr ConfigWrapper of_one_type(std::string_view model_type, std::string_view text_type,
                                    std::string_view path = "text_config") {
  return {.model_type = model_type, .path = path, .text_type = text_type};
}
/// The same; the keys of the text model may stand at the top.
constexpr ConfigWrapper of_one_type_or_flat(std::string_view model_type,
                                            std::string_view text_type) {
  return {.model_type = model_type, .text_type = text_type, .may_be_flat = true};
}
/// Its text model is any that is read.
constexpr ConfigWrapper of_any_type(std::string_view model_type, std::string_view default_type = {},
                                    std::string_view path = "text_config") {
  return {.model_type = model_type, .path = path, .default_type = default_type};
}

constexpr ConfigWrapper wrappers[] = {
    of_any_type("aya_vision", "cohere2"),
    of_any_type("cohere2_vision", "cohere2"),
    of_any_type("deepseek_vl", "llama"),
    of_one_type("ernie4_5_vl_moe", "ernie4_5_vl_moe_text"),
    of_any_type("fuyu", "persimmon"),
    of_one_type("gemma3", "gemma3_text"),
    of_one_type("gemma3n", "gemma3n_text"),
    of_one_type("gemma4", "gemma4_text"),
    of_one_type_or_flat("glm4v", "glm4v_text"),
    of_one_type_or_flat("glm4v_moe", "glm4v_moe_text"),
    of_any_type("got_ocr2", "qwen2"),
    of_any_type("granite_speech", "granite"),
    of_one_type_or_flat("hunyuan_vl", "hunyuan_vl_text"),
    of_any_type("idefics2", "mistral"),
    of_any_type("idefics3", "llama"),
    of_any_type("internvl", "qwen2"),
    of_any_type("internvl_chat", {}, "llm_config"),
    of_any_type("kimi_k25"),
    of_any_type("kimi_vl", "deepseek_v3"),
    of_any_type("lfm2-vl", "lfm2"),
    of_any_type("lfm2_vl", "lfm2"),
    of_one_type("llama4", "llama4_text"),
    of_any_type("llava", "llama"),
    of_any_type("llava_next", "llama"),
    of_any_type("llava_next_video", "llama"),
    of_any_type("llava_onevision", "qwen2"),
    of_any_type("mistral3", "mistral"),
    of_one_type("mllama", "mllama_text_model"),
    of_any_type("paligemma", "gemma"),
    of_one_type("qwen2_5_omni", "qwen2_5_omni_text", "thinker_config.text_config"),
    of_one_type_or_flat("qwen2_5_vl", "qwen2_5_vl_text"),
    of_any_type("qwen2_audio", "qwen2"),
    of_one_type_or_flat("qwen2_vl", "qwen2_vl_text"),
    of_one_type("qwen3_5", "qwen3_5_text"),
    of_one_type("qwen3_5_moe", "qwen3_5_moe_text"),
    of_one_type("qwen3_omni_moe", "qwen3_omni_moe_text", "thinker_config.text_config"),
    of_one_type("qwen3_vl", "qwen3_vl_text"),
    of_one_type("qwen3_vl_moe", "qwen3_vl_moe_text"),
    of_any_type("smolvlm", "llama"),
    of_any_type("video_llava", "llama"),
    of_any_type("vipllava", "llama"),
    of_any_type("voxtral", "llama"),
};

struct Reason {
  std::string_view model_type, text;
};
constexpr std::string_view learned = "none; its positions are learned";
constexpr std::string_view alibi = "none; it has ALiBi, a bias, instead of a rotary embedding";
constexpr std::string_view no_positions = "none; it has no positions";
constexpr std::string_view sinusoidal = "none; its positions are added, as sinusoids";
constexpr std::string_view relative = "none; its positions are relative, by a bias";
constexpr Reason not_read[] = {
    {"albert", learned},
    {"bart", learned},
    {"bert", learned},
    {"bloom", alibi},
    {"camembert", learned},
    {"clip", learned},
    {"deberta", relative},
    {"deberta-v2", relative},
    {"distilbert", learned},
    {"electra", learned},
    {"falcon_mamba", no_positions},
    {"gpt2", learned},
    {"gpt_bigcode", learned},
    {"gpt_neo", learned},
    {"jamba", no_positions},
    {"kimi_linear", no_positions},
    {"longformer", learned},
    {"m2m_100", sinusoidal},
    {"mamba", no_positions},
    {"mamba2", no_positions},
    {"marian", sinusoidal},
    {"mbart", learned},
    {"mpt", alibi},
    {"mt5", relative},
    {"nemotron_h", no_positions},
    {"opt", learned},
    {"pegasus", sinusoidal},
    {"roberta", learned},
    {"rwkv", no_positions},
    {"siglip", learned},
    {"t5", relative},
    {"umt5", relative},
    {"vit", learned},
    {"whisper", "none; its positions are sinusoids and learned ones, which are added"},
    {"xlm-roberta", learned}};

constexpr std::string_view other_parts[] = {
    "audio",           "audio_config",     "audio_encoder_config", "audio_processor",
    "code2wav_config", "embd_layer",       "encoder_config",       "image_processor",
    "img_processor",   "perceiver_config", "projector_config",     "qformer_config",
    "talker_config",   "token2wav_config", "vision_config",        "visual",
    "vq_config"};

constexpr bool is_sorted_by_type(std::span<const Row> rows) {
  return std::ranges::is_sorted(rows, {}, &Row::model_type);
}
static_assert(is_sorted_by_type(families));
static_assert(std::ranges::is_sorted(wrappers, {}, &ConfigWrapper::model_type));

template <class Rows>
auto find_row(const Rows& rows, std::string_view model_type) {
  using Type = std::ranges::range_value_t<Rows>;
  const auto found = std::ranges::find(rows, model_type, &Type::model_type);
  return found == std::end(rows) ? nullptr : &*found;
}

}  // namespace

const RotaryFamily* find_family(std::string_view model_type) {
  const Row* const row = find_row(families, model_type);
  return row == nullptr ? nullptr : &row->family;
}

const ConfigWrapper* find_wrapper(std::string_view model_type) {
  return find_row(wrappers, model_type);
}

std::string_view why_not_read(std::string_view model_type) {
  const Reason* const reason = find_row(not_read, model_type);
  return reason == nullptr ? std::string_view() : reason->text;
}

const std::vector<std::string_view>& all_model_types() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> types;
    for (const Row& each : families) types.push_back(each.model_type);
    for (const ConfigWrapper& each : wrappers) types.push_back(each.model_type);
    std::ranges::sort(types);
    return types;
  }();
  return all;
}

std::span<const std::string_view> parts_beside_text() { return other_parts; }

}  // namespace posenc
