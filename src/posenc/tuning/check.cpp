#include "posenc/tuning/check.h"

#include "posenc/exact/reference.h"
#include "posenc/presets.h"
#include "posenc/support/check.h"
#include "posenc/support/enum_names.h"
#include "posenc/support/format.h"
#include "posenc/support/frequency_parameters.h"
#include "posenc/support/parallel_for.h"
#include "posenc/tuning/internal/arrangement.h"
#include "posenc/tuning/internal/causes.h"
#include "posenc/tuning/internal/exact_entries.h"
#include "posenc/tuning/internal/identify.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <thread>
#include <utility>

namespace posenc {
namespace {

constexpr auto arrangement_names = enum_names<Arrangement>(
    "arrangement", "interleaved", "halves", "halves_cos_first", "interleaved_cos_first", "cosines",
    "sines", "cosines_twice", "sines_twice", "cosines_repeated", "sines_repeated");
static_assert(arrangement_names.names.size() == std::size(all_arrangements));

constexpr auto cause_names = enum_names<CauseKind>(
    "cause", "float32_phases", "channel_recurrence", "row_recurrence", "narrow_frequencies",
    "narrow_positions", "narrow_phases", "narrow_entries", "exchanged_halves",
    "exchanged_functions", "other_arrangement", "negated_sines", "shifted_rows", "other_base",
    "other_spacing", "other_rule", "attention_factor", "unset_rows");

/// What a row holds, apart from how near it is to exact values.
enum class RowState : std::uint8_t { set, zero, not_finite, wild };

/// Beyond any sine times an attention factor.
constexpr double wild_value = 8;

struct RowScan {
  std::vector<RowState> states;
  std::int64_t entries_not_finite = 0;

  std::vector<bool> unset() const {
    std::vector<bool> result;
    for (const RowState each : states) result.push_back(each != RowState::set);
    return result;
  }
};

RowScan scan_rows(const TableView& table) {
  RowScan scan;
  for (std::int64_t row = 0; row < table.rows; ++row) {
    bool is_zero = true, is_wild = false;
    std::int64_t not_finite = 0;
    for (std::int64_t column = 0; column < table.columns; ++column) {
      const double value = table(row, column);
      is_zero = is_zero && value == 0;
      not_finite += !std::isfinite(value);
      is_wild = is_wild || std::fabs(value) > wild_value;
    }
    scan.entries_not_finite += not_finite;
    scan.states.push_back(not_finite > 0 ? RowState::not_finite
                          : is_zero      ? RowState::zero
                          : is_wild      ? RowState::wild
                                         : RowState::set);
  }
  return scan;
}

void check_shape(const TableView& table) {
  if (table.rows >= 1 && table.columns >= 1) return;
  throw InvalidArgument(format_text(
      "table has shape ({}, {}); allowed: at least one row and column", table.rows, table.columns));
}

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

/// What the table is judged as: what is asked for, and what is found otherwise. A table of one
/// function is what it is found to be, or cosines.
TableIdentity judged_identity(const TableView& table, const CheckOptions& options,
                              const std::optional<TableIdentity>& found) {
  TableIdentity identity = found.value_or(TableIdentity{});
  const bool is_of_one = found && !has_both_functions(found->arrangement);
  const std::int64_t d_model = options.spec ? options.spec->d_model : 0;
  if (!found && 2 * table.columns == d_model)
    identity.arrangement = Arrangement::cosines;
  else if (options.arrangement && !is_of_one)
    identity.arrangement = *options.arrangement;
  if (options.first) identity.first = *options.first;
  if (options.spec) identity.spec = expected_spec(table, *options.spec, identity.arrangement);
  // No convention has another factor, or negated sines.
  const double factor = options.factor.value_or(attention_factor(identity.spec.frequencies));
  identity.factor = factor > 0 ? factor : 1;
  identity.has_negated_sines = false;
  return identity;
}

/// The exact entries of one row, in the order of the columns.
class ExactRows {
 public:
  ExactRows(const TableView& table, const TableIdentity& identity)
      : identity_(identity), reference_(identity.spec), type_(table.type) {
    for (std::int64_t column = 0; column < table.columns; ++column)
      contents_.push_back(content_of(identity.arrangement, table.columns, column));
  }

