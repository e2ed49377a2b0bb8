// The conventions whose frequencies are those that a table shows. Internal: not installed.
#pragma once

#include "posenc/spec.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace posenc::suite {

/// One frequency, as far as a table shows it.
struct FrequencyEstimate {
  std::int64_t k = 0;
  double frequency = 0;    ///< radians per row, from -pi to pi; NaN if the table does not show it
  double uncertainty = 0;  ///< of the frequency
  double phase = 0;        ///< at row 0
};

/// What the frequencies of a table may be.
struct Convention {
  EncodingSpec spec;
  std::int64_t step = 1;       ///< of positions
  double bits = 0;             ///< that it takes to say it: 0 for the usual one
  std::string mistake = {};    ///< if nobody wants these frequencies: why they are what they are
  EncodingSpec intended = {};  ///< instead of those of a mistake
};

/// Those that leave the fewest bits of the estimates open; `count` frequencies in all. Without
/// estimates all that are usual. `expected` is one of them, and takes no bits.
std::vector<Convention> conventions_like(std::span<const FrequencyEstimate> estimates,
                                         std::int64_t count, double factor,
                                         const std::optional<EncodingSpec>& expected);

/// The frequencies of a spec as doubles, in radians per position, without reduction.
std::vector<double> frequencies_of(const EncodingSpec& spec);

}  // namespace posenc::suite
