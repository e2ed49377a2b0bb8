#include "posenc/check/causes.h"

#include "posenc/check/columns.h"
#include "posenc/check/recover.h"
#include "posenc/check/text.h"
#include "posenc/check/ways.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace posenc::check {

using namespace suite;
namespace {

constexpr Noun row_noun = {"row", "rows", {"has other values", "is zero", "has NaN or infinity"}};

/// Pairs of arrangements that are mistaken for each other.
constexpr struct {
  CauseKind kind;
  std::string_view text;
  Arrangement one, other;
} exchanges[] = {
    {CauseKind::exchanged_halves, "the halves are exchanged: ", Arrangement::halves,
     Arrangement::halves_cos_first},
    {CauseKind::exchanged_functions, "sines and cosines are exchanged: ", Arrangement::interleaved,
     Arrangement::interleaved_cos_first},
    {CauseKind::other_arrangement,
     "each column has a frequency of its own, instead of one for a sine and a cosine: ",
     Arrangement::alternating, Arrangement::interleaved}};

using Causes = std::vector<Cause>;

/// The likely reason for the factor of the entries.
std::string factor_text(const TableIdentity& is) {
  const auto d_model = static_cast<double>(is.spec.d_model);
  if (std::fabs(is.factor / std::sqrt(d_model) - 1) < 1e-6)
    return "the square root of d_model, as embeddings are";
  return "as by an attention factor";
}

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
  causes.push_back(
      {CauseKind::attention_factor,
       wanted.factor == 1
           ? format_text("every entry is multiplied by {}, {}", factor, factor_text(is))
           : format_text("the attention factor {} is missing: the factor is {}",
                         digits_text(wanted.factor, 6), factor)});
  return causes;
}

/// Adds the rows that hold no sines, if is_wanted(row).
void add_unset_rows(Causes& causes, const SampledTable& sample, const auto& is_wanted) {
  for (const RowState state : {RowState::zero, RowState::not_finite}) {
    std::vector<std::int64_t> which;
    for (std::int64_t row = 0; row < sample.table.rows; ++row)
      if (sample.states[static_cast<std::size_t>(row)] == state && is_wanted(row))
        which.push_back(row);
    if (!which.empty())
      causes.push_back({CauseKind::unset_rows, fault_text(row_noun, state, which)});
  }
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
  // Largest error of a reproduced entry; 0 if the entry is not off.
  std::vector<double> limits(sample.got.size());
  double all = 0, near = 0, before = 0, after = 0;
  for_each_entry(sample, wanted, sample.rows.size(), [&](const SampledEntry& entry) {
    const double phase = entry.phase(frequencies), off = entry.got - entry.value_at(phase),
                 noise = sample.noise.empty() ? 0 : 6 * sample.noise[entry.index],
                 allowed = allowed_error(sample.type, factor, phase);
    if (std::fabs(off) <= allowed + noise || !std::isfinite(off)) return true;
    limits[entry.index] = 4 * allowed + noise;
    before += off * off;
    return true;
  });
  for_each_entry(sample, found, sample.rows.size(), [&](const SampledEntry& entry) {
    const double limit = limits[entry.index], off = entry.got - way.value(entry);
    if (limit == 0) return true;
    ++all;
    near += std::fabs(off) <= limit;
    after += off * off;
    return true;
  });
  return all > 0 ? Explained{near / all, 1 - after / before} : Explained{};
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
    if (sample.noise.empty() && std::max(each.share, each.explained) < least_explained) continue;
    if (std::ranges::count(causes, each.kind, &Cause::kind) > 0) continue;
    const std::string share =
        format_text(": {} of the entries have these bits", percent_text(each.share));
    causes.push_back({each.kind, each.text + (sample.noise.empty() ? share : "")});
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

std::vector<Cause> unset_rows(const SampledTable& sample) {
  Causes causes;
  add_unset_rows(causes, sample, [](std::int64_t) { return true; });
  return causes;
}

std::vector<Cause> causes_of(const SampledTable& sample, const Deviations& off,
                             const TableReport& report, const std::optional<Hypothesis>& found) {
  Causes causes;
  if (found) causes = causes_of_difference(sample, *found, report.identity);
  // A row of sines alone is zero at position 0.
  const auto is_zero = [&](std::int64_t row) {
    return found && found->is.position(row) == 0 &&
           found->is.arrangement != report.identity.arrangement &&
           !content_of(found->is.arrangement, report.columns, 0).is_cosine &&
           !has_both_functions(found->is.arrangement);
  };
  add_unset_rows(causes, sample, [&](std::int64_t row) {
    return off.by_row[static_cast<std::size_t>(row)] > 0 && !is_zero(row);
  });
  if (!found || !causes.empty()) return causes;
  // If most entries of some rows are off and all other rows are good, the rows hold arbitrary
  // values.
  std::vector<std::int64_t> rows;
  bool are_arbitrary = true;
  for (std::int64_t row = 0; row < report.rows; ++row) {
    const std::int64_t of_row = off.by_row[static_cast<std::size_t>(row)];
    if (of_row > 0) rows.push_back(row);
    are_arbitrary = are_arbitrary && (of_row == 0 || 2 * of_row > sample.table.columns);
  }
  if (are_arbitrary && 2 * rows.size() <= off.by_row.size())
    return {{CauseKind::unset_rows, fault_text(row_noun, RowState::set, rows)}};
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
  const bool is_everywhere =
      2 * std::ranges::count_if(off.by_column, [](std::int64_t each) { return each > 0; }) >
      std::ssize(off.by_column);
  if (ulps <= 1 || ulps > most_ulps || report.errors.error.max_abs > most_spread * most_errors ||
      !is_everywhere)
    return {};
  return {{CauseKind::inexact_functions,
           format_text("phases are exact, and sines and cosines are off by up to {} ulp, as those "
                       "of fast libraries are: {} of the entries are correctly rounded",
                       digits_text(ulps, 3), percent_text(report.errors.error.correctly_rounded))}};
}

}  // namespace posenc::check
