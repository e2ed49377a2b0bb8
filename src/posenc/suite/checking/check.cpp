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
    "exchanged_functions", "other_arrangement", "negated_sines", "shifted_rows", "other_base",
    "other_spacing", "other_rule", "attention_factor", "inexact_functions", "unset_rows");

/// The spec with the table's d_model, if it names none.
EncodingSpec expected_spec(const TableView& table, const EncodingSpec& wanted,
                           Arrangement arrangement) {
  EncodingSpec spec = wanted;
  if (spec.d_model == 0) spec.d_model = 2 * frequencies_in(arrangement, table.columns);
  if (spec.d_model == 0) {
    throw InvalidArgument(format_text(
        "table has {} columns; allowed with sines and cosines: an even number", table.columns));
  }
  validate(spec);
  if (table.columns != spec.d_model && 2 * table.columns != spec.d_model) {
    throw InvalidArgument(
        format_text("table has {} columns; allowed with d_model {}: {}, or {} "
                    "with cosines or sines alone",
                    table.columns, spec.d_model, spec.d_model, spec.d_model / 2));
  }
  return spec;
}

/// What the table is judged as: what is claimed, and what is found otherwise.
TableIdentity judged_identity(const TableView& table, const CheckOptions& options,
                              const std::optional<Identified>& found) {
  TableIdentity identity = found ? found->identity : TableIdentity{};
  if (found && !found->convention.mistake.empty()) identity.spec = found->convention.intended;
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
  if (options.first) identity.first = *options.first;
  if (options.first || identity.step != 1) identity.positions.clear();
  if (options.first) identity.step = 1;
  if (!options.positions.empty()) identity.positions = options.positions;
  if (options.spec) identity.spec = expected_spec(table, *options.spec, identity.arrangement);
  const double factor = options.factor.value_or(attention_factor(identity.spec.frequencies));
  identity.factor = factor > 0 ? factor : 1;
  return identity;
}

struct Judgement {
  Tally tally;
  std::vector<std::int64_t> off;  ///< of each row: entries beyond what is good
};

/// What is good at that position.
double limit_of(const CheckOptions& options, DataType type, double factor, std::int64_t position) {
  return options.max_error ? *options.max_error : allowed_error(type, factor, position);
}

/// Compares all rows with exact ones.
Judgement judge(const TableView& table, const TableIdentity& identity,
                const CheckOptions& options) {
  const Reference reference(identity.spec);
  std::vector<std::int64_t> off(static_cast<std::size_t>(table.rows));
  const auto judge_row = [&](std::int64_t row, std::vector<ExactEntry>& exact,
                             std::vector<double>& got, Tally& tally) {
    const std::int64_t position = identity.position(row);
    const double limit = limit_of(options, table.type, identity.factor, position);
    fill_exact_row(reference, identity.arrangement, identity.factor, table.type, position, exact);
    for (std::size_t column = 0; column < got.size(); ++column) {
      got[column] = table(row, static_cast<std::int64_t>(column));
      off[static_cast<std::size_t>(row)] +=
          !(distance(got[column], exact[column].high, exact[column].low) <= limit);
    }
    compare_row(position, exact, got.data(), tally);
  };
  const std::int64_t parts = tally_parts(table.rows, options.threads);
  std::vector<Tally> tallies(static_cast<std::size_t>(parts), Tally(table.columns));
  parallel_for(parts, 1, options.threads, [&](std::int64_t first, std::int64_t last, int) {
    std::vector<ExactEntry> exact(static_cast<std::size_t>(table.columns));
    std::vector<double> got(exact.size());
    for (std::int64_t part = first; part < last; ++part) {
      const std::int64_t end = part_begin(table.rows, parts, part + 1);
      for (std::int64_t row = part_begin(table.rows, parts, part); row < end; ++row)
        if (row != identity.padding_row)
          judge_row(row, exact, got, tallies[static_cast<std::size_t>(part)]);
    }
  });
  for (std::size_t part = 1; part < tallies.size(); ++part) tallies[0].merge(tallies[part]);
  return {std::move(tallies[0]), std::move(off)};
}

