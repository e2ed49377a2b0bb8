#include "posenc/check/heads.h"

#include "posenc/check/causes.h"
#include "posenc/check/columns.h"
#include "posenc/check/head_changes.h"
#include "posenc/check/head_turns.h"
#include "posenc/check/text.h"
#include "posenc/model/rotary_config.h"
#include "posenc/suite/error_tally.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <map>
#include <numbers>
#include <utility>

namespace posenc::check {

using namespace model;
using namespace suite;
namespace {

/// An angle is off if its error exceeds the allowed error by more than its noise times this.
constexpr double most_noise = 6;

/// Adds one angle. `rms` and `noise` hold sums of squares until take_roots().
void add(AngleErrors& to, double error, double noise) {
  to.max = std::max(to.max, error);
  to.rms += error * error;
  to.noise += noise * noise;
  ++to.count;
}

void take_roots(AngleErrors& of) {
  of.rms = of.count > 0 ? std::sqrt(of.rms / static_cast<double>(of.count)) : 0;
  of.noise = of.count > 0 ? std::sqrt(of.noise / static_cast<double>(of.count)) : 0;
}

/// The heads in the order of their dimensions that was found, and the pairs that they turn.
struct FoundReading {
  Heads heads;
  Reading reading;
  std::vector<HeadsOfRow> sample;
  double unexplained = 0;          ///< by any turns of these pairs
  double claimed_unexplained = 0;  ///< by any turns of the claimed pairs
};

/// Judges heads whose pairs are known.
class Judge {
 public:
  Judge(const FoundReading& found, const Reading& claimed, const HeadsOptions& options,
        const RowPositions& positions)
      : found_(found), claimed_(claimed), options_(options), positions_(positions) {
    report_ = {.rows = heads_.rows(), .heads = heads_.heads(), .type = heads_.after.type};
    report_.by_pair.resize(pairing_.channels.size());
    turns_.resize(static_cast<std::size_t>(heads_.rows()));
    parallel_for(heads_.rows(), 16, options.threads, [&](auto begin, auto end, int) {
      for (std::int64_t row = begin; row < end; ++row)
        turns_[static_cast<std::size_t>(row)] = heads_.row(row).turns(pairing_);
    });
  }

  HeadsReport report() && {
    compare();
    if (report_.errors.count == 0)
      throw_invalid("heads hold only zeros; allowed: numbers, which show the angles");
    const bool has_claimed_pairs = pairing_ == claimed_.pairing,
               keeps_rest = keeps_channels(pairing_.are_turned(channels()));
    report_.is_good = report_.angles_off == 0 && keeps_rest && has_claimed_pairs;
    if (!report_.is_good) explain(has_claimed_pairs, keeps_rest);
    return std::move(report_);
  }

 private:
  void say(const Cause& cause) {
    if (std::ranges::count(report_.causes, cause.text, &Cause::text) == 0)
      report_.causes.push_back(cause);
  }

  /// Says why the heads are wrong, or what was measured if no cause is known.
  void explain(bool has_claimed_pairs, bool keeps_rest) {
    if (found_.unexplained > unexplained_by_rounding(report_.type)) {
      if (const auto mixed =
              mixed_conventions(found_.sample, claimed_angles(claimed_.rotary, positions_),
                                options_.offset, found_.unexplained))
        return say(*mixed);
    }
    const std::string& fault = found_.reading.fault;
    if (!fault.empty()) say({CauseKind::other_arrangement, fault});
    if (pairing_.text != claimed_.pairing.text)
      say({CauseKind::other_arrangement, format_text("the pairs of channels are {}, not {}",
                                                     pairing_.text, claimed_.pairing.text)});
    if (!has_claimed_pairs)
      report_.causes.back().text +=
          format_text(", which explains {} of what turns of the claimed pairs do not",
                      percent_text(1 - found_.unexplained / found_.claimed_unexplained));
    if (!keeps_rest && fault.empty())
      say({CauseKind::other_arrangement,
           has_claimed_pairs
               ? format_text("channels beyond the first {} are changed",
                             options_.offset + 2 * pairs_)
               : format_text("more channels are changed than {}: they have a larger dimension",
                             2 * pairs_)});
    if (first_not_finite_ >= 0)
      say({CauseKind::unset_rows,
           format_text("heads have NaN or infinity, the first in row {}", first_not_finite_)});
    if (report_.angles_off > 0) explain_angles();
    if (report_.causes.empty()) add_findings();
  }

  std::size_t channels() const noexcept { return static_cast<std::size_t>(heads_.channels()); }

