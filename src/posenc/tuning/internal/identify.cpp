#include "posenc/tuning/internal/identify.h"

#include "posenc/exact/frequency.h"
#include "posenc/measuring/statistics.h"
#include "posenc/tuning/internal/arrangement.h"
#include "posenc/tuning/internal/float32_ways.h"

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
constexpr double infinity = std::numeric_limits<double>::infinity(),
                 not_known = std::numeric_limits<double>::quiet_NaN();

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
  FrequencyEstimate result = {.k = k, .uncertainty = infinity, .phase = not_known};
  constexpr std::int64_t rows_tried = 64;
  std::int64_t start = 0;
  const std::int64_t last_start = std::min(table.rows() - 1, rows_tried);
  while (start < last_start && !(is_on_circle(start) && is_on_circle(start + 1))) ++start;
  if (!is_on_circle(start)) return result;
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

/// The first column of cosines or sines alone: factor * f(row * frequency).
class FirstColumn {
 public:
  FirstColumn(const Arranged& table, bool is_cosine)
      : table_(table), is_cosine_(is_cosine), rows_(std::min<std::int64_t>(table.rows(), 512)) {}

  /// 1 unless the rows show another one.
  double factor() const {
    const double highest = largest();
    const double usual = highest > 1 + not_told_from_1 ? highest : 1;
    const auto found = fitted();
    if (!found) return rows_ < enough_rows ? usual : highest;
    constexpr double most_uncertain = 0.02;
    const bool is_certain = found->uncertainty < most_uncertain &&
                            std::fabs(found->factor - 1) > 4 * found->uncertainty;
    return is_certain ? found->factor : usual;
  }

 private:
  struct Fitted {
    double factor = 1;
    double uncertainty = infinity;
  };

  /// So many rows come near the maximum of the function, at any frequency but a slow one.
  static constexpr std::int64_t enough_rows = 64;
  static constexpr double not_told_from_1 = 6e-3;

  /// The sines of position 0 are zero, as in a row that was never written.
  bool is_set(std::int64_t row) const noexcept {
    return !table_.is_unset(row) || (row == 0 && !is_cosine_ && value(0) == 0);
  }
  double value(std::int64_t row) const noexcept { return table_.entry(row, 0, is_cosine_); }
  double wave(double phase) const noexcept {
    return is_cosine_ ? std::cos(phase) : std::sin(phase);
  }

  double largest() const {
    double highest = 0;
    for (std::int64_t row = 0; row < rows_; ++row)
      if (is_set(row)) highest = std::max(highest, std::fabs(value(row)));
    return highest;
  }

  /// x_(r-1) + x_(r+1) = 2 cos(w) x_r whatever the factor is: three rows give the frequency w, and
  /// it gives the factor. Least squares of both. Empty if the rows are not those of one
  /// frequency.
  std::optional<Fitted> fitted() const {
    double products = 0, squares = 0;
    for (std::int64_t row = 1; row + 1 < rows_; ++row) {
      if (!is_set(row - 1) || !is_set(row) || !is_set(row + 1)) continue;
      products += value(row) * (value(row - 1) + value(row + 1));
      squares += value(row) * value(row);
    }
    if (!(squares > 0)) return {};
    const double cosine = products / (2 * squares);
    if (cosine >= 1) return Fitted{};  // too slow for a type of so few digits
    if (!(cosine > -1)) return {};
    const double frequency = std::acos(cosine), factor = amplitude(frequency);
    const double rest = residual(frequency, factor);
    constexpr double worst_fit = 0.02;
    if (!(rest < worst_fit * factor)) return {};
    // The error of the cosine, then of the frequency, which a slow one's factor makes up for.
    const double noise = std::max(table_.angle_error(), 2 * rest);
    return Fitted{factor, noise / std::sqrt(squares) / std::sin(frequency) / frequency / factor};
  }

  double amplitude(double frequency) const {
    double along = 0, squares = 0;
    for (std::int64_t row = 0; row < rows_; ++row) {
      if (!is_set(row)) continue;
      const double each = wave(static_cast<double>(row) * frequency);
      along += value(row) * each;
      squares += each * each;
    }
    return along / squares;
  }