/// fairseq and Transformers zero the row of their padding index, which is 0 or 1.
std::optional<std::int64_t> padding_row(const SampledTable& sample, Arrangement arrangement) {
  if (!has_both_functions(arrangement)) return {};  // the sines of position 0 are zero
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

/// What is true of some rows or frequencies: "row 7 is zero", "rows 7 .. 12 are zero", "20 rows are
/// zero, the first is row 7".
std::string entries_text(std::string_view single, std::string_view plural,
                         const std::vector<std::int64_t>& which, std::string_view of_one,
                         std::string_view of_several) {
  const std::int64_t first = which.front();
  if (which.size() == 1) return format_text("{} {} {}", single, first, of_one);
  if (which.back() - first + 1 == std::ssize(which))
    return format_text("{} {} .. {} {}", plural, first, which.back(), of_several);
  return format_text("{} {} {}, the first is {} {}", which.size(), plural, of_several, single,
                     first);
}

/// NaN, infinity, zero, or as small as memory that was never written.
bool is_unset(double frequency) noexcept {
  return !std::isfinite(frequency) || std::fabs(frequency) < 0x1p-126;
}

/// A convention, and how the frequencies were computed.
struct FoundFrequencies {
  Convention convention;
  Explanation way;
};

/// Those that leave the fewest bits of the frequencies open. Empty if that are as many as without a
/// convention.
std::optional<FoundFrequencies> convention_of(std::span<const double> frequencies,
                                              const std::optional<EncodingSpec>& wanted) {
  double least = 0;
  std::vector<FrequencyEstimate> estimates;
  for (std::size_t k = 0; k < frequencies.size(); ++k) {
    if (is_unset(frequencies[k])) continue;
    least += most_open_bits;
    estimates.push_back({.k = static_cast<std::int64_t>(k), .frequency = frequencies[k]});
  }
  std::optional<FoundFrequencies> best;
  for (const DataType type : {DataType::float32, DataType::bfloat16, DataType::float16}) {
    for (FrequencyEstimate& each : estimates)
      each.uncertainty = 2 * half_ulp_of_one(type) * std::fabs(each.frequency);
    for (const Convention& each : conventions_like(estimates, std::ssize(frequencies), 1, wanted)) {
      if (each.step != 1) continue;
      Explanation way = explain_frequencies(frequencies, each.spec);
      if (each.bits + way.bits >= least) continue;
      least = each.bits + way.bits;
      best = FoundFrequencies{each, std::move(way)};
    }
  }
  return best;
}

/// "0 .. 299", "0, 3 .. 897", "0 .. 299, 0 .. 199", "0, 0, 1, 1, 2, 2, ..."
std::string positions_text(const TableIdentity& is, std::int64_t rows) {
  struct Run {
    std::int64_t first, last;
  };
  std::vector<Run> runs;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t position = is.position(row);
    if (runs.empty() || position != runs.back().last + is.step)
      runs.push_back({position, position});
    runs.back().last = position;
  }
  constexpr std::size_t most_runs = 4;
  std::vector<std::string> texts;
  if (runs.size() > most_runs) {
    for (std::int64_t row = 0; row < std::min<std::int64_t>(rows, 6); ++row)
      texts.push_back(format_text("{}", is.position(row)));
    texts.emplace_back("...");
  } else {
    for (const auto& [first, last] : runs) {
      texts.push_back(std::abs(is.step) == 1
                          ? format_text("{} .. {}", first, last)
                          : format_text("{}, {} .. {}", first, first + is.step, last));
    }
  }
  return join(texts, ", ");
}

/// Rows that hold no sines, of those for which is_wanted(row).
template <class IsWanted>
std::vector<Cause> unset_rows(const SampledTable& sample, const IsWanted& is_wanted) {
  std::vector<std::int64_t> zero, not_finite;
  for (std::int64_t row = 0; row < sample.table.rows; ++row) {
    const RowState state = sample.states[static_cast<std::size_t>(row)];
    if (state != RowState::set && is_wanted(row))
      (state == RowState::zero ? zero : not_finite).push_back(row);
  }
  std::vector<Cause> causes;
  const auto add = [&](const std::vector<std::int64_t>& rows, const char* one,
                       const char* several) {
    if (!rows.empty())
      causes.push_back({CauseKind::unset_rows, entries_text("row", "rows", rows, one, several)});
  };
  add(zero, "is zero", "are zero");
  add(not_finite, "has NaN or infinity", "have NaN or infinity");
  return causes;
}

/// A last column of zeros, beside pairs: tables of odd widths have it.
bool has_zero_column(const TableView& table) noexcept {
  if (table.columns % 2 == 0 || table.columns < 3) return false;
  for (std::int64_t row = 0; row < table.rows; ++row)
    if (table(row, table.columns - 1) != 0) return false;
  return true;
}

/// A known table, if it is read otherwise than by its rows.
struct OtherReading {
  EncodingSpec spec;
  std::string text;
};