  /// True if the channels that are not turned are unchanged in all rows.
  bool keeps_channels(const std::vector<bool>& are_turned) const {
    if (std::ranges::count(are_turned, false) == 0) return true;
    for (std::int64_t row = 0; row < heads_.rows(); ++row) {
      const HeadsOfRow all = heads_.row(row);
      for (std::size_t i = 0; i < all.before.size(); ++i)
        if (!are_turned[i % channels()] && all.before[i] != all.after[i]) return false;
    }
    return true;
  }

  const Turn& turn(std::int64_t row, std::int64_t place) const noexcept {
    return turns_[static_cast<std::size_t>(row)][static_cast<std::size_t>(place)];
  }

  /// The limit of the error of an angle that is not rounded.
  double allowed(double phase) const noexcept {
    return options_.max_error.value_or(check::allowed_error(DataType::float32, 1, phase));
  }

  /// The limit of the error of an angle of rounded elements.
  double limit_of(double phase, double noise) const noexcept {
    return allowed(phase) + sticking(phase, report_.type) + most_noise * noise;
  }

  /// Compares all rows with exact cosines and sines.
  void compare() {
    const std::int64_t half = std::ssize(angles_.pairs);
    BasicMatrix<double> exact(heads_.rows(), 2 * half);
    Rotary(angles_.rotary).cache(positions_, RotaryLayout::halves, exact.view(), options_.threads);
    std::map<std::size_t, HeadsReport::Octave> by_octave;
    double worst = -1;
    for (std::int64_t row = 0; row < heads_.rows(); ++row) {
      std::int64_t farthest = 0;
      for (std::int64_t axis = 0; axis < angles_.rotary.angles.axes(); ++axis)
        farthest = std::max(farthest, std::abs(positions_(axis, row)));
      auto& [least, most, of_octave] =
          by_octave.try_emplace(octave(farthest), HeadsReport::Octave{farthest, farthest, {}})
              .first->second;
      least = std::min(least, farthest);
      most = std::max(most, farthest);
      for (std::int64_t k = 0; k < pairs_; ++k) {
        const Turn& shown = turn(row, k);
        if (std::isnan(shown.noise)) continue;  // all heads are zero
        const Complex wanted(exact(row, k), exact(row, half + k));
        const Complex ratio = shown.factor * std::conj(wanted) / std::norm(wanted);
        const double limit = allowed(angles_(row, k)), length = std::sqrt(std::norm(ratio));
        report_.allowed_error = std::max(report_.allowed_error, limit);
        const bool is_finite = std::isfinite(length);
        if (!is_finite && first_not_finite_ < 0) first_not_finite_ = row;
        const double error = is_finite ? std::fabs(std::arg(ratio)) : std::numbers::pi,
                     length_error = is_finite ? std::fabs(length - 1) : 1,
                     stuck = sticking(std::arg(wanted), report_.type);
        report_.max_length_error = std::max(report_.max_length_error, length_error);
        if (!is_finite || error > limit + stuck + most_noise * shown.noise ||
            length_error > limit + most_noise * length_noise * shown.noise)
          off_.push_back({row, k});
        for (AngleErrors* const to :
             {&report_.errors, &of_octave, &report_.by_pair[static_cast<std::size_t>(k)]})
          add(*to, error, shown.noise);
        if (error <= worst) continue;
        worst = error;
        report_.worst_row = row;
        report_.worst_pair = k;
      }
    }
    report_.angles_off = std::ssize(off_);
    take_roots(report_.errors);
    for (AngleErrors& each : report_.by_pair) take_roots(each);
    for (auto& [number, each] : by_octave) {
      take_roots(each.errors);
      if (each.errors.count > 0) report_.by_position.push_back(each);
    }
  }

  /// The sample from which changes are found.
  Shown shown() const {
    Shown shown = {.channels = heads_.channels(), .frequencies = frequencies_};
    const std::vector<std::int64_t> places = scattered(pairs_, 32);
    for (const std::int64_t row : scattered(heads_.rows(), 12)) {
      for (const std::int64_t k : places) {
        const Turn& of = turn(row, k);
        const double limit = limit_of(angles_(row, k), of.noise),
                     length = std::sqrt(std::norm(of.factor));
        if (std::isfinite(limit + length) && length > 0)
          shown.angles.push_back({row, k, std::arg(of.factor), length, limit});
      }
    }
    return shown;
  }

