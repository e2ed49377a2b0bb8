// The conventions that have the frequencies of a table. Internal: not installed.
#pragma once

#include "posenc/check/recover.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace posenc::check {

/// What a table may be.
struct Hypothesis {
  TableIdentity is = {};
  double bits = 0;             ///< that it takes to say it: 0 for the usual one
  double spec_bits = 0;        ///< of these, what its spec and step take
  std::string mistake = {};    ///< if nobody wants these frequencies: why they are what they are
  EncodingSpec intended = {};  ///< instead of those of a mistake
  double open = infinity;      ///< bits of the sample, with exact phases
  double explained = 1;        ///< the share of the bits that columns of constants leave open

  double score() const noexcept { return bits + open; }
};

/// Those whose frequencies and steps leave the fewest bits of the estimates open; `count`
/// frequencies in all. Without estimates all that are usual. `expected` is one of them, and takes
/// no bits. Of an odd width, the specs are those of TableIdentity::odd_width.
std::vector<Hypothesis> conventions_like(const Recovered& recovered, std::int64_t count,
                                         const std::optional<EncodingSpec>& expected,
                                         std::int64_t odd_width = 0);

}  // namespace posenc::check
