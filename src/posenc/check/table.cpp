#include "posenc/check/table.h"

#include "posenc/check/axes_tables.h"
#include "posenc/check/causes.h"
#include "posenc/check/columns.h"
#include "posenc/check/identify.h"
#include "posenc/model/row_positions.h"
#include "posenc/presets.h"
#include "posenc/suite/error_tally.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/frequency_parameters.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace posenc::check {

using namespace model;
using namespace suite;
namespace {

void check_arguments(const TableView& table, const TableOptions& options) {
  if (table.rows < 1 || table.columns < 1)
    throw_invalid("table has shape ({}, {}); allowed: at least one row and column", table.rows,
                  table.columns);
  check_threads(options.threads);
  if (options.max_error) check_positive("max_error", *options.max_error);
  if (options.first) validate(RowRange{*options.first, table.rows});
  if (!options.positions.empty() && std::ssize(options.positions) != table.rows)
    throw_invalid("positions has {} values; allowed: {}, one for each row",
                  options.positions.size(), table.rows);
  validate(RowPositions(options.positions), 1);
  if (!options.axes) return;
  validate(options.axes->spec);
  const std::int64_t axes = options.axes->spec.axes(), count = std::ssize(options.axes->positions);
  if (count != 0 && count != axes * table.rows)
    throw_invalid("positions on {} axes have {} values; allowed for {} rows: {}", axes, count,
                  table.rows, axes * table.rows);
  validate(RowPositions(options.axes->positions), 1);
}

bool claims_positions(const TableOptions& options) {
  return options.first || !options.positions.empty();
}

/// True if the options claim positions that do not start at 0 as usual.
bool claims_other_positions(const TableOptions& options) {
  return options.first.value_or(0) != 0 || !options.positions.empty();
}

// The identity that a table is judged by: what is claimed, and what is found where nothing is.

/// The wanted spec for a table in this arrangement. Throws unless it is allowed and fits.
EncodingSpec expected_spec(const TableView& table, const EncodingSpec& wanted,
                           Arrangement arrangement) {
  if (wanted.d_model != 0) validate(wanted);
  const std::optional<EncodingSpec> spec = spec_for(wanted, arrangement, table.columns);
  if (!spec && wanted.d_model == 0)
    throw_invalid("table has {} columns; allowed with sines and cosines: an even number",
                  table.columns);
  if (!spec)
    throw_invalid(
        "table has {} columns; allowed with d_model {}: {}, or {} with cosines or sines alone",
        table.columns, wanted.d_model, wanted.d_model, wanted.d_model / 2);
  validate(*spec);
  return *spec;
}

/// The arrangement with the same cosines or sines but the other pairs of channels: once in each
/// half, or side by side.
Arrangement paired_otherwise(Arrangement arrangement) {
  switch (arrangement) {
    case Arrangement::cosines_twice: return Arrangement::cosines_repeated;
    case Arrangement::sines_twice: return Arrangement::sines_repeated;
    case Arrangement::cosines_repeated: return Arrangement::cosines_twice;
    case Arrangement::sines_repeated: return Arrangement::sines_twice;
    default: return arrangement;
  }
}

/// Among the arrangements that are allowed and have as many frequencies as the spec, returns the
/// one with the smallest errors in the sample.
Arrangement nearest_arrangement(const SampledTable& sample, const TableOptions& options,
                                TableIdentity is) {
  double least = infinity;
  Arrangement best = is.arrangement;
  for (const Arrangement each : allowed_arrangements(options)) {
    const auto spec = spec_for(*options.spec, each, sample.table.columns);
    if (!spec) continue;
    is.arrangement = each;
    const std::vector<double> frequencies = frequencies_of(*spec);
    double sum = 0;
    for_each_entry(sample, is, sample.rows.size(), [&](const SampledEntry& entry) {
      sum += std::min(std::fabs(entry.got - entry.value_at(entry.phase(frequencies))), 2.0);
      return sum < least;
    });
    if (sum >= least) continue;
    least = sum;
    best = each;
  }
  return best;
}

/// The identity that the table is judged by: claimed properties, and the found ones where nothing
/// is claimed.
TableIdentity judged_identity(const SampledTable& sample, const TableOptions& options,
                              const std::optional<Hypothesis>& found) {
  const TableView& table = sample.table;
  TableIdentity identity = found ? found->is : TableIdentity{};
  if (found && !found->mistake.empty()) identity.spec = found->intended;
  // No convention has columns of one frequency each, negated sines, or another factor.
  if (identity.arrangement == Arrangement::alternating) {
    identity.arrangement = Arrangement::interleaved;
    identity.spec.d_model = table.columns;
  }
  identity.has_negated_sines = false;
  if (!options.positions.empty()) {
    identity.positions = options.positions;
  } else if (options.first) {
    identity.positions.clear();
    identity.first = *options.first;
    identity.step = 1;
  }
  const double factor = options.factor.value_or(
      attention_factor(options.spec ? options.spec->frequencies : identity.spec.frequencies));
  identity.factor = factor > 0 ? factor : 1;
  if (std::ranges::count(options.excluded, identity.arrangement) > 0)
    identity.arrangement = paired_otherwise(identity.arrangement);
  if (options.spec && !(found && allows(options, identity.arrangement) &&
                        spec_for(*options.spec, identity.arrangement, table.columns)))
    identity.arrangement = nearest_arrangement(sample, options, identity);
  if (!allows(options, identity.arrangement) && !options.arrangements.empty())
    identity.arrangement = options.arrangements.front();
  if (options.spec) {
    identity.spec = expected_spec(table, *options.spec, identity.arrangement);
  } else if (identity.spec.d_model != 2 * frequencies_in(identity.arrangement, table.columns)) {
    // The claimed arrangement has another number of frequencies than the arrangement that was
    // found.
    identity.spec = expected_spec(
        table, {.d_model = 0, .base = identity.spec.base, .spacing = identity.spec.spacing},
        identity.arrangement);
  }
  if (has_half_a_pair(identity.arrangement, table.columns)) identity.odd_width = table.columns;
  return identity;
}

/// fairseq, and the models of Transformers that follow it, zero the row of their padding index,
/// which is 0 or 1. Their tables have halves and inclusive spacing. In no other convention of text
/// is a row of zeros right.
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

// The judgement: every entry is compared with its exact value.

/// A report, and the entries that are off.
struct Judged {
  TableReport report;
  Deviations off;
};

/// A report with the shape and the type of the table, and nothing else.
TableReport report_of(const SampledTable& sample) {
  TableReport report;
  report.rows = sample.table.rows;
  report.columns = sample.table.columns;
  report.type = sample.table.type;
  report.entries_not_finite = sample.entries_not_finite;
  return report;
}

/// The presets with this identity and d_model. If there are none, presets with another d_model.
std::vector<std::string> presets_like(const TableIdentity& identity) {
  std::vector<std::string> same_size, others;
  if (identity.factor != 1 || identity.step != 1 || !identity.positions.empty() ||
      identity.odd_width > 0 || identity.axes)
    return {};
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

/// Judges the table by this identity.
Judged judged_as(const SampledTable& sample, const TableOptions& options, TableIdentity identity) {
  const TableView& table = sample.table;
  TableReport report = report_of(sample);
  report.is_identified = true;
  identity.presets = presets_like(identity);
  report.identity = std::move(identity);
  const TableIdentity& is = report.identity;
  std::vector<Reference> references;  // of each part
  if (is.axes)
    for (const AxisPairs& each : is.axes->spec.parts) references.emplace_back(each.spec);
  else
    references.emplace_back(is.spec);
  const std::vector<TablePair> pairs = pairs_of_table(is, table.columns);
  const auto columns = static_cast<std::size_t>(table.columns);
  Deviations off = {std::vector<std::int64_t>(static_cast<std::size_t>(table.rows)),
                    std::vector<std::int64_t>(columns)};
  struct Part {
    Tally tally;
    std::vector<std::int64_t> off;
    double largest_limit;
  };
  const std::int64_t count = tally_parts(table.rows, options.threads);
  std::vector<Part> parts(static_cast<std::size_t>(count),
                          Part{Tally(table.columns), std::vector<std::int64_t>(columns), 0});
  parallel_for(count, 1, options.threads, [&](std::int64_t first, std::int64_t last, int) {
    std::vector<ExactEntry> exact(columns);
    std::vector<double> got(columns);
    for (std::int64_t number = first; number < last; ++number) {
      Part& part = parts[static_cast<std::size_t>(number)];
      const std::int64_t end = part_begin(table.rows, count, number + 1);
      for (std::int64_t row = part_begin(table.rows, count, number); row < end; ++row) {
        if (row == is.padding_row) continue;
        for (std::size_t column = 0; column < columns; ++column)
          got[column] = table(row, static_cast<std::int64_t>(column));
        for (const TablePair& pair : pairs) {
          const std::int64_t position =
              is.axes ? is.axes->position(pair.axis, row, table.rows) : is.position(row);
          fill_exact_pair(references[pair.part], pair.k, position, pair.to, is.factor, table.type,
                          exact);
          const double limit = options.max_error.value_or(
              allowed_error(table.type, is.factor, static_cast<double>(position) * pair.frequency));
          part.largest_limit = std::max(part.largest_limit, limit);
          for (const std::int64_t column : pair.to.columns) {
            const auto i = static_cast<std::size_t>(column);
            const bool is_off = !(exact[i].distance(got[i]) <= limit);
            part.off[i] += is_off;
            off.by_row[static_cast<std::size_t>(row)] += is_off;
            if (pair.to.columns[0] == pair.to.columns[1]) break;
          }
        }
        compare_row(is.position(row), exact, got.data(), part.tally);
      }
    }
  });
  for (const Part& part : parts) {
    if (&part != &parts.front()) parts.front().tally.merge(part.tally);
    for (std::size_t i = 0; i < columns; ++i) off.by_column[i] += part.off[i];
    report.allowed_error = std::max(report.allowed_error, part.largest_limit);
  }
  std::int64_t least = is.position(0), most = least;
  for (std::int64_t row = 0; row < table.rows; ++row) {
    least = std::min(least, is.position(row));
    most = std::max(most, is.position(row));
    report.entries_off += off.by_row[static_cast<std::size_t>(row)];
  }
  report.errors.backend = "table";
  report.errors.table.spec = is.spec;
  set_errors(report.errors, {least, most - least + 1}, table.type, parts.front().tally);
  report.is_good = report.entries_off == 0;
  return {std::move(report), std::move(off)};
}

// The search in tables along one axis, as those of text are.

/// The number of rows after which the table repeats itself; the number of all rows if it does not.
std::int64_t period_of(const TableView& table) {
  const auto is_equal = [&](std::int64_t one, std::int64_t other) {
    for (std::int64_t column = 0; column < table.columns; ++column)
      if (table(one, column) != table(other, column)) return false;
    return true;
  };
  std::int64_t period = 1;
  while (period < table.rows && !is_equal(period, 0)) ++period;
  for (std::int64_t row = period; row < table.rows; ++row)
    if (!is_equal(row, row - period)) return table.rows;
  return period;
}

/// Like identify(), but also recognises sequences one after the other that begin at the same
/// position.
std::optional<Hypothesis> identify_repeated(const SampledTable& sample,
                                            const TableOptions& options) {
  constexpr std::int64_t least_rows = 4;
  const TableView& table = sample.table;
  const std::int64_t period = claims_positions(options) ? table.rows : period_of(table);
  if (period == table.rows || period < least_rows) return identify(sample, options);
  TableView sequence = table;
  sequence.rows = period;
  auto found = identify(SampledTable(sequence), options);
  if (!found || !found->is.positions.empty()) return found;
  std::vector<std::int64_t> positions;
  for (std::int64_t row = 0; row < table.rows; ++row)
    positions.push_back(found->is.position(row % period));
  found->is.positions = std::move(positions);
  return found;
}

/// Reads the table by columns, or by every other row. Returns such a reading, with the mistake that
/// made it, if it explains nearly all of the table. Wrong readings were seen to explain up to 0.52
/// of a table, and true ones nearly 1. No such reading is tried if the rows explain more than half.
std::optional<Hypothesis> other_reading(const TableView& table, double explained) {
  constexpr double least_explained = 0.9;
  constexpr std::int64_t most_channels = 16384, least_rows = 4;
  if (explained > 0.5) return {};
  const auto explains = [](const std::optional<Hypothesis>& found) {
    return found && found->explained >= least_explained;
  };
  TableView transposed = table, even = table;
  std::swap(transposed.rows, transposed.columns);
  std::swap(transposed.row_stride, transposed.column_stride);
  std::optional<Hypothesis> found;
  if (transposed.columns <= most_channels) found = identify(SampledTable(transposed), {});
  if (explains(found)) {
    found->mistake = "the table is transposed: each column is a position";
    return found;
  }
  even.rows = (table.rows + 1) / 2;
  even.row_stride *= 2;
  if (even.rows < least_rows) return {};
  found = identify(SampledTable(even), {});
  if (!explains(found) || has_both_functions(found->is.arrangement)) return {};
  found->mistake =
      format_text("sines and cosines alternate by row instead of by column: even rows are {}",
                  to_string(found->is.arrangement));
  return found;
}

/// Identifies the table, and judges it by what is claimed and by what was found.
TableReport judged_as_found(const SampledTable& sample, const TableOptions& options) {
  const std::optional<Hypothesis> found = identify_repeated(sample, options);
  const double explained = found ? found->explained : 0;
  const std::optional<Hypothesis> other = other_reading(sample.table, explained);
  // An unusual convention that was fitted to the table must explain nearly all of it.
  constexpr double most_usual_bits = 8, nearly_all = 0.97;
  const bool is_known = found && (found->spec_bits < most_usual_bits || explained >= nearly_all);
  if (!is_known && !other && !options.spec) {
    TableReport report = report_of(sample);
    report.causes = unset_rows(sample);
    return report;
  }
  TableOptions claimed = options;
  if (other && !claimed.spec) {
    const std::int64_t columns = sample.table.columns;
    claimed.spec = other->is.spec;
    claimed.first = claimed.first.value_or(0);
    claimed.spec->d_model = columns % 2 == 0 ? columns : 2 * columns;
  }
  TableIdentity identity = judged_identity(sample, claimed, found);
  identity.padding_row = padding_row(sample, identity);
  auto [report, off] = judged_as(sample, options, std::move(identity));
  if (report.is_good) return report;
  if (other) {
    report.causes = {{CauseKind::other_arrangement, other->mistake}};
    return report;
  }
  report.causes = causes_of(sample, off, report, found);
  if (report.causes.empty()) add_findings(report, sample, off);
  return report;
}

/// The identity of a table over several axes, by a convention that posenc knows. On every axis, the
/// convention has the base, the spacing and the rule of a claimed spec.
std::optional<TableIdentity> known_axes(const SampledTable& sample, const TableOptions& options) {
  const std::optional<EncodingSpec>& claimed = options.spec;
  if (claims_other_positions(options) || (claimed && claimed->d_model != 0)) return {};
  std::optional<TableIdentity> found = identify_axes(sample, options);
  if (!found || !claimed) return found;
  const bool has_claimed = std::ranges::all_of(found->axes->spec.parts, [&](const AxisPairs& part) {
    return part.spec.base == claimed->base && part.spec.spacing == claimed->spacing &&
           part.spec.frequencies == claimed->frequencies;
  });
  return has_claimed ? found : std::nullopt;
}

/// Checks a table by a spec that is claimed as a whole, or not at all: as claimed, over the axes of
/// a known convention, and at last by a search.
TableReport check_whole_spec(const TableView& table, const TableOptions& options) {
  const SampledTable sample(table);
  if (options.spec && claims_positions(options)) {
    TableReport report = judged_as(sample, options, judged_identity(sample, options, {})).report;
    if (report.is_good) return report;
  }
  if (const auto over_axes = known_axes(sample, options)) {
    TableReport report = judged_as(sample, options, *over_axes).report;
    if (report.is_good) return report;
  }
  return judged_as_found(sample, options);
}

/// Checks a table along one axis. Parts of the spec that are not claimed have their usual values
/// first, and then the values that the table shows.
TableReport check_one_axis(const TableView& table, const TableOptions& options) {
  const auto& [base, spacing, frequencies] = options.claimed;
  TableReport usual = check_whole_spec(table, options);
  if (usual.is_good || !options.spec || (base && spacing && frequencies)) return usual;
  TableOptions other = options;
  other.spec.reset();
  const auto shown = identify(SampledTable(table), other);
  if (!shown || !shown->mistake.empty()) return usual;
  other.spec = options.spec;
  if (!base) other.spec->base = shown->is.spec.base;
  if (!spacing) other.spec->spacing = shown->is.spec.spacing;
  if (!frequencies) other.spec->frequencies = shown->is.spec.frequencies;
  TableReport found = check_whole_spec(table, other);
  return found.entries_off < usual.entries_off ? found : usual;
}

// Tables over claimed axes.

/// Judges a table over claimed axes, in the arrangement that leaves the fewest entries off.
TableReport check_axes(const TableView& table, const TableOptions& options) {
  const SampledTable sample(table);
  const AxesSpec& spec = options.axes->spec;
  std::optional<Judged> best;
  for (const Arrangement each : allowed_arrangements(options)) {
    if (frequencies_in(each, table.columns) != spec.d_model() / 2) continue;
    TableIdentity identity = {.spec = spec.parts.front().spec,
                              .arrangement = each,
                              .factor = options.factor.value_or(1),
                              .axes = options.axes};
    if (identity.axes->positions.empty())
      identity.axes->positions = positions_on_axes(table, spec, each, identity.factor);
    Judged judged = judged_as(sample, options, std::move(identity));
    if (best && best->report.entries_off <= judged.report.entries_off) continue;
    best = std::move(judged);
    if (best->report.is_good || spec.parts_have_layouts) break;
  }
  if (!best)
    throw_invalid(
        "table has {} columns; allowed with these axes: {}, or {} with cosines or sines "
        "alone",
        table.columns, spec.d_model(), spec.d_model() / 2);
  if (!best->report.is_good) add_findings(best->report, sample, best->off);
  return best->report;
}

/// Checks a table of claimed axes as one whose positions are equal on all axes. Empty if the claim
/// says neither the spec nor the positions of such rows.
std::optional<TableReport> check_equal_positions(const TableView& table,
                                                 const TableOptions& options) {
  if (options.spec) return check_one_axis(table, options);
  if (!claims_positions(options) || !options.axes->positions.empty()) return {};
  TableOptions equal = options;
  for (std::int64_t axis = 0; axis < options.axes->spec.axes(); ++axis)
    for (std::int64_t row = 0; row < table.rows; ++row)
      equal.axes->positions.push_back(options.positions.empty()
                                          ? *options.first + row
                                          : options.positions[static_cast<std::size_t>(row)]);
  return check_axes(table, equal);
}

/// Checks a table over claimed axes. Positions that are equal on all axes, as in text, come first.
TableReport check_claimed_axes(const TableView& table, const TableOptions& options) {
  const auto equal = check_equal_positions(table, options);
  if (equal && (equal->is_good || claims_other_positions(options))) return *equal;
  TableReport different = check_axes(table, options);
  const bool is_better = !equal || different.is_good || different.entries_off < equal->entries_off;
  return is_better ? different : *equal;
}

/// The options with a denominator of 1, by which the claimed frequencies are divided. If positions
/// advance in equal steps from a multiple of the step, they become a run, as in usual tables.
TableOptions in_whole_steps(TableOptions options) {
  std::vector<std::int64_t>& positions = options.positions;
  double denominator = options.denominator;
  check_positive("denominator", denominator);
  if (denominator == 1) return options;
  const std::int64_t step = positions.size() > 1 ? positions[1] - positions[0] : 0;
  const auto is_uneven = [&](std::int64_t one, std::int64_t next) { return next - one != step; };
  if (step > 0 && positions[0] % step == 0 &&
      std::ranges::adjacent_find(positions, is_uneven) == positions.end()) {
    denominator /= static_cast<double>(step);
    options.first = positions[0] / step;
    positions.clear();
  }
  if (!options.spec && !options.axes) {
    options.spec.emplace().d_model = 0;
    options.claimed = {.base = false, .spacing = false};
  }
  options.claimed.frequencies = true;
  if (options.spec && options.spec->d_model == 0 && !is_base(options.spec->frequencies) &&
      !std::holds_alternative<LinearScaling>(options.spec->frequencies))
    throw_invalid(
        "d_model is not given; allowed with this rule and fractions of positions: d_model");
  if (options.spec) options.spec->frequencies = divided(*options.spec, denominator);
  if (options.axes)
    for (AxisPairs& part : options.axes->spec.parts)
      part.spec.frequencies = divided(part.spec, denominator);
  options.denominator = 1;
  return options;
}

/// True if the last column, beside the pairs, holds zeros, as in tables of odd width.
bool has_zero_column(const TableView& table) noexcept {
  if (table.columns % 2 == 0 || table.columns < 3) return false;
  for (std::int64_t row = 0; row < table.rows; ++row)
    if (table(row, table.columns - 1) != 0) return false;
  return true;
}

}  // namespace

TableOptions cache_of(const RotarySpec& rotary) {
  TableOptions claim = {.spec = spec_of_equal_positions(rotary.angles),
                        .first = 0,
                        .factor = rotary.attention_factor};
  // Models that rotate halves never cache a cosine twice in adjacent columns. Some models that
  // rotate neighbours cache two equal halves and exchange channels instead.
  if (rotary.channels == RotaryLayout::halves)
    claim.excluded = {Arrangement::cosines_repeated, Arrangement::sines_repeated};
  if (rotary.angles.axes() > 1 || !claim.spec) claim.axes = {.spec = rotary.angles};
  return claim;
}

TableReport table(const TableView& table, const TableOptions& given) {
  const TableOptions options = in_whole_steps(given);
  check_arguments(table, options);
  TableView pairs = table;
  const bool has_zeros = has_zero_column(table);
  pairs.columns -= has_zeros;
  TableReport report =
      options.axes ? check_claimed_axes(pairs, options) : check_one_axis(pairs, options);
  report.columns = table.columns;
  report.identity.has_zero_column = has_zeros;
  return report;
}

}  // namespace posenc::check
