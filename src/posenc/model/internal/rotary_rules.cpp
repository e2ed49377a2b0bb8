#include "posenc/model/internal/rotary_rules.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

namespace posenc::detail {
namespace {

constexpr const char* trained_rows_key = "original_max_position_embeddings";
constexpr const char* most_rows_key = "max_position_embeddings";

/// The readers. Each function that returns a rule is one.
struct RuleReader : RuleKeys {
  RotaryRule none() const {
    config.mark(trained_rows_key);  // It has no effect.
    return {};
  }

  RotaryRule proportional() const {
    const double share = keys.real("partial_rotary_factor", 0, 1).value_or(1);
    const auto turned = static_cast<std::int64_t>(share * static_cast<double>(dimension) / 2);
    return {ProportionalScaling{keys.real("factor").value_or(1), turned}};
  }

  RotaryRule linear() const {
    RotaryRule rule = none();
    rule.rule = LinearScaling{needed_real("factor")};
    return rule;
  }

  RotaryRule dynamic() const {
    const std::int64_t most = needed_most_rows();
    agreed<std::int64_t>({{trained_rows_key, trained_rows()}, {most_rows_key, most}});
    return {dynamic_ntk_scaling(needed_real("factor"), most, rows.value_or(most))};
  }

  // A rule of classes whose versions differ.
  RotaryRule unsettled() const {
    const ConfigJson none;
    const ConfigJson* const type = keys.get(keys.has("rope_type") ? "rope_type" : "type");
    refuse("rope_type", type == nullptr ? none : *type,
           "a rule for all lengths; Transformers 4 follows the length of sequences, Transformers 5 "
           "does not");
  }

  // Beyond the rows of training, the base of the first Qwen grows in steps.
  RotaryRule steps() const {
    const bool is_dynamic = config.boolean("use_dynamic_ntk", false);
    const auto trained = config.integer("seq_length");
    if (!is_dynamic || !trained || rows.value_or(0) <= *trained) return none();
    const double ratio = static_cast<double>(*rows) / static_cast<double>(*trained);
    return {NtkScaling{std::exp2(std::ceil(std::log2(ratio) + 1)) - 1}};
  }

  // The ratio of ChatGLM2 divides the positions, and the ratio of later models multiplies the
  // base. Only the name of the model tells them apart.
  RotaryRule rope_ratio() const {
    const double ratio = config.real("rope_ratio").value_or(1);
    const auto name = config.json().find("_name_or_path");
    if (ratio != 1 && name != config.json().end() &&
        name->dump().find("chatglm2") != std::string::npos)
      config.refuse("rope_ratio", "1 for ChatGLM2, whose ratio would divide positions");
    RotaryRule rule = none();
    rule.base_ratio = ratio;
    return rule;
  }

  RotaryRule alpha_or_dynamic() const { return keys.has("alpha") ? alpha() : dynamic(); }

  // The other keys have no effect. Longer sequences are refused, because Transformers rotates them
  // in another way.
  RotaryRule alpha() const {
    for (const char* const key : {"beta_fast", "beta_slow", "factor", "mscale", "mscale_all_dim"})
      keys.mark(key);
    const auto most = most_rows();
    if (most && rows.value_or(0) > *most) {
      refuse("rows", *rows,
             format_text("at most {}, {}, beyond which Transformers has another base than the "
                         "model's own code",
                         *most, most_rows_key));
    }
    return {NtkScaling{needed_real("alpha")}};
  }

  // The base is multiplied by the factor, and each frequency is also divided by
  // factor^(2 / dimension). The lowest frequency is thus divided by the factor.
  RotaryRule ntk() const {
    const double s = needed_real("factor");
    const double divisor = std::pow(s, 2 / static_cast<double>(dimension));
    return {.rule = LinearScaling{divisor}, .base_ratio = s};
  }

  RotaryRule llama3() const {
    const double low = needed_real("low_freq_factor"), high = needed_real("high_freq_factor");
    if (high < low)
      keys.refuse("high_freq_factor", format_text("at least {}, as low_freq_factor", low));
    return {Llama3Scaling{.factor = needed_real("factor"),
                          .trained_rows = needed(trained_rows_key, trained_rows()),
                          .low_frequency_factor = low,
                          .high_frequency_factor = high}};
  }

  RotaryRule yarn() const {
    const auto given = keys.real("attention_factor");
    const auto scale = nonzero("mscale"), of_all = nonzero("mscale_all_dim");
    const bool is_computed = !given && (scale.value_or(1) != 1 || of_all);
    if (is_computed && (!scale || !of_all)) {
      keys.refuse(scale ? "mscale" : "mscale_all_dim",
                  "mscale and mscale_all_dim, or neither of them");
    }
    const double logarithm = of_all ? yarn_logarithm(*of_all) : 1;
    RotaryRule rule =
        yarn_with(is_computed ? yarn_logarithm(*scale) / logarithm : given.value_or(0));
    rule.softmax_factor = logarithm * logarithm;
    return rule;
  }

  // 0.1 scale ln(factor) + 1
  double yarn_logarithm(double scale) const {
    return 0.1 * scale * std::log(std::max(needed_real("factor"), 1.0)) + 1;
  }

