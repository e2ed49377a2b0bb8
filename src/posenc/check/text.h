// Texts for the findings of a check. Internal: not installed.
#pragma once

#include "posenc/spec.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::check {
inline namespace internals {

/// "(5, 64)", "(5,)"
std::string shape_text(std::span<const std::int64_t> sizes);

/// "2.5 %"
std::string percent_text(double share);

/// The text of the rule without attention_factor=0, which stands for the rule's own factor.
std::string rule_text(const FrequencyRule& rule);

/// "0", "2.98e-08"
std::string error_text(double error);

/// One line per finding.
std::string findings_text(const std::vector<std::string>& findings);

/// "5", "5, 20 .. 35", "1, 3, 5, 7 and 12 others"
std::string numbers_text(const std::vector<std::int64_t>& numbers);

/// "base 10000, spacing paper"
std::string convention_text(const EncodingSpec& spec);

/// The name of things that may be off.
struct Noun {
  std::string_view one, several;
};
inline constexpr Noun row_noun = {"row", "rows"}, column_noun = {"column", "columns"},
                      pair_noun = {"pair", "pairs"}, frequency_noun = {"frequency", "frequencies"};

/// "row 7 is zero", "rows 7 .. 12, 20 are zero". The fault begins with "is" or "has".
std::string fault_text(const Noun& noun, const std::vector<std::int64_t>& which,
                       std::string_view fault);

}  // namespace internals
}  // namespace posenc::check