  void fill(std::int64_t position, std::vector<ExactEntry>& row) const {
    std::int64_t last = -1;
    ReferencePair pair{};
    for (std::size_t column = 0; column < contents_.size(); ++column) {
      const auto [k, is_cosine] = contents_[column];
      if (k != last) pair = reference_(k, position);
      last = k;
      row[column] = entry(k, position, is_cosine, pair);
    }
  }

 private:
  ExactEntry entry(std::int64_t k, std::int64_t position, bool is_cosine,
                   const ReferencePair& pair) const {
    const long double value = is_cosine ? pair.cosine : pair.sine;
    const double rest = is_cosine ? pair.cosine_rest : pair.sine_rest;
    if (identity_.factor == 1) {
      const auto high = static_cast<double>(value);
      return {high, low_part(high, value, rest),
              reference_.nearest(k, position, is_cosine, value, type_),
              ulps_per_unit(value, type_)};
    }
    const long double scaled = value * static_cast<long double>(identity_.factor);
    const auto high = static_cast<double>(scaled);
    const double nearest_value =
        with_type(type_, [&]<class T>(T) { return to_double(nearest<T>(high)); });
    return {high, low_part(high, scaled, rest * identity_.factor), nearest_value,
            ulps_per_unit(scaled, type_)};
  }

  const TableIdentity& identity_;
  Reference reference_;
  DataType type_;
  std::vector<ColumnContent> contents_;
};

/// The errors of all rows.
struct Judgement {
  explicit Judgement(std::int64_t columns) : tally(columns) {}

  Tally tally;
  std::int64_t entries_off = 0;
};

class Judge {
 public:
  Judge(const TableView& table, const TableIdentity& identity, const CheckOptions& options)
      : table_(table),
        identity_(identity),
        options_(options),
        exact_(table, identity),
        off_in_row_(static_cast<std::size_t>(table.rows)),
        worst_of_row_(static_cast<std::size_t>(table.rows)) {}

  Judgement judge() {
    const auto caller = std::this_thread::get_id();
    std::atomic<std::int64_t> rows_done = 0;
    const std::int64_t parts = tally_parts(table_.rows, options_.threads);
    std::vector<Judgement> all(static_cast<std::size_t>(parts), Judgement(table_.columns));
    parallel_for(parts, 1, options_.threads, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t part = first; part < last; ++part) {
        std::vector<ExactEntry> exact(static_cast<std::size_t>(table_.columns));
        std::vector<double> got(exact.size());
        for (std::int64_t row = part_begin(table_.rows, parts, part);
             row < part_begin(table_.rows, parts, part + 1); ++row) {
          if (row != identity_.padding_row) judge_row(row, exact, got, all[part]);
          const std::int64_t done = ++rows_done;
          if (options_.progress && done % 64 == 0 && std::this_thread::get_id() == caller)
            options_.progress(static_cast<double>(done) / static_cast<double>(table_.rows));
        }
      }
    });
    for (std::size_t part = 1; part < all.size(); ++part) {
      all.front().tally.merge(all[part].tally);
      all.front().entries_off += all[part].entries_off;
    }
    return std::move(all.front());
  }

  std::int64_t off_in_row(std::int64_t row) const noexcept {
    return off_in_row_[static_cast<std::size_t>(row)];
  }
  double worst_of_row(std::int64_t row) const noexcept {
    return worst_of_row_[static_cast<std::size_t>(row)];
  }

  double allowed(std::int64_t position) const noexcept {
    return options_.max_error ? *options_.max_error
                              : allowed_error(table_.type, identity_.factor, position);
  }