  /// The angle per position of a pair, from rows at increasing distances. NaN if the pair does
  /// not turn evenly, or if no positions follow one another.
  double shown_frequency(std::int64_t k) const {
    const std::int64_t axis = angles_.pairs[static_cast<std::size_t>(k)].axis, rows = heads_.rows();
    double frequency = NAN;
    for (std::int64_t distance = 1; distance < rows; distance *= 2) {
      Complex sum = 0;
      double lengths = 0;
      const std::int64_t stride = std::max<std::int64_t>(1, (rows - distance) / 8);
      for (std::int64_t row = 0; row + distance < rows; row += stride) {
        const Complex step = turn(row + distance, k).factor * std::conj(turn(row, k).factor);
        if (positions_(axis, row + distance) - positions_(axis, row) != distance ||
            !std::isfinite(std::norm(step)))
          continue;
        sum += step;
        lengths += std::sqrt(std::norm(step));
      }
      if (!(std::abs(sum) > 0.9 * lengths)) break;
      const auto span = static_cast<double>(distance);
      const double known = std::isnan(frequency) ? 0 : frequency * span;
      frequency = (known + std::arg(sum * std::polar(1.0, -known))) / span;
    }
    return frequency;
  }

  /// The shares of the angles that are off which other angles reproduce.
  struct Explained {
    double exactly = 0;     ///< as exactly as right ones
    double in_float32 = 0;  ///< as exactly as phases in float32
  };

  Explained explained_by(const Angles& other) const {
    Explained explained;
    const double factor = other.rotary.attention_factor,
                 of_factor = factor != angles_.rotary.attention_factor ? 0x1p-20 : 0;
    for (const auto& [row, k] : off_) {
      const Turn& shown = turn(row, k);
      const double phase = other(row, k), limit = limit_of(phase, shown.noise);
      const Complex ratio = shown.factor / std::polar(factor, phase);
      if (!(std::fabs(std::sqrt(std::norm(ratio)) - 1) <=
            limit + most_noise * length_noise * shown.noise + of_factor))
        continue;
      const double error = std::fabs(std::arg(ratio));
      explained.exactly += error <= limit;
      explained.in_float32 += error <= limit + std::min(0x1p-22 * std::fabs(phase), 0x1p-4);
    }
    const auto all = static_cast<double>(off_.size());
    return {explained.exactly / all, explained.in_float32 / all};
  }

  /// Says why angles or lengths are off, if the cause explains most of them.
  void explain_angles() {
    constexpr double least_explained = 0.5, nearly_all = 0.995;
    if (keeps_channels(std::vector<bool>(channels())))
      return say({CauseKind::unset_rows, "the heads are unchanged: nothing is turned"});
    for (std::int64_t k = 0; k < pairs_; ++k) frequencies_.push_back(shown_frequency(k));
    std::optional<Angles> found;
    Explained by;
    for (const auto& each :
         {find_changes(angles_, positions_, shown(), options_.others), on_other_axes()}) {
      if (!each) continue;
      const Explained by_each = explained_by(*each);
      if (found && 4 * (1 - by_each.in_float32) >= 1 - by.in_float32) continue;
      found = each;
      by = by_each;
    }
    if (by.in_float32 >= least_explained) {
      for (const Cause& each : found->changes) say(each);
      report_.causes.back().text +=
          format_text(", which {}explains {} of the angles that are off",
                      found->changes.size() > 1 ? "together " : "", percent_text(by.in_float32));
      if (by.exactly < nearly_all) explain_rounding(*found);
    } else if (may_be_rounded()) {
      explain_rounding(angles_);
    }
  }

  /// False if angles below some radians are so far from right ones that no rounding, to bfloat16 at
  /// worst, explains them.
  bool may_be_rounded() const {
    std::int64_t small = 0, near = 0;
    for (const std::int64_t row : scattered(heads_.rows(), 16)) {
      for (std::int64_t k = 0; k < pairs_; ++k) {
        const Turn& shown = turn(row, k);
        const double phase = angles_(row, k), size = std::fabs(phase);
        if (size > 8 || !(std::abs(shown.factor) > 0)) continue;
        ++small;
        near += std::fabs(std::arg(shown.factor * std::polar(1.0, -phase))) <=
                limit_of(phase, shown.noise) + 0x1p-7 * (size + 0.5);
      }
    }
    return 2 * near >= small;
  }

