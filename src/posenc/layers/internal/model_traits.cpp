#include "posenc/layers/internal/model_traits.h"

#include "posenc/layers/internal/head_channels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace posenc {
namespace {

constexpr std::string_view position_type_key = "position_embedding_type";
constexpr std::int64_t max_layers = 4096;

class TraitsReader {
 public:
  TraitsReader(const RotaryFamily& family, const ConfigKeys& config,
               const RotaryConfigOptions& options)
      : family_(family),
        config_(config),
        options_(options),
        traits_{.channels = family.channels,
                .kinds = {family.kinds.begin(), family.kinds.end()},
                .unturned = std::string(family.unturned)} {}

  ModelTraits read() {
    apply_quirk();
    check_position_type();
    return traits_;
  }

 private:
  void apply_quirk() {
    switch (family_.quirk) {
      case Quirk::baichuan: return require_baichuan_7b();
      case Quirk::chatglm: return read_rope_ratio();
      case Quirk::deepseek: return read_interleave("rope_interleave", true);
      case Quirk::ernie_vl: return require("rope_3d", true, false);
      case Quirk::exaone4: return read_exaone4();
      case Quirk::bamba: return agree_on_turned("attn_rotary_emb");
      case Quirk::modernbert: return require_not_null("local_rope_theta");
      case Quirk::moonshine: return require_equal_heads();
      case Quirk::no_rope_layers: return read_no_rope_layers();
      case Quirk::nomic: return read_interleave("rotary_emb_interleaved", false);
      case Quirk::qwen_v1: return read_qwen_v1();
      case Quirk::sliding_window_needed: return require_not_null("sliding_window");
      case Quirk::zamba2: return require_zamba2();
      case Quirk::granite_hybrid:
      case Quirk::hunyuan:
      case Quirk::none:
      case Quirk::phi3:
      case Quirk::phimoe:
      case Quirk::rotary_position_type: return;
    }
  }

  void check_position_type() const {
    if (config_.is_read(position_type_key)) return;
    const auto name = config_.text(position_type_key);
    if (family_.quirk == Quirk::rotary_position_type) {
      if (name != "rotary") config_.refuse(position_type_key, "rotary");
      return;
    }
    if (family_.quirk == Quirk::granite_hybrid && !name) config_.refuse(position_type_key, "rope");
    if (!name || name == "rope") return;
    const bool is_interleaved = traits_.channels == RotaryLayout::interleaved;
    if (name == "rope_gptj" && is_interleaved) return;
    config_.refuse(position_type_key, is_interleaved ? "rope, rope_gptj" : "rope");
  }

  void require(std::string_view key, bool wanted, bool by_default) const {
    if (config_.boolean(key, by_default) != wanted) config_.refuse(key, wanted ? "true" : "false");
  }

  void require_not_null(std::string_view key) const {
    if (config_.is_null(key)) config_.refuse(key, "a number");
  }

  /// ChatGLM2's divides the positions, and that of the later models multiplies the base. Only the
  /// name of the model tells them apart.
  void read_rope_ratio() {
    traits_.base_ratio = config_.real("rope_ratio").value_or(1);
    const ConfigJson* const name = config_.get("_name_or_path");
    const bool is_second = name != nullptr && name->is_string() &&
                           name->get<std::string>().find("chatglm2") != std::string::npos;
    if (is_second && traits_.base_ratio != 1)
      config_.refuse("rope_ratio", "1 of ChatGLM2, whose ratio divides positions");
  }

  /// The larger model has ALiBi.
  void require_baichuan_7b() const {
    if (divided_head(family_, config_) != 128 || config_.integer("hidden_size") != 4096)
      config_.refuse("hidden_size", "4096; larger models have ALiBi, a bias");
  }

  void require_equal_heads() const {
    const std::string_view other = "decoder_num_attention_heads";
    agreed<std::int64_t>({{config_.path(family_.heads_key), config_.integer(family_.heads_key)},
                          {config_.path(other), config_.integer(other)}});
  }

  void require_zamba2() const {
    require("use_mem_rope", true, false);
    require("use_long_context", false, false);
  }

  void read_interleave(std::string_view key, bool by_default) {
    const bool is_interleaved = config_.boolean(key, by_default);
    traits_.channels = is_interleaved ? RotaryLayout::interleaved : RotaryLayout::halves;
  }

  void agree_on_turned(std::string_view key) const {
    const auto given = config_.integer(key);
    if (!given) return;
    agreed<std::int64_t>(
        {{"half of a head", part_of(divided_head(family_, config_), family_.default_share)},
         {config_.path(key), given}});
  }

  /// Beyond the rows of training, the base grows in steps.
  void read_qwen_v1() {
    const bool is_dynamic = config_.boolean("use_dynamic_ntk", false);
    const auto trained = config_.integer("seq_length");
    if (!is_dynamic || !options_.rows || !trained || *options_.rows <= *trained) return;
    const double ratio = static_cast<double>(*options_.rows) / static_cast<double>(*trained);
    traits_.rule = NtkScaling{std::exp2(std::ceil(std::log2(ratio) + 1)) - 1};
  }

  /// Without a window, every layer is turned.
  void read_exaone4() {
    if (!config_.is_null("sliding_window")) return;
    traits_.kinds.clear();
    traits_.unturned.clear();
  }

  /// A list with 1 for every layer that is turned; by default all but every n-th.
  void read_no_rope_layers() {
    const std::int64_t interval = config_.integer("no_rope_layer_interval").value_or(4);
    std::vector<std::int64_t> turned;
    if (config_.has("no_rope_layers")) turned = config_.integers("no_rope_layers");
    config_.mark("no_rope_layers");
    const auto layers = config_.integer("num_hidden_layers");
    if (turned.empty() && !layers) {
      traits_.unturned = format_text("the last of every {} layers", interval);
      return;
    }
    if (turned.empty()) {
      for (std::int64_t i = 1; i <= std::min(*layers, max_layers); ++i)
        turned.push_back(i % interval == 0 ? 0 : 1);
    }
    name_unturned(turned);
  }

  void name_unturned(const std::vector<std::int64_t>& turned) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < turned.size(); ++i) {
      if (turned[i] == 0) names.push_back(format_text("{}", i));
    }
    if (names.size() == turned.size())
      config_.refuse("no_rope_layers", "a list with at least one 1, for a layer that is turned");
    if (!names.empty()) traits_.unturned = "layers " + join(names, ", ");
  }

  const RotaryFamily& family_;
  const ConfigKeys& config_;
  const RotaryConfigOptions& options_;
  ModelTraits traits_;
};

}  // namespace

ModelTraits read_traits(const RotaryFamily& family, const ConfigKeys& config,
                        const RotaryConfigOptions& options) {
  return TraitsReader(family, config, options).read();
}

}  // namespace posenc