  /// The root mean square of what the rows are off by.
  double residual(double frequency, double factor) const {
    double squares = 0;
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < rows_; ++row) {
      if (!is_set(row)) continue;
      squares += std::pow(value(row) - factor * wave(static_cast<double>(row) * frequency), 2);
      ++count;
    }
    return std::sqrt(squares / static_cast<double>(count));
  }

  const Arranged& table_;
  bool is_cosine_;
  std::int64_t rows_;
};

Estimates estimate_values(const Arranged& table, bool is_cosine) {
  Estimates result;
  result.factor = 0;
  if (is_cosine && !table.is_unset(0)) {
    std::vector<double> sizes;
    for (const std::int64_t k : table.ks()) sizes.push_back(table.entry(0, k, true));
    if (!sizes.empty()) result.factor = median(std::move(sizes));
  } else {
    result.factor = FirstColumn(table, is_cosine).factor();
  }
  if (!(result.factor > 0)) return result;
  for (const std::int64_t k : table.ks())
    result.each.push_back(estimate_of_values(table, k, result.factor, is_cosine));
  return result;
}

/// The position of row 0, from the phases there: the slowest frequency has it up to its turns, and
/// each faster one refines it. Empty if the phases are not those of one position, or it is beyond
/// 2^20 and more turns than are tried.
std::optional<std::int64_t> first_position(const std::vector<FrequencyEstimate>& estimates,
                                           const EncodingSpec& spec, double angle_error) {
  struct Known {
    double frequency, phase;
  };
  const std::vector<double> frequencies = frequencies_of(spec);
  std::vector<Known> known;
  for (const std::int64_t i : spread(static_cast<std::int64_t>(estimates.size()), 48)) {
    const FrequencyEstimate& each = estimates[static_cast<std::size_t>(i)];
    const double frequency = frequencies[static_cast<std::size_t>(each.k)];
    if (frequency > 0 && std::isfinite(each.phase)) known.push_back({frequency, each.phase});
  }
  if (known.empty()) return {};
  std::ranges::sort(known, std::less(), &Known::frequency);
  constexpr double farthest = 0x1p20, slack = 0.1;
  constexpr int most_turns = 4000;
  const int turns_tried = static_cast<int>(
      std::clamp(farthest * known.front().frequency / pi, 200.0, double{most_turns}));
  std::optional<std::int64_t> best;
  std::size_t most_agreeing = known.size() * 7 / 10;
  double least_off = infinity;
  for (int i = 0; i < turns_tried; ++i) {
    const int turns = i % 2 == 1 ? (i + 1) / 2 : -i / 2;  // 0, 1, -1, 2, ...
    double position = (known.front().phase + two_pi * turns) / known.front().frequency;
    for (const Known& each : known)
      position += turned(each.phase - position * each.frequency) / each.frequency;
    position = std::round(position);
    if (!(std::fabs(position) <= static_cast<double>(max_position))) continue;
    std::size_t agreeing = 0;
    double off = 0;
    for (const Known& each : known) {
      const double rest = std::fabs(turned(each.phase - position * each.frequency));
      agreeing += rest < slack;
      off += std::min(rest, slack) / static_cast<double>(known.size());
    }
    // Of few frequencies, several positions may agree. A farther one has to agree far better.
    const bool is_better =
        agreeing > most_agreeing || (best && agreeing == most_agreeing && off < least_off / 5);
    if (!is_better) continue;
    most_agreeing = agreeing;
    least_off = off;
    best = static_cast<std::int64_t>(position);
    if (agreeing == known.size() && off < angle_error) break;
  }
  return best;
}

/// Rows to compare: mostly early ones, where rounded phases are not far off.
std::vector<std::int64_t> early_rows(std::int64_t rows) {
  std::vector<std::int64_t> all = spread(std::min<std::int64_t>(rows, 64), 48);
  for (const std::int64_t row : spread(rows, 16)) all.push_back(row);
  return all;
}

/// The exact phases of a spec, in radians.
class ExactPhases {
 public:
  explicit ExactPhases(const EncodingSpec& spec) : frequencies_(spec) {}

  double operator()(std::int64_t k, std::int64_t position) const {
    const double distance = to_radians(frequencies_.phase(k, std::abs(position)));
    return position < 0 ? -distance : distance;
  }

 private:
  Frequencies frequencies_;
};

