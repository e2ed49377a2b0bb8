/// @file
/// The options of a check of a table, and its report. check/table.h makes the report.
#pragma once

#include "posenc/check/identity.h"
#include "posenc/data_type.h"
#include "posenc/spec.h"
#include "posenc/suite/accuracy_report.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::check {

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
  /// True if other causes with is_rival fit as well. One of them is the cause.
  bool is_rival = false;
};

/// Parts of a spec that are not claimed.
struct UnclaimedParts {
  bool base = false;         ///< any base is right
  bool spacing = false;      ///< any spacing is right
  bool frequencies = false;  ///< any rule of frequencies is right
};

/// The claims about a table, and how it is checked. Properties that are not claimed are found from
/// the values.
struct TableOptions {
  /// The frequencies. The layout is not used. A d_model of 0 stands for the d_model of the table.
  std::optional<EncodingSpec> spec = {};
  UnclaimedParts unclaimed = {};               ///< parts of the spec to find from the values
  std::vector<Arrangement> arrangements = {};  ///< allowed arrangements; empty: all
  std::vector<Arrangement> excluded = {};      ///< arrangements that are not allowed
  std::optional<std::int64_t> first = {};      ///< position of row 0; the next ones follow
  std::vector<std::int64_t> positions = {};    ///< positions of all rows, in place of `first`
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
