/// @file
/// Views of a table and of heads, the claims about a table, and the report on it. check/table.h
/// makes the report.
#pragma once

#include "posenc/data_type.h"
#include "posenc/matrix.h"
#include "posenc/model/axes.h"
#include "posenc/spec.h"
#include "posenc/suite/accuracy_report.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace posenc::check {

/// A view of a table to read, of any strides: row-major, column-major, every other row.
struct TableView {
  /// An empty view.
  TableView() = default;
  /// A view of a row-major matrix.
  template <class T>
  TableView(MatrixView<T> view)  // NOLINT: implicit
      : data(view.data),
        type(data_type_of<std::remove_const_t<T>>),
        rows(view.rows),
        columns(view.columns),
        row_stride(view.stride) {}

  const void* data = nullptr;         ///< address of entry (0, 0)
  DataType type = DataType::float32;  ///< type of the entries
  std::int64_t rows = 0;              ///< number of rows, one per position
  std::int64_t columns = 0;           ///< number of columns
  std::int64_t row_stride = 0;        ///< elements from one row to the next
  std::int64_t column_stride = 1;     ///< elements from one column to the next

  /// The entry in this row and column, which are not checked.
  double operator()(std::int64_t row, std::int64_t column) const noexcept;
};

/// Heads to read, of shape (rows, heads, channels), or with rows and heads exchanged.
struct HeadsTable {
  const void* data = nullptr;              ///< the first channel
  DataType type = DataType::float32;       ///< type of the elements
  std::array<std::int64_t, 3> sizes = {};  ///< sizes of the three dimensions
  /// Elements from one index to the next, for each dimension.
  std::array<std::int64_t, 3> strides = {};
};

/// The order of sines and cosines in the columns of a table, for frequencies k = 0 .. h - 1. The
/// first three values are the values of Layout.
enum class Arrangement {
  interleaved,            ///< sin w_0, cos w_0, sin w_1, ...
  halves,                 ///< sines, then cosines
  halves_cos_first,       ///< cosines, then sines
  interleaved_cos_first,  ///< cos w_0, sin w_0, cos w_1, ...: ggml's rope cache
  cosines,                ///< each cosine once
  sines,                  ///< each sine once
  cosines_twice,          ///< all cosines, and then all of them again: cos_cached of Transformers
  sines_twice,            ///< all sines, and then all of them again
  cosines_repeated,       ///< cos w_0, cos w_0, cos w_1, ...: diffusers
  sines_repeated,         ///< sin w_0, sin w_0, sin w_1, ...
  alternating,            ///< a mistake, one frequency per column: sin w_0, cos w_1, sin w_2, ...
};

/// All arrangements.
inline constexpr Arrangement all_arrangements[] = {
    Arrangement::interleaved,           Arrangement::halves,      Arrangement::halves_cos_first,
    Arrangement::interleaved_cos_first, Arrangement::cosines,     Arrangement::sines,
    Arrangement::cosines_twice,         Arrangement::sines_twice, Arrangement::cosines_repeated,
    Arrangement::sines_repeated,        Arrangement::alternating};

/// The name of the enumerator: "cosines_twice".
std::string_view to_string(Arrangement arrangement) noexcept;
/// Parses the name of an arrangement. Throws InvalidArgument, which lists the allowed names.
Arrangement parse_arrangement(std::string_view name);
/// The arrangement that is equal to the layout.
Arrangement arrangement_of(Layout layout) noexcept;

/// The axes of a table over several axes, for images, videos and rotary embeddings of both.
struct TableAxes {
  /// Name of the convention: "flux", "mae". Empty if only the spec is known.
  std::string name = {};
  /// Cells along time, height and width; zeros if not known.
  std::array<std::int64_t, 3> grid = {};
  model::AxesSpec spec = {};                 ///< the pairs of a row
  std::vector<std::int64_t> positions = {};  ///< positions[axis * rows + row]

  /// The position of one of the `rows` rows on an axis.
  std::int64_t position(std::int64_t axis, std::int64_t row, std::int64_t rows) const noexcept {
    return positions[static_cast<std::size_t>(axis * rows + row)];
  }
};

/// The identity of a table.
struct TableIdentity {
  EncodingSpec spec = {};                              ///< the frequencies; the layout is not used
  Arrangement arrangement = Arrangement::interleaved;  ///< arrangement of the columns
  std::int64_t first = 0;                              ///< the position of row 0
  std::int64_t step = 1;  ///< difference between the positions of successive rows
  std::vector<std::int64_t> positions = {};  ///< positions of the rows; empty: first + step * row
  double factor = 1;                         ///< factor of all entries: an attention factor
  bool has_negated_sines = false;            ///< true if every sine has the opposite sign
  /// True if a last column of zeros follows the pairs; it is not judged.
  bool has_zero_column = false;
  /// The number of columns if it is odd and the last pair lacks its second column, otherwise 0.
  /// `spec` then has d_model odd_width + 1. With paper spacing it also has another base, which
  /// gives w_k = base^(-2 k / odd_width).
  std::int64_t odd_width = 0;
  /// A row of zeros among the first three: the padding_idx of fairseq and Transformers, or the
  /// class token of images. It is not judged.
  std::optional<std::int64_t> padding_row = {};
  /// Set for a table over several axes, in place of first, step and positions. `spec` is then the
  /// spec of the first part.
  std::optional<TableAxes> axes = {};
  /// Presets with this convention and d_model. If there are none, presets with another d_model.
  std::vector<std::string> presets = {};

  /// The position of a row, which is not checked. A run also continues before row 0. For a table
  /// over axes, this is the row number.
  std::int64_t position(std::int64_t row) const noexcept {
    return positions.empty() ? first + step * row : positions[static_cast<std::size_t>(row)];
  }
};

