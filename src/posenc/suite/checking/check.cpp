#include "posenc/suite/checking/check.h"

#include "posenc/presets.h"
#include "posenc/suite/checking/arrangement.h"
#include "posenc/suite/checking/conventions.h"
#include "posenc/suite/checking/exact_entries.h"
#include "posenc/suite/checking/identify.h"
#include "posenc/suite/checking/ways.h"
#include "posenc/suite/reference.h"
#include "posenc/support/check.h"
#include "posenc/support/enum_names.h"
#include "posenc/support/format.h"
#include "posenc/support/frequency_parameters.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <thread>
#include <utility>

namespace posenc::suite {
namespace {

constexpr auto arrangement_names = enum_names<Arrangement>(
    "arrangement", "interleaved", "halves", "halves_cos_first", "interleaved_cos_first", "cosines",
    "sines", "cosines_twice", "sines_twice", "cosines_repeated", "sines_repeated", "alternating");
static_assert(arrangement_names.names.size() == std::size(all_arrangements));

constexpr auto cause_names = enum_names<CauseKind>(
    "cause", "float32_phases", "channel_recurrence", "row_recurrence", "narrow_frequencies",
    "narrow_positions", "narrow_phases", "narrow_entries", "exchanged_halves",
    "exchanged_functions", "other_arrangement", "negated_sines", "shifted_rows", "other_base",
    "other_spacing", "other_rule", "attention_factor", "inexact_functions", "unset_rows");

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

/// What the table is judged as: what is claimed, and what is found otherwise.
TableIdentity judged_identity(const TableView& table, const CheckOptions& options,
                              const std::optional<Identified>& found) {
  TableIdentity identity = found ? found->identity : TableIdentity{};
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
  if (options.first) identity.first = *options.first;
  if (options.first || identity.step != 1) identity.positions.clear();
  if (options.first) identity.step = 1;
  if (!options.positions.empty()) identity.positions = options.positions;
  if (options.spec) identity.spec = expected_spec(table, *options.spec, identity.arrangement);
  const double factor = options.factor.value_or(attention_factor(identity.spec.frequencies));
  identity.factor = factor > 0 ? factor : 1;
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
    const std::int64_t position = identity_.position(row);
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

/// "row 7 is zero", "rows 7 .. 12 are zero", "20 rows are zero, the first is row 7"; the name is
/// "row" or "frequenc".
std::string entries_text(std::string_view name, const std::vector<std::int64_t>& which,
                         std::string_view one, std::string_view several) {
  const bool is_row = name == "row";
  const std::string single = std::string(name) + (is_row ? "" : "y"),
                    plural = std::string(name) + (is_row ? "s" : "ies");
  if (which.size() == 1) return format_text("{} {} {}", single, which.front(), one);
  const bool is_run = which.back() - which.front() + 1 == std::ssize(which);
  if (is_run) return format_text("{} {} .. {} {}", plural, which.front(), which.back(), several);
  return format_text("{} {} {}, the first is {} {}", which.size(), plural, several, single,
                     which.front());
}

struct FoundFrequencies {
  Convention convention;
  Rounding rounding;
};

/// The convention, and the type that its frequencies were rounded to, that leave the fewest bits of
/// the frequencies open. Empty if that are as many as without one.
std::optional<FoundFrequencies> convention_of(std::span<const double> frequencies,
                                              const std::optional<EncodingSpec>& wanted) {
  constexpr struct {
    Rounding rounding;
    double relative, absolute, bits;
  } types[] = {{Rounding::none, 0x1p-22, 0, 0},
               {Rounding::bfloat16, 0x1p-8, 0, 4},
               {Rounding::float16, 0x1p-11, 0x1p-25, 4}};
  constexpr double most = 24;
  std::optional<FoundFrequencies> best;
  double least = 0;
  for (const double each : frequencies) least += std::isfinite(each) && each != 0 ? most : 0;
  for (const auto& [rounding, relative, absolute, type_bits] : types) {
    std::vector<FrequencyEstimate> estimates;
    for (std::size_t k = 0; k < frequencies.size(); ++k) {
      const double size = std::fabs(frequencies[k]);
      if (std::isfinite(size) && size >= 0x1p-126)
        estimates.push_back({.k = static_cast<std::int64_t>(k),
                             .frequency = frequencies[k],
                             .uncertainty = relative * size + absolute});
    }
    for (const Convention& each : conventions_like(estimates, std::ssize(frequencies), 1, wanted)) {
      if (each.step != 1) continue;
      const std::vector<double> exact = frequencies_of(each.spec);
      double bits = each.bits + type_bits;
      for (std::size_t k = 0; k < exact.size(); ++k) {
        const double off = std::fabs(frequencies[k] - rounded(exact[k], rounding));
        const double units = off / (0x1p-24 * std::fabs(exact[k]));
        bits += units < 0x1p24 ? std::log2(1 + units) : off == 0 ? 0 : most;
      }
      if (bits >= least) continue;
      least = bits;
      best = FoundFrequencies{each, rounding};
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
std::vector<Cause> unset_rows(const RowScan& scan, const IsWanted& is_wanted) {
  struct Kind {
    RowState state;
    std::string_view one, several;
  };
  constexpr Kind kinds[] = {
      {RowState::zero, "is zero", "are zero"},
      {RowState::not_finite, "has NaN or infinity", "have NaN or infinity"},
      {RowState::wild, "has values that no sine has", "have values that no sine has"}};
  std::vector<Cause> causes;
  for (const Kind& kind : kinds) {
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < std::ssize(scan.states); ++row) {
      if (scan.states[static_cast<std::size_t>(row)] == kind.state && is_wanted(row))
        rows.push_back(row);
    }
    if (!rows.empty())
      causes.push_back({CauseKind::unset_rows, entries_text("row", rows, kind.one, kind.several)});
  }
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
  const auto identified = [](const TableView& view) {
    const std::vector<bool> is_unset = scan_rows(view).unset();
    return identify(view, is_unset, Sample(view, is_unset), {});
  };
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
  if (!of_even || !of_odd || has_both_functions(of_even->identity.arrangement) ||
      has_both_functions(of_odd->identity.arrangement) ||
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
  Diagnosis(const TableView& table, const RowScan& scan, const Judge& judge, const Sample& sample,
            const TableIdentity& judged, const std::optional<Identified>& found)
      : table_(table),
        scan_(scan),
        judge_(judge),
        sample_(sample),
        judged_(judged),
        is_(found ? found->identity : judged),
        mistake_(found ? found->mistake : "") {}

  std::vector<Cause> causes() {
    add_differences();
    add_numeric();
    add_unset_rows();
    if (causes_.empty()) add_arbitrary_rows();
    if (causes_.empty()) add_inexact_functions();
    return std::move(causes_);
  }

 private:
  void add(CauseKind kind, std::string text) { causes_.push_back({kind, std::move(text)}); }

  void add_differences() {
    add_arrangement();
    if (is_.has_negated_sines) add(CauseKind::negated_sines, "the sines are negated");
    if (is_.step != judged_.step || is_.positions != judged_.positions) {
      add(CauseKind::shifted_rows,
          format_text("the positions are {}, not {}", positions_text(is_, table_.rows),
                      positions_text(judged_, table_.rows)));
    } else if (is_.first != judged_.first && is_.positions.empty()) {
      add(CauseKind::shifted_rows,
          format_text("the first row is position {}, not {}", is_.first, judged_.first));
    }
    add_frequencies();
    if (is_.factor != judged_.factor) {
      add(CauseKind::attention_factor,
          judged_.factor == 1
              ? format_text("every entry is multiplied by {}, as by an attention factor",
                            digits_text(is_.factor, 6))
              : format_text("the attention factor {} is missing{}", digits_text(judged_.factor, 6),
                            is_.factor == 1
                                ? ""
                                : format_text(": the factor is {}", digits_text(is_.factor, 6))));
    }
  }

  void add_arrangement() {
    const Arrangement is = is_.arrangement, wanted = judged_.arrangement;
    if (is == wanted) return;
    const auto are = [&](Arrangement a, Arrangement b) {
      return (is == a && wanted == b) || (is == b && wanted == a);
    };
    const std::string difference =
        format_text("the table is {}, not {}", to_string(is), to_string(wanted));
    if (is == Arrangement::alternating) {
      add(CauseKind::other_arrangement,
          "each column has a frequency of its own, instead of one for a sine and a cosine: " +
              difference);
    } else if (are(Arrangement::halves, Arrangement::halves_cos_first)) {
      add(CauseKind::exchanged_halves, "the halves are exchanged: " + difference);
    } else if (are(Arrangement::interleaved, Arrangement::interleaved_cos_first)) {
      add(CauseKind::exchanged_functions, "sines and cosines are exchanged: " + difference);
    } else {
      add(CauseKind::other_arrangement, difference);
    }
  }

  void add_frequencies() {
    const EncodingSpec &is = is_.spec, &wanted = judged_.spec;
    if (!mistake_.empty()) return add(CauseKind::other_rule, mistake_);
    if (is.d_model != wanted.d_model || have_same_frequencies(is, wanted)) return;
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

  static bool have_same_frequencies(const EncodingSpec& a, const EncodingSpec& b) {
    const std::vector<double> of_a = frequencies_of(a), of_b = frequencies_of(b);
    return std::ranges::equal(
        of_a, of_b, [](double x, double y) { return std::fabs(x - y) <= 1e-12 * std::fabs(x); });
  }

  /// How the entries were rounded.
  void add_numeric() {
    if (sample_.rows.empty()) return;
    explanations_ = explain(sample_, is_);
    const Explanation& best = explanations_.front();
    const DataType narrow = best.entries == Rounding::float32   ? DataType::float32
                            : best.entries == Rounding::float16 ? DataType::float16
                                                                : DataType::bfloat16;
    if (best.entries != Rounding::none && size_of(narrow) < size_of(table_.type)) {
      add(CauseKind::narrow_entries,
          format_text("entries are {} values in a table of {}{}", to_string(narrow),
                      to_string(table_.type),
                      best.entries == Rounding::truncated ? ", truncated" : ""));
    }
    if (best.is_exact) return;
    std::vector<Cause> rivals;
    for (const Explanation& each : explanations_) {
      if (each.is_exact) continue;
      if (std::ranges::count(rivals, each.kind, &Cause::kind) == 0)
        rivals.push_back({each.kind, each.text});
    }
    for (Cause& each : rivals) each.is_rival = rivals.size() > 1;
    causes_.insert(causes_.end(), rivals.begin(), rivals.end());
  }

  void add_unset_rows() {
    for (Cause& each :
         unset_rows(scan_, [&](std::int64_t row) { return judge_.off_in_row(row) > 0; }))
      causes_.push_back(std::move(each));
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
    add(CauseKind::unset_rows, entries_text("row", rows, "has other values", "have other values"));
  }

  void add_inexact_functions() {
    if (explanations_.empty() || explanations_.front().most_ulps <= 1) return;
    add(CauseKind::inexact_functions,
        format_text("phases are exact, and sines and cosines are off by up to {} ulp, as those "
                    "of fast libraries are: {} % of the entries are correctly rounded",
                    digits_text(explanations_.front().most_ulps, 3),
                    digits_text(100 * explanations_.front().share, 3)));
  }

  const TableView& table_;
  const RowScan& scan_;
  const Judge& judge_;
  const Sample& sample_;
  const TableIdentity& judged_;
  TableIdentity is_;
  std::string mistake_;
  std::vector<Explanation> explanations_;
  std::vector<Cause> causes_;
};

/// "1", "2.98e-08"
std::string error_text(double error) {
  return digits_text(error, 2, std::chars_format::scientific);
}

std::string convention_text(const EncodingSpec& spec) {
  const std::string text =
      format_text("base {}, spacing {}", digits_text(spec.base, 6), to_string(spec.spacing));
  return is_base(spec.frequencies) ? text : text + ", frequencies " + to_string(spec.frequencies);
}

std::string percent_text(double share) { return digits_text(100 * share, 3) + " %"; }

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

CheckReport check(const TableView& whole, const CheckOptions& options) {
  check_shape(whole);
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
  const RowScan scan = scan_rows(table);
  report.entries_not_finite = scan.entries_not_finite;
  const Sample sample(table, scan.unset());
  const auto found = identify(table, scan.unset(), sample, options);
  const auto other = other_reading(table, found ? found->explained : 0);
  if (!found && !other && !options.spec) {
    report.causes = unset_rows(scan, [](std::int64_t) { return true; });
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
  report.identity.padding_row = padding_row(scan, report.identity.arrangement);
  report.identity.presets = presets_like(report.identity);

  Judge judge(table, report.identity, options);
  const Judgement judgement = judge.judge();
  std::int64_t least = report.identity.position(0), most = least;
  for (std::int64_t row = 0; row < table.rows; ++row) {
    least = std::min(least, report.identity.position(row));
    most = std::max(most, report.identity.position(row));
  }
  report.errors.backend = "table";
  report.errors.spec = report.identity.spec;
  set_errors(report.errors, {least, most - least + 1}, table.type, judgement.tally);
  report.entries_off = judgement.entries_off;
  report.allowed_error = std::max(judge.allowed(least), judge.allowed(most));
  report.is_good = report.entries_off == 0;
  if (report.is_good) return report;
  if (other) {
    report.causes = {{CauseKind::other_arrangement, other->text}};
  } else {
    report.causes = Diagnosis(table, scan, judge, sample, report.identity, found).causes();
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
  if (wanted) {
    validate(*wanted);
    if (wanted->d_model != 2 * count) {
      throw InvalidArgument(format_text("there are {} frequencies; allowed with d_model {}: {}",
                                        count, wanted->d_model, wanted->d_model / 2));
    }
  }
  const auto found = convention_of(frequencies, wanted);
  FrequencyReport report;
  report.is_identified = found || wanted;
  const bool is_mistake = found && !found->convention.mistake.empty();
  if (wanted || found) {
    report.spec = wanted       ? *wanted
                  : is_mistake ? found->convention.intended
                               : found->convention.spec;
  }
  std::vector<std::int64_t> off, zero, not_finite;
  const std::vector<double> exact =
      report.is_identified ? frequencies_of(report.spec) : std::vector<double>(frequencies.size());
  constexpr double most_off = 0x1p-19, largest = 10;
  for (std::int64_t k = 0; k < count; ++k) {
    const double given = frequencies[static_cast<std::size_t>(k)],
                 right = exact[static_cast<std::size_t>(k)];
    const double error = given == right ? 0 : std::fabs(given / right - 1);
    report.max_relative_error =
        std::max(report.max_relative_error, error <= largest ? error : largest);
    if (report.is_identified && error <= most_off) continue;
    // A number below every normal float is memory that was never written.
    (!std::isfinite(given) ? not_finite : std::fabs(given) < 0x1p-126 ? zero : off).push_back(k);
  }
  report.is_good = report.is_identified && report.max_relative_error <= most_off;
  if (report.is_good) return report;
  std::vector<std::string> causes;
  const auto add_entries = [&](const std::vector<std::int64_t>& which, const char* one,
                               const char* several) {
    if (!which.empty()) causes.push_back(entries_text("frequenc", which, one, several));
  };
  add_entries(not_finite, "is NaN or infinite", "are NaN or infinite");
  add_entries(zero, "is zero or nearly", "are zero or nearly");
  if (is_mistake) {
    causes.push_back(found->convention.mistake);
  } else if (found && wanted && !(found->convention.spec == *wanted)) {
    const EncodingSpec& is = found->convention.spec;
    causes.push_back(format_text("base {}, spacing {}, frequencies {}", digits_text(is.base, 6),
                                 to_string(is.spacing), to_string(is.frequencies)));
  } else if (found && found->rounding != Rounding::none && !off.empty()) {
    causes.push_back(format_text("frequencies in {}",
                                 found->rounding == Rounding::bfloat16 ? "bfloat16" : "float16"));
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
