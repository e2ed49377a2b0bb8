#include "posenc/suite/checking/check.h"

#include "posenc/presets.h"
#include "posenc/suite/checking/exact_entries.h"
#include "posenc/suite/checking/identify.h"
#include "posenc/support/check.h"
#include "posenc/support/enum_names.h"
#include "posenc/support/format.h"
#include "posenc/support/frequency_parameters.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace posenc::suite {
namespace {

constexpr auto arrangement_names = enum_names<Arrangement>(
    "arrangement", "interleaved", "halves", "halves_cos_first", "interleaved_cos_first", "cosines",
    "sines", "cosines_twice", "sines_twice", "cosines_repeated", "sines_repeated", "alternating");
static_assert(arrangement_names.names.size() == std::size(all_arrangements));
static_assert(static_cast<int>(Layout::halves_cos_first) ==
              static_cast<int>(Arrangement::halves_cos_first));

constexpr auto cause_names = enum_names<CauseKind>(
    "cause", "float32_phases", "channel_recurrence", "row_recurrence", "narrow_frequencies",
    "narrow_positions", "narrow_phases", "narrow_entries", "exchanged_halves",
    "exchanged_functions", "other_arrangement", "other_axis", "negated_sines", "shifted_rows",
    "other_base", "other_spacing", "other_rule", "attention_factor", "inexact_functions",
    "unset_rows");

/// The spec with the table's d_model, if it names none.
EncodingSpec expected_spec(const TableView& table, const EncodingSpec& wanted,
                           Arrangement arrangement) {
  EncodingSpec spec = wanted;
  if (spec.d_model == 0) spec.d_model = 2 * frequencies_in(arrangement, table.columns);
  if (spec.d_model == 0)
    throw_invalid("table has {} columns; allowed with sines and cosines: an even number",
                  table.columns);
  validate(spec);
  if (table.columns != spec.d_model && 2 * table.columns != spec.d_model)
    throw_invalid(
        "table has {} columns; allowed with d_model {}: {}, or {} with cosines or sines alone",
        table.columns, spec.d_model, spec.d_model, spec.d_model / 2);
  return spec;
}

/// The same cosines or sines for the other pairs of channels: once in each half, or side by side.
Arrangement paired_otherwise(Arrangement arrangement) {
  switch (arrangement) {
    case Arrangement::cosines_twice: return Arrangement::cosines_repeated;
    case Arrangement::sines_twice: return Arrangement::sines_repeated;
    case Arrangement::cosines_repeated: return Arrangement::cosines_twice;
    case Arrangement::sines_repeated: return Arrangement::sines_twice;
    default: return arrangement;
  }
}

/// What the table is judged as: what is claimed, and what is found otherwise.
TableIdentity judged_identity(const TableView& table, const CheckOptions& options,
                              const std::optional<Hypothesis>& found) {
  TableIdentity identity = found ? found->is : TableIdentity{};
  if (found && !found->mistake.empty()) identity.spec = found->intended;
  // No convention has columns of one frequency each, negated sines, or another factor.
  if (identity.arrangement == Arrangement::alternating) {
    identity.arrangement = Arrangement::interleaved;
    identity.spec.d_model = table.columns;
  }
  identity.has_negated_sines = false;
  if (options.spec && !found && 2 * table.columns == options.spec->d_model)
    identity.arrangement = Arrangement::cosines;
  if (!options.arrangements.empty() &&
      std::ranges::count(options.arrangements, identity.arrangement) == 0)
    identity.arrangement = options.arrangements.front();
  if (std::ranges::count(options.excluded, identity.arrangement) > 0)
    identity.arrangement = paired_otherwise(identity.arrangement);
  if (options.first || identity.step != 1) identity.positions.clear();
  if (options.first) {
    identity.first = *options.first;
    identity.step = 1;
  }
  if (!options.positions.empty()) identity.positions = options.positions;
  if (options.spec) identity.spec = expected_spec(table, *options.spec, identity.arrangement);
  const double factor = options.factor.value_or(attention_factor(identity.spec.frequencies));
  identity.factor = factor > 0 ? factor : 1;
  return identity;
}

/// Judges the table as the report's identity says, and fills in the report. Of each row: the
/// entries beyond what is good.
std::vector<std::int64_t> judge(CheckReport& report, const TableView& table,
                                const CheckOptions& options) {
  const TableIdentity& is = report.identity;
  const auto limit_at = [&](std::int64_t position) {
    return options.max_error ? *options.max_error : allowed_error(table.type, is.factor, position);
  };
  const Reference reference(is.spec);
  std::vector<std::int64_t> off(static_cast<std::size_t>(table.rows));
  const std::int64_t parts = tally_parts(table.rows, options.threads);
  std::vector<Tally> tallies(static_cast<std::size_t>(parts), Tally(table.columns));
  parallel_for(parts, 1, options.threads, [&](std::int64_t first, std::int64_t last, int) {
    std::vector<ExactEntry> exact(static_cast<std::size_t>(table.columns));
    std::vector<double> got(exact.size());
    for (std::int64_t part = first; part < last; ++part) {
      const std::int64_t end = part_begin(table.rows, parts, part + 1);
      for (std::int64_t row = part_begin(table.rows, parts, part); row < end; ++row) {
        if (row == is.padding_row) continue;
        const std::int64_t position = is.position(row);
        const double limit = limit_at(position);
        fill_exact_row(reference, is.arrangement, is.factor, table.type, position, exact);
        for (std::size_t column = 0; column < got.size(); ++column) {
          got[column] = table(row, static_cast<std::int64_t>(column));
          off[static_cast<std::size_t>(row)] +=
              !(distance(got[column], exact[column].high, exact[column].low) <= limit);
        }
        compare_row(position, exact, got.data(), tallies[static_cast<std::size_t>(part)]);
      }
    }
  });
  for (std::size_t part = 1; part < tallies.size(); ++part) tallies[0].merge(tallies[part]);
  std::int64_t least = is.position(0), most = least;
  for (std::int64_t row = 0; row < table.rows; ++row) {
    least = std::min(least, is.position(row));
    most = std::max(most, is.position(row));
    report.entries_off += off[static_cast<std::size_t>(row)];
  }
  report.errors.backend = "table";
  report.errors.table.spec = is.spec;
  set_errors(report.errors, {least, most - least + 1}, table.type, tallies[0]);
  report.allowed_error = std::max(limit_at(least), limit_at(most));
  report.is_good = report.entries_off == 0;
  return off;
}

/// fairseq, and the models of Transformers that follow it, zero the row of their padding index,
/// which is 0 or 1. Their tables have halves and inclusive spacing; in no other convention, a row
/// of zeros is right.
std::optional<std::int64_t> padding_row(const SampledTable& sample, const TableIdentity& is) {
  const bool may_have_padding = is.arrangement == Arrangement::halves &&
                                is.spec.spacing == Spacing::inclusive &&
                                is_base(is.spec.frequencies);
  if (!may_have_padding) return {};
  if (std::ranges::count(sample.states, RowState::zero) != 1) return {};
  constexpr std::int64_t last_padding = 2;
  const auto found = std::ranges::find(sample.states, RowState::zero) - sample.states.begin();
  if (found > last_padding || sample.states.size() < 4) return {};
  return found;
}

std::vector<std::string> presets_like(const TableIdentity& identity) {
  std::vector<std::string> same_size, others;
  if (identity.factor != 1 || identity.step != 1 || !identity.positions.empty()) return {};
  for (const Preset& each : presets()) {
    EncodingSpec spec = each.spec;
    if (arrangement_of(spec.layout) != identity.arrangement || each.rows.first != identity.first)
      continue;
    const bool has_same_size = spec.d_model == identity.spec.d_model;
    spec.d_model = identity.spec.d_model;
    spec.layout = identity.spec.layout;
    if (spec == identity.spec) (has_same_size ? same_size : others).emplace_back(each.name);
  }
  return same_size.empty() ? others : same_size;
}

std::string percent_text(double share) { return digits_text(100 * share, 3) + " %"; }

/// "1", "2.98e-08"
std::string error_text(double error) {
  return digits_text(error, 2, std::chars_format::scientific);
}

std::string convention_text(const EncodingSpec& spec) {
  const std::string text =
      format_text("base {}, spacing {}", digits_text(spec.base, 6), to_string(spec.spacing));
  return is_base(spec.frequencies) ? text : text + ", frequencies " + to_string(spec.frequencies);
}

/// What may be off, and how, by its RowState.
struct Noun {
  std::string_view one, several;
  std::string_view faults[3];
};
constexpr Noun row_noun = {"row", "rows", {"has other values", "is zero", "has NaN or infinity"}};
constexpr Noun frequency_noun = {
    "frequency", "frequencies", {"has other values", "is zero or nearly", "is NaN or infinite"}};

/// "row 7 is zero", "rows 7 .. 12 are zero", "20 rows are zero, the first is row 7".
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

/// "0 .. 299", "0, 3 .. 897", "0 .. 299, 0 .. 199", "0, 0, 1, 1, 2, 2, ..."
std::string positions_text(const TableIdentity& is, std::int64_t rows) {
  std::vector<std::string> runs, first_rows;
  for (std::int64_t row = 0, start = 0; row < rows; ++row) {
    const std::int64_t first = is.position(start), last = is.position(row);
    if (row < 6) first_rows.push_back(format_text("{}", last));
    if (row + 1 < rows && is.position(row + 1) == last + is.step) continue;
    runs.push_back(std::abs(is.step) == 1
                       ? format_text("{} .. {}", first, last)
                       : format_text("{}, {} .. {}", first, first + is.step, last));
    start = row + 1;
    constexpr std::size_t most_runs = 4;
    if (runs.size() > most_runs) return join(first_rows, ", ") + ", ...";
  }
  return join(runs, ", ");
}

/// A last column of zeros, beside pairs: tables of odd widths have it.
bool has_zero_column(const TableView& table) noexcept {
  if (table.columns % 2 == 0 || table.columns < 3) return false;
  for (std::int64_t row = 0; row < table.rows; ++row)
    if (table(row, table.columns - 1) != 0) return false;
  return true;
}

/// A reading of the table by columns, or by every other row, that explains nearly all of it: the
/// mistake of the table. Wrong readings of a table were seen to explain up to 0.52 of it, and true
/// ones explain nearly 1. No such reading is looked for if the rows explain more than half.
std::optional<Hypothesis> other_reading(const TableView& table, double explained) {
  constexpr double least_explained = 0.9;
  if (explained > 0.5) return {};
  TableView transposed = table, even = table;
  std::swap(transposed.rows, transposed.columns);
  std::swap(transposed.row_stride, transposed.column_stride);
  even.rows = (table.rows + 1) / 2;
  even.row_stride *= 2;
  auto found = identify(SampledTable(transposed), {});
  if (found && found->explained >= least_explained) {
    found->mistake = "the table is transposed: its columns are the positions";
    return found;
  }
  found = identify(SampledTable(even), {});
  if (!found || found->explained < least_explained || has_both_functions(found->is.arrangement))
    return {};
  found->mistake = format_text("rows are sines and cosines by turns, not columns: even rows are {}",
                               to_string(found->is.arrangement));
  return found;
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
    differ(CauseKind::other_base, "the base is", digits_text(is.spec.base, 6),
           digits_text(wanted.spec.base, 6));
    differ(CauseKind::other_spacing, "the spacing is", to_string(is.spec.spacing),
           to_string(wanted.spec.spacing));
    const std::string rule = to_string(is.spec.frequencies),
                      wanted_rule = to_string(wanted.spec.frequencies);
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
           ? format_text("every entry is multiplied by {}, as by an attention factor", factor)
           : format_text("the attention factor {} is missing: the factor is {}",
                         digits_text(wanted.factor, 6), factor)});
  return causes;
}

