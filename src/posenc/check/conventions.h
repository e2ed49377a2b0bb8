// The conventions that have the frequencies of a table. Internal: not installed.
#pragma once

#include "posenc/check/recover.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace posenc::check {
inline namespace internals {

/// A hypothesis about a table.
struct Hypothesis {
  TableIdentity is = {};
  double bits = 0;       ///< cost of the hypothesis; 0 for the usual one
  double spec_bits = 0;  ///< the part of `bits` that its spec and step cost
  /// Set if nobody wants these frequencies: the mistake that led to them.
  std::string mistake = {};
  EncodingSpec intended = {};  ///< the spec that was meant, if there is a mistake
  double open = infinity;      ///< bits of the sample that it leaves open
  /// Columns of constants would leave many bits of the sample open. This is the share of these bits
  /// that the hypothesis explains.
  double explained = 1;

  double score() const noexcept { return bits + open; }
};

/// Returns the conventions whose frequencies and steps leave the fewest bits of the estimates open.
/// `count` is the number of frequencies. Without estimates, all usual conventions are returned. If
/// `expected` is set, it is one of the conventions and costs no bits. For an odd width, the specs
/// are as for TableIdentity::odd_width.
std::vector<Hypothesis> conventions_like(const Recovered& recovered, std::int64_t count,
                                         const std::optional<EncodingSpec>& expected,
                                         std::int64_t odd_width = 0);

}  // namespace internals
}  // namespace posenc::check
