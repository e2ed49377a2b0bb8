/// @file
/// Checks frequencies alone.
#pragma once

#include "posenc/spec.h"

#include <optional>
#include <span>
#include <string>

namespace posenc::check {

/// Frequencies alone, in radians per position: inv_freq of Transformers.
struct FrequencyReport {
  /// Each is within 2^-19 of itself of the exact frequency: what an exponent in float32 costs.
  bool is_good = false;
  bool is_identified = false;     ///< false: no known frequencies, and nothing below
  EncodingSpec spec;              ///< that has these frequencies
  double max_relative_error = 0;  ///< largest |frequency - exact one| over the exact one
  std::string cause;              ///< empty if good or not known
};

/// Checks frequencies 0 .. d_model / 2 - 1 against the spec, or identifies them. Throws
/// InvalidArgument if there are none or too many, or not as many as the spec has.
FrequencyReport frequencies(std::span<const double> frequencies,
                            const std::optional<EncodingSpec>& spec = {});

/// What the frequencies are: "64 frequencies, base 10000, spacing paper".
std::string frequencies_text(const FrequencyReport& report);
/// The verdict, what they are, and the cause.
std::string to_string(const FrequencyReport& report);

}  // namespace posenc::check