/// One that explains more than the share that the rows do. None if that is most of the table.
std::optional<OtherReading> other_reading(const TableView& table, double explained) {
  constexpr double most = 2.0 / 3;
  if (explained > most) return {};
  const auto identified = [](const TableView& view) { return identify(SampledTable(view), {}); };
  TableView transposed = table;
  std::swap(transposed.rows, transposed.columns);
  std::swap(transposed.row_stride, transposed.column_stride);
  const auto found = identified(transposed);
  if (found && found->explained > explained) {
    return OtherReading{found->identity.spec,
                        "the table is transposed: its columns are the positions"};
  }
  if (table.rows < 4) return {};
  TableView even = table;
  even.rows = (table.rows + 1) / 2;
  even.row_stride *= 2;
  TableView odd = even;
  odd.rows = table.rows / 2;
  odd.data = static_cast<const std::byte*>(table.data) + table.row_stride * size_of(table.type);
  const auto of_even = identified(even), of_odd = identified(odd);
  const auto has_one = [](const std::optional<Identified>& half) {
    return half && !has_both_functions(half->identity.arrangement);
  };
  if (!has_one(of_even) || !has_one(of_odd) ||
      of_even->explained + of_odd->explained < 2 * explained)
    return {};
  return OtherReading{of_even->identity.spec,
                      format_text("rows are sines and cosines by turns, not columns: even rows are "
                                  "{}, odd ones {}",
                                  to_string(of_even->identity.arrangement),
                                  to_string(of_odd->identity.arrangement))};
}

class Diagnosis {
 public:
  Diagnosis(const SampledTable& sample, const Judgement& judgement, const CheckReport& report,
            const std::optional<Identified>& found)
      : sample_(sample),
        off_(judgement.off),
        report_(report),
        found_(found),
        is_(found ? found->identity : report.identity) {}

  std::vector<Cause> causes() {
    if (found_) {
      add_differences();
      add_numeric();
    }
    for (Cause& each : unset_rows(sample_, [&](std::int64_t row) { return off(row) > 0; }))
      causes_.push_back(std::move(each));
    if (found_ && causes_.empty()) add_arbitrary_rows();
    if (found_ && causes_.empty()) add_inexact_functions();
    return std::move(causes_);
  }

 private:
  void add(CauseKind kind, std::string text) { causes_.push_back({kind, std::move(text)}); }
  std::int64_t off(std::int64_t row) const { return off_[static_cast<std::size_t>(row)]; }

  void add_differences() {
    add_arrangement();
    if (is_.has_negated_sines) add(CauseKind::negated_sines, "the sines are negated");
    if (is_.step != report_.identity.step || is_.positions != report_.identity.positions) {
      add(CauseKind::shifted_rows,
          format_text("the positions are {}, not {}", positions_text(is_, sample_.table.rows),
                      positions_text(report_.identity, sample_.table.rows)));
    } else if (is_.first != report_.identity.first && is_.positions.empty()) {
      add(CauseKind::shifted_rows,
          format_text("the first row is position {}, not {}", is_.first, report_.identity.first));
    }
    add_frequencies();
    if (is_.factor != report_.identity.factor) {
      const std::string is = digits_text(is_.factor, 6),
                        wanted = digits_text(report_.identity.factor, 6);
      add(CauseKind::attention_factor,
          report_.identity.factor == 1
              ? format_text("every entry is multiplied by {}, as by an attention factor", is)
              : format_text("the attention factor {} is missing: the factor is {}", wanted, is));
    }
  }

  void add_arrangement() {
    constexpr struct {
      CauseKind kind;
      const char* text;
      Arrangement one, other;
    } exchanges[] = {{CauseKind::exchanged_halves, "the halves are exchanged: ",
                      Arrangement::halves, Arrangement::halves_cos_first},
                     {CauseKind::exchanged_functions, "sines and cosines are exchanged: ",
                      Arrangement::interleaved, Arrangement::interleaved_cos_first}};
    const Arrangement is = is_.arrangement, wanted = report_.identity.arrangement;
    if (is == wanted) return;
    CauseKind kind = CauseKind::other_arrangement;
    std::string text;
    if (is == Arrangement::alternating)
      text = "each column has a frequency of its own, instead of one for a sine and a cosine: ";
    for (const auto& each : exchanges) {
      if (std::minmax(is, wanted) != std::minmax(each.one, each.other)) continue;
      kind = each.kind;
      text = each.text;
    }
    add(kind, text + format_text("the table is {}, not {}", to_string(is), to_string(wanted)));
  }

