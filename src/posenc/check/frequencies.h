/// @file
/// Checks a list of frequencies.
#pragma once

#include "posenc/spec.h"

#include <optional>
#include <span>
#include <string>

namespace posenc::check {

/// The verdict on a list of frequencies in radians per position, such as inv_freq of Transformers.
struct FrequencyReport {
  /// True if no relative error exceeds 2^-19, an error that an exponent in float32 may cause.
  bool is_good = false;
  /// False if no spec was claimed and no convention fits. The spec and the error then mean nothing.
  bool is_identified = false;
  EncodingSpec spec;              ///< the claimed spec, or the identified one
  double max_relative_error = 0;  ///< largest |frequency - exact one| / exact one, at most 10
  std::string cause;              ///< empty if the frequencies are good, or if no cause is known
};

/// Checks frequencies 0 .. d_model / 2 - 1 against the spec, or identifies them. Throws
/// InvalidArgument if there are none, too many, or not as many as the spec has.
FrequencyReport frequencies(std::span<const double> frequencies,
                            const std::optional<EncodingSpec>& spec = {});

/// A description of the frequencies: "64 frequencies, base 10000, spacing paper".
std::string frequencies_text(const FrequencyReport& report);
/// The verdict, the description of the frequencies, and the cause.
std::string to_string(const FrequencyReport& report);

}  // namespace posenc::check