/// The spec as a person would write it. For an odd width, d_model is the width, and the base is the
/// one in base^(-2 k / width).
EncodingSpec shown_spec(const TableIdentity& identity);

/// The positions of the rows: "0 .. 299", "0, 3 .. 897", "0 .. 299, 0 .. 199".
std::string positions_text(const TableIdentity& identity, std::int64_t rows);

/// A known mistake.
enum class CauseKind {
  float32_phases,       ///< phases in float32
  channel_recurrence,   ///< phases multiplied from channel to channel
  row_recurrence,       ///< rows rotated from row to row, never re-anchored
  narrow_frequencies,   ///< frequencies in 16 bits, or in float32 with phases in double
  narrow_positions,     ///< positions in 16 bits, or in integers that wrap
  narrow_phases,        ///< phases in 16 bits
  narrow_entries,       ///< entries of 16 bits in a wider type, or quantised entries
  exchanged_halves,     ///< the half of sines and the half of cosines are exchanged
  exchanged_functions,  ///< sines for cosines, and the reverse
  other_arrangement,    ///< another order of the columns, or other pairs of channels
  other_axis,           ///< pairs of rotated heads that turn by another axis
  negated_sines,        ///< sines with the opposite sign
  shifted_rows,         ///< rows at other positions
  other_base,           ///< another base
  other_spacing,        ///< another spacing
  other_rule,           ///< another rule of frequencies
  attention_factor,     ///< a factor of all entries, or of some columns
  inexact_functions,    ///< exact phases, but inexact sines and cosines
  unset_rows,           ///< rows that are zero, NaN or arbitrary
};

/// The name of the enumerator: "float32_phases".
std::string_view to_string(CauseKind kind) noexcept;

/// A reason why a table is wrong.
struct Cause {
  CauseKind kind = CauseKind::float32_phases;  ///< the kind of mistake
  std::string text;                            ///< "the first row is position 2, not 0"
  /// True if several causes fit equally well. Only one of the causes with is_rival is the real one.
  bool is_rival = false;
};

/// The parts of a spec that are claimed. The other parts are found from the values.
struct ClaimedParts {
  bool base = true;         ///< if false, any base is right
  bool spacing = true;      ///< if false, any spacing is right
  bool frequencies = true;  ///< if false, any rule of frequencies is right
};

/// The claims about a table, and how it is checked. Properties that are not claimed are found from
/// the values.
struct TableOptions {
  /// The frequencies. The layout is not used. A d_model of 0 stands for the d_model of the table.
  std::optional<EncodingSpec> spec = {};
  ClaimedParts claimed = {};                   ///< the parts of the spec that are claimed
  std::vector<Arrangement> arrangements = {};  ///< allowed arrangements; empty: all
  std::vector<Arrangement> excluded = {};      ///< arrangements that are not allowed
  std::optional<std::int64_t> first = {};      ///< position of row 0; the next rows follow
  std::vector<std::int64_t> positions = {};    ///< positions of all rows, in place of `first`
  /// Positions count multiples of 1 / denominator: RealPositions::denominator.
  double denominator = 1;
  /// The axes of a table over several axes. If their positions are empty, they are found. If `spec`
  /// is set too, the table may have equal positions on all axes, as text has, or different ones.
  std::optional<TableAxes> axes = {};
  /// The attention factor that entries should have. The default is the factor of the spec's rule.
  std::optional<double> factor = {};
  /// Every entry must be within this absolute error, in place of the rule in table.h.
  std::optional<double> max_error = {};
  int threads = 1;  ///< at least 1
};

/// The verdict on a table.
enum class Verdict {
  right,           ///< every entry is within its allowed error
  wrong,           ///< the right table is known, and entries are off
  not_recognised,  ///< no convention that posenc knows agrees with most of the entries
};

/// The name of the enumerator: "not_recognised".
std::string_view to_string(Verdict verdict) noexcept;

/// The report on a table.
struct TableReport {
  bool is_good = false;  ///< true if every entry is within its allowed error
  /// False if the table is not known. Then only its shape and type, entries_not_finite and causes
  /// are set.
  bool is_identified = false;
  std::int64_t rows = 0;              ///< number of rows
  std::int64_t columns = 0;           ///< number of columns
  DataType type = DataType::float32;  ///< type of the entries
  TableIdentity identity;             ///< the identity that the table was judged by
  /// The largest allowed error of an entry.
  double allowed_error = 0;
  std::int64_t entries_off = 0;         ///< number of entries beyond their allowed errors
  std::int64_t entries_not_finite = 0;  ///< number of entries that are NaN or infinite
  /// Errors of the entries. The backend is "table", and a channel is a column.
  suite::AccuracyReport errors;
  std::vector<Cause> causes;  ///< empty if the table is good, or if no cause is known
  /// The columns or frequencies that are off, and by how much, if others are right.
  std::vector<std::string> findings;

  /// The verdict that is_good and is_identified give.
  Verdict verdict() const noexcept {
    return is_good ? Verdict::right : is_identified ? Verdict::wrong : Verdict::not_recognised;
  }

  /// True if the table is wrong only because it was computed in float32. All causes are then
  /// float32 phases, inexact functions or float32 entries, and no error exceeds their cost.
  bool is_inexact() const noexcept;
};

/// The verdict: one line of any length.
std::string verdict_text(const TableReport& report);
/// The identity of the table: one line.
std::string identity_text(const TableReport& report);
/// The causes: one line.
std::string cause_text(const TableReport& report);
/// "cause: " and all causes.
std::string cause_text(const std::vector<Cause>& causes);
/// The three lines above, and one line per finding.
std::string to_string(const TableReport& report);

}  // namespace posenc::check