  void add_frequencies() {
    const EncodingSpec &is = is_.spec, &wanted = report_.identity.spec;
    const std::string& mistake = found_->convention.mistake;
    if (!mistake.empty()) return add(CauseKind::other_rule, mistake);
    if (is.d_model != wanted.d_model ||
        std::ranges::equal(frequencies_of(is), frequencies_of(wanted), [](double x, double y) {
          return std::fabs(x - y) <= 1e-12 * std::fabs(x);
        }))
      return;
    const std::string rule = to_string(is.frequencies), wanted_rule = to_string(wanted.frequencies);
    if (is.base != wanted.base) {
      add(CauseKind::other_base, format_text("the base is {}, not {}", digits_text(is.base, 6),
                                             digits_text(wanted.base, 6)));
    }
    if (is.spacing != wanted.spacing) {
      add(CauseKind::other_spacing, format_text("the spacing is {}, not {}", to_string(is.spacing),
                                                to_string(wanted.spacing)));
    }
    if (rule == wanted_rule) return;
    add(CauseKind::other_rule,
        is_base(is.frequencies)
            ? format_text("the rule {} is missing: frequencies are those of the base", wanted_rule)
            : format_text("the rule of frequencies is {}, not {}", rule, wanted_rule));
  }

  /// How the entries were rounded.
  void add_numeric() {
    const std::vector<Explanation> ways = explain(sample_, is_);
    if (sample_.type != report_.type) {
      add(CauseKind::narrow_entries,
          format_text("entries are {} values in a table of {}{}", to_string(sample_.type),
                      to_string(report_.type), ways.front().truncates ? ", truncated" : ""));
    }
    if (ways.front().is_exact) return;
    const std::size_t first = causes_.size();
    for (const Explanation& each : ways) {
      const std::span rivals = std::span(causes_).subspan(first);
      if (!each.is_exact && std::ranges::count(rivals, each.kind, &Cause::kind) == 0)
        add(each.kind, each.text);
    }
    for (Cause& each : std::span(causes_).subspan(first))
      each.is_rival = causes_.size() > first + 1;
  }

  /// Rows of which most entries are off, in a table whose other rows are good.
  void add_arbitrary_rows() {
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < sample_.table.rows; ++row) {
      if (off(row) > 0) rows.push_back(row);
      if (off(row) > 0 && 2 * off(row) <= sample_.table.columns) return;
    }
    if (2 * std::ssize(rows) > sample_.table.rows) return;
    add(CauseKind::unset_rows,
        entries_text("row", "rows", rows, "has other values", "have other values"));
  }

  void add_inexact_functions() {
    constexpr std::size_t of_most = 2;  // the quantile 0.99
    const double ulps =
        report_.errors.quantiles[of_most].abs_error / (2 * half_ulp_of_one(report_.type));
    if (ulps <= 1) return;
    add(CauseKind::inexact_functions,
        format_text("phases are exact, and sines and cosines are off by up to {} ulp, as those "
                    "of fast libraries are: {} of the entries are correctly rounded",
                    digits_text(ulps, 3), percent_text(report_.errors.error.correctly_rounded)));
  }

  const SampledTable& sample_;
  const std::vector<std::int64_t>& off_;
  const CheckReport& report_;
  const std::optional<Identified>& found_;
  const TableIdentity& is_;
  std::vector<Cause> causes_;
};

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

CheckReport check(const TableView& whole, const CheckOptions& options) {
  if (whole.rows < 1 || whole.columns < 1) {
    throw InvalidArgument(
        format_text("table has shape ({}, {}); allowed: at least one row and column", whole.rows,
                    whole.columns));
  }
  check_threads(options.threads);
  if (options.max_error) check_positive("max_error", *options.max_error);
  if (options.first) validate(RowRange{*options.first, whole.rows});
  if (!options.positions.empty() && std::ssize(options.positions) != whole.rows) {
    throw InvalidArgument(format_text("positions has {} of them; allowed: {}, one for each row",
                                      options.positions.size(), whole.rows));
  }
  TableView table = whole;
  if (has_zero_column(whole)) --table.columns;
  if (options.spec) judged_identity(table, options, {});  // throws if it does not fit

  CheckReport report;
  report.rows = whole.rows;
  report.columns = whole.columns;
  report.type = whole.type;
  const SampledTable sample(table);
  report.entries_not_finite = sample.entries_not_finite;
  const auto found = identify(sample, options);
  const auto other = other_reading(table, found ? found->explained : 0);
  if (!found && !other && !options.spec) {
    report.causes = unset_rows(sample, [](std::int64_t) { return true; });
    return report;
  }
  report.is_identified = true;
  CheckOptions claimed = options;
  if (other && !claimed.spec) {
    claimed.spec = other->spec;
    claimed.first = claimed.first.value_or(0);
    claimed.spec->d_model = table.columns % 2 == 0 ? table.columns : 2 * table.columns;
  }
  report.identity = judged_identity(table, claimed, found);
  report.identity.has_zero_column = table.columns < whole.columns;
  report.identity.padding_row = padding_row(sample, report.identity.arrangement);
  report.identity.presets = presets_like(report.identity);

  const Judgement judgement = judge(table, report.identity, options);
  for (const std::int64_t each : judgement.off) report.entries_off += each;
  std::int64_t least = report.identity.position(0), most = least;
  for (std::int64_t row = 0; row < table.rows; ++row) {
    least = std::min(least, report.identity.position(row));
    most = std::max(most, report.identity.position(row));
  }
  report.errors.backend = "table";
  report.errors.table.spec = report.identity.spec;
  set_errors(report.errors, {least, most - least + 1}, table.type, judgement.tally);
  for (const std::int64_t position : {least, most}) {
    report.allowed_error = std::max(
        report.allowed_error, limit_of(options, table.type, report.identity.factor, position));
  }
  report.is_good = report.entries_off == 0;
  if (report.is_good) return report;
  report.causes = other ? std::vector<Cause>{{CauseKind::other_arrangement, other->text}}
                        : Diagnosis(sample, judgement, report, found).causes();
  return report;
}

