#include "posenc/frequency_rule.h"

#include "posenc/error.h"
#include "posenc/spec.h"
#include "posenc/support/format.h"

#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace posenc {
namespace {

constexpr double least_factor = 0x1p-10, most_factor = 0x1p20;
constexpr double most_linear_factor = 0x1p64;
constexpr double least_frequency = 0x1p-100, most_frequency = 0x1p32;

/// Refuses NaN, too.
void check_real(std::string_view name, double value, double least, double most) {
  if (value >= least && value <= most) return;
  throw InvalidArgument(format_text("{} is {}; allowed: {} to {}", name, value, least, most));
}

void check_rows(std::string_view name, std::int64_t rows) {
  if (rows >= 1 && rows <= max_position) return;
  throw InvalidArgument(format_text("{} is {}; allowed: 1 to {}", name, rows, max_position));
}

void check_extension(double factor, std::int64_t trained_rows = 1) {
  check_real("factor", factor, 1, most_factor);
  check_rows("trained_rows", trained_rows);
}

/// The turns in the trained rows between which a rule changes.
void check_ramp(std::string_view low_name, double low, std::string_view high_name, double high) {
  constexpr double least = 0x1p-20, most = 0x1p20;
  check_real(low_name, low, least, most);
  check_real(high_name, high, low, most);
}

void check_count(std::string_view name, std::size_t count, std::int64_t d_model) {
  if (static_cast<std::int64_t>(count) == d_model / 2) return;
  throw InvalidArgument(
      format_text("{} has {} values; allowed: d_model / 2, which is {}", name, count, d_model / 2));
}

void check_integer(std::string_view name, std::int64_t value, std::int64_t least,
                   std::int64_t most) {
  if (value >= least && value <= most) return;
  throw InvalidArgument(format_text("{} is {}; allowed: {} to {}", name, value, least, most));
}

void check_paper(const EncodingSpec& spec) {
  if (spec.spacing == Spacing::paper) return;
  throw InvalidArgument(format_text("spacing is {}; allowed with this rule of frequencies: paper",
                                    to_string(spec.spacing)));
}

struct Check {
  const EncodingSpec& spec;

  void operator()(const BaseFrequencies&) const {}

  void operator()(const OwnFrequencies& own) const {
    check_count("frequencies", own.values.size(), spec.d_model);
    for (std::size_t k = 0; k < own.values.size(); ++k) {
      const double magnitude = std::fabs(own.values[k]);
      if (magnitude == 0 || (magnitude >= least_frequency && magnitude <= most_frequency)) continue;
      throw InvalidArgument(
          format_text("frequencies[{}] is {}; allowed: 0, or a magnitude of {} to {}", k,
                      own.values[k], least_frequency, most_frequency));
    }
  }

  void operator()(const LinearScaling& linear) const {
    check_real("factor", linear.factor, least_factor, most_linear_factor);
  }

  void operator()(const NtkScaling& ntk) const {
    check_extension(ntk.factor);
    check_paper(spec);
  }

  void operator()(const YarnScaling& yarn) const {
    check_extension(yarn.factor, yarn.trained_rows);
    check_ramp("beta_slow", yarn.beta_slow, "beta_fast", yarn.beta_fast);
    check_real("attention_factor", yarn.attention_factor, 0, most_factor);
    check_paper(spec);
  }

  void operator()(const Llama3Scaling& llama3) const {
    check_extension(llama3.factor, llama3.trained_rows);
    check_ramp("low_frequency_factor", llama3.low_frequency_factor, "high_frequency_factor",
               llama3.high_frequency_factor);
  }

  void operator()(const LongRopeScaling& longrope) const {
    check_count("factors", longrope.factors.size(), spec.d_model);
    for (std::size_t k = 0; k < longrope.factors.size(); ++k) {
      check_real(format_text("factors[{}]", k), longrope.factors[k], least_factor, most_factor);
    }
    check_real("attention_factor", longrope.attention_factor, 0, most_factor);
  }

  void operator()(const ProportionalScaling& proportional) const {
    check_real("factor", proportional.factor, least_factor, most_linear_factor);
    check_integer("turned", proportional.turned, 0, spec.d_model / 2);
  }

  void operator()(const TurnFrequencies& turns) const {
    check_count("numerators", turns.numerators.size(), spec.d_model);
    check_count("denominators", turns.denominators.size(), spec.d_model);
    for (std::size_t k = 0; k < turns.numerators.size(); ++k) {
      check_integer(format_text("numerators[{}]", k), turns.numerators[k], -max_position,
                    max_position);
      check_integer(format_text("denominators[{}]", k), turns.denominators[k], 1, max_position);
    }
  }

  void operator()(const BaseTurns& turns) const {
    check_integer("numerator", turns.numerator, 1, max_position);
    check_integer("denominator", turns.denominator, 1, max_position);
  }

  void operator()(const PickedFrequencies& picked) const {
    check_count("picks", picked.picks.size(), spec.d_model);
    for (const PickedFrequencies::Encoding& each : picked.encodings) {
      if (each.spec == nullptr || std::holds_alternative<PickedFrequencies>(each.spec->frequencies))
        throw InvalidArgument("a picked encoding picks frequencies itself; allowed: another rule");
      validate(*each.spec);
      check_real("denominator", each.denominator, least_factor, most_linear_factor);
    }
    for (const PickedFrequencies::Pick& pick : picked.picks) {
      check_integer("encoding of a pick", pick.encoding, 0,
                    static_cast<std::int64_t>(picked.encodings.size()) - 1);
      check_integer("frequency of a pick", pick.k, 0,
                    picked.encodings[pick.encoding].spec->d_model / 2 - 1);
    }
  }
};

}  // namespace

bool PickedFrequencies::Encoding::operator==(const Encoding& other) const noexcept {
  if (denominator != other.denominator) return false;
  return spec == other.spec || (spec != nullptr && other.spec != nullptr && *spec == *other.spec);
}

NtkScaling dynamic_ntk_scaling(double factor, std::int64_t trained_rows, std::int64_t rows) {
  check_extension(factor, trained_rows);
  check_rows("rows", rows);
  if (rows <= trained_rows) return {};
  return {factor * static_cast<double>(rows) / static_cast<double>(trained_rows) - (factor - 1)};
}

double attention_factor(const FrequencyRule& rule) noexcept {
  if (const auto* const yarn = std::get_if<YarnScaling>(&rule)) {
    return yarn->attention_factor != 0 ? yarn->attention_factor : 0.1 * std::log(yarn->factor) + 1;
  }
  const auto* const longrope = std::get_if<LongRopeScaling>(&rule);
  return longrope != nullptr ? longrope->attention_factor : 1;
}

FrequencyRule without_attention_factor(FrequencyRule rule) {
  std::visit(
      [](auto& each) {
        if constexpr (requires { each.attention_factor; }) each.attention_factor = 1;
      },
      rule);
  return rule;
}

void validate(const FrequencyRule& rule, const EncodingSpec& spec) {
  std::visit(Check{spec}, rule);
}

}  // namespace posenc
