// Specs of the C interface, their rules of frequencies, and accuracies, as those of the library.
#pragma once

#include "c/call.h"
#include "posenc/c_api.h"
#include "posenc/frequency_rule.h"
#include "posenc/selection.h"
#include "posenc/spec.h"
#include "posenc/support/frequency_parameters.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace posenc {
namespace detail {

// The rules of C++ and of C have the same numbers.
template <std::size_t index>
using Rule = std::variant_alternative_t<index, FrequencyRule>;
static_assert(std::is_same_v<Rule<POSENC_OWN_FREQUENCIES>, OwnFrequencies>);
static_assert(std::is_same_v<Rule<POSENC_LINEAR_SCALING>, LinearScaling>);
static_assert(std::is_same_v<Rule<POSENC_NTK_SCALING>, NtkScaling>);
static_assert(std::is_same_v<Rule<POSENC_YARN_SCALING>, YarnScaling>);
static_assert(std::is_same_v<Rule<POSENC_LLAMA3_SCALING>, Llama3Scaling>);
static_assert(std::is_same_v<Rule<POSENC_LONGROPE_SCALING>, LongRopeScaling>);
static_assert(std::is_same_v<Rule<POSENC_PROPORTIONAL_SCALING>, ProportionalScaling>);
static_assert(std::is_same_v<Rule<POSENC_TURN_FREQUENCIES>, TurnFrequencies>);
static_assert(std::is_same_v<Rule<POSENC_BASE_TURNS>, BaseTurns>);

/// The member of a rule's parameter. `Frequencies` is const or not.
template <class Frequencies>
auto& real_of(Frequencies& from, std::string_view parameter) noexcept {
  if (parameter == "factor") return from.factor;
  if (parameter == "attention_factor") return from.attention_factor;
  const bool is_low = parameter == "beta_slow" || parameter == "low_frequency_factor";
  return is_low ? from.low : from.high;
}

template <class Frequencies>
auto& integer_of(Frequencies& from, std::string_view parameter) noexcept {
  if (parameter == "turned") return from.turned;
  if (parameter == "numerator") return from.numerator;
  return parameter == "denominator" ? from.denominator : from.trained_rows;
}

template <class T>
std::vector<T> list_of(const posenc_frequencies& from, const T* values, std::string_view name) {
  if (from.count < 0 || from.count > max_d_model) {
    throw InvalidArgument(
        format_text("frequencies.count is {}; allowed: 0 to {}", from.count, max_d_model));
  }
  if (from.count == 0) return {};
  const T* const first = &checked(values, name);
  return {first, first + from.count};
}

inline FrequencyRule rule_of(const posenc_frequencies* frequencies) {
  if (frequencies == nullptr) return {};
  const posenc_frequencies& from = *frequencies;
  if (from.rule < 0 || from.rule >= static_cast<std::int32_t>(given_rule_names.size())) {
    throw InvalidArgument(format_text("frequencies.rule is {}; allowed: 0 to {}", from.rule,
                                      given_rule_names.size() - 1));
  }
  FrequencyRule rule = rule_of_index(static_cast<std::size_t>(from.rule));
  const auto read = [&]<class T>(std::string_view name, T& value) {
    if constexpr (std::is_same_v<T, double>) value = real_of(from, name);
    if constexpr (std::is_same_v<T, std::int64_t>) value = integer_of(from, name);
    if constexpr (std::is_same_v<T, bool>) value = from.truncate != 0;
    if constexpr (std::is_same_v<T, std::vector<double>>)
      value = list_of(from, from.values, "frequencies.values");
    if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
      const bool is_numerators = name == "numerators";
      value = list_of(from, is_numerators ? from.numerators : from.denominators,
                      is_numerators ? "frequencies.numerators" : "frequencies.denominators");
    }
  };
  std::visit([&](auto& each) { for_each_parameter(each, read); }, rule);
  return rule;
}

/// A rule of the library for C. Its lists are those of `rule`, which must outlive it.
inline posenc_frequencies frequencies_of(const FrequencyRule& rule) noexcept {
  posenc_frequencies to = {.rule = static_cast<std::int32_t>(rule.index()),
                           .truncate = 0,
                           .factor = 1,
                           .trained_rows = 1,
                           .low = 0,
                           .high = 0,
                           .attention_factor = 0,
                           .values = nullptr,
                           .count = 0,
                           .turned = 0,
                           .numerator = 1,
                           .denominator = 1,
                           .numerators = nullptr,
                           .denominators = nullptr};
  const auto write = [&]<class T>(std::string_view name, const T& value) {
    if constexpr (std::is_same_v<T, double>) real_of(to, name) = value;
    if constexpr (std::is_same_v<T, std::int64_t>) integer_of(to, name) = value;
    if constexpr (std::is_same_v<T, bool>) to.truncate = value;
    if constexpr (std::is_same_v<T, std::vector<double>>) {
      to.values = value.empty() ? nullptr : value.data();
      to.count = static_cast<std::int64_t>(value.size());
    }
    if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
      (name == "numerators" ? to.numerators : to.denominators) =
          value.empty() ? nullptr : value.data();
      to.count = static_cast<std::int64_t>(value.size());
    }
  };
  std::visit([&](const auto& each) { for_each_parameter(each, write); }, rule);
  return to;
}

/// With the defaults of the library.
inline posenc_frequencies default_frequencies(std::int32_t rule) noexcept {
  const bool is_known = rule >= 0 && rule < static_cast<std::int32_t>(given_rule_names.size());
  posenc_frequencies to =
      frequencies_of(rule_of_index(is_known ? static_cast<std::size_t>(rule) : 0));
  to.rule = rule;
  return to;
}

inline EncodingSpec spec_of(const posenc_spec* spec) {
  const posenc_spec& from = checked(spec, "spec");
  return {from.d_model, from.base, static_cast<Layout>(from.layout),
          static_cast<Spacing>(from.spacing), rule_of(from.frequencies)};
}

inline Accuracy accuracy_of(const posenc_accuracy* accuracy) {
  if (accuracy == nullptr) return {};
  check_reserved(accuracy->reserved);
  switch (enumerator("measure", accuracy->measure, Accuracy::Measure::ulp)) {
    case Accuracy::Measure::absolute: return Accuracy::within(accuracy->most);
    case Accuracy::Measure::ulp: return Accuracy::within_ulp(accuracy->most);
    case Accuracy::Measure::correctly_rounded: break;
  }
  return {};
}

}  // namespace detail
}  // namespace posenc
