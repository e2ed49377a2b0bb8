#include "posenc/check/heads.h"

#include "posenc/check/causes.h"
#include "posenc/check/columns.h"
#include "posenc/check/identify.h"
#include "posenc/check/text.h"
#include "posenc/check/ways.h"
#include "posenc/model/rotary_config.h"
#include "posenc/suite/error_tally.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <utility>

namespace posenc::check {

using namespace model;
using namespace suite;
namespace {

using Complex = std::complex<double>;

/// An angle is off if its error exceeds the allowed error by more than its noise times this.
constexpr double most_noise = 6;

/// The error of the mean angle of many heads that rounding of their elements causes. An angle far
/// below an ulp leaves every element unchanged. Near a multiple of a quarter turn, every element
/// becomes the other element of its pair. All heads then stick to that angle. Angles of some ulp
/// are dithered by the elements. A normal spread of s ulp leaves 2 exp(-2 pi^2 s^2) of the error;
/// here s is half of the angle.
double sticking(double angle, DataType type) noexcept {
  constexpr double quarter = std::numbers::pi / 2;
  const double off = std::fabs(std::remainder(angle, quarter)),
               ulps = off / (4 * half_ulp_of_one(type));
  return off * std::min(1.0, 2 * std::exp(-5 * ulps * ulps));
}

/// The noise of a length is the noise of an angle times this.
constexpr double length_noise = 0.73 / 0.42;

/// The channels of pair k: k and k + distance, or 2 k and 2 k + 1.
struct Pairing {
  RotaryLayout channels = RotaryLayout::halves;
  std::int64_t distance = 0;

  std::size_t first(std::int64_t k) const noexcept {
    return static_cast<std::size_t>(channels == RotaryLayout::halves ? k : 2 * k);
  }
  std::size_t second(std::int64_t k) const noexcept {
    return first(k) + static_cast<std::size_t>(channels == RotaryLayout::halves ? distance : 1);
  }
  bool operator==(const Pairing&) const = default;

  /// "(k, 64 + k), halves"
  std::string text() const {
    return channels == RotaryLayout::halves ? format_text("(k, {} + k), halves", distance)
                                            : "(2k, 2k + 1), interleaved";
  }
};

/// The turn of one pair, as the heads of a row show it.
struct Turn {
  Complex factor = 0;  ///< multiplies the heads; not finite if one of them is not
  double noise = 0;    ///< standard deviation of the angle; NaN if all heads are zero
  /// Sums of the squared lengths before and after the kernel.
  double before = 0, after = 0;
};

std::vector<double> channels_of_head(const HeadsTable& heads, std::int64_t row, std::int64_t head) {
  std::vector<double> all(static_cast<std::size_t>(heads.sizes[2]));
  const std::int64_t begin = row * heads.strides[0] + head * heads.strides[1];
  with_type(heads.type, [&]<class T>(T) {
    const T* const data = static_cast<const T*>(heads.data) + begin;
    for (std::int64_t i = 0; i < heads.sizes[2]; ++i)
      all[static_cast<std::size_t>(i)] = to_double(data[i * heads.strides[2]]);
  });
  return all;
}

/// Heads before and after a kernel: shape (rows, heads, channels).
struct Heads {
  HeadsTable before, after;

  std::int64_t rows() const noexcept { return before.sizes[0]; }
  std::int64_t heads() const noexcept { return before.sizes[1]; }

