// Pages for people, made from documents: figures with a sensible number of digits, aligned tables,
// and the parts of a page that show an accuracy report. A table is at most 100 columns wide if its
// text can be broken into lines.
#pragma once

#include "posenc/check/table.h"
#include "posenc/check/text.h"
#include "posenc/suite/accuracy_report.h"
#include "posenc/suite/measurement_json.h"
#include "posenc/support/format.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::cli {

using check::error_text;                   ///< "2.98e-08", "0"; rounded to nearest
std::string ulp_text(double ulp);          ///< "0.500", "1785.5", "2.73e+05"
std::string percent_text(double share);    ///< "99.9998 %"; never 100 for a share below 1
std::string count_text(double count);      ///< "2 560 000"
std::string bytes_text(double bytes);      ///< "9.77 MiB"
std::string seconds_text(double seconds);  ///< "1.23 ms"
/// "base 10000, layout interleaved, spacing paper", and the rule of the frequencies if there is
/// one.
std::string spec_text(const EncodingSpec& spec);

enum class Align {
  left,
  right,
  wrapped,  ///< left-aligned, and broken into lines if the table is too wide
};

/// A column of a table. The rows of a table are values of a document.
struct Column {
  std::string header;
  std::function<std::string(const suite::Json& row)> cell;  ///< the text of the cell in a row
  Align align = Align::right;
};

/// The value at a path in a row, such as "/error/max_abs"; null if there is none.
suite::Json at(const suite::Json& row, const std::string& path);

/// The `count` rows with the largest numbers at the path, the largest first.
suite::Json largest(const suite::Json& rows, const std::string& path, std::size_t count);

/// A column with the text at a path.
Column text(const std::string& header, const std::string& path, Align align = Align::left);
/// A column with the number at a path; "-" if there is no number, or if it is NaN.
Column number(const std::string& header, const std::string& path,
              const std::function<std::string(double number)>& format, Align align = Align::right);

/// The table as text. A row that is a string becomes a heading, and a null row an empty line.
std::string table(const suite::Json& rows, const std::vector<Column>& columns);

/// Joins adjacent rows that differ only in "isa" to one row with all their ISAs: "sse2 avx2".
suite::Json joined_by_isa(const suite::Json& rows);

constexpr std::size_t page_width = 100;  ///< most characters of a line

/// Breaks the text into lines of at most `width` characters, at blanks and within longer words.
std::vector<std::string> broken(const std::string& text, std::size_t width);

/// Breaks every line of the text to the width of a page.
std::string wrapped(const std::string& text);

/// The backend of a row and the first of its ISAs, as in "rotation:avx2".
std::string name_of(const suite::Json& row);

/// A column with the backend, followed by a colon and the ISA if `with_isa`. Backends that cannot
/// be picked are marked.
Column backend_column(bool with_isa = false);
/// A line that explains the mark; empty if no row has it.
std::string explained_mark(const suite::Json& rows);

/// A column with the Gfloat/s at a path.
Column speed_column(const std::string& header, const std::string& path);

/// A column with the positions of rows that have "first" and "count".
Column positions_column(const std::string& header);

suite::Json to_json(const suite::ErrorSummary& error);
suite::Json to_json(const suite::AccuracyReport& report);

/// The quantiles and the histogram of the errors, the errors by position, and the channels with the
/// largest errors. Each channel is shown with its content, such as "sin(pos w_12)".
std::string details_page(const suite::Json& report, check::Arrangement arrangement);

/// The entries with the largest errors, by |error| and in ulp.
std::string worst_page(const suite::Json& report, DataType type);

/// Adds lines to a table that say why a backend is not available.
void add_refusal(suite::Json& rows, const suite::Json& refused);

/// The largest errors of several reports of one table, by position and of the worst channels, with
/// one column per report.
std::string side_by_side_page(const suite::Json& reports);

/// "Accuracy of a float32 table of 5000 x 512, positions 0 .. 4999, base 10000, ...".
std::string table_title(const suite::MeasuredTable& table);

}  // namespace posenc::cli
