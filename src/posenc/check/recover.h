// Frequencies, phases and positions from the values of a table alone. Internal: not installed.
#pragma once

#include "posenc/check/sample.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace posenc::check {
inline namespace internals {

/// One frequency as the table shows it.
struct FrequencyEstimate {
  std::int64_t k = 0;
  double frequency = 0;    ///< radians per row, from -pi to pi; NaN if the table does not show it
  double uncertainty = 0;  ///< uncertainty of the frequency
  double phase = 0;        ///< phase at row 0, in radians; NaN if the table does not show it
  /// True if the frequency fits at every doubled distance, up to the end of the table.
  bool is_followed = false;
};

/// The frequencies, factor and direction of a table in one arrangement.
struct Recovered {
  std::vector<FrequencyEstimate> each = {};  ///< estimates of some of the frequencies
  double factor = 1;                         ///< factor of all entries
  bool turns_backwards = false;              ///< true if the signs of all estimates were reversed
  bool turns_evenly = false;                 ///< true if more frequencies turn evenly than in noise
  bool has_one_length = false;  ///< true if most pairs of cosine and sine have one length
};

/// Estimates frequencies, phases and the factor of a table in this arrangement.
Recovered recover(const SampledTable& sample, Arrangement arrangement);

/// False if the table holds no waves in any arrangement, as noise does.
bool shows_waves(const SampledTable& sample);

/// The position of row 0, if the estimates show it; `usual` if no other position fits better.
/// `frequencies` holds the frequencies of all k.
std::optional<std::int64_t> first_position(std::span<const FrequencyEstimate> estimates,
                                           std::span<const double> frequencies,
                                           const SampledTable& sample, std::int64_t usual);

/// Estimates frequency k.
FrequencyEstimate estimate_of(const SampledTable& sample, Arrangement arrangement, std::int64_t k);

/// The size of the steps that all entries of the sample are multiples of; 0 if there is none. Only
/// the usual steps of quantised tables are considered (1 / 127, 2^-15, 10^-4), and only if they are
/// coarser than the type.
double quantum_of(const SampledTable& sample);

/// The position of each row of a table whose entries are pairs, as in packed sequences and with
/// repeated or shuffled positions. Empty if all positions are first + step * row, or if many rows
/// have no position.
std::vector<std::int64_t> positions_of_rows(const SampledTable& sample,
                                            const TableIdentity& identity);

}  // namespace internals
}  // namespace posenc::check