  /// The turns of all pairs of the first `dimension` channels.
  std::vector<Turn> turns(std::int64_t row, const Pairing& pairing, std::int64_t dimension) const {
    std::vector<Turn> turns(static_cast<std::size_t>(dimension / 2));
    std::vector<double> last;
    std::int64_t different = 0;
    for (std::int64_t head = 0; head < heads(); ++head) {
      std::vector<double> x = channels_of_head(before, row, head);
      const std::vector<double> y = channels_of_head(after, row, head);
      different += x != last;
      for (std::int64_t k = 0; k < dimension / 2; ++k) {
        const std::size_t i = pairing.first(k), j = pairing.second(k);
        const Complex from(x[i], x[j]), to(y[i], y[j]);
        Turn& turn = turns[static_cast<std::size_t>(k)];
        turn.factor += std::conj(from) * to;
        turn.before += std::norm(from);
        turn.after += std::norm(to);
        turn.noise += std::norm(from) * std::norm(to);
      }
      last = std::move(x);
    }
    // Rounding a complex number changes its angle by 0.42 halves of an ulp of its length in the
    // root mean square, and its length by 0.73. Products and sums are rounded to float32, too,
    // which does not matter for elements of 16 bits. Equal heads have equal errors.
    const double roundings = size_of(after.type) == 2 ? 1 : 3,
                 equal = static_cast<double>(heads()) / static_cast<double>(different),
                 relative = 0.42 * half_ulp_of_one(after.type) * std::sqrt(roundings * equal);
    for (Turn& turn : turns) {
      turn.factor /= turn.before;
      turn.noise = relative * std::sqrt(turn.noise) / turn.before;
      const bool shows_nothing = turn.before == 0 && turn.after == 0;
      if (!shows_nothing && !std::isfinite(turn.noise)) turn.noise = 0;
    }
    return turns;
  }

  /// The share of the squared elements that turns of these pairs, with this length, leave
  /// unexplained. Only some rows are used.
  double unexplained(const Pairing& pairing, std::int64_t dimension, double length) const {
    double unlike = 0, squares = 0;
    for (const std::int64_t row : scattered(rows(), 64)) {
      for (const Turn& each : turns(row, pairing, dimension)) {
        const double off = each.after + length * each.before * (length - 2 * std::abs(each.factor));
        if (!std::isfinite(off)) continue;
        unlike += off;
        squares += each.after;
      }
    }
    return squares > 0 ? unlike / squares : 0;
  }

  /// True if the channels that are not turned are unchanged in all rows.
  bool keeps_channels(const std::vector<bool>& is_turned) const {
    if (std::ranges::count(is_turned, false) == 0) return true;
    for (std::int64_t row = 0; row < rows(); ++row) {
      for (std::int64_t head = 0; head < heads(); ++head) {
        const std::vector<double> x = channels_of_head(before, row, head),
                                  y = channels_of_head(after, row, head);
        for (std::size_t i = 0; i < x.size(); ++i)
          if (!is_turned[i] && x[i] != y[i]) return false;
      }
    }
    return true;
  }
};

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

/// Judges heads whose order is known.
class Judge {
 public:
  Judge(const Heads& heads, const RotarySpec& rotary, const HeadsOptions& options,
        RowPositions positions, const Pairing& pairing, DataType type)
      : heads_(heads),
        rotary_(rotary),
        options_(options),
        positions_(std::move(positions)),
        half_(rotary.dimension() / 2),
        pairing_(pairing),
        pairs_(static_cast<std::size_t>(half_)),
        turns_(static_cast<std::size_t>(heads.rows())) {
    TableIdentity angles;
    angles.axes = TableAxes{.spec = rotary.angles};
    for (const TablePair& each : pairs_of_table(angles, 2 * half_))
      pairs_[static_cast<std::size_t>(each.place)] = each;
    report_ = {.rows = heads.rows(), .heads = heads.heads(), .type = type, .rotary = rotary};
    report_.by_pair.resize(static_cast<std::size_t>(half_));
    parallel_for(heads.rows(), 16, options.threads, [&](auto begin, auto end, int) {
      for (std::int64_t row = begin; row < end; ++row)
        turns_[static_cast<std::size_t>(row)] = heads.turns(row, pairing, 2 * half_);
    });
  }

