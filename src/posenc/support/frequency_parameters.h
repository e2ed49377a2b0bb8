// The descriptors of frequency rules: names, parameters and their allowed values. All code that
// reads, writes or checks rules derives from these descriptors. Internal: not installed.
#pragma once

#include "posenc/frequency_rule.h"
#include "posenc/limits.h"
#include "posenc/support/detail.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace posenc::detail {

inline constexpr double least_factor = 0x1p-10, most_factor = max_scaling_factor,
                        most_divisor = 0x1p64;
inline constexpr double least_turns = 0x1p-20, most_turns = 0x1p20;

/// The names of the alternatives of FrequencyRule, in their order.
inline constexpr std::array<std::string_view, std::variant_size_v<FrequencyRule>> rule_names = {
    "base",   "own",      "linear",       "ntk",   "yarn",
    "llama3", "longrope", "proportional", "turns", "base_turns"};

/// Calls visit(name, value, least, most) for every parameter of a rule, in the order of the rule's
/// text. The rule may be const. A value is a number, a bool or a list of numbers, each from `least`
/// to `most`. `values` may also contain 0 and negative numbers of such magnitudes. `pairs` is
/// d_model / 2 if the spec is known.
template <class Rule, class Visit>
void for_each_parameter(Rule& rule, const Visit& visit, std::int64_t pairs = max_d_model / 2) {
  using Known = std::remove_const_t<Rule>;
  if constexpr (std::is_same_v<Known, OwnFrequencies>) {
    visit("values", rule.values, 0x1p-100, 0x1p32);
  } else if constexpr (std::is_same_v<Known, LinearScaling>) {
    visit("factor", rule.factor, least_factor, most_divisor);
  } else if constexpr (std::is_same_v<Known, NtkScaling>) {
    visit("factor", rule.factor, 1.0, most_factor);
  } else if constexpr (std::is_same_v<Known, YarnScaling>) {
    visit("factor", rule.factor, 1.0, most_factor);
    visit("trained_rows", rule.trained_rows, std::int64_t{1}, max_position);
    visit("beta_fast", rule.beta_fast, least_turns, most_turns);
    visit("beta_slow", rule.beta_slow, least_turns, rule.beta_fast);
    visit("truncate", rule.truncate, false, true);
    visit("attention_factor", rule.attention_factor, 0.0, most_factor);
  } else if constexpr (std::is_same_v<Known, Llama3Scaling>) {
    visit("factor", rule.factor, 1.0, most_factor);
    visit("trained_rows", rule.trained_rows, std::int64_t{1}, max_position);
    visit("low_frequency_factor", rule.low_frequency_factor, least_turns, most_turns);
    visit("high_frequency_factor", rule.high_frequency_factor, rule.low_frequency_factor,
          most_turns);
  } else if constexpr (std::is_same_v<Known, LongRopeScaling>) {
    visit("factors", rule.factors, least_factor, most_factor);
    visit("attention_factor", rule.attention_factor, 0.0, most_factor);
  } else if constexpr (std::is_same_v<Known, ProportionalScaling>) {
    visit("factor", rule.factor, least_factor, most_divisor);
    visit("turned", rule.turned, std::int64_t{0}, pairs);
  } else if constexpr (std::is_same_v<Known, TurnFrequencies>) {
    visit("numerators", rule.numerators, -max_position, max_position);
    visit("denominators", rule.denominators, std::int64_t{1}, max_position);
  } else if constexpr (std::is_same_v<Known, BaseTurns>) {
    visit("numerator", rule.numerator, std::int64_t{1}, max_position);
    visit("denominator", rule.denominator, std::int64_t{1}, max_position);
  }
}

}  // namespace posenc::detail
