// Finds the columns of a table that are off, and their actual content.
#include "posenc/check/findings.h"

#include "posenc/check/columns.h"
#include "posenc/check/recover.h"
#include "posenc/check/text.h"
#include "posenc/suite/statistics.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace posenc::check {

using namespace suite;
namespace {

/// The frequency of a pair, if the table shows it and at least 90 % of the sampled entries of its
/// columns fit it.
std::optional<double> shown_frequency(const SampledTable& sample, const TableIdentity& is,
                                      const TablePair& pair) {
  const FrequencyEstimate shown = estimate_of(sample, is.arrangement, pair.k);
  const double frequency = shown.frequency / static_cast<double>(is.step);
  if (!std::isfinite(frequency) || !is.positions.empty()) return {};
  std::size_t near = 0;
  for (const std::int64_t row : sample.rows) {
    for (const std::size_t i : {0, 1}) {
      const double phase = static_cast<double>(is.position(row)) * frequency;
      const double value = is.factor * (pair.to.is_cosine[i] ? std::cos(phase) : std::sin(phase));
      const double limit =
          16 * sample.entry_error + 2 * shown.uncertainty * std::fabs(static_cast<double>(row));
      near += std::fabs(sample.table(row, pair.to.columns[i]) - value) < limit;
    }
  }
  if (10 * near < 9 * 2 * sample.rows.size()) return {};
  return std::fabs(frequency) <= shown.uncertainty ? 0 : frequency;
}

/// The factor by which a column differs from its right values; 0 if there is none, or if it is 1.
double scale_of(const SampledTable& sample, const TableIdentity& is, std::int64_t column,
                double frequency, bool is_cosine) {
  double products = 0, squares = 0, rest = 0;
  std::vector<double> exact;
  for (const std::int64_t row : sample.rows) {
    const double phase = static_cast<double>(is.position(row)) * frequency;
    exact.push_back(is.factor * (is_cosine ? std::cos(phase) : std::sin(phase)));
    products += sample.table(row, column) * exact.back();
    squares += exact.back() * exact.back();
  }
  const double scale = products / squares;
  for (std::size_t i = 0; i < exact.size(); ++i)
    rest = std::max(rest, std::fabs(sample.table(sample.rows[i], column) - scale * exact[i]));
  const double near = 8 * half_ulp_of_one(sample.type) * std::max(1.0, std::fabs(scale));
  return rest <= near && std::fabs(scale - 1) > near ? scale : 0;
}

/// The middle of values that differ by less than the tie; otherwise their range: "0.98 to 1.05".
std::string range_text(const std::vector<double>& values, double tie) {
  const auto [least, most] = std::ranges::minmax(values);
  return most - least < tie ? digits_text(median(values), 6)
                            : format_text("{} to {}", digits_text(least, 4), digits_text(most, 4));
}

/// The cause if all columns that are off are multiplied by one factor.
Cause scaled_cause(const TableIdentity& is, std::int64_t all,
                   const std::vector<std::int64_t>& columns, double factor) {
  std::int64_t cosines = 0, of_columns = 0;
  for (std::int64_t column = 0; column < all; ++column)
    cosines += content_of(is.arrangement, all, column).is_cosine;
  for (const std::int64_t column : columns)
    of_columns += content_of(is.arrangement, all, column).is_cosine;
  const bool is_cosines = of_columns == cosines && of_columns == std::ssize(columns),
             is_sines = of_columns == 0 && std::ssize(columns) == all - cosines;
  const std::string which = is_cosines ? "the cosines are"
                            : is_sines ? "the sines are"
                                       : several_text("column", "columns", columns);
  if (std::fabs(factor + 1) < 1e-6) return {CauseKind::other_arrangement, which + " negated"};
  return {CauseKind::attention_factor,
          format_text("{} multiplied by {}, the others are right", which, digits_text(factor, 6))};
}

}  // namespace

void add_findings(TableReport& report, const SampledTable& sample, const Deviations& off) {
  const TableIdentity& is = report.identity;
  const std::int64_t all = sample.table.columns;
  std::vector<std::int64_t> columns;
  for (std::int64_t column = 0; column < all; ++column)
    if (off.by_column[static_cast<std::size_t>(column)] > 0) columns.push_back(column);
  const std::int64_t right = all - std::ssize(columns);
  if (right > 0)
    report.findings.push_back(format_text("{} off, the other {} {} right",
                                          several_text("column", "columns", columns), right,
                                          right == 1 ? "is" : "are"));
  if (is.axes) return;
  const std::vector<TablePair> pairs = pairs_of_table(is, all);
  const auto pair_in = [&](std::int64_t column) -> const TablePair& {
    return pairs[static_cast<std::size_t>(content_of(is.arrangement, all, column).k)];
  };
  double farthest = 0;
  for (std::int64_t row = 0; row < report.rows; ++row)
    farthest = std::max(farthest, std::fabs(static_cast<double>(is.position(row))));
  if (right > 0 && std::ranges::all_of(columns, [&](std::int64_t column) {
        return farthest * pair_in(column).frequency > 0x1p39;
      })) {
    report.findings.emplace_back(
        "their phases are beyond 2^39 radians, where doubles are too coarse to hold phases");
    return;
  }
  constexpr double scale_tie = 1e-4, ratio_tie = 1e-6;
  std::vector<std::int64_t> scaled, numbers;
  std::vector<double> scales, ratios;
  for (const std::int64_t column : columns) {
    const double scale = scale_of(sample, is, column, pair_in(column).frequency,
                                  content_of(is.arrangement, all, column).is_cosine);
    if (scale == 0) continue;
    scaled.push_back(column);
    scales.push_back(scale);
  }
  if (scaled.size() == columns.size() &&
      std::ranges::max(scales) - std::ranges::min(scales) < scale_tie) {
    report.causes.push_back(scaled_cause(is, all, scaled, median(scales)));
    return;
  }
  if (!scaled.empty())
    report.findings.push_back(several_text("column", "columns", scaled) + " multiplied by " +
                              range_text(scales, scale_tie));
  if (scaled.size() == columns.size()) return;
  double first = 0;
  for (const TablePair& pair : pairs) {
    if (off.by_column[static_cast<std::size_t>(pair.to.columns[0])] == 0 &&
        off.by_column[static_cast<std::size_t>(pair.to.columns[1])] == 0)
      continue;
    const std::optional<double> shown = shown_frequency(sample, is, pair);
    if (!shown || pair.frequency == 0 || !(std::fabs(*shown / pair.frequency - 1) > ratio_tie))
      continue;
    if (numbers.empty()) first = *shown;
    numbers.push_back(pair.k);
    ratios.push_back(*shown / pair.frequency);
  }
  if (numbers.empty()) return;
  if (numbers.size() == 1)
    report.findings.push_back(
        format_text("frequency {} is {}, not {}", numbers.front(), digits_text(first, 6),
                    digits_text(pairs[static_cast<std::size_t>(numbers.front())].frequency, 6)));
  else if (std::ranges::max(ratios) == 0)
    report.findings.push_back(format_text("frequencies {} are 0", numbers_text(numbers)));
  else
    report.findings.push_back(format_text("frequencies {} are those expected times {}",
                                          numbers_text(numbers), range_text(ratios, ratio_tie)));
}

}  // namespace posenc::check
