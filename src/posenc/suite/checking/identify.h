// The steps from a table's values to what it is and how it was rounded. Internal: not installed.
//
//     recover    frequencies, phases and positions, from the values alone
//     match      the conventions that have these frequencies
//     identify   the candidate, of all arrangements, that leaves the fewest bits open
//     explain    the way of rounding that leaves the fewest bits open
//
// A candidate is scored by the bits that it leaves open: of each sampled entry
// log2(1 + |entry - its value| in ulps), and of itself the bits that it takes to say it. The usual
// convention with exact values takes none. Frequencies alone are a row of phases at position 1.
#pragma once

#include "posenc/suite/checking/arrangement.h"
#include "posenc/suite/checking/check.h"
#include "posenc/suite/checking/exact_entries.h"

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

/// Of an entry, those beyond what is near.
inline constexpr double most_open_bits = 24;

/// What a row holds, apart from how near it is to exact values.
enum class RowState : std::uint8_t { set, zero, not_finite };

/// At most `most` of 0 .. count - 1: the first ones and the last one, and others in no regular
/// distance, since a regular one may be that of a table's columns.
std::vector<std::int64_t> scattered(std::int64_t count, std::int64_t most);

/// A table, what its rows hold, and some of its entries.
struct SampledTable {
  /// Entries that were measured have noise, of a column for each frequency of halves.
  explicit SampledTable(const TableView& whole, bool holds_phases = false,
                        const TableView& noise = {});

  bool is_set(std::int64_t row) const noexcept {
    return states[static_cast<std::size_t>(row)] == RowState::set;
  }

  TableView table;
  bool holds_phases;  ///< and not their sines
  std::vector<RowState> states;
  std::int64_t entries_not_finite = 0;
  /// Of the sample, in no order, so that each part of it is a sample too. The rows are set.
  std::vector<std::int64_t> rows, columns;
  std::vector<double> got;    ///< row by row
  std::vector<double> noise;  ///< a standard deviation of each; empty if there is none
  DataType type;              ///< the narrowest that holds them
  double entry_error;         ///< of an entry near 1: half an ulp of the type, or the noise
};

/// An entry of the sample, and what it should hold.
struct SampledEntry {
  double got;
  double scale;  ///< of the function: the factor, and the sign of a negated sine
  std::size_t index;
  std::int64_t position, k;
  bool is_cosine, is_phase;

  double phase(const std::vector<double>& frequencies) const noexcept {
    return static_cast<double>(position) * frequencies[static_cast<std::size_t>(k)];
  }
  double value_at(double phase) const noexcept {
    return scale * (is_phase ? phase : is_cosine ? std::cos(phase) : std::sin(phase));
  }
};

/// Calls use(SampledEntry) for the entries of the first rows of the sample, until it returns false.
template <class Use>
void for_each_entry(const SampledTable& sample, const TableIdentity& identity, std::size_t rows,
                    const Use& use) {
  for (std::size_t row = 0, i = 0; row < std::min(rows, sample.rows.size()); ++row) {
    const std::int64_t position = identity.position(sample.rows[row]);
    for (const std::int64_t column : sample.columns) {
      const auto [k, is_cosine] = content_of(identity.arrangement, sample.table.columns, column);
      const double sign = !is_cosine && identity.has_negated_sines ? -1 : 1;
      if (!use(SampledEntry{sample.got[i], sign * identity.factor, i, position, k, is_cosine,
                            sample.holds_phases}))
        return;
      ++i;
    }
  }
}

/// True if the options neither exclude the arrangement nor claim others.
inline bool allows(const CheckOptions& options, Arrangement arrangement) {
  const auto is_one_of = [&](const std::vector<Arrangement>& all) {
    return std::ranges::count(all, arrangement) > 0;
  };
  return (options.arrangements.empty() || is_one_of(options.arrangements)) &&
         !is_one_of(options.excluded);
}

// Recover.

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

// Match and identify.

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

/// A spec without d_model for a table of that odd width: w_k = base^(-2 k / width).
EncodingSpec of_odd_width(EncodingSpec spec, std::int64_t width);

/// The frequencies of a spec as doubles, in radians per position, without reduction.
std::vector<double> frequencies_of(const EncodingSpec& spec);

/// What the options claim takes no bits. Empty if no known table leaves fewer bits open than
/// columns of constants.
std::optional<Hypothesis> identify(const SampledTable& sample, const CheckOptions& options);

/// The same of tables over several axes, of the conventions that posenc has, and of any grid.
std::optional<TableIdentity> identify_axes(const SampledTable& sample, const CheckOptions& options);

/// What the rows of the table are at, on each axis of a known spec: positions[axis * rows + row].
/// A row that fits no position up to 2^16 is at 0.
std::vector<std::int64_t> positions_on_axes(const TableView& table, const AxesSpec& spec,
                                            Arrangement arrangement, double factor);

/// A frequency of a table, and where it stands.
struct TablePair {
  std::size_t part;      ///< index into the parts of its axes; else 0
  std::int64_t axis, k;  ///< number k of the part's encoding
  PairColumns to;
};

/// All of them.
std::vector<TablePair> pairs_of_table(const TableIdentity& identity, std::int64_t columns);

/// The largest error that is good at that phase, for entries of a type with that factor. The rule
/// is stated in check.h.
double allowed_error(DataType type, double factor, double phase) noexcept;

// Explain.

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

}  // namespace posenc::suite
