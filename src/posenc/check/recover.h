// Frequencies, phases and positions from the values of a table alone. Internal: not installed.
#pragma once

#include "posenc/check/sample.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace posenc::check {

/// One frequency, as far as a table shows it.
struct FrequencyEstimate {
  std::int64_t k = 0;
  double frequency = 0;      ///< radians per row, from -pi to pi; NaN if the table does not show it
  double uncertainty = 0;    ///< of the frequency
  double phase = 0;          ///< at row 0
  bool is_followed = false;  ///< through the table, row by row and at greater and greater distances
};

/// A table in one arrangement.
struct Recovered {
  std::vector<FrequencyEstimate> each = {};  ///< of some of the frequencies
  double factor = 1;                         ///< of all entries
  bool turns_backwards = false;              ///< the frequencies are those of the opposite sense
};

Recovered recover(const SampledTable& sample, Arrangement arrangement);

/// What a table in that arrangement shows of waves.
struct Waves {
  bool turn_evenly;        ///< from row to row, most of them
  bool are_of_one_length;  ///< cosines and sines of an angle; false if there is one of the two
};

Waves waves_of(const SampledTable& sample, Arrangement arrangement);

/// False for tables that hold no waves in any arrangement, such as noise.
bool shows_waves(const SampledTable& sample);

/// The position of row 0, if the estimates show it; `usual` if it is as good as any. `frequencies`
/// are those of all k.
std::optional<std::int64_t> first_position(std::span<const FrequencyEstimate> estimates,
                                           std::span<const double> frequencies,
                                           const SampledTable& sample, std::int64_t usual);

/// Estimates the frequencies with these numbers k.
std::vector<FrequencyEstimate> estimates_of(const SampledTable& sample, Arrangement arrangement,
                                            std::span<const std::int64_t> numbers);

/// The size of the steps that the entries of the sample are multiples of, if it is one that tables
/// are quantised with (1 / 127, 2^-15, 10^-4), and coarser than their type; else 0.
double quantum_of(const SampledTable& sample);

/// The position of each row of a table whose entries are pairs, if they are not first + step row:
/// packed sequences, repeated or shuffled positions. Empty if there is none, or if many rows have
/// no position.
std::vector<std::int64_t> positions_of_rows(const SampledTable& sample,
                                            const TableIdentity& identity);

}  // namespace posenc::check
