// The ways of computing a table, and the search for the way that leaves the fewest bits open.
// Internal: not installed.
#pragma once

#include "posenc/check/report.h"
#include "posenc/check/sample.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace posenc::check {
inline namespace internals {

/// The bits that an entry leaves open if its error is 2^24 ulps or more.
inline constexpr double most_open_bits = 24;

/// The type or operation that rounds a number.
enum class Rounding : std::uint8_t {
  none,
  float32,
  bfloat16,
  truncated,  ///< to bfloat16, towards zero
  float16,
  thousandths,  ///< a timestep: divided by 1000 in bfloat16, then times 1000
  int8,         ///< wraps, like int16 and int32
  int16,
  int32,
};

/// The number that a position is multiplied by, or divided by, for one frequency.
struct FrequencyOperand {
  std::int64_t frequency;
  double operand;
  bool operator==(const FrequencyOperand&) const = default;
};

/// A way to compute the entries of a spec.
struct Way {
  CauseKind kind = CauseKind::float32_phases;
  std::string text = {};
  /// The cost of the way. Ways that explain() returns also include the bits that they leave open.
  double bits = 0;
  /// Operands of the sampled frequencies, in ascending order.
  std::vector<FrequencyOperand> operands = {};
  bool divides = false;  ///< true if the position is divided by the operand
  Rounding position = Rounding::none, product = Rounding::none, entry = Rounding::none;
  double step = 0;        ///< factor of the phase from channel to channel; 0 if not computed so
  bool is_exact = false;  ///< true if nothing but the entries is rounded
  double share = 0;       ///< share of the entries that it reproduces bit for bit
  double explained = 0;   ///< explained share of the entries that are off

  /// The phase of one of the sampled frequencies.
  double phase(std::int64_t k, std::int64_t at) const noexcept;
  /// The value that this way gives an entry. The way must not be a recurrence of rows.
  double value(const SampledEntry& of) const noexcept;
};

/// The bits that the sample leaves open if it holds exact values. Stops as soon as they exceed the
/// limit.
double open_bits_of(const SampledTable& sample, const TableIdentity& identity,
                    const std::vector<double>& frequencies, double limit);

/// Finds the ways that leave the fewest bits of the first `rows` rows of the sample open. Returns
/// the best way and all ways within one bit of it, the best first. If `may_be_recurrence`, also
/// tries recurrences, which compute rows from the rows before. A recurrence takes one step per row
/// of the table.
std::vector<Way> explain(const SampledTable& sample, const TableIdentity& identity,
                         std::size_t rows, bool may_be_recurrence = false);

}  // namespace internals
}  // namespace posenc::check
