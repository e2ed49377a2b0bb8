#include "posenc/tuning/internal/identify.h"

#include "posenc/exact/frequency.h"
#include "posenc/measuring/statistics.h"
#include "posenc/tuning/internal/arrangement.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <utility>

namespace posenc {
namespace {

constexpr double pi = std::numbers::pi, two_pi = 2 * pi;
constexpr double infinity = std::numeric_limits<double>::infinity();

double turned(double angle) noexcept { return std::remainder(angle, two_pi); }

/// A table in one arrangement: its entries by frequency.
class Arranged {
 public:
  Arranged(const TableView& table, const std::vector<bool>& is_unset, Arrangement arrangement)
      : table_(table),
        is_unset_(is_unset),
        arrangement_(arrangement),
        count_(frequencies_in(arrangement, table.columns)),
        ks_(spread(count_, 256)) {}

  Arrangement arrangement() const noexcept { return arrangement_; }
  std::int64_t count() const noexcept { return count_; }
  const std::vector<std::int64_t>& ks() const noexcept { return ks_; }
  std::int64_t rows() const noexcept { return table_.rows; }
  bool is_unset(std::int64_t row) const noexcept {
    return is_unset_[static_cast<std::size_t>(row)];
  }

  double entry(std::int64_t row, std::int64_t k, bool is_cosine) const noexcept {
    return table_(row, column_of(arrangement_, table_.columns, k, is_cosine));
  }

  /// Cosine and sine.
  std::complex<double> point(std::int64_t row, std::int64_t k) const noexcept {
    return {entry(row, k, true), entry(row, k, false)};
  }

  /// The error of an angle: that of rounding.
  double angle_error() const noexcept { return 4 * half_ulp_of_one(table_.type); }

