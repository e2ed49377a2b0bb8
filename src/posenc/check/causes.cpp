#include "posenc/check/causes.h"

#include "posenc/check/columns.h"
#include "posenc/check/recover.h"
#include "posenc/check/text.h"
#include "posenc/check/ways.h"
#include "posenc/suite/statistics.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

namespace posenc::check {
inline namespace internals {

using namespace suite;
namespace {

/// Pairs of arrangements that are mistaken for each other.
constexpr struct {
  CauseKind kind;
  std::string_view text;
  Arrangement one, other;
} exchanges[] = {{CauseKind::exchanged_halves, "the halves are exchanged: ", Arrangement::halves,
                  Arrangement::halves_cos_first},
                 {CauseKind::exchanged_functions, "sines and cosines are exchanged: ",
                  Arrangement::interleaved, Arrangement::interleaved_cos_first},
                 {CauseKind::other_arrangement,
                  "each column has its own frequency, but a sine and a cosine should share one: ",
                  Arrangement::alternating, Arrangement::interleaved}};

using Causes = std::vector<Cause>;

/// The differences between the table and the wanted identity.
Causes differences(const Hypothesis& found, const TableIdentity& wanted, std::int64_t rows) {
  Causes causes;
  const TableIdentity& is = found.is;
  const auto differ = [&](CauseKind kind, std::string_view what, const auto& one,
                          const auto& other) {
    if (one != other) causes.push_back({kind, format_text("{} {}, not {}", what, one, other)});
  };
  auto kind = CauseKind::other_arrangement;
  std::string_view exchange;
  for (const auto& each : exchanges) {
    if (std::minmax(is.arrangement, wanted.arrangement) != std::minmax(each.one, each.other))
      continue;
    kind = each.kind;
    exchange = each.text;
  }
  differ(kind, std::string(exchange) + "the table is", to_string(is.arrangement),
         to_string(wanted.arrangement));
  if (is.has_negated_sines) causes.push_back({CauseKind::negated_sines, "the sines are negated"});
  if (is.step != wanted.step || is.positions != wanted.positions) {
    differ(CauseKind::shifted_rows, "the positions are", positions_text(is, rows),
           positions_text(wanted, rows));
  } else if (is.positions.empty()) {
    differ(CauseKind::shifted_rows, "the first row is position", is.first, wanted.first);
  }
  if (!found.mistake.empty()) {
    causes.push_back({CauseKind::other_rule, found.mistake});
  } else if (is.spec.d_model == wanted.spec.d_model &&
             !std::ranges::equal(
                 frequencies_of(is.spec), frequencies_of(wanted.spec),
                 [](double x, double y) { return std::fabs(x - y) <= 1e-12 * std::fabs(x); })) {
    differ(CauseKind::other_base, "the base is", digits_text(shown_spec(is).base, 6),
           digits_text(shown_spec(wanted).base, 6));
    differ(CauseKind::other_spacing, "the spacing is", to_string(is.spec.spacing),
           to_string(wanted.spec.spacing));
    const std::string rule = rule_text(is.spec.frequencies),
                      wanted_rule = rule_text(wanted.spec.frequencies);
    if (is_base(is.spec.frequencies) && rule != wanted_rule) {
      causes.push_back(
          {CauseKind::other_rule,
           format_text("the rule {} is missing: frequencies are those of the base", wanted_rule)});
    } else {
      differ(CauseKind::other_rule, "the rule of frequencies is", rule, wanted_rule);
    }
  }
  if (is.factor == wanted.factor) return causes;
  const std::string factor = digits_text(is.factor, 6);
  const bool is_root = std::fabs(is.factor / std::sqrt(is.spec.d_model) - 1) < 1e-6;
  causes.push_back({CauseKind::attention_factor,
                    wanted.factor != 1
                        ? format_text("the attention factor is {}, not {}", factor,
                                      digits_text(wanted.factor, 6))
                        : format_text("every entry is multiplied by {}, {}", factor,
                                      is_root ? "the square root of d_model, as embeddings are"
                                              : "perhaps an attention factor")});
  return causes;
}

/// The part of the sampled errors that a cause explains. Errors are measured from the wanted table.
struct Explained {
  double entries = 1;  ///< share of the entries that are off and that the found table reproduces
  double squares = 1;  ///< share of the sum of their squared errors that disappears
};

/// Compares the sample with the found table, computed in this way. An entry counts as reproduced
/// within four times its allowed error, because sines of libraries differ by an ulp or two.
Explained explained_by(const SampledTable& sample, const TableIdentity& found, const Way& way,
                       const TableIdentity& wanted) {
  const std::vector<double> frequencies = frequencies_of(wanted.spec);
  const double factor = std::max(found.factor, wanted.factor);
  const std::size_t columns = sample.columns.size();
  double all = 0, near = 0, before = 0, after = 0;
  for_each_entry(sample, wanted, sample.rows.size(), [&](const SampledEntry& entry) {
    const double phase = entry.phase(frequencies), off = entry.got - entry.value_at(phase),
                 noise = sample.noise_limit(entry.index),
                 allowed = allowed_error(sample.type, factor, phase);
    if (std::fabs(off) <= allowed + noise || !std::isfinite(off)) return true;
    const double rest = entry.got - way.value(entry_of(sample, found, entry.index / columns,
                                                       entry.index % columns));
    ++all;
    before += off * off;
    near += std::fabs(rest) <= 4 * allowed + noise;
    after += rest * rest;
    return true;
  });
  return all > 0 ? Explained{near / all, 1 - after / before} : Explained{};
}

// Columns that are off, and their actual content.

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
      const double value = is.factor * wave(pair.to.is_cosine[i], phase);
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
    exact.push_back(is.factor * wave(is_cosine, phase));
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

/// The rows or columns that have entries that are off.
std::vector<std::int64_t> which_are_off(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> which;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) which.push_back(static_cast<std::int64_t>(i));
  return which;
}

/// The cause if all columns that are off are multiplied by one factor.
Cause scaled_cause(const TableIdentity& is, std::int64_t all,
                   const std::vector<std::int64_t>& columns, double factor) {
  std::vector<std::int64_t> cosines, sines;
  for (std::int64_t column = 0; column < all; ++column)
    (content_of(is.arrangement, all, column).is_cosine ? cosines : sines).push_back(column);
  const bool is_negated = std::fabs(factor + 1) < 1e-6;
  const std::string fault =
      is_negated ? "is negated"
                 : format_text("is multiplied by {}, the others are right", digits_text(factor, 6));
  return {is_negated ? CauseKind::other_arrangement : CauseKind::attention_factor,
          columns == cosines ? "the cosines are" + fault.substr(2)
          : columns == sines ? "the sines are" + fault.substr(2)
                             : fault_text(column_noun, columns, fault)};
}

}  // namespace

std::vector<Cause> causes_of_difference(const SampledTable& sample, const Hypothesis& found,
                                        const TableIdentity& wanted) {
  constexpr double least_explained = 0.5, most_squares = 0.9, nearly_all = 0.995;
  Causes causes = differences(found, wanted, sample.table.rows);
  const std::vector<Way> ways = explain(sample, found.is, sample.rows.size(), true);
  if (!causes.empty() && ways.front().kind != CauseKind::row_recurrence) {
    const Explained by = explained_by(sample, found.is, ways.front(), wanted);
    if (by.entries < least_explained && by.squares < most_squares) return {};
    if (by.entries < nearly_all)
      causes.back().text +=
          format_text(", which explains {} of the squared errors", percent_text(by.squares));
  }
  const auto first = static_cast<std::ptrdiff_t>(causes.size());
  for (const Way& each : ways) {
    if (ways.front().is_exact || each.is_exact) continue;
    // The table was not computed in a way that neither reproduces most entries bit for bit nor
    // explains most of the entries that are off.
    // Most measured entries are within their noise, so that only `explained` counts.
    const double share = sample.noise.empty() ? each.share : 0;
    if (std::max(share, each.explained) < least_explained) continue;
    if (std::ranges::count(causes, each.kind, &Cause::kind) > 0) continue;
    causes.push_back(
        {each.kind, each.text + (sample.noise.empty()
                                     ? format_text(": {} of the entries agree bit for bit",
                                                   percent_text(each.share))
                                     : format_text(", which explains {} of the entries that are "
                                                   "off",
                                                   percent_text(each.explained)))});
  }
  for (auto each = causes.begin() + first; each != causes.end(); ++each)
    each->is_rival = std::ssize(causes) > first + 1;
  if (sample.type == sample.table.type) return causes;
  causes.insert(causes.begin() + first,
                {CauseKind::narrow_entries,
                 format_text("entries are {} values in a table of {}{}", to_string(sample.type),
                             to_string(sample.table.type),
                             ways.front().entry == Rounding::truncated ? ", truncated" : "")});
  return causes;
}

std::vector<Cause> unset_rows(const SampledTable& sample,
                              const std::function<bool(std::int64_t)>& is_wanted) {
  Causes causes;
  for (const auto& [state, fault] :
       {std::pair(RowState::zero, "is zero"), {RowState::not_finite, "has NaN or infinity"}}) {
    std::vector<std::int64_t> which;
    for (std::int64_t row = 0; row < sample.table.rows; ++row)
      if (sample.states[static_cast<std::size_t>(row)] == state && is_wanted(row))
        which.push_back(row);
    if (!which.empty())
      causes.push_back({CauseKind::unset_rows, fault_text(row_noun, which, fault)});
  }
  return causes;
}

std::vector<Cause> causes_of(const SampledTable& sample, const Deviations& off,
                             const TableReport& report, const std::optional<Hypothesis>& found) {
  Causes causes;
  if (found) causes = causes_of_difference(sample, *found, report.identity);
  // A row of sines alone is zero at position 0.
  const auto is_zero = [&](std::int64_t row) {
    return found && found->is.position(row) == 0 &&
           !content_of(found->is.arrangement, report.columns, 0).is_cosine &&
           !has_both_functions(found->is.arrangement);
  };
  std::ranges::copy(unset_rows(sample,
                               [&](std::int64_t row) {
                                 return off.by_row[static_cast<std::size_t>(row)] > 0 &&
                                        !is_zero(row);
                               }),
                    std::back_inserter(causes));
  if (!found || !causes.empty()) return causes;
  // If most entries of some rows are off and all other rows are good, the rows hold arbitrary
  // values.
  const std::vector<std::int64_t> rows = which_are_off(off.by_row);
  const bool are_arbitrary = std::ranges::all_of(off.by_row, [&](std::int64_t of_row) {
    return of_row == 0 || 2 * of_row > sample.table.columns;
  });
  if (are_arbitrary && 2 * rows.size() <= off.by_row.size())
    return {{CauseKind::unset_rows, fault_text(row_noun, rows, "has other values")}};
  if (const double step = quantum_of(sample); step > 0 && report.errors.error.max_abs <= step) {
    return {{CauseKind::narrow_entries,
             format_text("entries are multiples of {}: they were rounded to steps of that size",
                         step < 0.5 && std::round(1 / step) * step == 1
                             ? "1/" + digits_text(std::round(1 / step), 6)
                             : digits_text(step, 6))}};
  }
  constexpr std::size_t of_most = 2;  // index of the quantile 0.99
  // A fast library is off by some ulp everywhere. Errors that are far larger, or that occur only in
  // some columns, have another cause.
  constexpr double most_ulps = 64, most_spread = 8;
  const double most_errors = report.errors.quantiles[of_most].abs_error,
               ulps = most_errors / (2 * half_ulp_of_one(report.type));
  const bool is_everywhere = 2 * which_are_off(off.by_column).size() > off.by_column.size();
  if (ulps <= 1 || ulps > most_ulps || report.errors.error.max_abs > most_spread * most_errors ||
      !is_everywhere)
    return {};
  return {{CauseKind::inexact_functions,
           format_text("phases are exact, but sines and cosines are off by up to {} ulp, as in "
                       "fast math libraries: {} of the entries are correctly rounded",
                       digits_text(ulps, 3), percent_text(report.errors.error.correctly_rounded))}};
}

void add_findings(TableReport& report, const SampledTable& sample, const Deviations& off) {
  const TableIdentity& is = report.identity;
  const std::int64_t all = sample.table.columns;
  const std::vector<std::int64_t> columns = which_are_off(off.by_column);
  const std::int64_t right = all - std::ssize(columns);
  if (right > 0)
    report.findings.push_back(format_text("{}, the other {} {} right",
                                          fault_text(column_noun, columns, "is off"), right,
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
        "the phases of these columns are beyond 2^39 radians, where doubles are too coarse to hold "
        "phases");
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
    report.findings.push_back(
        fault_text(column_noun, scaled, "is multiplied by " + range_text(scales, scale_tie)));
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
  const std::string fault =
      numbers.size() == 1
          ? format_text("is {}, not {}", digits_text(first, 6),
                        digits_text(pairs[static_cast<std::size_t>(numbers[0])].frequency, 6))
      : std::ranges::max(ratios) == 0 ? "is 0"
                                      : "is multiplied by " + range_text(ratios, ratio_tie);
  report.findings.push_back(fault_text(frequency_noun, numbers, fault));
}

}  // namespace internals
}  // namespace posenc::check
