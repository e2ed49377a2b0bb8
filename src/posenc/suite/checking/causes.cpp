#include "posenc/suite/checking/causes.h"

#include "posenc/support/format.h"
#include "posenc/support/parse_real.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace posenc::suite {
namespace {

std::string percent_text(double share) { return digits_text(100 * share, 3) + " %"; }

/// Without the attention factor 0, which stands for the rule's own.
std::string rule_text(const FrequencyRule& rule) {
  std::string text = to_string(rule);
  constexpr std::string_view own = ",attention_factor=0";
  if (text.ends_with(own)) text.resize(text.size() - own.size());
  return text;
}

constexpr Noun row_noun = {"row", "rows", {"has other values", "is zero", "has NaN or infinity"}};

/// "0 .. 299", "0, 3 .. 897", "0 .. 299, 0 .. 199", "0, 0, 1, 1, 2, 2, ..."
std::string positions_text(const TableIdentity& is, std::int64_t rows) {
  const std::int64_t last = is.position(rows - 1);
  if (is.positions.empty() && rows > 2 && std::abs(is.step) != 1)
    return format_text("{}, {} .. {}", is.first, is.first + is.step, last);
  std::vector<std::string> parts;
  constexpr std::size_t most_parts = 6;
  for (std::int64_t row = 0; row < rows;) {
    if (parts.size() == most_parts) return join(parts, ", ") + ", ...";
    const std::int64_t first = is.position(row);
    const std::int64_t step = row + 1 < rows ? is.position(row + 1) - first : 0;
    std::int64_t end = row + 1;  // of a run
    while (std::abs(step) == 1 && end < rows && is.position(end) - is.position(end - 1) == step)
      ++end;
    const bool is_run = end > row + 2 || end == rows;
    if (!is_run) end = row + 1;
    parts.push_back(end == row + 1 ? format_text("{}", first)
                                   : format_text("{} .. {}", first, is.position(end - 1)));
    row = end;
  }
  return join(parts, ", ");
}

/// An arrangement in place of another one.
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

/// ", axes mae on a grid of 14 x 14", ", 3 axes"
std::string axes_text(const TableAxes& axes) {
  if (axes.name.empty()) return format_text(", {} axes", axes.spec.axes());
  const auto& [time, height, width] = axes.grid;
  return format_text(", axes of {} on a grid of {}{} x {}", axes.name,
                     time == 1 ? "" : format_text("{} x ", time), height, width);
}

/// Why entries may be multiplied by that factor.
std::string factor_text(const TableIdentity& is) {
  const auto d_model = static_cast<double>(is.spec.d_model);
  if (std::fabs(is.factor / std::sqrt(d_model) - 1) < 1e-6)
    return "the square root of d_model, as embeddings are";
  return "as by an attention factor";
}

/// What the table is, and should not be.
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

/// Adds rows that hold no sines, of those for which is_wanted(row).
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

/// What a cause explains of the sampled entries that are off from what is wanted.
struct Explained {
  double entries = 1;  ///< the share of them that are what was found, computed in that way
  double squares = 1;  ///< of the sum of their squared errors, what is gone
};

/// Sines of libraries differ by an ulp or two.
Explained explained_by(const SampledTable& sample, const TableIdentity& found, const Way& way,
                       const TableIdentity& wanted) {
  const std::vector<double> frequencies = frequencies_of(wanted.spec);
  const double factor = std::max(found.factor, wanted.factor);
  std::vector<double> limits(sample.got.size());  // what is near, of the entries that are off
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

EncodingSpec shown_spec(const TableIdentity& is) {
  EncodingSpec spec = is.spec;
  if (is.odd_width == 0) return spec;
  const auto width = static_cast<double>(is.odd_width);
  spec.d_model = is.odd_width;
  if (spec.spacing == Spacing::paper) spec.base = std::pow(spec.base, width / (width + 1));
  // Powers and roots are rounded: a base of few digits is meant.
  const double few_digits = parse_real(digits_text(spec.base, 12)).value_or(spec.base);
  if (std::fabs(few_digits / spec.base - 1) < 1e-14) spec.base = few_digits;
  return spec;
}

std::string error_text(double error) {
  return digits_text(error, 2, std::chars_format::scientific);
}

std::string convention_text(const EncodingSpec& spec) {
  const std::string text =
      format_text("base {}, spacing {}", digits_text(spec.base, 6), to_string(spec.spacing));
  return is_base(spec.frequencies) ? text : text + ", frequencies " + rule_text(spec.frequencies);
}

std::string fault_text(const Noun& noun, RowState state, const std::vector<std::int64_t>& which) {
  const std::string_view fault = noun.faults[static_cast<std::size_t>(state)];
  const std::int64_t first = which.front();
  if (which.size() == 1) return format_text("{} {} {}", noun.one, first, fault);
  const std::string faults =
      (fault.starts_with("is") ? "are" : "have") + std::string(fault.substr(fault.find(' ')));
  if (which.back() - first + 1 == std::ssize(which))
    return format_text("{} {} .. {} {}", noun.several, first, which.back(), faults);
  return format_text("{} {} {}, the first is {} {}", which.size(), noun.several, faults, noun.one,
                     first);
}

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
    // A way that neither has the bits of most entries, nor explains most of what is off, is not how
    // the table was computed.
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
                             const CheckReport& report, const std::optional<Hypothesis>& found) {
  Causes causes;
  if (found) causes = causes_of_difference(sample, *found, report.identity);
  // Sines alone are zero at position 0.
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
  // Rows of which most entries are off, in a table whose other rows are good.
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
  constexpr std::size_t of_most = 2;  // the quantile 0.99
  // A fast library is off by some ulp everywhere. What is off by far more, or only here and there,
  // is something else.
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

std::string verdict_text(const CheckReport& report) {
  if (!report.is_identified)
    return "not recognised: no convention that posenc knows agrees with most of the entries";
  if (report.is_good) {
    return format_text("good: every entry is within {} of its exact value, the largest error is {}",
                       bound_text(report.allowed_error), error_text(report.errors.error.max_abs));
  }
  const double share =
      static_cast<double>(report.entries_off) / static_cast<double>(report.errors.entries);
  return format_text("wrong: {} of the entries are off by more than {}, {}", percent_text(share),
                     bound_text(report.allowed_error),
                     report.errors.error.max_abs >= largest_error
                         ? "some are NaN or beyond any sine"
                         : "by up to " + error_text(report.errors.error.max_abs));
}

std::string identity_text(const CheckReport& report) {
  const TableIdentity& is = report.identity;
  std::string text =
      format_text("{} x {} of {}", report.rows, report.columns, to_string(report.type));
  if (!report.is_identified) return text;
  if (is.axes) {
    text += ", " + std::string(to_string(is.arrangement)) + axes_text(*is.axes);
    if (is.padding_row) text += format_text(", row {} is a class token", *is.padding_row);
    return text;
  }
  text += format_text(", {}, positions {}, {}", to_string(is.arrangement),
                      positions_text(is, report.rows), convention_text(shown_spec(is)));
  if (is.odd_width > 0) text += format_text(", odd width {}", is.odd_width);
  if (is.factor != 1) text += format_text(", times {}", digits_text(is.factor, 6));
  if (is.has_zero_column) text += ", the last column is zeros";
  if (is.padding_row) text += format_text(", row {} is padding", *is.padding_row);
  constexpr std::size_t most_shown = 4;
  if (!is.presets.empty()) {
    const std::span shown(is.presets.data(), std::min(is.presets.size(), most_shown));
    text += format_text(" ({} {}{})", shown.size() == 1 ? "preset" : "presets", join(shown, ", "),
                        is.presets.size() > most_shown ? ", ..." : "");
  }
  return text;
}

std::string cause_text(const CheckReport& report) {
  return report.is_good ? "cause: none, the table is good" : cause_text(report.causes);
}

std::string cause_text(const std::vector<Cause>& causes) {
  std::string text;
  for (const Cause& each : causes) {
    const bool follows_rival = each.is_rival && text.size() > 0 && (&each - 1)->is_rival;
    text += (text.empty() ? "" : follows_rival ? "; or, as likely: " : "; and ") + each.text;
  }
  return "cause: " + (text.empty() ? "not recognised" : text);
}

std::string to_string(const CheckReport& report) {
  return verdict_text(report) + "\n" + identity_text(report) + "\n" + cause_text(report) +
         findings_text(report.findings);
}

}  // namespace posenc::suite