/// Calls use(|error| / factor) for some entries of the table, as if it were that, with phases
/// phase_of(k, position).
template <class PhaseOf, class Use>
void for_each_error(const Arranged& table, const TableIdentity& identity, const PhaseOf& phase_of,
                    const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& ks,
                    const Use& use) {
  for (const std::int64_t row : rows) {
    if (table.is_unset(row)) continue;
    for (const std::int64_t k : ks) {
      const double phase = phase_of(k, identity.first + row);
      for (const bool is_cosine : {false, true}) {
        if (!has_both_functions(identity.arrangement) &&
            is_cosine != is_of_cosines(identity.arrangement)) {
          continue;
        }
        const double sign = !is_cosine && identity.has_negated_sines ? -1 : 1;
        const double exact = sign * (is_cosine ? std::cos(phase) : std::sin(phase));
        use(std::fabs(table.entry(row, k, is_cosine) / identity.factor - exact));
      }
    }
  }
}

/// The share of entries that are near their exact values. Entries that are near any table's, as
/// cosines of slow frequencies are, count as well.
double agreement(const Arranged& table, const TableIdentity& identity) {
  constexpr double near = 0.05;
  std::int64_t agreeing = 0, compared = 0;
  for_each_error(table, identity, ExactPhases(identity.spec), early_rows(table.rows()), table.ks(),
                 [&](double error) {
                   agreeing += error < near;
                   ++compared;
                 });
  return compared > 0 ? static_cast<double>(agreeing) / static_cast<double>(compared) : 0;
}

/// What conventions are compared by: the first rows and others, and some of the frequencies.
struct ComparedEntries {
  explicit ComparedEntries(const Arranged& table) {
    rows = spread(std::min<std::int64_t>(table.rows(), 16), 16);
    for (const std::int64_t row : spread(table.rows(), 16)) rows.push_back(row);
    for (const std::int64_t i : spread(static_cast<std::int64_t>(table.ks().size()), 48))
      ks.push_back(table.ks()[static_cast<std::size_t>(i)]);
  }

  std::vector<std::int64_t> rows, ks;
};

/// The mean error of entries, of which each counts at most a tenth.
template <class PhaseOf>
double mean_error(const Arranged& table, const TableIdentity& identity, const PhaseOf& phase_of,
                  const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& ks) {
  double sum = 0;
  std::int64_t compared = 0;
  for_each_error(table, identity, phase_of, rows, ks, [&](double error) {
    sum += error <= 0.1 ? error : 0.1;  // NaN, too
    ++compared;
  });
  return compared > 0 ? sum / static_cast<double>(compared) : infinity;
}

double mean_error(const Arranged& table, const TableIdentity& identity) {
  const ComparedEntries entries(table);
  return mean_error(table, identity, ExactPhases(identity.spec), entries.rows, entries.ks);
}

/// With phases computed in float32. A C library's exp or pow may have any frequency off by its last
/// digit.
double mean_error(const Arranged& table, const TableIdentity& identity, const Float32Way& way) {
  const ComparedEntries entries(table);
  double sum = 0;
  for (const std::int64_t k : entries.ks) {
    double least = infinity;
    for (const int adjusted : {0, 1, -1}) {
      const auto phase_of = [&](std::int64_t of, std::int64_t position) {
        return way.phase(of, position, adjusted);
      };
      least = std::min(least, mean_error(table, identity, phase_of, entries.rows, {k}));
      if (way.adjusted_text.empty()) break;
    }
    sum += least;
  }
  return sum / static_cast<double>(entries.ks.size());
}