/// Rows that hold no sines, of those for which is_wanted(row).
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

Causes causes_of(const SampledTable& sample, const std::vector<std::int64_t>& off,
                 const CheckReport& report, const std::optional<Hypothesis>& found) {
  Causes causes;
  if (found) causes = causes_of_difference(sample, *found, report.identity);
  add_unset_rows(causes, sample,
                 [&](std::int64_t row) { return off[static_cast<std::size_t>(row)] > 0; });
  if (!found || !causes.empty()) return causes;
  // Rows of which most entries are off, in a table whose other rows are good.
  std::vector<std::int64_t> rows;
  bool are_arbitrary = true;
  for (std::int64_t row = 0; row < report.rows; ++row) {
    const std::int64_t of_row = off[static_cast<std::size_t>(row)];
    if (of_row > 0) rows.push_back(row);
    are_arbitrary = are_arbitrary && (of_row == 0 || 2 * of_row > sample.table.columns);
  }
  if (are_arbitrary && 2 * rows.size() <= off.size())
    return {{CauseKind::unset_rows, fault_text(row_noun, RowState::set, rows)}};
  constexpr std::size_t of_most = 2;  // the quantile 0.99
  // A fast library is off by some ulp everywhere. What is off by far more, or only here and there,
  // is something else.
  constexpr double most_ulps = 64, most_spread = 8;
  const double most_errors = report.errors.quantiles[of_most].abs_error,
               ulps = most_errors / (2 * half_ulp_of_one(report.type));
  if (ulps <= 1 || ulps > most_ulps || report.errors.error.max_abs > most_spread * most_errors)
    return {};
  return {{CauseKind::inexact_functions,
           format_text("phases are exact, and sines and cosines are off by up to {} ulp, as those "
                       "of fast libraries are: {} of the entries are correctly rounded",
                       digits_text(ulps, 3), percent_text(report.errors.error.correctly_rounded))}};
}

}  // namespace

