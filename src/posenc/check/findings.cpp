// Finds the columns of a table that are off, and their actual content.
#include "posenc/check/findings.h"

#include "posenc/check/columns.h"
#include "posenc/check/recover.h"
#include "posenc/check/sample.h"
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

/// Finds the actual content of columns of a judged table.
class Findings {
 public:
  Findings(const TableView& table, const TableIdentity& is)
      : sample_(table), table_(table), is_(is), frequencies_(frequencies_of(is.spec)) {}

  /// The frequency of pair k, if the table shows it and at least 90 % of the sampled entries of its
  /// columns fit it.
  std::optional<double> frequency(std::int64_t k) const {
    const std::int64_t numbers[] = {k};
    const FrequencyEstimate shown = estimates_of(sample_, is_.arrangement, numbers).front();
    const double frequency = shown.frequency / static_cast<double>(is_.step);
    if (!std::isfinite(frequency) || !is_.positions.empty()) return {};
    const PairColumns to = pair_columns(is_.arrangement, table_.columns, k);
    std::int64_t rows = 0, near = 0;
    for (const std::int64_t row : scattered(table_.rows, 64)) {
      for (const std::size_t i : {0, 1}) {
        const double phase = static_cast<double>(is_.position(row)) * frequency;
        const double value = is_.factor * (to.is_cosine[i] ? std::cos(phase) : std::sin(phase));
        ++rows;
        const double limit =
            16 * sample_.entry_error + 2 * shown.uncertainty * std::fabs(static_cast<double>(row));
        near += std::fabs(table_(row, to.columns[i]) - value) < limit;
      }
    }
    if (10 * near < 9 * rows) return {};
    return std::fabs(frequency) <= shown.uncertainty ? 0 : frequency;
  }

  double wanted_frequency(std::int64_t k) const {
    return frequencies_[static_cast<std::size_t>(k)];
  }

  /// The factor by which a column differs from its right values; 0 if there is none, or if it is 1.
  double scale(std::int64_t column) const {
    const auto [k, is_cosine] = content_of(is_.arrangement, table_.columns, column);
    double products = 0, squares = 0, rest = 0;
    const std::vector<std::int64_t> rows = scattered(table_.rows, 64);
    std::vector<double> exact;
    for (const std::int64_t row : rows) {
      const double phase = static_cast<double>(is_.position(row)) * wanted_frequency(k);
      exact.push_back(is_.factor * (is_cosine ? std::cos(phase) : std::sin(phase)));
      products += table_(row, column) * exact.back();
      squares += exact.back() * exact.back();
    }
    const double scale = products / squares;
    for (std::size_t i = 0; i < rows.size(); ++i)
      rest = std::max(rest, std::fabs(table_(rows[i], column) - scale * exact[i]));
    const double near = 8 * half_ulp_of_one(sample_.type) * std::max(1.0, std::fabs(scale));
    return rest <= near && std::fabs(scale - 1) > near ? scale : 0;
  }

 private:
  SampledTable sample_;
  const TableView& table_;
  const TableIdentity& is_;
  std::vector<double> frequencies_;
};

/// Adds a finding and returns true if the phases of all columns that are off are too large for
/// doubles, and other columns are right.
bool add_far_phases(TableReport& report, const TableView& table,
                    const std::vector<std::int64_t>& columns) {
  const TableIdentity& is = report.identity;
  const std::vector<double> frequencies = frequencies_of(is.spec);
  double farthest = 0;
  for (std::int64_t row = 0; row < table.rows; ++row)
    farthest = std::max(farthest, std::fabs(static_cast<double>(is.position(row))));
  const bool are_far = std::ranges::all_of(columns, [&](std::int64_t column) {
    const std::int64_t k = content_of(is.arrangement, table.columns, column).k;
    return farthest * frequencies[static_cast<std::size_t>(k)] > 0x1p39;
  });
  if (!are_far || std::ssize(columns) == table.columns) return false;
  report.findings.emplace_back(
      "their phases are beyond 2^39 radians, where doubles are too coarse to hold phases");
  return true;
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

void add_findings(TableReport& report, const TableView& table, const Deviations& off) {
  const TableIdentity& is = report.identity;
  std::vector<std::int64_t> columns, numbers;
  for (std::int64_t column = 0; column < table.columns; ++column)
    if (off.by_column[static_cast<std::size_t>(column)] > 0) columns.push_back(column);
  const std::int64_t right = table.columns - std::ssize(columns);
  if (right > 0)
    report.findings.push_back(format_text("{} off, the other {} {} right",
                                          several_text("column", "columns", columns), right,
                                          right == 1 ? "is" : "are"));
  if (is.axes || is.has_negated_sines) return;
  if (add_far_phases(report, table, columns)) return;
  const Findings found(table, is);
  std::vector<std::int64_t> scaled;
  std::vector<double> scales;
  for (const std::int64_t column : columns) {
    const double scale = found.scale(column);
    if (scale == 0) continue;
    scaled.push_back(column);
    scales.push_back(scale);
  }
  if (scaled.size() == columns.size()) {
    const auto [least, most] = std::ranges::minmax(scales);
    if (most - least < 1e-4) {
      report.causes.push_back(scaled_cause(is, table.columns, scaled, median(scales)));
      return;
    }
  }
  if (!scaled.empty()) {
    const auto [least, most] = std::ranges::minmax(scales);
    report.findings.push_back(several_text("column", "columns", scaled) + " multiplied by " +
                              (most - least < 1e-4 ? digits_text(median(scales), 6)
                                                   : format_text("{} to {}", digits_text(least, 6),
                                                                 digits_text(most, 6))));
    if (scaled.size() == columns.size()) return;
  }
  for (const std::int64_t column : columns)
    numbers.push_back(content_of(is.arrangement, table.columns, column).k);
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::vector<std::int64_t> other;
  std::vector<double> ratios;
  double first = 0;
  for (const std::int64_t k : numbers) {
    const double wanted = found.wanted_frequency(k);
    const std::optional<double> frequency = found.frequency(k);
    if (!frequency || wanted == 0 || !(std::fabs(*frequency / wanted - 1) > 1e-6)) continue;
    if (other.empty()) first = *frequency;
    other.push_back(k);
    ratios.push_back(*frequency / wanted);
  }
  if (other.empty()) return;
  const auto [least, most] = std::ranges::minmax(ratios);
  if (other.size() > 1 && most == 0)
    report.findings.push_back(format_text("frequencies {} are 0", numbers_text(other)));
  else if (other.size() == 1)
    report.findings.push_back(format_text("frequency {} is {}, not {}", other.front(),
                                          digits_text(first, 6),
                                          digits_text(found.wanted_frequency(other.front()), 6)));
  else
    report.findings.push_back(
        format_text("frequencies {} are those expected times {}", numbers_text(other),
                    most - least < 1e-6 * most
                        ? digits_text(most, 6)
                        : format_text("{} to {}", digits_text(least, 4), digits_text(most, 4))));
}

}  // namespace posenc::check
