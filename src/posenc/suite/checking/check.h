/// @file
/// Checks a table from elsewhere: what it is, how wrong it is, and why.
///
///     const posenc::CheckReport report = posenc::check(posenc::TableView(table.view()));
///     if (!report.is_good) std::cerr << posenc::to_string(report);
///
/// Without a convention the table is identified: its arrangement, the frequencies (base, spacing,
/// rule), the first position and a factor of all entries are found from its values. What the
/// options claim is not replaced by what fits better; what they do not name is found.
///
/// Good is a table of which every entry is within
///
///     one ulp of its type at 1, plus 16 * 2^-53 (1 + |phase|), which is at most 2^-10,
///
/// of the exact value, or within the limit of the options: 6.0e-8 for float32, 4.9e-4 for float16,
/// 3.9e-3 for bfloat16. Half of that ulp is for sines that are not correctly rounded, and the
/// second term for phases in double, position times frequency in radians. Phases in float32 exceed
/// this within a few rows. Beyond 2^39 radians, doubles no longer tell phases well enough.
///
/// The cause is the way of computing a table (how its frequency is formed, and what each part is
/// rounded to) that leaves the fewest bits of a sample open, with the share of the entries that
/// have its bits; or a difference from what is claimed: another base, halves exchanged.
#pragma once

#include "posenc/data_type.h"
#include "posenc/matrix.h"
#include "posenc/model/axes.h"
#include "posenc/spec.h"
#include "posenc/suite/accuracy_report.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace posenc::suite {

/// A table to read, of any strides: row-major, column-major, every other row.
struct TableView {
  TableView() = default;
  /// Of a row-major matrix.
  template <class T>
  TableView(MatrixView<T> view)  // NOLINT: implicit
      : data(view.data),
        type(data_type_of<std::remove_const_t<T>>),
        rows(view.rows),
        columns(view.columns),
        row_stride(view.stride) {}

  const void* data = nullptr;         ///< the entry (0, 0)
  DataType type = DataType::float32;  ///< of the entries
  std::int64_t rows = 0;              ///< one a position
  std::int64_t columns = 0;           ///< of each row
  std::int64_t row_stride = 0;        ///< elements from one row to the next
  std::int64_t column_stride = 1;     ///< elements from one column to the next

  /// The entry of that row and column, which are not checked.
  double operator()(std::int64_t row, std::int64_t column) const noexcept;
};

/// What the columns of a table hold, for frequencies k = 0 .. h - 1. The first three are those of
/// Layout.
enum class Arrangement {
  interleaved,            ///< sin w_0, cos w_0, sin w_1, ...
  halves,                 ///< sines, then cosines
  halves_cos_first,       ///< cosines, then sines
  interleaved_cos_first,  ///< cos w_0, sin w_0, cos w_1, ...: ggml's rope cache
  cosines,                ///< each once
  sines,
  cosines_twice,  ///< the cosines, and again: cos_cached of Transformers
  sines_twice,
  cosines_repeated,  ///< cos w_0, cos w_0, cos w_1, ...: diffusers
  sines_repeated,
  alternating,  ///< a mistake: sin w_0, cos w_1, sin w_2, ...: a frequency for each column
};

/// All of them.
inline constexpr Arrangement all_arrangements[] = {
    Arrangement::interleaved,           Arrangement::halves,      Arrangement::halves_cos_first,
    Arrangement::interleaved_cos_first, Arrangement::cosines,     Arrangement::sines,
    Arrangement::cosines_twice,         Arrangement::sines_twice, Arrangement::cosines_repeated,
    Arrangement::sines_repeated,        Arrangement::alternating};

/// The name of the enumerator: "cosines_twice".
std::string_view to_string(Arrangement arrangement) noexcept;
/// Throws InvalidArgument, listing the allowed names.
Arrangement parse_arrangement(std::string_view name);
/// The arrangement of that layout.
Arrangement arrangement_of(Layout layout) noexcept;

/// What a table over several axes is: images, videos, rotary embeddings of both.
struct TableAxes {
  std::string name = {};  ///< of the convention: "flux", "mae"; empty if only the spec is known
  std::array<std::int64_t, 3> grid = {};     ///< cells along time, height and width; or zeros
  AxesSpec spec = {};                        ///< the pairs of a row
  std::vector<std::int64_t> positions = {};  ///< positions[axis * rows + row]

  /// The position of one of the `rows` rows on an axis.
  std::int64_t position(std::int64_t axis, std::int64_t row, std::int64_t rows) const noexcept {
    return positions[static_cast<std::size_t>(axis * rows + row)];
  }
};

/// What a table is.
struct TableIdentity {
  EncodingSpec spec = {};                              ///< its layout is not used
  Arrangement arrangement = Arrangement::interleaved;  ///< of its columns
  std::int64_t first = 0;                              ///< the position of row 0
  std::int64_t step = 1;                               ///< from a row's position to the next
  std::vector<std::int64_t> positions = {};            ///< of the rows; empty: first + step row
  double factor = 1;                                   ///< of all entries: an attention factor
  bool has_negated_sines = false;                      ///< each sine with the other sign
  bool has_zero_column = false;  ///< a last one of zeros, beside the pairs. Not judged.
  /// Columns, if the last pair lacks its second one, else 0: w_k = base^(-2 k / odd_width), for
  /// which the spec has d_model odd_width + 1 and another base.
  std::int64_t odd_width = 0;
  /// A row of zeros among the first three: fairseq's and Transformers' padding_idx, or the class
  /// token of images. Not judged.
  std::optional<std::int64_t> padding_row = {};
  /// Instead of first, step and positions. The spec is then the one of the first axis.
  std::optional<TableAxes> axes = {};
  std::vector<std::string> presets = {};  ///< that have this convention, at this d_model or another

