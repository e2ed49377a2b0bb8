#include "posenc/check/head_turns.h"

#include "posenc/check/sample.h"
#include "posenc/error.h"
#include "posenc/support/format.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

namespace posenc::check {
inline namespace internals {

using namespace model;
using namespace suite;

double sticking(double angle, DataType type) noexcept {
  constexpr double quarter = std::numbers::pi / 2;
  const double off = std::fabs(std::remainder(angle, quarter)),
               ulps = off / (4 * half_ulp_of_one(type));
  return off * std::min(1.0, 2 * std::exp(-5 * ulps * ulps));
}

Pairing::Pairing(RotaryLayout layout, std::int64_t count, std::int64_t distance,
                 std::int64_t offset) {
  const bool is_halves = layout == RotaryLayout::halves;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto first = static_cast<std::size_t>(offset + (is_halves ? k : 2 * k));
    channels.push_back({first, first + static_cast<std::size_t>(is_halves ? distance : 1)});
  }
  const std::string plus = offset > 0 ? format_text("{} + ", offset) : "";
  text = is_halves ? format_text("({}k, {} + k), halves", plus, offset + distance)
                   : format_text("({}2k, 2k + {}), interleaved", plus, offset + 1);
}

std::vector<TablePair> pairs_by_place(const AxesSpec& angles) {
  TableIdentity identity;
  identity.axes = TableAxes{.spec = angles};
  std::vector<TablePair> pairs = pairs_of_table(identity, angles.d_model());
  std::ranges::sort(pairs, {}, &TablePair::place);
  return pairs;
}

std::vector<bool> Pairing::are_turned(std::size_t channels_of_head) const {
  std::vector<bool> all(channels_of_head);
  for (const auto& [i, j] : channels) all[i] = all[j] = true;
  return all;
}

namespace {

/// The pairs of channels that kernels have for a rotary embedding, the claimed ones first.
std::vector<Pairing> pairings_of(const RotarySpec& rotary, std::int64_t channels,
                                 std::int64_t offset) {
  const std::vector<TablePair> pairs = pairs_by_place(rotary.angles);
  const std::int64_t count = std::ssize(pairs);
  const bool is_halves = rotary.channels == RotaryLayout::halves;
  std::vector<Pairing> all = {
      {rotary.channels, count, count, offset},
      {is_halves ? RotaryLayout::interleaved : RotaryLayout::halves, count, count, offset}};
  // The halves may be those of the whole head, or of the pairs before the ones that never turn.
  std::int64_t turning = count;
  while (turning > 0 && pairs[static_cast<std::size_t>(turning - 1)].frequency == 0) --turning;
  for (const auto& [turned, distance] : {std::pair(count, channels / 2), {turning, turning}})
    if (distance != count && distance >= turned && offset + distance + turned <= channels)
      all.emplace_back(RotaryLayout::halves, turned, distance, offset);
  std::int64_t blocks_of_axes = 1;
  for (std::size_t place = 1; place < pairs.size(); ++place)
    blocks_of_axes += pairs[place].axis != pairs[place - 1].axis;
  const std::int64_t axes = rotary.angles.axes();
  if (axes == 1 || blocks_of_axes != axes) return all;
  // Each axis has a block of channels with halves of its own.
  Pairing& blocks = all.emplace_back(all.front());
  blocks.text = "(k, n + k) in the block of each axis, whose n pairs are halves";
  for (std::size_t place = 0, k = 0; place < pairs.size(); ++place, ++k) {
    const std::int64_t axis = pairs[place].axis;
    if (place > 0 && axis != pairs[place - 1].axis) k = 0;
    const auto size = static_cast<std::size_t>(std::ranges::count(pairs, axis, &TablePair::axis));
    const std::size_t first = static_cast<std::size_t>(offset) + 2 * (place - k) + k;
    blocks.channels[place] = {first, first + size};
  }
  return all;
}

}  // namespace

std::vector<Reading> readings_of(const RotarySpec& claimed, std::int64_t channels,
                                 std::int64_t offset) {
  std::vector<Reading> all;
  const auto add = [&](const RotarySpec& rotary, const std::string& fault) {
    const std::int64_t last = channels - rotary.dimension();
    std::vector<std::int64_t> offsets;
    for (const std::int64_t each : {offset, std::int64_t{0}, last})
      if (each <= last && std::ranges::count(offsets, each) == 0) offsets.push_back(each);
    for (const std::int64_t each : offsets) {
      int differences = (each != offset) + !fault.empty();
      for (Pairing& pairing : pairings_of(rotary, channels, each)) {
        all.push_back({rotary, std::move(pairing), fault, differences});
        differences = (each != offset) + !fault.empty() + 1;
      }
    }
  };
  add(claimed, "");
  // The turned share of a head may be ignored, or applied twice.
  const auto add_dimension = [&](std::int64_t dimension, const std::string& fault) {
    RotarySpec rotary = claimed;
    rotary.angles.parts.front().spec.d_model = dimension;
    try {
      validate(rotary);
      add(rotary, fault);
    } catch (const InvalidArgument&) {
      // The rule has a list for the claimed dimension.
    }
  };
  const std::int64_t dimension = claimed.dimension(), square = dimension * dimension,
                     twice = square / channels;
  if (claimed.angles.parts.size() == 1 && dimension < channels) {
    add_dimension(channels,
                  format_text("more channels are changed than {}: they have a larger dimension, "
                              "{}, as if the turned share were ignored",
                              dimension, channels));
    if (square % channels == 0 && twice % 2 == 0)
      add_dimension(
          twice,
          format_text("the dimension is {}, not {}, as if the turned share were applied twice",
                      twice, dimension));
  }
  std::ranges::stable_sort(all, {}, &Reading::differences);
  return all;
}

std::vector<Turn> HeadsOfRow::turns(const Pairing& pairing) const {
  std::vector<Turn> turns(pairing.channels.size());
  std::size_t different = 0;
  for (std::size_t begin = 0; begin < before.size(); begin += channels) {
    const double *const x = &before[begin], *const y = &after[begin];
    different += begin == 0 || !std::equal(x, x + channels, x - channels);
    for (std::size_t k = 0; k < turns.size(); ++k) {
      const auto [i, j] = pairing.channels[k];
      Turn& turn = turns[k];
      const double from = x[i] * x[i] + x[j] * x[j], to = y[i] * y[i] + y[j] * y[j];
      turn.factor += Complex(x[i] * y[i] + x[j] * y[j], x[i] * y[j] - x[j] * y[i]);
      turn.before += from;
      turn.after += to;
      turn.noise += from * to;
    }
  }
  // Rounding a complex number changes its angle by 0.42 halves of an ulp of its length in the
  // root mean square, and its length by 0.73. Products and sums are rounded to float32, too,
  // which does not matter for elements of 16 bits. Equal heads have equal errors.
  const double roundings = size_of(type) == 2 ? 1 : 3,
               equal =
                   static_cast<double>(before.size() / channels) / static_cast<double>(different),
               relative = 0.42 * half_ulp_of_one(type) * std::sqrt(roundings * equal);
  for (Turn& turn : turns) {
    turn.factor /= turn.before;
    turn.noise = relative * std::sqrt(turn.noise) / turn.before;
    const bool shows_nothing = turn.before == 0 && turn.after == 0;
    if (!shows_nothing && !std::isfinite(turn.noise)) turn.noise = 0;
  }
  return turns;
}

HeadsOfRow Heads::row(std::int64_t number, std::int64_t most) const {
  HeadsOfRow all = {number, static_cast<std::size_t>(channels()), after.type};
  const std::int64_t count = std::min(heads(), most);
  for (const auto& [from, to] : {std::pair(&before, &all.before), {&after, &all.after}}) {
    to->reserve(static_cast<std::size_t>(count * channels()));
    with_type(from->type, [&, from = from, to = to]<class T>(T) {
      const T* const data = static_cast<const T*>(from->data) + number * from->strides[0];
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t head = i * heads() / count;
        for (std::int64_t channel = 0; channel < channels(); ++channel)
          to->push_back(to_double(data[head * from->strides[1] + channel * from->strides[2]]));
      }
    });
  }
  return all;
}

