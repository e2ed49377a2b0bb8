// The steps from a table's values to what it is and how it was rounded. Internal: not installed.
//
//     recover    frequencies, phases and positions, from the values alone
//     match      the conventions that have these frequencies
//     identify   the hypothesis, of all arrangements, that leaves the fewest bits open
//     explain    the way of rounding that leaves the fewest bits open
//
// A hypothesis (what a table is, and by which way it was computed) is scored by the bits that it
// leaves open: of each sampled entry log2(1 + |entry - its value| in ulps), and of itself the bits
// that it takes to say it. The usual convention with exact values takes none. An unusual base, a
// factor or a rounding has to explain more bits of the entries than it takes to say.
#pragma once

#include "posenc/suite/checking/arrangement.h"
#include "posenc/suite/checking/check.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace posenc::suite {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Of an entry or a frequency, those beyond what is near.
inline constexpr double most_open_bits = 24;

/// What a row holds, apart from how near it is to exact values.
enum class RowState : std::uint8_t { set, zero, not_finite };

/// At most `most` of 0 .. count - 1: the first ones and the last one, and others in no regular
/// distance, since a regular one may be that of a table's columns.
std::vector<std::int64_t> scattered(std::int64_t count, std::int64_t most);

/// A table, what its rows hold, and some of its entries.
struct SampledTable {
  explicit SampledTable(const TableView& whole);

  bool is_set(std::int64_t row) const noexcept {
    return states[static_cast<std::size_t>(row)] == RowState::set;
  }

  TableView table;
  std::vector<RowState> states;
  std::int64_t entries_not_finite = 0;
  /// Of the sample, in no order, so that each part of it is a sample too. The rows are set.
  std::vector<std::int64_t> rows, columns;
  std::vector<double> got;  ///< row by row
  DataType type;            ///< the narrowest that holds them
};

/// An entry of the sample, and what it should hold.
struct SampledEntry {
  double got;
  double scale;  ///< of the function: the factor, and the sign of a negated sine
  std::size_t index;
  std::int64_t position, k;
  bool is_cosine;

  double phase(const std::vector<double>& frequencies) const noexcept {
    return static_cast<double>(position) * frequencies[static_cast<std::size_t>(k)];
  }
  double value_at(double phase) const noexcept {
    return scale * (is_cosine ? std::cos(phase) : std::sin(phase));
  }
};

/// Calls use(SampledEntry) for the entries of the first rows of the sample, until it returns false.
template <class Use>
void for_each_entry(const SampledTable& sample, const TableIdentity& identity, std::size_t rows,
                    const Use& use) {
  for (std::size_t row = 0; row < std::min(rows, sample.rows.size()); ++row) {
    const std::int64_t position = identity.position(sample.rows[row]);
    for (std::size_t i = 0; i < sample.columns.size(); ++i) {
      const auto [k, is_cosine] =
          content_of(identity.arrangement, sample.table.columns, sample.columns[i]);
      const double sign = !is_cosine && identity.has_negated_sines ? -1 : 1;
      const std::size_t index = row * sample.columns.size() + i;
      if (!use(SampledEntry{sample.got[index], sign * identity.factor, index, position, k,
                            is_cosine}))
        return;
    }
  }
}

// Recover.

/// One frequency, as far as a table shows it.
struct FrequencyEstimate {
  std::int64_t k = 0;
  double frequency = 0;    ///< radians per row, from -pi to pi; NaN if the table does not show it
  double uncertainty = 0;  ///< of the frequency
  double phase = 0;        ///< at row 0
};

/// A table in one arrangement.
struct Recovered {
  std::vector<FrequencyEstimate> each;  ///< of some of the frequencies
  double factor = 1;                    ///< of all entries
  bool turns_backwards = false;         ///< the frequencies are those of the opposite sense
};

Recovered recover(const SampledTable& sample, Arrangement arrangement);

/// The position of row 0, if the estimates show it; `usual` if it is as good as any. `frequencies`
/// are those of all k.
std::optional<std::int64_t> first_position(std::span<const FrequencyEstimate> estimates,
                                           std::span<const double> frequencies, DataType type,
                                           std::int64_t usual);

/// The position of each row of a table whose entries are pairs, if they are not first + step row:
/// packed sequences, repeated or shuffled positions. Empty if there is none.
std::vector<std::int64_t> positions_of_rows(const SampledTable& sample,
                                            const TableIdentity& identity);

// Match.

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

// Identify.

/// What a table is.
struct Identified {
  TableIdentity identity;
  Convention convention;  ///< of its frequencies
  double bits = 0;        ///< that it takes to say all of it
  double explained = 1;   ///< the share of the bits that columns of constants leave open
};

/// What the options claim takes no bits. Empty if no known table leaves fewer bits open than
/// columns of constants.
std::optional<Identified> identify(const SampledTable& sample, const CheckOptions& options);

/// What is good at that position, for entries of a type with that factor: the rule of check.h.
double allowed_error(DataType type, double factor, std::int64_t position) noexcept;

// Explain.

/// What a table, or its frequencies, were computed by.
struct Explanation {
  CauseKind kind = CauseKind::float32_phases;
  bool is_exact = false;
  std::string text = {};
  double bits = 0;         ///< that it takes to say it, and then also those that it leaves open
  bool truncates = false;  ///< entries to bfloat16
};

/// The bits that the sample leaves open if it holds exact values. Stops where they exceed the
/// limit.
double open_bits_of(const SampledTable& sample, const TableIdentity& identity,
                    const std::vector<double>& frequencies, double limit);

/// The bits that the best way leaves open in the first rows of the sample.
double open_bits_of_best_way(const SampledTable& sample, const TableIdentity& identity,
                             std::size_t rows);

/// The best way, and others that leave as few bits open.
std::vector<Explanation> explain(const SampledTable& sample, const TableIdentity& identity);

/// The way to compute the frequencies of a spec that leaves the fewest bits of these open.
Explanation explain_frequencies(std::span<const double> frequencies, const EncodingSpec& spec);

}  // namespace posenc::suite
