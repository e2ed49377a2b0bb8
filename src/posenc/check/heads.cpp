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
#include <cmath>
#include <complex>
#include <cstddef>
#include <iterator>
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
  double unexplained = 0;          ///< by any turns of these pairs
  double claimed_unexplained = 0;  ///< by any turns of the claimed pairs
  std::optional<SampledHeads> sample = {};
};

/// Judges heads whose pairs are known.
class Judge {
 public:
  Judge(const FoundReading& found, const Reading& claimed, const HeadsOptions& options,
        const RowPositions& positions)
      : found_(found),
        heads_(found.heads),
        rotary_(found.reading.rotary),
        claimed_(claimed),
        options_(options),
        positions_(positions),
        pairs_(std::ssize(found.reading.pairing.channels)),
        angles_(claimed_angles(rotary_, positions)),
        turns_(static_cast<std::size_t>(heads_.rows())) {
    report_ = {.rows = heads_.rows(),
               .heads = heads_.heads(),
               .type = heads_.after.type,
               .rotary = claimed.rotary};
    report_.by_pair.resize(static_cast<std::size_t>(pairs_));
    parallel_for(heads_.rows(), 16, options.threads, [&](auto begin, auto end, int) {
      for (std::int64_t row = begin; row < end; ++row)
        turns_[static_cast<std::size_t>(row)] =
            heads_.row(row, heads_.heads()).turns(found.reading.pairing);
    });
  }

  HeadsReport report() && {
    compare();
    if (report_.errors.count == 0)
      throw_invalid("heads hold only zeros; allowed: numbers, which show the angles");
    const bool has_claimed_pairs = found_.reading.pairing == claimed_.pairing,
               keeps_rest = keeps_channels(is_turned());
    report_.is_good = report_.angles_off == 0 && keeps_rest && has_claimed_pairs;
    if (report_.is_good) return std::move(report_);
    if (found_.unexplained > found_.sample->unexplained_by_rounding()) {
      if (const auto mixed =
              mixed_conventions(*found_.sample, claimed_angles(claimed_.rotary, positions_),
                                options_.offset, found_.unexplained)) {
        say(*mixed);
        return std::move(report_);
      }
    }
    if (!has_claimed_pairs) say_pairs();
    if (!keeps_rest && found_.reading.fault.empty())
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
    return std::move(report_);
  }

 private:
  void say(const Cause& cause) {
    if (std::ranges::count(report_.causes, cause.text, &Cause::text) == 0)
      report_.causes.push_back(cause);
  }

  void say_pairs() {
    const auto& [rotary, pairing, fault] = found_.reading;
    if (!fault.empty()) say({CauseKind::other_arrangement, fault});
    if (pairing.text != claimed_.pairing.text)
      say({CauseKind::other_arrangement, format_text("the pairs of channels are {}, not {}",
                                                     pairing.text, claimed_.pairing.text)});
    report_.causes.back().text +=
        format_text(", which explains {} of what turns of the claimed pairs do not",
                    percent_text(1 - found_.unexplained / found_.claimed_unexplained));
  }

  /// For each channel of a head, whether it belongs to a pair that is turned.
  std::vector<bool> is_turned() const {
    std::vector<bool> all(static_cast<std::size_t>(heads_.before.sizes[2]));
    for (const auto& [i, j] : found_.reading.pairing.channels) all[i] = all[j] = true;
    return all;
  }

  /// True if the channels that are not turned are unchanged in all rows.
  bool keeps_channels(const std::vector<bool>& is_turned) const {
    if (std::ranges::count(is_turned, false) == 0) return true;
    for (std::int64_t row = 0; row < heads_.rows(); ++row) {
      const HeadsOfRow all = heads_.row(row, heads_.heads());
      for (std::size_t i = 0; i < all.before.size(); ++i)
        if (!is_turned[i % is_turned.size()] && all.before[i] != all.after[i]) return false;
    }
    return true;
  }