  HeadsReport report(const Pairing& claimed) && {
    const bool has_claimed_pairs = pairing_ == claimed;
    compare();
    if (report_.errors.count == 0)
      throw_invalid("heads hold only zeros; allowed: numbers, which show the angles");
    const bool keeps_rest = heads_.keeps_channels(is_turned());
    report_.is_good = report_.angles_off == 0 && keeps_rest && has_claimed_pairs;
    if (report_.is_good) return std::move(report_);
    const auto say = [&](CauseKind kind, std::string text) {
      for (const Cause& each : report_.causes)
        if (each.text == text) return;
      report_.causes.push_back({kind, std::move(text)});
    };
    if (!has_claimed_pairs)
      say(CauseKind::other_arrangement,
          format_text("the pairs of channels are {}, not {}", pairing_.text(), claimed.text()));
    if (!keeps_rest)
      say(CauseKind::other_arrangement,
          has_claimed_pairs
              ? format_text("channels beyond the first {} are changed", 2 * half_)
              : format_text("more channels are changed than {}: they have a larger dimension",
                            2 * half_));
    if (first_not_finite_ >= 0)
      say(CauseKind::unset_rows,
          format_text("heads have NaN or infinity, the first in row {}", first_not_finite_));
    if (report_.angles_off == 0) return std::move(report_);
    if (!keeps_rest && !has_claimed_pairs) return std::move(report_);
    if (heads_.keeps_channels(std::vector<bool>(is_turned().size()))) {
      say(CauseKind::unset_rows, "the heads are unchanged: nothing is turned");
    } else if (const std::string text = other_axes(); !text.empty()) {
      say(CauseKind::other_axis, text);
    } else {
      for (std::size_t part = 0; part < rotary_.angles.parts.size(); ++part)
        for (const Cause& each : causes_of_part(part)) say(each.kind, each.text);
    }
    std::vector<std::int64_t> pairs;
    for (std::int64_t k = 0; k < half_; ++k)
      if (off_by_pair_[static_cast<std::size_t>(k)] > 0) pairs.push_back(k);
    if (report_.causes.empty() && !pairs.empty() && std::ssize(pairs) < half_)
      report_.findings.push_back(format_text("{}, the other {} right",
                                             fault_text(pair_noun, pairs, "is off"),
                                             half_ - std::ssize(pairs)));
    return std::move(report_);
  }

 private:
  /// For each channel of a head, whether it belongs to a pair that is turned.
  std::vector<bool> is_turned() const {
    std::vector<bool> all(static_cast<std::size_t>(heads_.before.sizes[2]));
    for (std::int64_t k = 0; k < half_; ++k)
      all[pairing_.first(k)] = all[pairing_.second(k)] = true;
    return all;
  }

  const Turn& turn(std::int64_t row, std::int64_t pair) const noexcept {
    return turns_[static_cast<std::size_t>(row)][static_cast<std::size_t>(pair)];
  }

