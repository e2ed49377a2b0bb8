// Text for people: figures with a sensible number of digits and units, and suggestions.
#pragma once

#include "posenc/spec.h"
#include "posenc/support/format.h"

#include <string>
#include <string_view>
#include <vector>

namespace posenc::cli {

std::string error_text(double error);       ///< "2.98e-08", "0"
std::string ulp_text(double ulp);           ///< "0.500", "1785.5", "2.73e+05"
std::string percent_text(double share);     ///< "99.9998 %"; never 100 for a share below 1
std::string count_text(double count);       ///< "2 560 000"
std::string bytes_text(double bytes);       ///< "9.77 MiB"
std::string seconds_text(double seconds);   ///< "1.23 ms"
std::string positions_text(RowRange rows);  ///< "0 .. 4999"
/// "base 10000, layout interleaved, spacing paper", and a rule of frequencies if there is one.
std::string spec_text(const EncodingSpec& spec);

/// "; did you mean 'rotation'?" for the nearest known name; empty if none is near or the given one
/// is known.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

}  // namespace posenc::cli
