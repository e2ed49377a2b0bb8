#include "posenc/model/internal/rotary_rules.h"

#include "posenc/error.h"

#include <algorithm>
#include <cmath>

namespace posenc {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view trained_rows_key = "original_max_position_embeddings";
constexpr std::string_view most_rows_key = "max_position_embeddings";

class RuleReader {
 public:
  RuleReader(const ConfigKeys& keys, const RuleContext& context) : keys_(keys), context_(context) {}

  RotaryRule none() const {
    context_.config.mark(trained_rows_key);  // It has no effect.
    return {};
  }

  RotaryRule proportional() const {
    const double share = keys_.real("partial_rotary_factor", 0, 1).value_or(1);
    const double turned = std::floor(share * static_cast<double>(context_.dimension) / 2);
    return {
        ProportionalScaling{keys_.real("factor").value_or(1), static_cast<std::int64_t>(turned)}};
  }

  RotaryRule linear() const {
    context_.config.mark(trained_rows_key);  // It has no effect.
    return {LinearScaling{factor()}};
  }

  RotaryRule dynamic() const {
    const std::int64_t rows = most_rows();
    agreed<std::int64_t>(
        {{std::string(trained_rows_key), trained_rows()}, {std::string(most_rows_key), rows}});
    return {dynamic_ntk_scaling(factor(), rows, context_.rows.value_or(rows))};
  }

  RotaryRule alpha_or_dynamic() const { return keys_.has("alpha") ? alpha() : dynamic(); }

  /// The other keys have no effect. Longer sequences are turned otherwise by Transformers.
  RotaryRule alpha() const {
    for (const std::string_view key :
         {"beta_fast"sv, "beta_slow"sv, "factor"sv, "mscale"sv, "mscale_all_dim"sv})
      keys_.mark(key);
    const auto rows = context_.config.integer(most_rows_key, 2);
    if (rows && context_.rows.value_or(0) > *rows) {
      refuse("rows", ConfigJson(*context_.rows),
             format_text("at most {}, {}, beyond which Transformers has another base than the "
                         "model's own code",
                         *rows, most_rows_key));
    }
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
    YarnScaling rule = {.factor = factor(),
                        .trained_rows = rows != 0 ? rows : most_rows(),
                        .beta_fast = keys_.real("beta_fast").value_or(32),
                        .beta_slow = keys_.real("beta_slow").value_or(1),
                        .truncate = keys_.boolean("truncate", true)};
    rule.attention_factor = yarn_attention_factor(rule.factor);
    // Of the first YaRN models; the others take the rule for long sequences only.
    if (!keys_.boolean("finetuned", true)) keys_.refuse("finetuned", "true");
    agreed<std::int64_t>({{std::string(most_rows_key), context_.config.integer(most_rows_key, 2)},
                          {keys_.path(most_rows_key), keys_.integer(most_rows_key, 2)}});
    RotaryRule result = split(rule);
    if (context_.kind.has("scaled")) result.note = scaled_queries(rule.trained_rows);
    return result;
  }

  RotaryRule longrope() const {
    const std::int64_t rows = most_rows();
    // The default of Phi-3 is not the one of the other model types.
    if (context_.kind.has("trained"))
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

  double yarn_attention_factor(double factor) const {
    const auto given = keys_.real("attention_factor");
    const auto scale = nonzero("mscale"), of_all = nonzero("mscale_all_dim");
    if (given) return *given;
    if (context_.kind.has("factor_1")) return 1;
    if (scale.value_or(1) == 1 && !of_all) return 0;  // The default.
    if (!scale || !of_all) {
      keys_.refuse(scale ? "mscale" : "mscale_all_dim",
                   "mscale and mscale_all_dim, or neither of them");
    }
    const double growth = 0.1 * std::log(std::max(factor, 1.0));
    return (*scale * growth + 1) / (*of_all * growth + 1);
  }

  /// 0 is the absence of the key.
  std::optional<double> nonzero(std::string_view key) const {
    const ConfigJson* const value = keys_.get(key);
    if (value != nullptr && value->is_number() && *value == 0) return {};
    return keys_.real(key);
  }

  /// Ministral 3's queries grow with their position, after they are turned.
  std::string scaled_queries(std::int64_t trained) const {
    const auto beta = nonzero("llama_4_scaling_beta");
    if (!beta) return {};
    return format_text("queries at p times 1 + {} ln(1 + floor(p / {})) after it", *beta, trained);
  }

  double longrope_attention_factor(std::int64_t rows, std::int64_t trained, bool is_long) const {
    const auto factor = keys_.real("factor");
    double extension = static_cast<double>(rows) / static_cast<double>(trained);
    if (extension == 1) extension = factor.value_or(1);
    agreed<double>({{keys_.path("factor"), factor},
                    {format_text("{} / {}", most_rows_key, trained_rows_key), extension}});
    const auto given = keys_.real("attention_factor");
    if (context_.kind.has("mscale") && !given)
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

struct NamedRule {
  std::string_view name;
  RotaryRule (RuleReader::*read)() const;
};
constexpr NamedRule rules[] = {
    {"alpha", &RuleReader::alpha},
    {"alpha_or_dynamic", &RuleReader::alpha_or_dynamic},
    {"default", &RuleReader::none},
    {"dynamic", &RuleReader::dynamic},
    {"linear", &RuleReader::linear},
    {"llama3", &RuleReader::llama3},
    {"longrope", &RuleReader::longrope},
    {"ntk", &RuleReader::ntk},
    {"proportional", &RuleReader::proportional},
    {"xdrope", &RuleReader::alpha},
    {"yarn", &RuleReader::yarn},
};

}  // namespace

RotaryRule read_rule(std::string_view name, const ConfigKeys& keys, const RuleContext& context) {
  const auto* const rule = std::ranges::find(rules, name, &NamedRule::name);
  return (RuleReader(keys, context).*rule->read)();
}

bool is_rule(std::string_view name) {
  return std::ranges::count(rules, name, &NamedRule::name) > 0;
}

}  // namespace posenc