/// The least mean error if the phases are exact, or computed in float32 by a known way.
double least_mean_error(const Arranged& table, const TableIdentity& identity, double of_exact) {
  double least = of_exact;
  for (const Float32Way& way : float32_ways(identity.spec))
    least = std::min(least, mean_error(table, identity, way));
  return least;
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
  double mean_error = 0;
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

/// The first positions that a table with these frequencies may have.
std::vector<std::int64_t> possible_firsts(const Arranged& table, const Estimates& estimates,
                                          const IdentityHints& hints, const EncodingSpec& spec) {
  std::vector<std::int64_t> firsts;
  if (hints.first) firsts.push_back(*hints.first);
  if (!has_both_functions(table.arrangement())) {
    if (firsts.empty()) firsts.push_back(0);
    return firsts;
  }
  const auto found = first_position(estimates.each, spec, table.angle_error());
  if (found && found != hints.first) firsts.push_back(*found);
  return firsts;
}

struct Candidate {
  TableIdentity identity;
  double mean_error = 0;
};

/// The conventions that fit the estimates, from the usual to the unusual.
std::vector<Candidate> candidates_of(const Arranged& table, const Estimates& estimates,
                                     const IdentityHints& hints) {
  const double factor = usual_factor(estimates.factor);
  std::vector<Candidate> candidates;
  for (const EncodingSpec& spec : plausible_frequencies(estimates.each, table.count(), factor,
                                                        hinted_spec(hints, table.count()))) {
    for (const std::int64_t first : possible_firsts(table, estimates, hints, spec)) {
      TableIdentity identity = {.spec = spec,
                                .arrangement = table.arrangement(),
                                .first = first,
                                .factor = factor,
                                .has_negated_sines = estimates.has_negated_sines};
      const double of_rule = attention_factor(spec.frequencies);
      if (std::fabs(factor / of_rule - 1) < 6e-3) identity.factor = of_rule;
      const double error = mean_error(table, identity);
      candidates.push_back({std::move(identity), error});
    }
  }
  return candidates;
}

/// Phases in float32 are off by more than neighbouring conventions are from each other: an alias,
/// as base 9763.00 with inclusive spacing is of base 10000 at a width of 768, or a base that makes
/// up for a rounded logarithm, may be nearer to them than their own convention with exact phases.
/// So a candidate counts by the nearer of the two.
void consider_float32_phases(std::vector<Candidate>& candidates, const Arranged& table) {
  constexpr double most_times = 32;  // a convention's own phases in float32 are not as far off
  double least = infinity;
  for (const Candidate& each : candidates) least = std::min(least, each.mean_error);
  for (Candidate& each : candidates) {
    if (each.mean_error <= most_times * least + table.angle_error())
      each.mean_error = least_mean_error(table, each.identity, each.mean_error);
  }
}

/// The first candidate that is about as near as the nearest.
std::optional<TableIdentity> nearest_identity(const Arranged& table, const Estimates& estimates,
                                              const IdentityHints& hints) {
  std::vector<Candidate> candidates = candidates_of(table, estimates, hints);
  if (candidates.empty()) return {};
  const double rounding = table.angle_error() / 20;
  if (candidates.front().mean_error > rounding) consider_float32_phases(candidates, table);
  double least = infinity;
  for (const Candidate& each : candidates) least = std::min(least, each.mean_error);
  const double limit = 1.1 * least + rounding;
  const auto found = std::ranges::find_if(
      candidates, [&](const Candidate& each) { return each.mean_error <= limit; });
  return found->identity;
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
  auto identity = nearest_identity(arranged, estimates, hints);
  if (!identity) return {};
  const double share = agreement(arranged, *identity), error = mean_error(arranged, *identity);
  return Found{std::move(*identity), share, error};
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
  constexpr double least = 0.5, margin = 0.02;
  std::vector<Arrangement> arrangements;
  if (hints.arrangement) arrangements.push_back(*hints.arrangement);
  arrangements.insert(arrangements.end(), std::begin(all_arrangements), std::end(all_arrangements));
  std::vector<Found> all;
  double most_agreement = least, least_error = infinity;
  for (const Arrangement each : arrangements) {
    auto found = identify_as(table, is_unset, each, hints);
    if (!found || found->agreement < least) continue;
    most_agreement = std::max(most_agreement, found->agreement);
    all.push_back(std::move(*found));
  }
  std::erase_if(all, [&](const Found& each) { return each.agreement < most_agreement - margin; });
  for (const Found& each : all) least_error = std::min(least_error, each.mean_error);
  // Of those that agree as well, few frequencies may have several: then the most usual is taken.
  const double limit = 1.1 * least_error + half_ulp_of_one(table.type) / 5;
  std::erase_if(all, [&](const Found& each) { return each.mean_error > limit; });
  if (all.empty()) return {};
  const auto strangeness = [](const Found& each) {
    return std::pair(each.identity.has_negated_sines, std::abs(each.identity.first));
  };
  return std::ranges::min_element(all, std::less(), strangeness)->identity;
}

}  // namespace posenc
