// The descriptors of frequency rules: names, parameters and what is allowed for them. Whatever
// reads, writes or checks rules derives from these. Internal: not installed.
#pragma once

#include "posenc/frequency_rule.h"
#include "posenc/spec.h"
#include "posenc/support/detail.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace posenc::detail {

/// Which values of a parameter are allowed.
enum class Allowed {
  range,      ///< least to most
  magnitude,  ///< 0, or a magnitude of least to most
  pairs,      ///< least to d_model / 2
};

template <class T>
struct ElementOf {
  using Type = T;
};
template <class T>
struct ElementOf<std::vector<T>> {
  using Type = T;
};

/// A parameter of type T: a number, a bool, or a list with a number for each frequency.
template <class Rule, class T>
struct Parameter {
  using Element = typename ElementOf<T>::Type;

  std::string_view name;
  T Rule::*member;
  Element least, most;  ///< of each number
  Allowed allowed;
  T Rule::*not_below;  ///< another parameter, or null
};

template <class Rule, class T>
constexpr Parameter<Rule, T> parameter(std::string_view name, T Rule::*member,
                                       typename ElementOf<T>::Type least,
                                       typename ElementOf<T>::Type most,
                                       Allowed allowed = Allowed::range,
                                       T Rule::*not_below = nullptr) {
  return {name, member, least, most, allowed, not_below};
}

/// A rule: its name, the spacings that it is defined for, and its parameters in the order of text.
template <class... Parameters>
struct Description {
  std::string_view name;
  bool is_for_paper_only;
  std::tuple<Parameters...> parameters;
};

template <class... Parameters>
constexpr Description<Parameters...> any_spacing(std::string_view name, Parameters... parameters) {
  return {name, false, {parameters...}};
}
template <class... Parameters>
constexpr Description<Parameters...> paper_only(std::string_view name, Parameters... parameters) {
  return {name, true, {parameters...}};
}

inline constexpr double least_factor = 0x1p-10, most_factor = 0x1p20, most_divisor = 0x1p64;
inline constexpr double least_turns = 0x1p-20, most_turns = 0x1p20;

template <class Rule>
inline constexpr int description = 0;
template <>
inline constexpr auto description<BaseFrequencies> = any_spacing("base");
template <>
inline constexpr auto description<OwnFrequencies> = any_spacing(
    "own", parameter("values", &OwnFrequencies::values, 0x1p-100, 0x1p32, Allowed::magnitude));
template <>
inline constexpr auto description<LinearScaling> =
    any_spacing("linear", parameter("factor", &LinearScaling::factor, least_factor, most_divisor));
template <>
inline constexpr auto description<NtkScaling> =
    paper_only("ntk", parameter("factor", &NtkScaling::factor, 1, most_factor));
template <>
inline constexpr auto description<YarnScaling> =
    paper_only("yarn", parameter("factor", &YarnScaling::factor, 1, most_factor),
               parameter("trained_rows", &YarnScaling::trained_rows, 1, max_position),
               parameter("beta_fast", &YarnScaling::beta_fast, least_turns, most_turns,
                         Allowed::range, &YarnScaling::beta_slow),
               parameter("beta_slow", &YarnScaling::beta_slow, least_turns, most_turns),
               parameter("truncate", &YarnScaling::truncate, false, true),
               parameter("attention_factor", &YarnScaling::attention_factor, 0, most_factor));
template <>
inline constexpr auto description<Llama3Scaling> = any_spacing(
    "llama3", parameter("factor", &Llama3Scaling::factor, 1, most_factor),
    parameter("trained_rows", &Llama3Scaling::trained_rows, 1, max_position),
    parameter("low_frequency_factor", &Llama3Scaling::low_frequency_factor, least_turns,
              most_turns),
    parameter("high_frequency_factor", &Llama3Scaling::high_frequency_factor, least_turns,
              most_turns, Allowed::range, &Llama3Scaling::low_frequency_factor));
template <>
inline constexpr auto description<LongRopeScaling> = any_spacing(
    "longrope", parameter("factors", &LongRopeScaling::factors, least_factor, most_factor),
    parameter("attention_factor", &LongRopeScaling::attention_factor, 0, most_factor));
template <>
inline constexpr auto description<ProportionalScaling> = any_spacing(
    "proportional", parameter("factor", &ProportionalScaling::factor, least_factor, most_divisor),
    parameter("turned", &ProportionalScaling::turned, 0, max_d_model / 2, Allowed::pairs));
template <>
inline constexpr auto description<TurnFrequencies> = any_spacing(
    "turns", parameter("numerators", &TurnFrequencies::numerators, -max_position, max_position),
    parameter("denominators", &TurnFrequencies::denominators, 1, max_position));
template <>
inline constexpr auto description<BaseTurns> =
    any_spacing("base_turns", parameter("numerator", &BaseTurns::numerator, 1, max_position),
                parameter("denominator", &BaseTurns::denominator, 1, max_position));
template <>
inline constexpr auto description<PickedFrequencies> = any_spacing("picked");

/// The names of the alternatives of FrequencyRule, in their order.
inline constexpr auto rule_names = []<class... Rules>(const std::variant<Rules...>*) {
  return std::array{description<Rules>.name...};
}(static_cast<const FrequencyRule*>(nullptr));

/// The rules that are given by their parameters: all but PickedFrequencies.
inline constexpr std::span<const std::string_view> given_rule_names(rule_names.data(),
                                                                    rule_names.size() - 1);

/// Calls visit(name, value) for every parameter of a rule, which is const or not.
template <class Rule, class Visit>
void for_each_parameter(Rule& rule, const Visit& visit) {
  std::apply([&](const auto&... each) { (visit(each.name, rule.*each.member), ...); },
             description<std::remove_const_t<Rule>>.parameters);
}

}  // namespace posenc::detail
