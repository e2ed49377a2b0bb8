#include "posenc/check/report.h"

#include "posenc/check/text.h"
#include "posenc/suite/error_tally.h"
#include "posenc/support/enum_names.h"
#include "posenc/support/format.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <span>

namespace posenc::check {

using namespace suite;

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

constexpr auto verdict_names = enum_names<Verdict>("verdict", "right", "wrong", "not_recognised");

/// ", axes of mae on a grid of 14 x 14", ", 3 axes"
std::string axes_text(const TableAxes& axes) {
  if (axes.name.empty()) return format_text(", {} axes {}", axes.spec.axes(), to_string(axes.spec));
  const auto& [time, height, width] = axes.grid;
  return format_text(", axes of {} on a grid of {}{} x {}", axes.name,
                     time == 1 ? "" : format_text("{} x ", time), height, width);
}

}  // namespace

double TableView::operator()(std::int64_t row, std::int64_t column) const noexcept {
  const std::int64_t index = row * row_stride + column * column_stride;
  return with_type(type, [&]<class T>(T) { return to_double(static_cast<const T*>(data)[index]); });
}

std::string_view to_string(Arrangement arrangement) noexcept {
  return arrangement_names[arrangement];
}

Arrangement parse_arrangement(std::string_view name) { return arrangement_names.parse(name); }

Arrangement arrangement_of(Layout layout) noexcept { return static_cast<Arrangement>(layout); }

EncodingSpec shown_spec(const TableIdentity& is) {
  EncodingSpec spec = is.spec;
  if (is.odd_width == 0) return spec;
  const auto width = static_cast<double>(is.odd_width);
  spec.d_model = is.odd_width;
  if (spec.spacing == Spacing::paper) spec.base = std::pow(spec.base, width / (width + 1));
  // Powers and roots are rounded. If a base of at most 12 digits is within 1e-14, it is meant.
  const double few_digits = parse_real(digits_text(spec.base, 12)).value_or(spec.base);
  if (std::fabs(few_digits / spec.base - 1) < 1e-14) spec.base = few_digits;
  return spec;
}

std::string positions_text(const TableIdentity& is, std::int64_t rows) {
  if (!is.positions.empty()) return numbers_text(is.positions);
  const std::int64_t last = is.position(rows - 1);
  if (rows == 1) return format_text("{}", is.first);
  return std::abs(is.step) == 1 || rows == 2
             ? format_text("{} .. {}", is.first, last)
             : format_text("{}, {} .. {}", is.first, is.first + is.step, last);
}

std::string_view to_string(CauseKind kind) noexcept { return cause_names[kind]; }

std::string_view to_string(Verdict verdict) noexcept { return verdict_names[verdict]; }

bool TableReport::is_inexact() const noexcept {
  // The error of a float32 phase grows with the position, and each function adds some. A float32 in
  // a table of float64 is off by less than 2^-23.
  double limit = 0x1p-22 * static_cast<double>(rows) + 0x1p-20;
  for (const Cause& each : causes) {
    if (each.kind == CauseKind::narrow_entries)
      limit = 0x1p-23;
    else if (each.kind != CauseKind::float32_phases && each.kind != CauseKind::inexact_functions)
      return false;
  }
  return is_identified && !causes.empty() && errors.error.max_abs <= limit;
}

std::string verdict_text(const TableReport& report) {
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
                         ? "some are NaN or too large for a sine"
                         : "by up to " + error_text(report.errors.error.max_abs));
}

std::string identity_text(const TableReport& report) {
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

std::string cause_text(const TableReport& report) {
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

std::string to_string(const TableReport& report) {
  return verdict_text(report) + "\n" + identity_text(report) + "\n" + cause_text(report) +
         findings_text(report.findings);
}

}  // namespace posenc::check
