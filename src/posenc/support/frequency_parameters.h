// The names of frequency rules and of their parameters, for everything that reads or writes rules:
// text, C and Python. Internal: not installed.
#pragma once

#include "posenc/frequency_rule.h"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

namespace posenc {

/// The names of the alternatives of FrequencyRule, in their order.
inline constexpr std::array<std::string_view, std::variant_size_v<FrequencyRule>> rule_names = {
    "base",     "own",          "linear", "ntk",        "yarn",  "llama3",
    "longrope", "proportional", "turns",  "base_turns", "picked"};

/// The rules that are given by their parameters: all but PickedFrequencies.
inline constexpr std::span<const std::string_view> given_rule_names(rule_names.data(),
                                                                    rule_names.size() - 1);

/// Calls visit(name, value) for every parameter of a rule.
template <class Rule, class Visit>
void for_each_parameter(Rule& rule, const Visit& visit) {
  using Kind = std::remove_const_t<Rule>;
  if constexpr (std::is_same_v<Kind, OwnFrequencies>) {
    visit("values", rule.values);
  } else if constexpr (std::is_same_v<Kind, LinearScaling> || std::is_same_v<Kind, NtkScaling>) {
    visit("factor", rule.factor);
  } else if constexpr (std::is_same_v<Kind, YarnScaling>) {
    visit("factor", rule.factor);
    visit("trained_rows", rule.trained_rows);
    visit("beta_fast", rule.beta_fast);
    visit("beta_slow", rule.beta_slow);
    visit("truncate", rule.truncate);
    visit("attention_factor", rule.attention_factor);
  } else if constexpr (std::is_same_v<Kind, Llama3Scaling>) {
    visit("factor", rule.factor);
    visit("trained_rows", rule.trained_rows);
    visit("low_frequency_factor", rule.low_frequency_factor);
    visit("high_frequency_factor", rule.high_frequency_factor);
  } else if constexpr (std::is_same_v<Kind, LongRopeScaling>) {
    visit("factors", rule.factors);
    visit("attention_factor", rule.attention_factor);
  } else if constexpr (std::is_same_v<Kind, ProportionalScaling>) {
    visit("factor", rule.factor);
    visit("turned", rule.turned);
  } else if constexpr (std::is_same_v<Kind, TurnFrequencies>) {
    visit("numerators", rule.numerators);
    visit("denominators", rule.denominators);
  } else if constexpr (std::is_same_v<Kind, BaseTurns>) {
    visit("numerator", rule.numerator);
    visit("denominator", rule.denominator);
  } else {
    static_assert(std::is_same_v<Kind, BaseFrequencies> || std::is_same_v<Kind, PickedFrequencies>);
  }
}

/// The rule of that index below rule_names.size(), with the default values of its parameters.
template <std::size_t alternative = 0>
FrequencyRule rule_of_index(std::size_t index) {
  if constexpr (alternative + 1 < rule_names.size()) {
    if (index > alternative) return rule_of_index<alternative + 1>(index);
  }
  return FrequencyRule(std::in_place_index<alternative>);
}

}  // namespace posenc