  /// The same angles with the axes by which the pairs turn, if these are not the claimed ones.
  std::optional<Angles> on_other_axes() const {
    const std::int64_t axes = angles_.rotary.angles.axes();
    if (axes == 1) return {};
    Angles moved = angles_;
    const std::vector<std::int64_t> rows = scattered(heads_.rows(), 24);
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> places;
    for (std::int64_t k = 0; k < pairs_; ++k) {
      std::int64_t& axis = moved.pairs[static_cast<std::size_t>(k)].axis;
      const std::int64_t claimed = axis;
      std::vector<double> errors;  // of each axis, squared
      for (axis = 0; axis < axes; ++axis) {
        double& sum = errors.emplace_back(0);
        for (const std::int64_t row : rows) {
          const double square = std::norm(
              turn(row, k).factor - std::polar(angles_.rotary.attention_factor, moved(row, k)));
          if (std::isfinite(square)) sum += square;
        }
      }
      const auto nearest = std::ranges::min_element(errors);
      const bool is_other = 64 * *nearest < errors[static_cast<std::size_t>(claimed)];
      axis = is_other ? nearest - errors.begin() : claimed;
      if (is_other) places[{axis, claimed}].push_back(k);
    }
    if (places.empty()) return {};
    std::vector<std::string> texts;
    for (const auto& [other, of_axis] : places)
      texts.push_back(format_text(of_axis.size() == 1 ? "pair {} turns by axis {}, not {}"
                                                      : "pairs {} turn by axis {}, not {}",
                                  numbers_text(of_axis), other.first, other.second));
    moved.changes = {{CauseKind::other_axis, join(texts, ", ")}};
    return moved;
  }

  /// Says how the angles of each part were rounded. The turns of its pairs form a table of cosines
  /// and sines, in which a frequency that no pair has gets infinite noise.
  void explain_rounding(const Angles& angles) {
    const std::int64_t rows = heads_.rows();
    for (std::size_t number = 0; number < angles.rotary.angles.parts.size(); ++number) {
      const AxisPairs& part = angles.rotary.angles.parts[number];
      const std::int64_t half = part.spec.d_model / 2;
      BasicMatrix<double> values(rows, 2 * half), noise(rows, half);
      std::fill_n(values.data(), rows * 2 * half, 0.0);
      std::fill_n(noise.data(), rows * half, infinity);
      for (std::int64_t place = 0; place < pairs_; ++place) {
        const TablePair& pair = angles.pairs[static_cast<std::size_t>(place)];
        if (pair.part != number) continue;
        for (std::int64_t row = 0; row < rows; ++row) {
          const Turn& shown = turn(row, place);
          if (std::isnan(shown.noise)) continue;
          values(row, pair.k) = shown.factor.real();
          values(row, half + pair.k) = shown.factor.imag();
          noise(row, pair.k) = shown.noise;
        }
      }
      TableIdentity wanted = {.spec = part.spec,
                              .arrangement = Arrangement::halves_cos_first,
                              .factor = angles.rotary.attention_factor,
                              .has_negated_sines = angles.sign < 0};
      if (positions_.is_range() && angles.changes.empty()) {
        wanted.first = positions_.first();
      } else {
        const auto first = angles.positions.begin() + part.axis * rows;
        wanted.positions.assign(first, first + rows);
      }
      const SampledTable sample(TableView(std::as_const(values).view()), false,
                                TableView(std::as_const(noise).view()));
      for (const Cause& each : causes_of_difference(sample, {.is = wanted}, wanted)) say(each);
    }
  }

  /// Adds measurements to the report.
  void add_findings() {
    std::vector<std::string>& findings = report_.findings;
    if (found_.unexplained > 0.01)
      findings.push_back(
          format_text("turns of the pairs {} leave {} of the squared elements unexplained, and "
                      "other usual pairs leave no less than a quarter of that",
                      pairing_.text, percent_text(found_.unexplained)));
    std::vector<bool> is_off(pairing_.channels.size());
    for (const auto& [row, k] : off_) is_off[static_cast<std::size_t>(k)] = true;
    std::vector<std::int64_t> places, uneven;
    for (std::int64_t k = 0; k < pairs_; ++k)
      if (is_off[static_cast<std::size_t>(k)]) places.push_back(k);
    if (!places.empty() && std::ssize(places) < pairs_)
      findings.push_back(format_text("{}, the other {} right",
                                     fault_text(pair_noun, places, "is off"),
                                     pairs_ - std::ssize(places)));
    constexpr int most_shown = 3;
    int shown = 0;
    for (const std::int64_t k : places) {
      const double frequency = frequencies_[static_cast<std::size_t>(k)],
                   wanted = angles_.pairs[static_cast<std::size_t>(k)].frequency;
      if (std::isnan(frequency))
        uneven.push_back(k);
      else if (shown++ < most_shown)
        findings.push_back(format_text("pair {} turns by {} per position, not {}", k,
                                       digits_text(frequency, 6), digits_text(wanted, 6)));
    }
    if (!uneven.empty())
      findings.push_back(
          fault_text(pair_noun, uneven, "is not turned evenly from position to position"));
  }

