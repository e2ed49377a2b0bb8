#include "posenc/frequency_rule.h"

#include "posenc/limits.h"
#include "posenc/support/check.h"

#include <cmath>

namespace posenc {

NtkScaling dynamic_ntk_scaling(double factor, std::int64_t trained_rows, std::int64_t rows) {
  check_range("factor", factor, 1.0, max_scaling_factor);
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

}  // namespace posenc