  /// The position of that row, which is not checked; also before row 0 of a run. Of a table over
  /// axes: the row.
  std::int64_t position(std::int64_t row) const noexcept {
    return positions.empty() ? first + step * row : positions[static_cast<std::size_t>(row)];
  }
};

/// A known mistake.
enum class CauseKind {
  float32_phases,
  channel_recurrence,  ///< phases multiplied from channel to channel
  row_recurrence,      ///< rows rotated from row to row, never re-anchored
  narrow_frequencies,  ///< frequencies in 16 bits
  narrow_positions,
  narrow_phases,
  narrow_entries,  ///< entries of 16 bits in a wider type
  exchanged_halves,
  exchanged_functions,  ///< sines for cosines, and the reverse
  other_arrangement,
  other_axis,  ///< pairs of rotated heads
  negated_sines,
  shifted_rows,
  other_base,
  other_spacing,
  other_rule,
  attention_factor,
  inexact_functions,  ///< exact phases, and sines that are off
  unset_rows,         ///< zero, NaN or arbitrary
};

/// The name of the enumerator: "float32_phases".
std::string_view to_string(CauseKind kind) noexcept;

/// Why a table is wrong.
struct Cause {
  CauseKind kind = CauseKind::float32_phases;  ///< which mistake
  std::string text;                            ///< "the first row is position 2, not 0"
  bool is_rival = false;  ///< the others that are rivals fit as well, and one of them is the cause
};

/// Parts of a spec that are not claimed.
struct UnclaimedParts {
  bool base = false;         ///< any base is right
  bool spacing = false;      ///< any spacing is right
  bool frequencies = false;  ///< any rule of frequencies is right
};

/// What a table should be, and how it is checked. What has no value, or is empty, is found.
struct CheckOptions {
  /// Frequencies; the layout is not used, and d_model 0 is that of the table.
  std::optional<EncodingSpec> spec = {};
  UnclaimedParts unclaimed = {};               ///< parts of the spec to find from the values
  std::vector<Arrangement> arrangements = {};  ///< it should have one of these
  std::vector<Arrangement> excluded = {};      ///< it should have none of these
  std::optional<std::int64_t> first = {};      ///< position of row 0; the next ones follow
  std::vector<std::int64_t> positions = {};    ///< of all rows, instead of a first one
  /// A table over several axes, instead of the spec. Without positions they are found.
  std::optional<TableAxes> axes = {};
  /// The attention factor that entries should have; by default that of the rule of the spec.
  std::optional<double> factor = {};
  /// Every entry must be within this absolute error, instead of the rule above.
  std::optional<double> max_error = {};
  int threads = 1;  ///< at least 1
};

/// Whether a table is what it should be.
enum class CheckVerdict {
  right,
  wrong,           ///< it is known what the table should be, and entries are off
  not_recognised,  ///< no convention that posenc knows agrees with most of the entries
};

/// The name of the enumerator: "not_recognised".
std::string_view to_string(CheckVerdict verdict) noexcept;

/// What was found of a table.
struct CheckReport {
  bool is_good = false;               ///< every entry is within what is allowed
  bool is_identified = false;         ///< false: no known table, and nothing below but its shape
  std::int64_t rows = 0;              ///< of the table
  std::int64_t columns = 0;           ///< of the table
  DataType type = DataType::float32;  ///< of its entries
  TableIdentity identity;             ///< what the table was judged as
  /// The largest error that is good in any row.
  double allowed_error = 0;
  std::int64_t entries_off = 0;         ///< beyond what is good
  std::int64_t entries_not_finite = 0;  ///< NaN or infinite
  AccuracyReport errors;                ///< its backend is "table"; a channel is a column
  std::vector<Cause> causes;            ///< empty if the table is good, or none is known
  /// Where entries are off, if only some columns or frequencies are, and by how much.
  std::vector<std::string> findings;

  /// The two booleans in one.
  CheckVerdict verdict() const noexcept {
    return is_good         ? CheckVerdict::right
           : is_identified ? CheckVerdict::wrong
                           : CheckVerdict::not_recognised;
  }
};

/// Throws InvalidArgument if the table is empty, or the options do not fit its shape.
CheckReport check(const TableView& table, const CheckOptions& options = {});

/// Frequencies alone, in radians per position: inv_freq of Transformers.
struct FrequencyReport {
  /// Each is within 2^-19 of itself of the exact frequency: what an exponent in float32 costs.
  bool is_good = false;
  bool is_identified = false;     ///< false: no known frequencies, and nothing below
  EncodingSpec spec;              ///< that has these frequencies
  double max_relative_error = 0;  ///< largest |frequency - exact one| over the exact one
  std::string cause;              ///< empty if good or not known
};

/// Checks frequencies 0 .. d_model / 2 - 1 against the spec, or identifies them. Throws
/// InvalidArgument if there are none or too many, or not as many as the spec has.
FrequencyReport check_frequencies(std::span<const double> frequencies,
                                  const std::optional<EncodingSpec>& spec = {});

/// What the frequencies are: "64 frequencies, base 10000, spacing paper".
std::string frequencies_text(const FrequencyReport& report);
/// The verdict, what they are, and the cause.
std::string to_string(const FrequencyReport& report);

/// The spec as a person would say it: of an odd width, with that width and its base.
EncodingSpec shown_spec(const TableIdentity& identity);

/// The verdict: one line, of any length.
std::string verdict_text(const CheckReport& report);
/// What the table is: one line.
std::string identity_text(const CheckReport& report);
/// The causes: one line.
std::string cause_text(const CheckReport& report);
/// These three lines, and one for each finding.
std::string to_string(const CheckReport& report);

}  // namespace posenc::suite
