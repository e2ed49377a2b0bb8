#include "posenc/frequency_rule.h"

#include "posenc/error.h"
#include "posenc/spec.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/frequency_parameters.h"

#include <cmath>
#include <cstddef>
#include <type_traits>

namespace posenc {
namespace {

void check_count(std::string_view name, std::size_t count, std::int64_t d_model) {
  if (static_cast<std::int64_t>(count) == d_model / 2) return;
  throw_invalid("{} has {} values; allowed: d_model / 2, which is {}", name, count, d_model / 2);
}

/// Checks the values of OwnFrequencies, which messages call `frequencies`.
void check_own(const std::vector<double>& values, double least, double most) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double magnitude = std::fabs(values[k]);
    if (magnitude == 0 || (magnitude >= least && magnitude <= most)) continue;
    throw_invalid("frequencies[{}] is {}; allowed: 0, or a magnitude of {} to {}", k, values[k],
                  least, most);
  }
}

template <class Rule>
void check(const Rule& rule, const EncodingSpec& spec) {
  const auto check_one = [&]<class T>(std::string_view name, const T& value, auto least,
                                      auto most) {
    if constexpr (std::is_arithmetic_v<T>) {
      check_range<T>(name, value, least, most);
    } else {
      constexpr bool is_own = std::is_same_v<Rule, OwnFrequencies>;
      check_count(is_own ? "frequencies" : name, value.size(), spec.d_model);
      if constexpr (is_own) return check_own(value, least, most);
      for (std::size_t k = 0; k < value.size(); ++k)
        check_range(format_text("{}[{}]", name, k), value[k], least, most);
    }
  };
  for_each_parameter(rule, check_one, spec.d_model / 2);
  constexpr bool is_for_paper_only =
      std::is_same_v<Rule, NtkScaling> || std::is_same_v<Rule, YarnScaling>;
  if (is_for_paper_only && spec.spacing != Spacing::paper)
    throw_invalid("spacing is {}; allowed with this rule of frequencies: paper",
                  to_string(spec.spacing));
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