 private:
  void judge_row(std::int64_t row, std::vector<ExactEntry>& exact, std::vector<double>& got,
                 Judgement& judgement) {
    const std::int64_t position = identity_.first + row;
    exact_.fill(position, exact);
    const double limit = allowed(position);
    double worst = 0;
    std::int64_t off = 0;
    for (std::size_t column = 0; column < got.size(); ++column) {
      got[column] = table_(row, static_cast<std::int64_t>(column));
      const double error = distance(got[column], exact[column].high, exact[column].low);
      off += !(error <= limit);
      worst = std::max(worst, std::isfinite(error) ? error : largest_error);
    }
    compare_row(position, exact, got.data(), judgement.tally);
    judgement.entries_off += off;
    off_in_row_[static_cast<std::size_t>(row)] = off;
    worst_of_row_[static_cast<std::size_t>(row)] = worst;
  }

  const TableView& table_;
  const TableIdentity& identity_;
  const CheckOptions& options_;
  ExactRows exact_;
  std::vector<std::int64_t> off_in_row_;
  std::vector<double> worst_of_row_;
};

/// fairseq and Transformers zero the row of their padding index, which is 0 or 1.
std::optional<std::int64_t> padding_row(const RowScan& scan, Arrangement arrangement) {
  if (!has_both_functions(arrangement)) return {};  // the sines of position 0 are zero
  if (std::ranges::count(scan.states, RowState::zero) != 1) return {};
  constexpr std::int64_t last_padding = 2;
  const auto found = std::ranges::find(scan.states, RowState::zero) - scan.states.begin();
  if (found > last_padding || scan.states.size() < 4) return {};
  return found;
}