std::vector<HeadsOfRow> sample_of(const Heads& heads) {
  std::vector<HeadsOfRow> sample;
  for (const std::int64_t row : scattered(heads.rows(), 24)) sample.push_back(heads.row(row, 8));
  return sample;
}

double unexplained(const std::vector<HeadsOfRow>& sample, const Pairing& pairing) {
  const std::vector<bool> are_turned = pairing.are_turned(sample.front().channels);
  double before = 0, after = 0, products = 0, unlike = 0, squares = 0;
  for (const HeadsOfRow& row : sample) {
    for (const Turn& each : row.turns(pairing)) {
      if (!std::isfinite(each.after + each.before) || each.before == 0) continue;
      before += each.before;
      after += each.after;
      products += std::abs(each.factor) * each.before;
    }
    for (std::size_t i = 0; i < row.before.size(); ++i) {
      const double off = row.after[i] - row.before[i];
      if (are_turned[i % are_turned.size()] || !std::isfinite(off)) continue;
      unlike += off * off;
      squares += row.after[i] * row.after[i];
    }
  }
  if (before > 0) unlike += after - products * products / before;
  squares += after;
  return squares > 0 ? std::max(unlike, 0.0) / squares : 0;
}

double unexplained_by_rounding(DataType type) noexcept {
  const double ulps = 8 * half_ulp_of_one(type);
  return ulps * ulps;
}

}  // namespace internals
}  // namespace posenc::check
