/// @file
/// Rules of frequencies as text.
#pragma once

#include "posenc/frequency_rule.h"

#include <string>
#include <string_view>

namespace posenc {

/// The rule as text, with every parameter: "base", "linear:factor=4", "own:values=1/0.5", or
/// "llama3:factor=8,trained_rows=8192,low_frequency_factor=1,high_frequency_factor=4".
/// parse_frequency_rule() converts the text back to the same rule.
std::string to_string(const FrequencyRule& rule);

/// Parses the text form of a rule. Parameters that are not named keep their defaults: "llama3",
/// "yarn:factor=4". Throws InvalidArgument, listing the allowed values, if a name is unknown or a
/// value is not a number.
FrequencyRule parse_frequency_rule(std::string_view text);

}  // namespace posenc
