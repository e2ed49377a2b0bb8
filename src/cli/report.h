// Pages for people as views of documents: figures with a sensible number of digits, aligned tables,
// at most 100 columns wide if their text can be broken into lines, and what commands show of
// accuracy reports.
#pragma once

#include "posenc/check/table.h"
#include "posenc/suite/accuracy_report.h"
#include "posenc/suite/measurement_json.h"
#include "posenc/support/format.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::cli {

std::string error_text(double error);       ///< "2.98e-08", "0": the nearest
std::string ulp_text(double ulp);           ///< "0.500", "1785.5", "2.73e+05"
std::string percent_text(double share);     ///< "99.9998 %"; never 100 for a share below 1
std::string count_text(double count);       ///< "2 560 000"
std::string bytes_text(double bytes);       ///< "9.77 MiB"
std::string seconds_text(double seconds);   ///< "1.23 ms"
std::string positions_text(RowRange rows);  ///< "0 .. 4999"
/// "base 10000, layout interleaved, spacing paper", and a rule of frequencies if there is one.
std::string spec_text(const EncodingSpec& spec);

enum class Align {
  left,
  right,
  wrapped,  ///< to the left, and broken into lines if the table is too wide
};

/// A column of a table, whose rows are values of a document.
struct Column {
  std::string header;
  std::function<std::string(const suite::Json& row)> cell;  ///< its text in a row
  Align align = Align::right;
};

/// The value at a path in a row, such as "/error/max_abs"; null if there is none.
suite::Json at(const suite::Json& row, const std::string& path);

/// The `count` largest first, by the number at the path.
suite::Json largest(const suite::Json& rows, const std::string& path, std::size_t count);

/// The text at a path.
Column text(const std::string& header, const std::string& path, Align align = Align::left);
/// The number at a path; "-" if there is none, or it is not finite.
Column number(const std::string& header, const std::string& path,
              std::string (*format)(double number));

/// A line for each row. A row that is a text is a heading, and one that is null an empty line.
std::string table(const suite::Json& rows, const std::vector<Column>& columns);

/// Neighbours that differ in "isa" alone become one, which has all their ISAs: "sse2 avx2".
suite::Json joined_by_isa(const suite::Json& rows);

/// Lines of at most `width` characters, broken at blanks, and within longer words.
std::vector<std::string> broken(const std::string& text, std::size_t width);

/// Every line of the text broken to the width of a page.
std::string wrapped(const std::string& text);

/// "rotation:avx2": a row's backend and the first of its ISAs.
std::string name_of(const suite::Json& row);

/// The "backend" of rows, with its ISA after a colon if `with_isa`, marked if it cannot be picked.
Column backend_column(bool with_isa = false);
/// What the mark means, if a row has it.
std::string explained_mark(const suite::Json& rows);

/// The Gfloat/s at a path.
Column speed_column(const std::string& header, const std::string& path);

/// The positions of rows that have "first" and "count".
Column positions_column(const std::string& header);

suite::Json to_json(const suite::ErrorSummary& error);
suite::Json to_json(const suite::AccuracyReport& report);

/// The quantiles and the histogram of the errors, the errors by position, and the channels with the
/// largest errors and what each holds: "sin(pos w_12)".
std::string details_page(const suite::Json& report, check::Arrangement arrangement);

/// The entries with the largest errors, by |error| and in ulp.
std::string worst_page(const suite::Json& report, DataType type);

/// Lines in a table that say why a backend is not available.
void add_refusal(suite::Json& rows, const suite::Json& refused);

/// The largest errors of the parts of a table, which reports list under the name `list`, with a
/// column for each report. Of more than `most` parts, the worst.
std::string parts_page(const suite::Json& reports, const std::string& list, const Column& part,
                       std::size_t most);

/// "Accuracy of a float32 table of 5000 x 512, positions 0 .. 4999, base 10000, ...".
std::string table_title(const suite::MeasuredTable& table);

}  // namespace posenc::cli