std::string verdict_text(const CheckReport& report) {
  if (!report.is_identified)
    return "not known: no convention that posenc knows agrees with most of the entries";
  if (report.is_good) {
    return format_text("good: every entry is within {} of its exact value, the largest error is {}",
                       error_text(report.allowed_error), error_text(report.errors.error.max_abs));
  }
  const double share =
      static_cast<double>(report.entries_off) / static_cast<double>(report.errors.entries);
  return format_text("wrong: {} of the entries are off by more than {}, {}", percent_text(share),
                     error_text(report.allowed_error),
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
  if (report.is_good) return "cause: none, the table is good";
  std::string text;
  for (const Cause& each : report.causes) {
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
  if (count < 1 || 2 * count > max_d_model) {
    throw InvalidArgument(
        format_text("there are {} frequencies; allowed: 1 to {}", count, max_d_model / 2));
  }
  std::optional<EncodingSpec> wanted = spec;
  if (wanted && wanted->d_model == 0) wanted->d_model = 2 * count;
  if (wanted) validate(*wanted);
  if (wanted && wanted->d_model != 2 * count) {
    throw InvalidArgument(format_text("there are {} frequencies; allowed with d_model {}: {}",
                                      count, wanted->d_model, wanted->d_model / 2));
  }
  const auto found = convention_of(frequencies, wanted);
  const bool is_mistake = found && !found->convention.mistake.empty();
  FrequencyReport report;
  report.is_identified = found || wanted;
  std::vector<double> exact(frequencies.size());
  if (report.is_identified) {
    report.spec = wanted       ? *wanted
                  : is_mistake ? found->convention.intended
                               : found->convention.spec;
    exact = frequencies_of(report.spec);
  }
  std::vector<std::int64_t> off, zero, not_finite;
  constexpr double most_off = 0x1p-19, largest = 10;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const double given = frequencies[k];
    const double error = given == exact[k] ? 0 : std::fabs(given / exact[k] - 1);
    report.max_relative_error =
        std::max(report.max_relative_error, error <= largest ? error : largest);
    if (report.is_identified && error <= most_off) continue;
    auto& which = !std::isfinite(given) ? not_finite : is_unset(given) ? zero : off;
    which.push_back(static_cast<std::int64_t>(k));
  }
  report.is_good = report.is_identified && report.max_relative_error <= most_off;
  if (report.is_good) return report;
  std::vector<std::string> causes;
  const auto add_entries = [&](const std::vector<std::int64_t>& which, const char* of_one,
                               const char* of_several) {
    if (!which.empty())
      causes.push_back(entries_text("frequency", "frequencies", which, of_one, of_several));
  };
  add_entries(not_finite, "is NaN or infinite", "are NaN or infinite");
  add_entries(zero, "is zero or nearly", "are zero or nearly");
  if (is_mistake) {
    causes.push_back(found->convention.mistake);
  } else if (found && wanted && found->convention.spec != *wanted) {
    causes.push_back("they are those of " + convention_text(found->convention.spec));
  } else if (found && found->way.kind == CauseKind::narrow_frequencies && !off.empty()) {
    causes.push_back(found->way.text);
  } else if (found) {
    add_entries(off, "has another value", "have other values");
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