  // In Ministral 3, queries grow with their position after they are rotated.
  RotaryRule yarn_with_scaled_queries() const {
    RotaryRule result = yarn();
    if (const auto beta = nonzero("llama_4_scaling_beta"))
      result.queries = {*beta, std::get<YarnScaling>(result.rule).trained_rows};
    return result;
  }

  RotaryRule yarn_with_factor_1() const {
    for (const char* const key : {"mscale", "mscale_all_dim"}) keys.mark(key);
    return yarn_with(keys.real("attention_factor").value_or(1));
  }

  // A factor of 0 stands for the default of the rule.
  RotaryRule yarn_with(double factor_of_attention) const {
    const auto trained = trained_rows();
    const YarnScaling rule = {.factor = needed_real("factor"),
                              .trained_rows = trained ? *trained : needed_most_rows(),
                              .beta_fast = keys.real("beta_fast").value_or(32),
                              .beta_slow = keys.real("beta_slow").value_or(1),
                              .truncate = keys.boolean("truncate", true),
                              .attention_factor = factor_of_attention};
    // The first YaRN models have this key. If it is false, the rule applies to long sequences only.
    if (!keys.boolean("finetuned", true)) keys.refuse("finetuned", "true");
    agreed<std::int64_t>(
        {{most_rows_key, most_rows()}, {keys.path(most_rows_key), keys.integer(most_rows_key, 2)}});
    return {without_attention_factor(rule), attention_factor(rule)};
  }

  RotaryRule longrope() const {
    const std::int64_t most = needed_most_rows();
    const std::int64_t trained = trained_rows().value_or(most);
    const std::vector<double> of_short = keys.reals("short_factor", dimension / 2);
    const std::vector<double> of_long = keys.reals("long_factor", dimension / 2);
    const auto factor = keys.real("factor");
    double extension = static_cast<double>(most) / static_cast<double>(trained);
    if (extension == 1) extension = factor.value_or(1);
    agreed<double>({{keys.path("factor"), factor},
                    {format_text("{} / {}", most_rows_key, trained_rows_key), extension}});
    const double growth =
        std::log(std::max(extension, 1.0)) / std::log(static_cast<double>(trained));
    return {LongRopeScaling{is_long() ? of_long : of_short, 1},
            keys.real("attention_factor").value_or(std::sqrt(1 + growth))};
  }

  // The default of Phi-3 differs from the default of the other model types.
  RotaryRule longrope_of_phi3() const {
    needed(trained_rows_key, config.integer(trained_rows_key, 2));
    return longrope();
  }

  RotaryRule longrope_of_phimoe() const {
    RotaryRule rule = longrope();
    if (keys.has("attention_factor")) return rule;
    const auto of_short = keys.real("short_mscale"), of_long = keys.real("long_mscale");
    rule.attention_factor =
        needed(is_long() ? "long_mscale" : "short_mscale", is_long() ? of_long : of_short);
    return rule;
  }

  double needed_real(std::string_view key) const { return needed(keys.path(key), keys.real(key)); }

  std::int64_t needed_most_rows() const { return needed(most_rows_key, most_rows()); }

  std::optional<std::int64_t> most_rows() const { return config.integer(most_rows_key, 2); }

  std::optional<std::int64_t> trained_rows() const {
    return agreed<std::int64_t>({{trained_rows_key, config.integer(trained_rows_key, 2)},
                                 {keys.path(trained_rows_key), keys.integer(trained_rows_key, 2)}});
  }

  // The value of the key; a value of 0 counts as absent.
  std::optional<double> nonzero(std::string_view key) const {
    const ConfigJson* const value = keys.get(key);
    return value != nullptr && *value == 0 ? std::nullopt : keys.real(key);
  }

  // The longest sequence has more rows than the sequences of training.
  bool is_long() const {
    const std::int64_t most = needed_most_rows();
    return rows.value_or(most) > trained_rows().value_or(most);
  }
};

constexpr std::pair<std::string_view, RotaryRule (RuleReader::*)() const> readers[] = {
    {"none", &RuleReader::none},
    {"alpha", &RuleReader::alpha},
    {"alpha_or_dynamic", &RuleReader::alpha_or_dynamic},
    {"dynamic", &RuleReader::dynamic},
    {"linear", &RuleReader::linear},
    {"llama3", &RuleReader::llama3},
    {"longrope", &RuleReader::longrope},
    {"longrope_of_phi3", &RuleReader::longrope_of_phi3},
    {"longrope_of_phimoe", &RuleReader::longrope_of_phimoe},
    {"ntk", &RuleReader::ntk},
    {"proportional", &RuleReader::proportional},
    {"rope_ratio", &RuleReader::rope_ratio},
    {"steps", &RuleReader::steps},
    {"unsettled", &RuleReader::unsettled},
    {"yarn", &RuleReader::yarn},
    {"yarn_with_factor_1", &RuleReader::yarn_with_factor_1},
    {"yarn_with_scaled_queries", &RuleReader::yarn_with_scaled_queries}};

}  // namespace

std::vector<std::string_view> rule_readers() {
  std::vector<std::string_view> names;
  for (const auto& [name, read] : readers) names.push_back(name);
  return names;
}

RotaryRule read_rule(std::string_view reader, const RuleKeys& from) {
  const auto named =
      std::ranges::find(readers, reader, [](const auto& each) { return each.first; });
  return (RuleReader{from}.*named->second)();
}

}  // namespace posenc::detail