  /// Compares all rows with exact cosines and sines.
  void compare() {
    const Rotary exact(rotary_);
    std::array<HeadsReport::Octave, octaves> by_octave;
    by_octave.fill({max_position, 0, {}});
    double worst = -1;
    constexpr std::int64_t block = 256;
    BasicMatrix<double> values(std::min(block, heads_.rows()), 2 * half_);
    for (std::int64_t row = 0; row < heads_.rows(); ++row) {
      if (row % block == 0)
        exact.cache(positions_.part(row, std::min(block, heads_.rows() - row)),
                    RotaryLayout::halves, values.view());
      std::int64_t farthest = 0;
      for (std::int64_t axis = 0; axis < rotary_.angles.axes(); ++axis)
        farthest = std::max(farthest, std::abs(positions_(axis, row)));
      HeadsReport::Octave& of = by_octave[octave(farthest)];
      of = {std::min(of.least, farthest), std::max(of.most, farthest), of.errors};
      for (std::int64_t k = 0; k < half_; ++k) {
        const auto& [got, noise, before, after] = turn(row, k);
        const Complex wanted(values(row % block, k), values(row % block, half_ + k));
        const Complex ratio = got * std::conj(wanted) / std::norm(wanted);
        if (std::isnan(noise)) continue;  // all heads are zero
        const TablePair& pair = pairs_[static_cast<std::size_t>(k)];
        const double phase = static_cast<double>(positions_(pair.axis, row)) * pair.frequency,
                     allowed = options_.max_error.value_or(
                         check::allowed_error(DataType::float32, 1, phase));
        report_.allowed_error = std::max(report_.allowed_error, allowed);
        const bool is_finite = std::isfinite(std::abs(ratio));
        if (!is_finite && first_not_finite_ < 0) first_not_finite_ = row;
        const double error = is_finite ? std::fabs(std::arg(ratio)) : std::numbers::pi,
                     length_error = is_finite ? std::fabs(std::abs(ratio) - 1) : 1;
        report_.max_length_error = std::max(report_.max_length_error, length_error);
        const double stuck = sticking(std::arg(wanted), report_.type);
        const bool is_off = error > allowed + stuck + most_noise * noise ||
                            length_error > allowed + most_noise * length_noise * noise;
        report_.angles_off += is_off;
        off_by_pair_[static_cast<std::size_t>(k)] += is_off;
        for (AngleErrors* const to :
             {&report_.errors, &of.errors, &report_.by_pair[static_cast<std::size_t>(k)]})
          add(*to, error, noise);
        if (error <= worst) continue;
        worst = error;
        report_.worst_row = row;
        report_.worst_pair = k;
      }
    }
    take_roots(report_.errors);
    for (AngleErrors& each : report_.by_pair) take_roots(each);
    for (HeadsReport::Octave& each : by_octave) {
      take_roots(each.errors);
      if (each.errors.count > 0) report_.by_position.push_back(each);
    }
  }

  /// "pairs 16 .. 39 turn by axis 2, not 1", if they do.
  std::string other_axes() const {
    const std::int64_t axes = rotary_.angles.axes();
    struct Run {
      std::int64_t first, last, axis, wanted;
    };
    std::vector<Run> runs;
    for (const TablePair& pair : pairs_) {
      const auto error_of = [&](std::int64_t axis) {
        double sum = 0;
        for (const std::int64_t row : scattered(heads_.rows(), 64)) {
          const double angle = static_cast<double>(positions_(axis, row)) * pair.frequency;
          const Complex off =
              turn(row, pair.place).factor - std::polar(rotary_.attention_factor, angle);
          if (std::isfinite(std::abs(off))) sum += std::norm(off);
        }
        return std::sqrt(sum);
      };
      std::int64_t nearest = pair.axis;
      for (std::int64_t axis = 0; axis < axes; ++axis)
        if (error_of(axis) < error_of(nearest)) nearest = axis;
      if (nearest == pair.axis || 8 * error_of(nearest) >= error_of(pair.axis)) continue;
      if (runs.empty() || runs.back().last + 1 != pair.place || runs.back().axis != nearest ||
          runs.back().wanted != pair.axis)
        runs.push_back({pair.place, pair.place, nearest, pair.axis});
      runs.back().last = pair.place;
    }
    std::vector<std::string> texts;
    for (const Run& each : runs)
      texts.push_back(format_text("pairs {} .. {} turn by axis {}, not {}", each.first, each.last,
                                  each.axis, each.wanted));
    return join(texts, ", ");
  }

