#include "posenc/frequency_rule.h"

#include "posenc/error.h"
#include "posenc/spec.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/frequency_parameters.h"

#include <cmath>
#include <cstddef>
#include <tuple>
#include <type_traits>

namespace posenc {
namespace {

void check_count(std::string_view name, std::size_t count, std::int64_t d_model) {
  if (static_cast<std::int64_t>(count) == d_model / 2) return;
  throw InvalidArgument(
      format_text("{} has {} values; allowed: d_model / 2, which is {}", name, count, d_model / 2));
}

/// Own frequencies are an argument of that name.
template <class Rule>
constexpr std::string_view name_of(std::string_view parameter) {
  return std::is_same_v<Rule, OwnFrequencies> ? "frequencies" : parameter;
}

template <class Rule, class T>
void check(const Parameter<Rule, T>& parameter, const Rule& rule, std::int64_t d_model) {
  const T& value = rule.*parameter.member;
  if constexpr (std::is_same_v<T, typename Parameter<Rule, T>::Element>) {
    const bool is_of_pairs = parameter.allowed == Allowed::pairs;
    check_range(parameter.name, value, parameter.least,
                is_of_pairs ? static_cast<T>(d_model / 2) : parameter.most);
  } else {
    const std::string_view name = name_of<Rule>(parameter.name);
    check_count(name, value.size(), d_model);
    for (std::size_t k = 0; k < value.size(); ++k) {
      const bool is_magnitude = parameter.allowed == Allowed::magnitude;
      const auto limited = is_magnitude && value[k] < 0 ? -value[k] : value[k];
      if (limited >= parameter.least && limited <= parameter.most) continue;
      if (is_magnitude && limited == 0) continue;
      throw InvalidArgument(format_text(is_magnitude
                                            ? "{}[{}] is {}; allowed: 0, or a magnitude of {} to {}"
                                            : "{}[{}] is {}; allowed: {} to {}",
                                        name, k, value[k], parameter.least, parameter.most));
    }
  }
}

template <class Rule, class T>
void check_order(const Parameter<Rule, T>& parameter, const Rule& rule) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (parameter.not_below == nullptr) return;
    check_range(parameter.name, rule.*parameter.member, rule.*parameter.not_below, parameter.most);
  }
}

template <class Rule>
void check(const Rule& rule, const EncodingSpec& spec) {
  std::apply(
      [&](const auto&... each) {
        (check(each, rule, spec.d_model), ...);
        (check_order(each, rule), ...);
      },
      description<Rule>.parameters);
  if (description<Rule>.is_for_paper_only && spec.spacing != Spacing::paper) {
    throw InvalidArgument(format_text("spacing is {}; allowed with this rule of frequencies: paper",
                                      to_string(spec.spacing)));
  }
}

void check(const PickedFrequencies& picked, const EncodingSpec& spec) {
  check_count("picks", picked.picks.size(), spec.d_model);
  for (const auto& each : picked.encodings) {
    if (each == nullptr || std::holds_alternative<PickedFrequencies>(each->frequencies))
      throw InvalidArgument("a picked encoding picks frequencies itself; allowed: another rule");
    validate(*each);
  }
  for (const PickedFrequencies::Pick& pick : picked.picks) {
    check_range<std::int64_t>("encoding of a pick", pick.encoding, 0,
                              static_cast<std::int64_t>(picked.encodings.size()) - 1);
    check_range<std::int64_t>("frequency of a pick", pick.k, 0,
                              picked.encodings[pick.encoding]->d_model / 2 - 1);
  }
}

}  // namespace

bool PickedFrequencies::operator==(const PickedFrequencies& other) const noexcept {
  return picks == other.picks &&
         std::ranges::equal(encodings, other.encodings, [](const auto& a, const auto& b) {
           return a == b || (a != nullptr && b != nullptr && *a == *b);
         });
}

NtkScaling dynamic_ntk_scaling(double factor, std::int64_t trained_rows, std::int64_t rows) {
  validate(NtkScaling{factor}, {});
  check_range("trained_rows", trained_rows, 1, max_position);
  check_range("rows", rows, 1, max_position);
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
  std::visit([&](const auto& each) { check(each, spec); }, rule);
}

}  // namespace posenc
