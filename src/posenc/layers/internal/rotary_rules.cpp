#include "posenc/layers/internal/rotary_rules.h"

#include "posenc/error.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace posenc {
namespace {

using namespace std::string_view_literals;

struct NamedRule {
  std::string_view name;
  unsigned bit;
};
constexpr NamedRule rules[] = {
    {"default", rule_default}, {"dynamic", rule_dynamic},           {"linear", rule_linear},
    {"llama3", rule_llama3},   {"longrope", rule_longrope},         {"yarn", rule_yarn},
    {"xdrope", rule_xdrope},   {"proportional", rule_proportional}, {"ntk", rule_ntk},
};
constexpr std::string_view trained_rows_key = "original_max_position_embeddings";
constexpr std::string_view most_rows_key = "max_position_embeddings";

class RuleReader {
 public:
  RuleReader(const ConfigKeys& keys, const RuleContext& context) : keys_(keys), context_(context) {}

  RotaryRule linear() const {
    context_.config.mark(trained_rows_key);  // It has no effect.
    return {LinearScaling{factor()}};
  }

  RotaryRule dynamic() const {
    if (context_.family.quirk == Quirk::hunyuan && keys_.has("alpha")) return alpha();
    const std::int64_t rows = most_rows();
    agreed<std::int64_t>(
        {{std::string(trained_rows_key), trained_rows()}, {std::string(most_rows_key), rows}});
    return {dynamic_ntk_scaling(factor(), rows, context_.rows.value_or(rows))};
  }

  /// At every length. The other keys have no effect.
  RotaryRule alpha() const {
    for (const std::string_view key :
         {"beta_fast"sv, "beta_slow"sv, "factor"sv, "mscale"sv, "mscale_all_dim"sv})
      keys_.mark(key);
    return {NtkScaling{factor("alpha")}};
  }

  /// The base grows by the factor, and each frequency is divided by factor^(2 / dimension) more,
  /// so that the lowest one is divided by the factor.
  RotaryRule ntk() const {
    const double s = factor();
    const double divisor = std::pow(s, 2 / static_cast<double>(context_.dimension));
    return {.rule = LinearScaling{divisor}, .base_ratio = s};
  }

  RotaryRule llama3() const {
    const double low = factor("low_freq_factor"), high = factor("high_freq_factor");
    if (high < low)
      keys_.refuse("high_freq_factor", format_text("at least {}, as low_freq_factor", low));
    return {Llama3Scaling{.factor = factor(),
                          .trained_rows = needed(trained_rows_key, trained_rows()),
                          .low_frequency_factor = low,
                          .high_frequency_factor = high}};
  }

  RotaryRule yarn() const {
    const std::int64_t rows = trained_rows().value_or(0);
    YarnScaling rule = {.factor = yarn_factor(rows),
                        .trained_rows = rows != 0 ? rows : most_rows(),
                        .beta_fast = keys_.real("beta_fast").value_or(32),
                        .beta_slow = keys_.real("beta_slow").value_or(1),
                        .truncate = keys_.boolean("truncate", true)};
    rule.attention_factor = yarn_attention_factor(rule.factor);
    // Of the first YaRN models; the others take the rule for long sequences only.
    if (!keys_.boolean("finetuned", true)) keys_.refuse("finetuned", "true");
    // Ministral 3's scales queries, and its number of rows is that of the model.
    if (context_.model_type == "ministral3") keys_.real("llama_4_scaling_beta");
    agreed<std::int64_t>({{std::string(most_rows_key), context_.config.integer(most_rows_key, 2)},
                          {keys_.path(most_rows_key), keys_.integer(most_rows_key, 2)}});
    return split(rule);
  }