  /// The causes in one part, whose pairs form a table of cosines and sines. A frequency that no
  /// pair has gets infinite noise.
  std::vector<Cause> causes_of_part(std::size_t number) const {
    const AxisPairs& part = rotary_.angles.parts[number];
    const std::int64_t half = part.spec.d_model / 2;
    BasicMatrix<double> values(heads_.rows(), 2 * half), noise(heads_.rows(), half);
    std::fill_n(values.data(), heads_.rows() * 2 * half, 0.0);
    std::fill_n(noise.data(), heads_.rows() * half, infinity);
    std::vector<std::int64_t> positions;
    for (std::int64_t row = 0; row < heads_.rows(); ++row)
      positions.push_back(positions_(part.axis, row));
    for (const TablePair& pair : pairs_) {
      if (pair.part != number) continue;
      for (std::int64_t row = 0; row < heads_.rows(); ++row) {
        const Turn& shown = turn(row, pair.place);
        if (std::isnan(shown.noise)) continue;
        values(row, pair.k) = shown.factor.real();
        values(row, half + pair.k) = shown.factor.imag();
        noise(row, pair.k) = shown.noise;
      }
    }
    TableIdentity wanted = {.spec = part.spec, .arrangement = Arrangement::halves_cos_first};
    wanted.spec.layout = Layout::interleaved;
    wanted.factor = rotary_.attention_factor;
    TableOptions claimed = {.spec = wanted.spec, .arrangements = {wanted.arrangement}};
    claimed.factor = wanted.factor;
    if (positions_.is_range()) {
      claimed.first = wanted.first = positions_.first();
    } else {
      claimed.positions = wanted.positions = positions;
    }
    const SampledTable sample(TableView(std::as_const(values).view()), false,
                              TableView(std::as_const(noise).view()));
    std::optional<Hypothesis> found = Hypothesis{.is = wanted};
    if (part.count() == half) found = identify(sample, claimed);
    if (!found) return {};
    return causes_of_difference(sample, *found, wanted);
  }

  const Heads& heads_;
  const RotarySpec& rotary_;
  const HeadsOptions& options_;
  const RowPositions positions_;
  const std::int64_t half_;
  const Pairing pairing_;
  std::vector<std::int64_t> off_by_pair_ =
      std::vector<std::int64_t>(static_cast<std::size_t>(half_));
  std::vector<TablePair> pairs_;          ///< axes and frequencies of the pairs
  std::vector<std::vector<Turn>> turns_;  ///< turns_[row][pair]
  HeadsReport report_;
  std::int64_t first_not_finite_ = -1;
};

}  // namespace

HeadsReport heads(const HeadsTable& before, const HeadsTable& after, const RotarySpec& rotary,
                  const HeadsOptions& options) {
  validate(rotary);
  check_threads(options.threads);
  if (options.max_error) check_positive("max_error", *options.max_error);
  if (before.sizes != after.sizes || std::ranges::count(before.sizes, 0) > 0 ||
      before.sizes[2] < rotary.dimension()) {
    throw_invalid(
        "heads have shape {} before and {} after; allowed: one shape, not empty, of at least {} "
        "channels",
        shape_text(before.sizes), shape_text(after.sizes), rotary.dimension());
  }
  struct Reading {
    Heads heads;
    Pairing pairing;
    double unexplained;
  };
  std::optional<Reading> best;
  const std::int64_t half = rotary.dimension() / 2, half_head = before.sizes[2] / 2;
  const RotaryLayout other =
      rotary.channels == RotaryLayout::halves ? RotaryLayout::interleaved : RotaryLayout::halves;
  const Pairing claimed = {rotary.channels, half};
  std::vector<Pairing> pairings = {claimed, {other, half}};
  if (half < half_head) pairings.push_back({RotaryLayout::halves, half_head});
  for (const bool heads_first : {false, true}) {
    if (options.positions && options.positions->count() != before.sizes[heads_first]) continue;
    Heads heads = {before, after};
    for (HeadsTable* const each : {&heads.before, &heads.after}) {
      if (!heads_first) break;
      std::swap(each->sizes[0], each->sizes[1]);
      std::swap(each->strides[0], each->strides[1]);
    }
    for (const Pairing& pairing : pairings) {
      const double unexplained =
          heads.unexplained(pairing, rotary.dimension(), rotary.attention_factor);
      // Prefer the claimed pairs, and rows first, unless another reading leaves less than a quarter
      // unexplained.
      if (!best || 4 * unexplained < best->unexplained) best = {heads, pairing, unexplained};
    }
  }
  if (!best)
    throw_invalid("positions has {} values; allowed: {}, one for each row",
                  options.positions->count(), before.sizes[0]);
  const RowPositions positions =
      options.positions.value_or(RowPositions(RowRange{options.first, best->heads.rows()}));
  validate(positions, rotary.angles.axes());
  return Judge(best->heads, rotary, options, positions, best->pairing, after.type).report(claimed);
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