  const Turn& turn(std::int64_t row, std::int64_t pair) const noexcept {
    return turns_[static_cast<std::size_t>(row)][static_cast<std::size_t>(pair)];
  }

  const TablePair& pair(std::int64_t place) const noexcept {
    return angles_.pairs[static_cast<std::size_t>(place)];
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
    const Rotary exact(rotary_);
    const std::int64_t half = rotary_.dimension() / 2;
    std::array<HeadsReport::Octave, octaves> by_octave;
    by_octave.fill({max_position, 0, {}});
    double worst = -1;
    constexpr std::int64_t block = 256;
    BasicMatrix<double> values(std::min(block, heads_.rows()), 2 * half);
    for (std::int64_t row = 0; row < heads_.rows(); ++row) {
      if (row % block == 0)
        exact.cache(positions_.part(row, std::min(block, heads_.rows() - row)),
                    RotaryLayout::halves, values.view());
      std::int64_t farthest = 0;
      for (std::int64_t axis = 0; axis < rotary_.angles.axes(); ++axis)
        farthest = std::max(farthest, std::abs(positions_(axis, row)));
      HeadsReport::Octave& of = by_octave[octave(farthest)];
      of = {std::min(of.least, farthest), std::max(of.most, farthest), of.errors};
      for (std::int64_t k = 0; k < pairs_; ++k) {
        const auto& [got, noise, before, after] = turn(row, k);
        const Complex wanted(values(row % block, k), values(row % block, half + k));
        const Complex ratio = got * std::conj(wanted) / std::norm(wanted);
        if (std::isnan(noise)) continue;  // all heads are zero
        const double limit = allowed(angles_.angle(row, heads_.rows(), pair(k)));
        report_.allowed_error = std::max(report_.allowed_error, limit);
        const double length = std::sqrt(std::norm(ratio));
        const bool is_finite = std::isfinite(length);
        if (!is_finite && first_not_finite_ < 0) first_not_finite_ = row;
        const double error = is_finite ? std::fabs(std::arg(ratio)) : std::numbers::pi,
                     length_error = is_finite ? std::fabs(length - 1) : 1;
        report_.max_length_error = std::max(report_.max_length_error, length_error);
        const double stuck = sticking(std::arg(wanted), report_.type);
        const bool is_off = error > limit + stuck + most_noise * noise ||
                            length_error > limit + most_noise * length_noise * noise;
        if (is_off) off_.push_back({row, k});
        for (AngleErrors* const to :
             {&report_.errors, &of.errors, &report_.by_pair[static_cast<std::size_t>(k)]})
          add(*to, error, noise);
        if (error <= worst) continue;
        worst = error;
        report_.worst_row = row;
        report_.worst_pair = k;
      }
    }
    report_.angles_off = std::ssize(off_);
    take_roots(report_.errors);
    for (AngleErrors& each : report_.by_pair) take_roots(each);
    for (HeadsReport::Octave& each : by_octave) {
      take_roots(each.errors);
      if (each.errors.count > 0) report_.by_position.push_back(each);
    }
  }

  /// The sample from which changes are found.
  Shown shown() const {
    Shown shown = {.channels = heads_.before.sizes[2]};
    const std::vector<std::int64_t> places = scattered(pairs_, 32);
    for (const std::int64_t row : scattered(heads_.rows(), 12)) {
      for (const std::int64_t k : places) {
        const auto& [factor, noise, before, after] = turn(row, k);
        const double limit = limit_of(angles_.angle(row, heads_.rows(), pair(k)), noise);
        const double length = std::sqrt(std::norm(factor));
        if (std::isfinite(limit + length) && length > 0)
          shown.angles.push_back({row, k, std::arg(factor), length, limit});
      }
    }
    shown.frequencies = frequencies_;
    return shown;
  }