  RotaryRule longrope() const {
    const std::int64_t rows = most_rows();
    // The default of Phi-3 is not the one of the other model types.
    if (context_.family.quirk == Quirk::phi3)
      needed(trained_rows_key, context_.config.integer(trained_rows_key, 2));
    const std::int64_t trained = trained_rows().value_or(rows);
    const bool is_long = context_.rows.value_or(rows) > trained;
    const std::int64_t pairs = context_.dimension / 2;
    const std::vector<double> of_short = keys_.reals("short_factor", pairs);
    const std::vector<double> of_long = keys_.reals("long_factor", pairs);
    return split(LongRopeScaling{is_long ? of_long : of_short,
                                 longrope_attention_factor(rows, trained, is_long)});
  }

 private:
  static RotaryRule split(const FrequencyRule& rule) {
    return {without_attention_factor(rule), attention_factor(rule)};
  }

  double factor(std::string_view key = "factor") const {
    return needed(keys_.path(key), keys_.real(key));
  }

  std::int64_t most_rows() const {
    return needed(most_rows_key, context_.config.integer(most_rows_key, 2));
  }

  std::optional<std::int64_t> trained_rows() const {
    return agreed<std::int64_t>(
        {{std::string(trained_rows_key), context_.config.integer(trained_rows_key, 2)},
         {keys_.path(trained_rows_key), keys_.integer(trained_rows_key, 2)}});
  }

  double yarn_factor(std::int64_t trained) const {
    if (keys_.has("factor") || trained == 0) return factor();
    keys_.mark("factor");
    return static_cast<double>(most_rows()) / static_cast<double>(trained);
  }

  double yarn_attention_factor(double factor) const {
    const auto given = keys_.real("attention_factor");
    const auto scale = keys_.real("mscale"), of_all = keys_.real("mscale_all_dim");
    if (given) return *given;
    if (scale.value_or(1) == 1 && !of_all) return 0;  // The default.
    if (!scale || !of_all) {
      keys_.refuse(scale ? "mscale" : "mscale_all_dim",
                   "mscale and mscale_all_dim, or neither of them");
    }
    const double growth = 0.1 * std::log(std::max(factor, 1.0));
    return (*scale * growth + 1) / (*of_all * growth + 1);
  }

  double longrope_attention_factor(std::int64_t rows, std::int64_t trained, bool is_long) const {
    const auto factor = keys_.real("factor");
    double extension = static_cast<double>(rows) / static_cast<double>(trained);
    if (extension == 1) extension = factor.value_or(1);
    agreed<double>({{keys_.path("factor"), factor},
                    {format_text("{} / {}", most_rows_key, trained_rows_key), extension}});
    const auto given = keys_.real("attention_factor");
    if (context_.family.quirk == Quirk::phimoe && !given)
      return needed(is_long ? "long_mscale" : "short_mscale", phimoe_scale(is_long));
    if (given) return *given;
    const double growth =
        std::log(std::max(extension, 1.0)) / std::log(static_cast<double>(trained));
    return std::sqrt(1 + growth);
  }

  std::optional<double> phimoe_scale(bool is_long) const {
    const auto of_short = keys_.real("short_mscale"), of_long = keys_.real("long_mscale");
    return is_long ? of_long : of_short;
  }

  const ConfigKeys& keys_;
  const RuleContext& context_;
};

}  // namespace

unsigned rule_bit(std::string_view name) {
  const auto* const found = std::ranges::find(rules, name, &NamedRule::name);
  return found == std::end(rules) ? 0 : found->bit;
}

std::string rule_names_of(unsigned set) {
  std::vector<std::string_view> names;
  for (const NamedRule& each : rules) {
    if ((set & each.bit) != 0) names.push_back(each.name);
  }
  return join(names, ", ");
}

RotaryRule read_rule(unsigned kind, const ConfigKeys& keys, const RuleContext& context) {
  const RuleReader reader(keys, context);
  switch (kind) {
    case rule_dynamic: return reader.dynamic();
    case rule_linear: return reader.linear();
    case rule_llama3: return reader.llama3();
    case rule_longrope: return reader.longrope();
    case rule_yarn: return reader.yarn();
    case rule_ntk: return reader.ntk();
    case rule_xdrope: return reader.alpha();
    default: break;
  }
  // It has no effect without a rule.
  context.config.mark(trained_rows_key);
  return {};
}

}  // namespace posenc
