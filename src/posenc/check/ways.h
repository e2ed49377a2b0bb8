// The ways of computing a table, and the one that leaves the fewest bits of it open. Internal: not
// installed.
#pragma once

#include "posenc/check/report.h"
#include "posenc/check/sample.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace posenc::check {

/// Of an entry, those beyond what is near.
inline constexpr double most_open_bits = 24;

/// What a number is rounded to.
enum class Rounding : std::uint8_t {
  none,
  float32,
  bfloat16,
  truncated,  ///< to bfloat16
  float16,
  thousandths,  ///< in bfloat16, then times 1000: a timestep
  int8,         ///< wraps, as the next
  int16,
  int32,
};

/// What a position is multiplied with, or divided by, for a frequency.
struct FrequencyOperand {
  std::int64_t frequency;
  double operand;
  bool operator==(const FrequencyOperand&) const = default;
};

/// A way to compute the entries of a spec.
struct Way {
  CauseKind kind = CauseKind::float32_phases;
  std::string text = {};
  double bits = 0;  ///< that it takes to say it, and, of explain(), those that it leaves open
  std::vector<FrequencyOperand> operands = {};  ///< of the sampled frequencies, ascending
  bool divides = false;                         ///< the position by the operand
  Rounding position = Rounding::none, product = Rounding::none, entry = Rounding::none;
  double step = 0;        ///< of products from channel to channel, if there are any
  bool is_exact = false;  ///< nothing but the entries is rounded
  double share = 0;       ///< of the entries that have its bits
  double explained = 0;   ///< share of the entries that are off of which it explains the error

  /// The phase of one of the sampled frequencies.
  double phase(std::int64_t k, std::int64_t at) const noexcept;
  /// What it makes of an entry, unless it is a recurrence of rows.
  double value(const SampledEntry& of) const noexcept;
};

/// The bits that the sample leaves open if it holds exact values. Stops where they exceed the
/// limit.
double open_bits_of(const SampledTable& sample, const TableIdentity& identity,
                    const std::vector<double>& frequencies, double limit);

/// The way that leaves the fewest bits of the first rows of the sample open, and others that leave
/// as few. Rows may come from those before, which takes a step for each row of the table.
std::vector<Way> explain(const SampledTable& sample, const TableIdentity& identity,
                         std::size_t rows, bool may_be_recurrence = false);

}  // namespace posenc::check
