// Why a table is not what it should be, and the words for it. Internal: not installed.
#pragma once

#include "posenc/suite/checking/identify.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::suite {

/// What the table is, and should not be, and how its entries are rounded.
std::vector<Cause> causes_of_difference(const SampledTable& sample, const Hypothesis& found,
                                        const TableIdentity& wanted);

/// Entries that are beyond what is good, counted.
struct Deviations {
  std::vector<std::int64_t> by_row, by_column;
};

/// The same of a table that was judged, and which rows or columns are off if only some are.
std::vector<Cause> causes_of(const SampledTable& sample, const Deviations& off,
                             const CheckReport& report, const std::optional<Hypothesis>& found);

/// Says of a judged table which columns and frequencies are off, and by how much, if others are
/// right.
void add_findings(CheckReport& report, const TableView& table, const Deviations& off);

/// Rows that hold no sines.
std::vector<Cause> unset_rows(const SampledTable& sample);

/// "cause: ", and all of them.
std::string cause_text(const std::vector<Cause>& causes);

/// "1", "2.98e-08"
std::string error_text(double error);

/// A line for each.
std::string findings_text(const std::vector<std::string>& findings);

/// "column 5 is", "columns 5, 20 .. 35 are"
std::string several_text(std::string_view noun, std::string_view plural,
                         const std::vector<std::int64_t>& numbers);

/// "base 10000, spacing paper"
std::string convention_text(const EncodingSpec& spec);

/// What may be off, and how, by its RowState.
struct Noun {
  std::string_view one, several;
  std::string_view faults[3];
};

/// "row 7 is zero", "rows 7 .. 12 are zero", "20 rows are zero, the first is row 7".
std::string fault_text(const Noun& noun, RowState state, const std::vector<std::int64_t>& which);

}  // namespace posenc::suite