  const FoundReading& found_;
  const Reading& claimed_;
  const HeadsOptions& options_;
  const RowPositions positions_;
  const Heads& heads_ = found_.heads;
  const Pairing& pairing_ = found_.reading.pairing;
  const std::int64_t pairs_ = std::ssize(pairing_.channels);
  const Angles angles_ = claimed_angles(found_.reading.rotary, positions_);  ///< exact angles
  std::vector<std::vector<Turn>> turns_;                                     ///< turns_[row][pair]
  /// The rows and pairs whose angles or lengths are off.
  std::vector<std::array<std::int64_t, 2>> off_;
  std::vector<double> frequencies_;  ///< shown_frequency() of each pair, once angles are off
  HeadsReport report_;
  std::int64_t first_not_finite_ = -1;
};

/// Finds the order of rows and heads, and the pairs that the kernel turns. The claimed pairs, and
/// rows first, are preferred unless another reading leaves less than a quarter unexplained.
FoundReading found_reading(Heads heads, const std::vector<Reading>& readings,
                           const HeadsOptions& options) {
  std::vector<FoundReading> orders;
  for (int swaps = 0; swaps < 2; ++swaps) {
    if (!options.positions || options.positions->count() == heads.rows())
      orders.push_back({heads, readings.front(), sample_of(heads)});
    for (HeadsTable* const each : {&heads.before, &heads.after}) {
      std::swap(each->sizes[0], each->sizes[1]);
      std::swap(each->strides[0], each->strides[1]);
    }
  }
  if (orders.empty())
    throw_invalid("positions has {} values; allowed: {}, one for each row",
                  options.positions->count(), heads.rows());
  const double by_rounding = unexplained_by_rounding(heads.after.type);
  FoundReading* best = nullptr;
  for (const Reading& reading : readings) {
    for (FoundReading& order : orders) {
      const double share = unexplained(order.sample, reading.pairing);
      if (&reading == &readings.front()) order.claimed_unexplained = share;
      if (best != nullptr && !(4 * share + by_rounding < best->unexplained)) continue;
      best = &order;
      best->reading = reading;
      best->unexplained = share;
    }
  }
  return std::move(*best);
}

}  // namespace

HeadsReport heads(const HeadsTable& before, const HeadsTable& after, const RotarySpec& claimed,
                  const HeadsOptions& options) {
  RotarySpec rotary = claimed;
  check_positive("denominator", options.denominator);
  for (AxisPairs& part : rotary.angles.parts)
    part.spec.frequencies = divided(part.spec, options.denominator);
  validate(rotary);
  check_threads(options.threads);
  if (options.max_error) check_positive("max_error", *options.max_error);
  for (const auto& [name, other] : options.others) validate(other);
  check_range("offset", options.offset, 0, max_d_model);
  if (before.sizes != after.sizes || std::ranges::count(before.sizes, 0) > 0 ||
      before.sizes[2] < options.offset + rotary.dimension()) {
    throw_invalid(
        "heads have shape {} before and {} after; allowed: one shape, not empty, of at least {} "
        "channels",
        shape_text(before.sizes), shape_text(after.sizes), options.offset + rotary.dimension());
  }
  const std::vector<Reading> readings = readings_of(rotary, before.sizes[2], options.offset);
  const FoundReading found = found_reading({before, after}, readings, options);
  const RowPositions positions =
      options.positions.value_or(RowPositions(RowRange{options.first, found.heads.rows()}));
  validate(positions, rotary.angles.axes());
  HeadsReport report = Judge(found, readings.front(), options, positions).report();
  report.rotary = claimed;
  return report;
}

std::string to_string(const HeadsReport& report) {
  const AngleErrors& errors = report.errors;
  const std::string bound = bound_text(report.allowed_error);
  std::string text = "wrong: the angles are right, but not the channels that they turn";
  if (report.is_good)
    text = format_text(
        "good: every angle is within {} radians of its exact value, besides the noise; the RMS "
        "error is {}, and the noise is {}",
        bound, error_text(errors.rms), error_text(errors.noise));
  else if (report.angles_off > 0)
    text = format_text(
        "wrong: {} of the angles or lengths are off by more than {} besides the noise: angles by "
        "up to {}, lengths by up to {}; the noise is {}",
        percent_text(static_cast<double>(report.angles_off) / static_cast<double>(errors.count)),
        bound, error_text(errors.max), error_text(report.max_length_error),
        error_text(errors.noise));
  text += format_text("\n{} rows of {} heads of {}, {}\n", report.rows, report.heads,
                      to_string(report.type), to_string(report.rotary));
  return text + (report.is_good ? "cause: none, the angles are right" : cause_text(report.causes)) +
         findings_text(report.findings);
}

}  // namespace posenc::check
