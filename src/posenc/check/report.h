/// @file
/// What a table should be, and the verdict on it: check/table.h makes it.
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
struct TableOptions {
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
enum class Verdict {
  right,
  wrong,           ///< it is known what the table should be, and entries are off
  not_recognised,  ///< no convention that posenc knows agrees with most of the entries
};

/// The name of the enumerator: "not_recognised".
std::string_view to_string(Verdict verdict) noexcept;

/// What was found of a table.
struct TableReport {
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
  suite::AccuracyReport errors;         ///< its backend is "table"; a channel is a column
  std::vector<Cause> causes;            ///< empty if the table is good, or none is known
  /// Where entries are off, if only some columns or frequencies are, and by how much.
  std::vector<std::string> findings;

  /// The two booleans in one.
  Verdict verdict() const noexcept {
    return is_good ? Verdict::right : is_identified ? Verdict::wrong : Verdict::not_recognised;
  }
};

/// The verdict: one line, of any length.
std::string verdict_text(const TableReport& report);
/// What the table is: one line.
std::string identity_text(const TableReport& report);
/// The causes: one line.
std::string cause_text(const TableReport& report);
/// "cause: ", and all of them.
std::string cause_text(const std::vector<Cause>& causes);
/// These three lines, and one for each finding.
std::string to_string(const TableReport& report);

}  // namespace posenc::check
