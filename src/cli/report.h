// Accuracy reports as documents, and as tables for people.
#pragma once

#include "cli/table.h"

#include "posenc/suite/accuracy_report.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace posenc::cli {

using namespace suite;

/// The "backend" of rows, with its ISA after a colon if `with_isa`, and marked if it cannot be
/// picked.
Column backend_column(bool with_isa = false);
/// What the mark means, if a row has it.
std::string explained_mark(const Json& rows);

/// The Gfloat/s at a path.
Column speed_column(const std::string& header, const std::string& path);

/// The positions of rows that have "first" and "count".
Column positions_column(const std::string& header);

Json to_json(const ErrorSummary& error);
Json to_json(const AccuracyReport& report);

/// The worst entry, quantiles, the errors by position, and the channels with the largest errors and
/// what each holds: "sin(pos w_12)".
std::string details_page(const Json& report, DataType type,
                         const std::function<std::string(std::int64_t channel)>& content_of);

/// "Accuracy of a float32 table of 5000 x 512, positions 0 .. 4999, base 10000, ...".
std::string table_title(const EncodingSpec& spec, RowRange rows, DataType type);

/// The `count` largest first, by the number at the path.
Json largest(const Json& rows, const std::string& path, std::size_t count);

}  // namespace posenc::cli