  /// The angle per position of a pair, from rows at increasing distances. NaN if the pair does not
  /// turn evenly, or if no positions follow one another.
  double shown_frequency(std::int64_t k) const {
    const std::int64_t axis = pair(k).axis, rows = heads_.rows();
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

  /// The shares of the angles that are off which other angles reproduce: as exactly as right ones,
  /// and as exactly as phases in float32 are.
  std::array<double, 2> explained_by(const Angles& other) const {
    std::array<double, 2> explained = {};
    for (const auto& [row, k] : off_) {
      const auto& [factor, noise, before, after] = turn(row, k);
      const double phase =
                       other.angle(row, heads_.rows(), other.pairs[static_cast<std::size_t>(k)]),
                   limit = limit_of(phase, noise),
                   in_float32 = limit + std::min(0x1p-22 * std::fabs(phase), 0x1p-4);
      const Complex ratio = factor / std::polar(other.rotary.attention_factor, phase);
      const bool has_length =
          std::fabs(std::sqrt(std::norm(ratio)) - 1) <=
          limit + most_noise * length_noise * noise +
              0x1p-20 * (other.rotary.attention_factor != rotary_.attention_factor);
      const double error = std::fabs(std::arg(ratio));
      explained[0] += has_length && error <= limit;
      explained[1] += has_length && error <= in_float32;
    }
    for (double& each : explained) each /= static_cast<double>(off_.size());
    return explained;
  }

  /// Says why angles or lengths are off, if the cause explains most of them.
  void explain_angles() {
    constexpr double least_explained = 0.5, nearly_all = 0.995;
    if (keeps_channels(std::vector<bool>(is_turned().size())))
      return say({CauseKind::unset_rows, "the heads are unchanged: nothing is turned"});
    for (std::int64_t k = 0; k < pairs_; ++k) frequencies_.push_back(shown_frequency(k));
    std::optional<Angles> found;
    std::array<double, 2> explained = {};
    for (const auto& each :
         {find_changes(angles_, positions_, shown(), options_.others), on_other_axes()}) {
      if (!each) continue;
      const std::array<double, 2> by_each = explained_by(*each);
      if (found && 4 * (1 - by_each[1]) >= 1 - explained[1]) continue;
      found = each;
      explained = by_each;
    }
    const auto [exactly, in_float32] = explained;
    if (in_float32 >= least_explained) {
      for (const Cause& each : found->changes) say(each);
      report_.causes.back().text +=
          format_text(", which {}explains {} of the angles that are off",
                      found->changes.size() > 1 ? "together " : "", percent_text(in_float32));
      if (exactly < nearly_all) explain_parts(*found);
      return;
    }
    if (may_be_rounded()) explain_parts(angles_);
  }

  /// False if angles below some radians are so far from right ones that no rounding, to bfloat16 at
  /// worst, explains them.
  bool may_be_rounded() const {
    std::int64_t small = 0, near = 0;
    for (const std::int64_t row : scattered(heads_.rows(), 16)) {
      for (std::int64_t k = 0; k < pairs_; ++k) {
        const auto& [factor, noise, before, after] = turn(row, k);
        const double phase = angles_.angle(row, heads_.rows(), pair(k));
        if (std::fabs(phase) > 8 || !(std::abs(factor) > 0)) continue;
        ++small;
        near += std::fabs(std::arg(factor * std::polar(1.0, -phase))) <=
                limit_of(phase, noise) + 0x1p-7 * (std::fabs(phase) + 0.5);
      }
    }
    return 2 * near >= small;
  }

  /// Says how each part was rounded.
  void explain_parts(const Angles& wanted) {
    for (std::size_t part = 0; part < wanted.rotary.angles.parts.size(); ++part)
      for (const Cause& each : causes_of_part(part, wanted)) say(each);
  }

  /// The same angles with the axes by which the pairs turn, if these are not the claimed ones.
  std::optional<Angles> on_other_axes() const {
    if (rotary_.angles.axes() == 1) return {};
    Angles moved = angles_;
    const std::vector<std::int64_t> rows = scattered(heads_.rows(), 24);
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> places;
    for (std::int64_t k = 0; k < pairs_; ++k) {
      TablePair& to = moved.pairs[static_cast<std::size_t>(k)];
      const auto error_of = [&](std::int64_t axis) {
        to.axis = axis;
        double sum = 0;
        for (const std::int64_t row : rows) {
          const Complex off = turn(row, k).factor - std::polar(rotary_.attention_factor,
                                                               moved.angle(row, heads_.rows(), to));
          if (std::isfinite(std::norm(off))) sum += std::norm(off);
        }
        return std::sqrt(sum);
      };
      const std::int64_t axis = pair(k).axis;
      std::int64_t nearest = axis;
      for (std::int64_t each = 0; each < rotary_.angles.axes(); ++each)
        if (error_of(each) < error_of(nearest)) nearest = each;
      if (8 * error_of(nearest) >= error_of(axis)) nearest = axis;
      to.axis = nearest;
      if (nearest != axis) places[{nearest, axis}].push_back(k);
    }
    std::vector<std::string> texts;
    for (const auto& [axis, of_axis] : places)
      texts.push_back(format_text("pairs {} turn by axis {}, not {}", numbers_text(of_axis),
                                  axis.first, axis.second));
    moved.changes = {{CauseKind::other_axis, join(texts, ", ")}};
    return texts.empty() ? std::nullopt : std::optional(std::move(moved));
  }

  /// The causes in one part, whose pairs form a table of cosines and sines. A frequency that no
  /// pair has gets infinite noise.
  std::vector<Cause> causes_of_part(std::size_t number, const Angles& angles) const {
    const AxisPairs& part = angles.rotary.angles.parts[number];
    const std::int64_t half = part.spec.d_model / 2, rows = heads_.rows();
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
    TableIdentity wanted = {.spec = part.spec, .arrangement = Arrangement::halves_cos_first};
    wanted.spec.layout = Layout::interleaved;
    wanted.factor = angles.rotary.attention_factor;
    wanted.has_negated_sines = angles.sign < 0;
    if (positions_.is_range() && angles.changes.empty()) {
      wanted.first = positions_.first();
    } else {
      for (std::int64_t row = 0; row < rows; ++row)
        wanted.positions.push_back(static_cast<std::int64_t>(
            angles.positions[static_cast<std::size_t>(part.axis * rows + row)]));
    }
    const SampledTable sample(TableView(std::as_const(values).view()), false,
                              TableView(std::as_const(noise).view()));
    return causes_of_difference(sample, {.is = wanted}, wanted);
  }

  /// Adds measurements to the report.
  void add_findings() {
    if (found_.unexplained > 0.01)
      report_.findings.push_back(
          format_text("turns of the pairs {} leave {} of the squared elements unexplained, and "
                      "other usual pairs leave no less than a quarter of that",
                      found_.reading.pairing.text, percent_text(found_.unexplained)));
    std::vector<bool> is_off(static_cast<std::size_t>(pairs_));
    for (const auto& [row, k] : off_) is_off[static_cast<std::size_t>(k)] = true;
    std::vector<std::int64_t> places;
    for (std::int64_t k = 0; k < pairs_; ++k)
      if (is_off[static_cast<std::size_t>(k)]) places.push_back(k);
    if (!places.empty() && std::ssize(places) < pairs_)
      report_.findings.push_back(format_text("{}, the other {} right",
                                             fault_text(pair_noun, places, "is off"),
                                             pairs_ - std::ssize(places)));
    add_frequencies(places);
  }

  /// The frequencies of pairs that turn evenly.
  void add_frequencies(const std::vector<std::int64_t>& places) {
    constexpr std::size_t most_shown = 3;
    std::vector<std::int64_t> uneven;
    std::vector<std::string> even;
    for (const std::int64_t k : places) {
      if (frequencies_.empty()) break;
      const double frequency = frequencies_[static_cast<std::size_t>(k)];
      if (std::isnan(frequency))
        uneven.push_back(k);
      else if (even.size() < most_shown)
        even.push_back(format_text("pair {} turns by {} per position, not {}", k,
                                   digits_text(frequency, 6), digits_text(pair(k).frequency, 6)));
    }
    if (!uneven.empty())
      even.push_back(
          fault_text(pair_noun, uneven, "is not turned evenly from position to position"));
    std::ranges::copy(even, std::back_inserter(report_.findings));
  }

  struct OffAngle {
    std::int64_t row, place;
  };

  const FoundReading& found_;
  const Heads& heads_;
  const RotarySpec& rotary_;
  const Reading& claimed_;
  const HeadsOptions& options_;
  const RowPositions positions_;
  const std::int64_t pairs_;
  const Angles angles_;                   ///< exact angles
  std::vector<std::vector<Turn>> turns_;  ///< turns_[row][pair]
  std::vector<OffAngle> off_;             ///< the angles or lengths that are off
  std::vector<double> frequencies_;       ///< shown_frequency() of each pair, once angles are off
  HeadsReport report_;
  std::int64_t first_not_finite_ = -1;
};

/// Finds the order of rows and heads, and the pairs that the kernel turns. The claimed pairs, and
/// rows first, are preferred unless another reading leaves less than a quarter unexplained.
FoundReading found_reading(const HeadsTable& before, const HeadsTable& after,
                           const std::vector<Reading>& readings, const HeadsOptions& options) {
  std::vector<FoundReading> orders;
  for (const bool heads_first : {false, true}) {
    if (options.positions && options.positions->count() != before.sizes[heads_first]) continue;
    Heads heads = {before, after};
    for (HeadsTable* const each : {&heads.before, &heads.after}) {
      if (!heads_first) break;
      std::swap(each->sizes[0], each->sizes[1]);
      std::swap(each->strides[0], each->strides[1]);
    }
    orders.push_back({.heads = heads, .reading = readings.front()});
    orders.back().sample.emplace(heads);
  }
  if (orders.empty())
    throw_invalid("positions has {} values; allowed: {}, one for each row",
                  options.positions->count(), before.sizes[0]);
  FoundReading* best = nullptr;
  for (const Reading& reading : readings) {
    for (FoundReading& order : orders) {
      const double unexplained = order.sample->unexplained(reading.pairing);
      if (&reading == &readings.front()) order.claimed_unexplained = unexplained;
      if (best != nullptr &&
          !(4 * unexplained + order.sample->unexplained_by_rounding() < best->unexplained))
        continue;
      best = &order;
      best->reading = reading;
      best->unexplained = unexplained;
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
  const FoundReading found = found_reading(before, after, readings, options);
  const RowPositions positions =
      options.positions.value_or(RowPositions(RowRange{options.first, found.heads.rows()}));
  validate(positions, rotary.angles.axes());
  HeadsReport report = Judge(found, readings.front(), options, positions).report();
  report.rotary = claimed;
  return report;
}

std::string to_string(const HeadsReport& report) {
  std::string verdict;
  if (report.is_good)
    verdict = format_text(
        "good: every angle is within {} radians of its exact value, besides the noise; the RMS "
        "error "
        "is {}, and the noise is {}",
        bound_text(report.allowed_error), error_text(report.errors.rms),
        error_text(report.errors.noise));
  else if (report.angles_off == 0)
    verdict = "wrong: the angles are right, but not the channels that they turn";
  else
    verdict = format_text(
        "wrong: {} of the angles or lengths are off by more than {} besides the noise: angles "
        "by up to {}, lengths by up to {}; the noise is {}",
        percent_text(static_cast<double>(report.angles_off) /
                     static_cast<double>(report.errors.count)),
        bound_text(report.allowed_error), error_text(report.errors.max),
        error_text(report.max_length_error), error_text(report.errors.noise));
  return verdict +
         format_text("\n{} rows of {} heads of {}, {}\n", report.rows, report.heads,
                     to_string(report.type), to_string(report.rotary)) +
         (report.is_good ? "cause: none, the angles are right" : cause_text(report.causes)) +
         findings_text(report.findings);
}

}  // namespace posenc::check