 private:
  const TableView& table_;
  const std::vector<bool>& is_unset_;
  Arrangement arrangement_;
  std::int64_t count_;
  std::vector<std::int64_t> ks_;
};

/// What the entries of an arrangement say.
struct Estimates {
  std::vector<FrequencyEstimate> each;
  double factor = 1;
  bool has_negated_sines = false;
};

/// The factor of points on circles: the median radius.
double radius(const Arranged& table) {
  std::vector<double> all;
  for (const std::int64_t row : spread(std::min<std::int64_t>(table.rows(), 1000), 32)) {
    if (table.is_unset(row)) continue;
    for (const std::int64_t i : spread(static_cast<std::int64_t>(table.ks().size()), 32))
      all.push_back(std::abs(table.point(row, table.ks()[static_cast<std::size_t>(i)])));
  }
  return all.empty() ? 0 : median(std::move(all));
}

/// Of points on a circle. Rows that do not lie on it are passed over.
FrequencyEstimate estimate_of_points(const Arranged& table, std::int64_t k, double factor) {
  const auto is_on_circle = [&](std::int64_t row) {
    return !table.is_unset(row) && std::fabs(std::abs(table.point(row, k)) / factor - 1) < 0.1;
  };
  FrequencyEstimate result = {.k = k, .uncertainty = infinity};
  constexpr std::int64_t rows_tried = 64;
  std::int64_t start = 0;
  const std::int64_t last_start = std::min(table.rows() - 1, rows_tried);
  while (start < last_start && !(is_on_circle(start) && is_on_circle(start + 1))) ++start;
  if (start >= last_start) return result;
  const std::complex<double> origin = std::conj(table.point(start, k));
  constexpr double most_off = 1;  // radians; beyond, the number of turns is not certain
  for (std::int64_t rows = 1; start + rows < table.rows(); rows *= 2) {
    if (!is_on_circle(start + rows)) continue;
    const auto distance = static_cast<double>(rows);
    const double expected = distance * result.frequency;
    const double off = turned(std::arg(table.point(start + rows, k) * origin) - expected);
    if (rows > 1 && std::fabs(off) > most_off) break;
    result.frequency = (expected + off) / distance;
    result.uncertainty = table.angle_error() / distance;
  }
  result.phase = turned(-std::arg(origin) - static_cast<double>(start) * result.frequency);
  return result;
}

Estimates estimate_points(const Arranged& table) {
  Estimates result;
  result.factor = radius(table);
  if (!(result.factor > 0)) return result;
  std::int64_t backwards = 0;
  for (const std::int64_t k : table.ks()) {
    result.each.push_back(estimate_of_points(table, k, result.factor));
    const FrequencyEstimate& last = result.each.back();
    if (std::fabs(last.frequency) > last.uncertainty) backwards += last.frequency < 0 ? 1 : -1;
  }
  if (backwards > 0) {
    result.has_negated_sines = true;
    for (FrequencyEstimate& each : result.each) {
      each.frequency = -each.frequency;
      each.phase = -each.phase;
    }
  }
  return result;
}

/// Of cosines or sines alone, whose row 0 is position 0: the angle of a value is known up to its
/// sign, or to its supplement.
FrequencyEstimate estimate_of_values(const Arranged& table, std::int64_t k, double factor,
                                     bool is_cosine) {
  FrequencyEstimate result = {.k = k, .uncertainty = infinity};
  for (std::int64_t row = 1; row < table.rows(); row *= 2) {
    if (table.is_unset(row)) continue;
    const double value = std::clamp(table.entry(row, k, is_cosine) / factor, -1.0, 1.0);
    const auto distance = static_cast<double>(row);
    const double expected = distance * result.frequency;
    const double angle = is_cosine ? std::acos(value) : std::asin(value);
    double off = turned(angle - expected);
    if (row > 1 && expected > 1.2) {
      const double other = turned((is_cosine ? -angle : pi - angle) - expected);
      if (std::fabs(other) < std::fabs(off)) off = other;
      if (std::fabs(off) > 0.8) break;
    }
    result.frequency = (expected + off) / distance;
    // Near the maximum of the function, the angle follows from the square root of its distance.
    const double slope = std::sqrt(std::max(1 - value * value, table.angle_error()));
    result.uncertainty = table.angle_error() / slope / distance;
  }
  return result;
}

Estimates estimate_values(const Arranged& table, bool is_cosine) {
  Estimates result;
  std::vector<double> sizes;
  if (is_cosine && !table.is_unset(0)) {
    for (const std::int64_t k : table.ks()) sizes.push_back(table.entry(0, k, true));
  } else {
    for (std::int64_t row = 0; row < std::min<std::int64_t>(table.rows(), 512); ++row) {
      if (!table.is_unset(row)) sizes.push_back(std::fabs(table.entry(row, 0, is_cosine)));
    }
    std::ranges::sort(sizes);
    if (!sizes.empty()) sizes = {sizes.back()};
  }
  result.factor = sizes.empty() ? 0 : median(std::move(sizes));
  if (!(result.factor > 0)) return result;
  for (const std::int64_t k : table.ks())
    result.each.push_back(estimate_of_values(table, k, result.factor, is_cosine));
  return result;
}

/// The position of row 0, from the phases there: the slowest frequency has it up to its turns, and
/// each faster one refines it. Empty if the phases are not those of one position.
std::optional<std::int64_t> first_position(const std::vector<FrequencyEstimate>& estimates) {
  std::vector<FrequencyEstimate> known;
  for (const FrequencyEstimate& each : estimates) {
    if (each.frequency > 0 && each.uncertainty < 0.05 * each.frequency) known.push_back(each);
  }
  if (known.empty()) return {};
  std::ranges::sort(known, std::less(), &FrequencyEstimate::frequency);
  std::optional<std::int64_t> best;
  std::size_t most_agreeing = known.size() * 7 / 10;
  constexpr int turns_tried = 200;
  for (int i = 0; i < turns_tried; ++i) {
    const int turns = i % 2 == 1 ? (i + 1) / 2 : -i / 2;  // 0, 1, -1, 2, ...
    double position = (known.front().phase + two_pi * turns) / known.front().frequency;
    for (const FrequencyEstimate& each : known)
      position += turned(each.phase - position * each.frequency) / each.frequency;
    position = std::round(position);
    if (!(std::fabs(position) <= static_cast<double>(max_position))) continue;
    const bool is_negative = position < 0;
    const auto agreeing =
        static_cast<std::size_t>(std::ranges::count_if(known, [&](const FrequencyEstimate& each) {
          // Positive positions are the usual ones: a negative one has to agree more closely.
          const double slack = 0.1 + (is_negative ? 0 : position * each.uncertainty);
          return std::fabs(turned(each.phase - position * each.frequency)) < slack;
        }));
    if (agreeing <= most_agreeing) continue;
    most_agreeing = agreeing;
    best = static_cast<std::int64_t>(position);
    if (agreeing == known.size()) break;
  }
  return best;
}

/// Rows to compare: mostly early ones, where rounded phases are not far off.
std::vector<std::int64_t> early_rows(std::int64_t rows) {
  std::vector<std::int64_t> all = spread(std::min<std::int64_t>(rows, 64), 48);
  for (const std::int64_t row : spread(rows, 16)) all.push_back(row);
  return all;
}

/// The share of entries that are near their exact values. Entries that are near any table's, as
/// cosines of slow frequencies are, count as well.
double agreement(const Arranged& table, const TableIdentity& identity) {
  const Frequencies frequencies(identity.spec);
  constexpr double near = 0.05;
  std::int64_t agreeing = 0, compared = 0;
  for (const std::int64_t row : early_rows(table.rows())) {
    if (table.is_unset(row)) continue;
    for (const std::int64_t k : table.ks()) {
      const std::int64_t position = identity.first + row;
      const double distance = to_radians(frequencies.phase(k, std::abs(position)));
      const double phase = position < 0 ? -distance : distance;
      for (const bool is_cosine : {false, true}) {
        if (!has_both_functions(identity.arrangement) &&
            is_cosine != is_of_cosines(identity.arrangement)) {
          continue;
        }
        const double sign = !is_cosine && identity.has_negated_sines ? -1 : 1;
        const double exact =
            identity.factor * sign * (is_cosine ? std::cos(phase) : std::sin(phase));
        agreeing += std::fabs(table.entry(row, k, is_cosine) - exact) < near * identity.factor;
        ++compared;
      }
    }
  }
  return compared > 0 ? static_cast<double>(agreeing) / static_cast<double>(compared) : 0;
}

/// True if the second copies are those of the first.
bool has_equal_copies(const TableView& table, Arrangement arrangement) {
  for (const std::int64_t row : early_rows(table.rows)) {
    for (const std::int64_t column : spread(table.columns, 512)) {
      const ColumnContent content = content_of(arrangement, table.columns, column);
      const std::int64_t copied =
          column_of(arrangement, table.columns, content.k, content.is_cosine);
      const double a = table(row, column), b = table(row, copied);
      if (!(a == b) && !(std::isnan(a) && std::isnan(b))) return false;
    }
  }
  return true;
}

struct Found {
  TableIdentity identity;
  double agreement = 0;
};

/// 1 if it is near it: entries may be truncated to bfloat16. Attention factors are from 1.03 on.
double usual_factor(double factor) { return std::fabs(factor - 1) < 6e-3 ? 1.0 : factor; }

std::optional<EncodingSpec> hinted_spec(const IdentityHints& hints, std::int64_t count) {
  if (!hints.spec) return {};
  EncodingSpec spec = *hints.spec;
  if (spec.d_model == 0) spec.d_model = 2 * count;
  if (spec.d_model != 2 * count) return {};
  try {
    validate(spec);
  } catch (const InvalidArgument&) {
    return {};
  }
  return spec;
}

std::optional<Found> identify_as(const TableView& table, const std::vector<bool>& is_unset,
                                 Arrangement arrangement, const IdentityHints& hints) {
  const Arranged arranged(table, is_unset, arrangement);
  if (arranged.count() == 0 || 2 * arranged.count() > max_d_model) return {};
  const bool has_both = has_both_functions(arrangement);
  if (!has_both && arrangement != Arrangement::cosines && arrangement != Arrangement::sines &&
      !has_equal_copies(table, arrangement)) {
    return {};
  }
  const Estimates estimates =
      has_both ? estimate_points(arranged) : estimate_values(arranged, is_of_cosines(arrangement));
  if (!(estimates.factor > 0) || estimates.factor > 1e6) return {};
  std::optional<std::int64_t> first = hints.first;
  if (has_both) {
    const auto found = first_position(estimates.each);
    if (found) first = found;
  } else if (!first) {
    first = 0;
  }
  if (!first) return {};
  const double factor = usual_factor(estimates.factor);
  const auto spec = fit_frequencies(estimates.each, arranged.count(), factor,
                                    hinted_spec(hints, arranged.count()));
  if (!spec) return {};
  Found found = {{.spec = *spec,
                  .arrangement = arrangement,
                  .first = *first,
                  .factor = factor,
                  .has_negated_sines = estimates.has_negated_sines},
                 0};
  const double of_rule = attention_factor(spec->frequencies);
  if (std::fabs(factor / of_rule - 1) < 6e-3) found.identity.factor = of_rule;
  found.agreement = agreement(arranged, found.identity);
  return found;
}

}  // namespace

std::vector<std::int64_t> spread(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> all;
  const std::int64_t parts = std::min(count, most);
  for (std::int64_t i = 0; i < parts; ++i)
    all.push_back(parts > 1
                      ? (count - 1) / (parts - 1) * i + (count - 1) % (parts - 1) * i / (parts - 1)
                      : 0);
  return all;
}

std::optional<TableIdentity> identify(const TableView& table, const std::vector<bool>& is_unset,
                                      const IdentityHints& hints) {
  std::optional<Found> best;
  // An arrangement later in the list has to agree with more entries.
  constexpr double least = 0.5, margin = 0.02;
  for (const Arrangement each : all_arrangements) {
    auto found = identify_as(table, is_unset, each, hints);
    if (!found || found->agreement < least) continue;
    if (!best || found->agreement > best->agreement + margin) best = std::move(found);
  }
  if (!best) return {};
  return best->identity;
}

}  // namespace posenc