std::vector<std::string> presets_like(const TableIdentity& identity) {
  std::vector<std::string> same_size, others;
  if (identity.factor != 1 || identity.has_negated_sines) return {};
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

/// "row 7 is zero", "rows 7 .. 12 are zero", "20 rows are zero, the first is row 7"
std::string rows_text(const std::vector<std::int64_t>& rows, std::string_view one,
                      std::string_view several) {
  if (rows.size() == 1) return format_text("row {} {}", rows.front(), one);
  const bool is_run = rows.back() - rows.front() + 1 == static_cast<std::int64_t>(rows.size());
  if (is_run) return format_text("rows {} .. {} {}", rows.front(), rows.back(), several);
  return format_text("{} rows {}, the first is row {}", rows.size(), several, rows.front());
}

class Diagnosis {
 public:
  Diagnosis(const TableView& table, const RowScan& scan, const Judge& judge,
            const TableIdentity& judged, const std::optional<TableIdentity>& found)
      : table_(table), scan_(scan), judge_(judge), judged_(judged), found_(found) {}

  std::vector<Cause> causes() {
    if (found_) add_differences();
    add_numeric();
    add_unset_rows();
    return std::move(causes_);
  }

 private:
  void add(CauseKind kind, std::string text) { causes_.push_back({kind, std::move(text)}); }

  void add_differences() {
    add_arrangement();
    if (found_->has_negated_sines) add(CauseKind::negated_sines, "the sines are negated");
    if (found_->first != judged_.first) {
      add(CauseKind::shifted_rows,
          format_text("the first row is position {}, not {}", found_->first, judged_.first));
    }
    add_frequencies();
    if (found_->factor != judged_.factor) {
      add(CauseKind::attention_factor,
          judged_.factor == 1
              ? format_text("every entry is multiplied by {:.6g}, as by an attention factor",
                            found_->factor)
              : format_text("the attention factor {:.6g} is missing{}", judged_.factor,
                            found_->factor == 1
                                ? ""
                                : format_text(": the factor is {:.6g}", found_->factor)));
    }
  }

  void add_arrangement() {
    const Arrangement is = found_->arrangement, wanted = judged_.arrangement;
    if (is == wanted) return;
    const auto are = [&](Arrangement a, Arrangement b) {
      return (is == a && wanted == b) || (is == b && wanted == a);
    };
    const std::string difference =
        format_text("the table is {}, not {}", to_string(is), to_string(wanted));
    if (are(Arrangement::halves, Arrangement::halves_cos_first)) {
      add(CauseKind::exchanged_halves, "the halves are exchanged: " + difference);
    } else if (are(Arrangement::interleaved, Arrangement::interleaved_cos_first)) {
      add(CauseKind::exchanged_functions, "sines and cosines are exchanged: " + difference);
    } else {
      add(CauseKind::other_arrangement, difference);
    }
  }

  void add_frequencies() {
    const EncodingSpec &is = found_->spec, &wanted = judged_.spec;
    if (is.d_model != wanted.d_model || have_same_frequencies(is, wanted)) return;
    const std::string rule = to_string(is.frequencies), wanted_rule = to_string(wanted.frequencies);
    if (is.base != wanted.base) {
      add(CauseKind::other_base,
          format_text("the base is {:.6g}, not {:.6g}", is.base, wanted.base));
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

  static bool have_same_frequencies(const EncodingSpec& a, const EncodingSpec& b) {
    const std::vector<double> of_a = frequencies_of(a), of_b = frequencies_of(b);
    return std::ranges::equal(
        of_a, of_b, [](double x, double y) { return std::fabs(x - y) <= 1e-12 * std::fabs(x); });
  }

  void add_numeric() {
    std::vector<std::int64_t> rows_off;
    for (std::int64_t row = 0; row < table_.rows; ++row) {
      if (judge_.off_in_row(row) > 0) rows_off.push_back(row);
    }
    for (Cause& each : numeric_causes(table_, found_.value_or(judged_), scan_.unset(), rows_off)) {
      causes_.push_back(std::move(each));
    }
  }

  void add_unset_rows() {
    struct Kind {
      RowState state;
      std::string_view one, several;
    };
    constexpr Kind kinds[] = {
        {RowState::zero, "is zero", "are zero"},
        {RowState::not_finite, "has NaN or infinity", "have NaN or infinity"},
        {RowState::wild, "has values that no sine has", "have values that no sine has"}};
    for (const Kind& kind : kinds) {
      std::vector<std::int64_t> rows;
      for (std::int64_t row = 0; row < table_.rows; ++row) {
        if (state(row) == kind.state && judge_.off_in_row(row) > 0) rows.push_back(row);
      }
      if (!rows.empty()) add(CauseKind::unset_rows, rows_text(rows, kind.one, kind.several));
    }
    if (causes_.empty()) add_arbitrary_rows();
  }

  /// Rows far off, in a table that is good otherwise.
  void add_arbitrary_rows() {
    constexpr double far_off = 0.25;
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < table_.rows; ++row) {
      if (judge_.off_in_row(row) == 0) continue;
      if (judge_.worst_of_row(row) < far_off) return;
      rows.push_back(row);
    }
    if (2 * static_cast<std::int64_t>(rows.size()) > table_.rows) return;
    add(CauseKind::unset_rows, rows_text(rows, "has other values", "have other values"));
  }

  RowState state(std::int64_t row) const noexcept {
    return scan_.states[static_cast<std::size_t>(row)];
  }

  const TableView& table_;
  const RowScan& scan_;
  const Judge& judge_;
  const TableIdentity& judged_;
  const std::optional<TableIdentity>& found_;
  std::vector<Cause> causes_;
};

/// "1", "2.98e-08"
std::string error_text(double error) { return format_text("{:.2e}", error); }

std::string convention_text(const EncodingSpec& spec) {
  const std::string text =
      format_text("base {:.6g}, spacing {}", spec.base, to_string(spec.spacing));
  return is_base(spec.frequencies) ? text : text + ", frequencies " + to_string(spec.frequencies);
}

std::string percent_text(double share) { return format_text("{:.3g} %", 100 * share); }

}  // namespace

double TableView::operator()(std::int64_t row, std::int64_t column) const noexcept {
  const std::int64_t index = row * row_stride + column * column_stride;
  return with_type(type, [&]<class T>(T) { return to_double(static_cast<const T*>(data)[index]); });
}

std::string_view to_string(Arrangement arrangement) noexcept {
  return arrangement_names[arrangement];
}

Arrangement parse_arrangement(std::string_view name) { return arrangement_names.parse(name); }

std::string_view to_string(CauseKind kind) noexcept { return cause_names[kind]; }

CheckReport check(const TableView& table, const CheckOptions& options) {
  check_shape(table);
  check_threads(options.threads);
  if (options.max_error) check_positive("max_error", *options.max_error);
  if (options.first) validate(RowRange{*options.first, table.rows});
  if (options.arrangement && !has_both_functions(*options.arrangement)) {
    throw InvalidArgument(format_text(
        "arrangement is {}; allowed: interleaved, halves, halves_cos_first, interleaved_cos_first "
        "(cosines or sines alone are found)",
        to_string(*options.arrangement)));
  }
  if (options.spec) judged_identity(table, options, {});  // throws if it does not fit

  CheckReport report;
  report.rows = table.rows;
  report.columns = table.columns;
  report.type = table.type;
  const RowScan scan = scan_rows(table);
  report.entries_not_finite = scan.entries_not_finite;
  auto found = identify(table, scan.unset(), {options.spec, options.arrangement, options.first});
  if (!found && !options.spec) return report;
  if (found && found->first > max_position - table.rows) found->first = 0;
  report.is_identified = true;
  report.identity = judged_identity(table, options, found);
  report.identity.padding_row = padding_row(scan, report.identity.arrangement);
  validate(RowRange{report.identity.first, table.rows});
  report.identity.presets = presets_like(report.identity);

  Judge judge(table, report.identity, options);
  const Judgement judgement = judge.judge();
  const RowRange rows = {report.identity.first, table.rows};
  report.errors.backend = "table";
  report.errors.spec = report.identity.spec;
  set_errors(report.errors, rows, table.type, judgement.tally);
  report.entries_off = judgement.entries_off;
  report.allowed_error =
      std::max(judge.allowed(rows.first), judge.allowed(rows.first + rows.count - 1));
  report.is_good = report.entries_off == 0;
  if (!report.is_good) {
    report.causes = Diagnosis(table, scan, judge, report.identity, found).causes();
  }
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
  text += format_text(", {}, positions {} .. {}, {}", to_string(is.arrangement), is.first,
                      is.first + report.rows - 1, convention_text(is.spec));
  if (is.factor != 1) text += format_text(", times {:.6g}", is.factor);
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
  const auto count = static_cast<std::int64_t>(frequencies.size());
  if (count < 1 || 2 * count > max_d_model) {
    throw InvalidArgument(
        format_text("there are {} frequencies; allowed: 1 to {}", count, max_d_model / 2));
  }
  std::optional<EncodingSpec> wanted = spec;
  if (wanted && wanted->d_model == 0) wanted->d_model = 2 * count;
  if (wanted) {
    validate(*wanted);
    if (wanted->d_model != 2 * count) {
      throw InvalidArgument(format_text("there are {} frequencies; allowed with d_model {}: {}",
                                        count, wanted->d_model, wanted->d_model / 2));
    }
  }
  std::vector<FrequencyEstimate> estimates;
  for (std::int64_t k = 0; k < count; ++k)
    estimates.push_back({.k = k, .frequency = frequencies[static_cast<std::size_t>(k)]});
  const auto found = fit_frequencies(estimates, count, 1, wanted);
  FrequencyReport report;
  if (!found && !wanted) return report;
  report.is_identified = true;
  report.spec = wanted ? *wanted : *found;
  const std::vector<double> exact = frequencies_of(report.spec);
  bool are_bfloat16 = true, are_float16 = true;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const double given = frequencies[k];
    const double off = std::fabs(given / exact[k] - 1);
    report.max_relative_error = std::max(report.max_relative_error, off);
    if (!(off <= 10)) report.max_relative_error = 10;
    are_bfloat16 = are_bfloat16 && given == to_double(nearest<BFloat16>(given));
    are_float16 = are_float16 && given == to_double(nearest<Float16>(given));
  }
  constexpr double most_off = 0x1p-19;
  report.is_good = report.max_relative_error <= most_off;
  if (report.is_good) return report;
  if (found && wanted && !(*found == *wanted)) {
    report.cause = format_text("base {:.6g}, spacing {}, frequencies {}", found->base,
                               to_string(found->spacing), to_string(found->frequencies));
  } else if (are_bfloat16) {
    report.cause = "frequencies in bfloat16";
  } else if (are_float16) {
    report.cause = "frequencies in float16";
  }
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

}  // namespace posenc