double TableView::operator()(std::int64_t row, std::int64_t column) const noexcept {
  const std::int64_t index = row * row_stride + column * column_stride;
  return with_type(type, [&]<class T>(T) { return to_double(static_cast<const T*>(data)[index]); });
}

std::string_view to_string(Arrangement arrangement) noexcept {
  return arrangement_names[arrangement];
}

Arrangement arrangement_of(Layout layout) noexcept { return static_cast<Arrangement>(layout); }

Arrangement parse_arrangement(std::string_view name) { return arrangement_names.parse(name); }

std::string_view to_string(CauseKind kind) noexcept { return cause_names[kind]; }

std::vector<Cause> causes_of_difference(const SampledTable& sample, const Hypothesis& found,
                                        const TableIdentity& wanted) {
  constexpr double least_explained = 0.5;
  Causes causes = differences(found, wanted, sample.table.rows);
  const std::vector<Way> ways = explain(sample, found.is, sample.rows.size(), true);
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

CheckReport check(const TableView& table, const CheckOptions& options) {
  if (table.rows < 1 || table.columns < 1)
    throw_invalid("table has shape ({}, {}); allowed: at least one row and column", table.rows,
                  table.columns);
  check_threads(options.threads);
  if (options.max_error) check_positive("max_error", *options.max_error);
  if (options.first) validate(RowRange{*options.first, table.rows});
  if (!options.positions.empty() && std::ssize(options.positions) != table.rows)
    throw_invalid("positions has {} of them; allowed: {}, one for each row",
                  options.positions.size(), table.rows);
  for (const std::int64_t each : options.positions)
    check_range("position", each, -max_position, max_position);
  const auto without_last_column = [&] {
    TableView pairs = table;
    --pairs.columns;
    CheckReport report = check(pairs, options);
    report.columns = table.columns;
    report.identity.has_zero_column = true;
    return report;
  };
  if (has_zero_column(table)) return without_last_column();
  const UnclaimedParts& unclaimed = options.unclaimed;
  if (options.spec && (unclaimed.base || unclaimed.spacing || unclaimed.frequencies)) {
    CheckOptions whole = options;
    whole.unclaimed = {};
    CheckReport usual = check(table, whole);
    if (usual.is_good) return usual;
    CheckOptions free = whole;
    free.spec.reset();
    const auto other = identify(SampledTable(table), free);
    if (!other || !other->mistake.empty()) return usual;
    if (unclaimed.base) whole.spec->base = other->is.spec.base;
    if (unclaimed.spacing) whole.spec->spacing = other->is.spec.spacing;
    if (unclaimed.frequencies) whole.spec->frequencies = other->is.spec.frequencies;
    CheckReport found = check(table, whole);
    return found.entries_off < usual.entries_off ? found : usual;
  }
  CheckReport report;
  report.rows = table.rows;
  report.columns = table.columns;
  report.type = table.type;
  const bool has_positions = options.first || !options.positions.empty();
  if (options.spec && options.arrangements.size() == 1 && has_positions) {
    CheckReport as_claimed = report;  // what is right needs no other reading
    as_claimed.is_identified = true;
    as_claimed.identity = judged_identity(table, options, {});
    judge(as_claimed, table, options);
    as_claimed.identity.presets = presets_like(as_claimed.identity);
    if (as_claimed.is_good) return as_claimed;
  }
  const SampledTable sample(table);
  report.entries_not_finite = sample.entries_not_finite;
  const auto found = identify(sample, options);
  const double explained = found ? found->explained : 0;
  if (explained <= 0.5 && table.columns % 2 == 1 && table.columns >= 3 && !options.spec) {
    CheckReport of_pairs = without_last_column();
    if (of_pairs.is_identified) return of_pairs;
  }
  const auto other = other_reading(table, explained);
  if (!found && !other && !options.spec) {
    add_unset_rows(report.causes, sample, [](std::int64_t) { return true; });
    return report;
  }
  report.is_identified = true;
  CheckOptions claimed = options;
  if (other && !claimed.spec) {
    claimed.spec = other->is.spec;
    claimed.first = claimed.first.value_or(0);
    claimed.spec->d_model = table.columns % 2 == 0 ? table.columns : 2 * table.columns;
  }
  report.identity = judged_identity(table, claimed, found);
  report.identity.padding_row = padding_row(sample, report.identity);
  report.identity.presets = presets_like(report.identity);

  const std::vector<std::int64_t> off = judge(report, table, options);
  if (report.is_good) return report;
  report.causes = other ? Causes{{CauseKind::other_arrangement, other->mistake}}
                        : causes_of(sample, off, report, found);
  return report;
}

std::string verdict_text(const CheckReport& report) {
  if (!report.is_identified)
    return "not known: no convention that posenc knows agrees with most of the entries";
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
  text += format_text(", {}, positions {}, {}", to_string(is.arrangement),
                      positions_text(is, report.rows), convention_text(is.spec));
  if (is.factor != 1) text += format_text(", times {}", digits_text(is.factor, 6));
  if (is.has_zero_column) text += ", the last column is zeros or half of a pair";
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
  return text.empty() ? "cause: none that posenc knows explains the errors" : "cause: " + text;
}

std::string to_string(const CheckReport& report) {
  return verdict_text(report) + "\n" + identity_text(report) + "\n" + cause_text(report);
}

FrequencyReport check_frequencies(std::span<const double> frequencies,
                                  const std::optional<EncodingSpec>& spec) {
  const auto count = std::ssize(frequencies);
  if (count < 1 || 2 * count > max_d_model)
    throw_invalid("there are {} frequencies; allowed: 1 to {}", count, max_d_model / 2);
  std::optional<EncodingSpec> wanted = spec;
  if (wanted && wanted->d_model == 0) wanted->d_model = 2 * count;
  if (wanted) validate(*wanted);
  if (wanted && wanted->d_model != 2 * count)
    throw_invalid("there are {} frequencies; allowed with d_model {}: {}", count, wanted->d_model,
                  wanted->d_model / 2);
  TableView row;
  row.data = frequencies.data();
  row.type = DataType::float64;
  row.rows = 1;
  row.columns = count;
  const SampledTable sample(row, true);
  const auto found = identify(sample, {.spec = wanted});
  FrequencyReport report;
  report.is_identified = found || wanted;
  if (found) report.spec = found->mistake.empty() ? found->is.spec : found->intended;
  if (wanted) report.spec = *wanted;
  std::vector<double> exact(frequencies.size());
  if (report.is_identified) exact = frequencies_of(report.spec);
  std::vector<std::int64_t> off[3];  // by RowState
  constexpr double most_off = 0x1p-19, largest = 10;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const double given = frequencies[k],
                 error = given == exact[k] ? 0 : std::fabs(given / exact[k] - 1);
    report.max_relative_error =
        std::max(report.max_relative_error, error <= largest ? error : largest);
    if (report.is_identified && error <= most_off) continue;
    // As small as memory that was never written.
    const RowState state = !std::isfinite(given)         ? RowState::not_finite
                           : std::fabs(given) < 0x1p-126 ? RowState::zero
                                                         : RowState::set;
    off[static_cast<std::size_t>(state)].push_back(static_cast<std::int64_t>(k));
  }
  report.is_good = report.is_identified && report.max_relative_error <= most_off;
  if (report.is_good) return report;
  std::vector<std::string> causes;
  const auto add_faults = [&](RowState state) {
    const std::vector<std::int64_t>& which = off[static_cast<std::size_t>(state)];
    if (!which.empty()) causes.push_back(fault_text(frequency_noun, state, which));
  };
  add_faults(RowState::not_finite);
  add_faults(RowState::zero);
  if (found && !found->mistake.empty()) {
    causes.push_back(found->mistake);
  } else if (found && found->is.spec != report.spec) {
    causes.push_back("they are those of " + convention_text(found->is.spec));
  } else if (found && size_of(sample.type) == 2) {
    const Way way = explain(sample, found->is, 1).front();
    causes.push_back(way.is_exact ? format_text("frequencies in {}", to_string(sample.type))
                                  : way.text);
  } else if (found) {
    add_faults(RowState::set);
  }
  report.cause = join(causes, "; and ");
  return report;
}

std::string frequencies_text(const FrequencyReport& report) {
  const std::int64_t count = report.spec.d_model / 2;
  if (!report.is_identified) return "frequencies of no convention that posenc knows";
  return format_text("{} frequencies, {}", count, convention_text(report.spec));
}

std::string to_string(const FrequencyReport& report) {
  std::string text = report.is_good ? "good" : report.is_identified ? "wrong" : "not known";
  if (report.is_identified)
    text +=
        format_text(": the largest relative error is {}", error_text(report.max_relative_error));
  text += "\n" + frequencies_text(report);
  return report.cause.empty() ? text : text + "\ncause: " + report.cause;
}

}  // namespace posenc::suite
