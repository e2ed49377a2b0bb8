#include "posenc/check/head_turns.h"

#include "posenc/check/columns.h"
#include "posenc/check/sample.h"
#include "posenc/error.h"
#include "posenc/support/format.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
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

namespace {

/// Rotary embeddings of another dimension than the claimed one: the turned share of a head may be
/// ignored, or applied twice. Both need one encoding on one axis.
std::vector<std::pair<RotarySpec, std::string>> other_dimensions(const RotarySpec& claimed,
                                                                 std::int64_t channels) {
  std::vector<std::pair<RotarySpec, std::string>> all;
  const std::int64_t dimension = claimed.dimension(), twice = dimension * dimension / channels;
  const auto add = [&](std::int64_t other, std::string fault) {
    RotarySpec rotary = claimed;
    rotary.angles.parts.front().spec.d_model = other;
    try {
      validate(rotary);
      all.emplace_back(std::move(rotary), std::move(fault));
    } catch (const InvalidArgument&) {
      // The rule has a list for the claimed dimension.
    }
  };
  const AxisPairs& part = claimed.angles.parts.front();
  if (claimed.angles.parts.size() > 1 || !part.frequencies.empty() || !part.pairs.empty() ||
      dimension >= channels)
    return {};
  add(channels, format_text("more channels are changed than {}: they have a larger dimension, {}, "
                            "as if the turned share were ignored",
                            dimension, channels));
  if (twice * channels == dimension * dimension && twice % 2 == 0)
    add(twice, format_text("the dimension is {}, not {}, as if the turned share were applied twice",
                           twice, dimension));
  return all;
}

/// The number of pairs without the pairs at the end that never turn.
std::int64_t turning_pairs(const RotarySpec& rotary) {
  TableIdentity angles;
  angles.axes = TableAxes{.spec = rotary.angles};
  std::int64_t count = 0;
  for (const TablePair& each : pairs_of_table(angles, rotary.dimension()))
    if (each.frequency != 0) count = std::max(count, each.place + 1);
  return count;
}

/// The pairs of channels that kernels have for a rotary embedding, the claimed ones first.
std::vector<Pairing> pairings_of(const RotarySpec& rotary, std::int64_t channels,
                                 std::int64_t offset) {
  const std::int64_t pairs = rotary.dimension() / 2, turning = turning_pairs(rotary);
  const bool is_halves = rotary.channels == RotaryLayout::halves;
  std::vector<Pairing> all = {
      {rotary.channels, pairs, pairs, offset},
      {is_halves ? RotaryLayout::interleaved : RotaryLayout::halves, pairs, pairs, offset}};
  for (const auto& [count, distance] : {std::pair(pairs, channels / 2), {turning, turning}})
    if (distance != pairs && distance >= count && offset + distance + count <= channels)
      all.emplace_back(RotaryLayout::halves, count, distance, offset);
  if (rotary.angles.axes() == 1) return all;
  // Each axis has a block of channels with halves of its own.
  Pairing blocks(RotaryLayout::halves, pairs, pairs, offset);
  blocks.text = "(k, n + k) in the block of each axis, whose n pairs are halves";
  std::vector<std::size_t> sizes(static_cast<std::size_t>(rotary.angles.axes()));
  bool are_in_order = true;
  std::int64_t next = 0;
  for (const AxisPair& pair : pairs_of(rotary.angles)) {
    ++sizes[static_cast<std::size_t>(rotary.angles.parts[pair.part].axis)];
    are_in_order = are_in_order && pair.place == next++;
  }
  if (!are_in_order) return all;
  std::size_t place = 0;
  for (const std::size_t size : sizes)
    for (std::size_t k = 0; k < size; ++k, ++place) {
      const std::size_t first = static_cast<std::size_t>(offset) + 2 * (place - k) + k;
      blocks.channels[place] = {first, first + size};
    }
  all.push_back(std::move(blocks));
  return all;
}

}  // namespace

std::vector<Reading> readings_of(const RotarySpec& claimed, std::int64_t channels,
                                 std::int64_t offset) {
  std::vector<std::pair<int, Reading>> all;  // with the number of differences
  auto rotaries = other_dimensions(claimed, channels);
  rotaries.insert(rotaries.begin(), {claimed, ""});
  for (const auto& [rotary, fault] : rotaries) {
    const std::int64_t dimension = rotary.dimension();
    std::vector<std::int64_t> offsets;
    for (const std::int64_t each : {offset, std::int64_t{0}, channels - dimension})
      if (std::ranges::count(offsets, each) == 0 && each + dimension <= channels)
        offsets.push_back(each);
    for (const std::int64_t each : offsets) {
      int differences = (each != offset) + !fault.empty();
      for (Pairing& pairing : pairings_of(rotary, channels, each)) {
        all.push_back({differences, {rotary, std::move(pairing), fault}});
        differences = (each != offset) + !fault.empty() + 1;
      }
    }
  }
  std::ranges::stable_sort(all, {}, &std::pair<int, Reading>::first);
  std::vector<Reading> readings;
  for (auto& [differences, reading] : all) readings.push_back(std::move(reading));
  return readings;
}

std::vector<Turn> HeadsOfRow::turns(const Pairing& pairing) const {
  std::vector<Turn> turns(pairing.channels.size());
  const auto size = static_cast<std::size_t>(channels);
  std::int64_t different = 0;
  for (std::size_t begin = 0; begin < before.size(); begin += size) {
    const double *const x = &before[begin], *const y = &after[begin];
    different += begin == 0 || !std::equal(x, x + size, x - size);
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
               equal = static_cast<double>(count) / static_cast<double>(different),
               relative = 0.42 * half_ulp_of_one(type) * std::sqrt(roundings * equal);
  for (Turn& turn : turns) {
    turn.factor /= turn.before;
    turn.noise = relative * std::sqrt(turn.noise) / turn.before;
    const bool shows_nothing = turn.before == 0 && turn.after == 0;
    if (!shows_nothing && !std::isfinite(turn.noise)) turn.noise = 0;
  }
  return turns;
}

HeadsOfRow Heads::row(std::int64_t row, std::int64_t most) const {
  HeadsOfRow all = {
      .count = std::min(heads(), most), .channels = before.sizes[2], .type = after.type};
  for (const auto& [from, to] : {std::pair(&before, &all.before), {&after, &all.after}}) {
    to->reserve(static_cast<std::size_t>(all.count * all.channels));
    with_type(from->type, [&, from = from, to = to]<class T>(T) {
      const T* const data = static_cast<const T*>(from->data) + row * from->strides[0];
      for (std::int64_t i = 0; i < all.count; ++i) {
        const std::int64_t head = i * heads() / all.count;
        for (std::int64_t channel = 0; channel < all.channels; ++channel)
          to->push_back(to_double(data[head * from->strides[1] + channel * from->strides[2]]));
      }
    });
  }
  return all;
}

SampledHeads::SampledHeads(const Heads& heads) : numbers(scattered(heads.rows(), 24)) {
  for (const std::int64_t row : numbers) rows.push_back(heads.row(row, 8));
}

double SampledHeads::unexplained(const Pairing& pairing) const {
  std::vector<bool> is_turned(static_cast<std::size_t>(rows.front().channels));
  for (const auto& each : pairing.channels)
    for (const std::size_t channel : each) is_turned[channel] = true;
  double before = 0, after = 0, products = 0, unlike = 0, squares = 0;
  for (const HeadsOfRow& row : rows) {
    for (const Turn& each : row.turns(pairing)) {
      if (!std::isfinite(each.after + each.before) || each.before == 0) continue;
      before += each.before;
      after += each.after;
      products += std::abs(each.factor) * each.before;
    }
    for (std::size_t i = 0; i < row.before.size(); ++i) {
      const double off = row.after[i] - row.before[i];
      if (is_turned[i % is_turned.size()] || !std::isfinite(off)) continue;
      unlike += off * off;
      squares += row.after[i] * row.after[i];
    }
  }
  if (before > 0) unlike += after - products * products / before;
  squares += after;
  return squares > 0 ? std::max(unlike, 0.0) / squares : 0;
}

double SampledHeads::unexplained_by_rounding() const noexcept {
  const double ulps = 8 * half_ulp_of_one(rows.front().type);
  return ulps * ulps;
}

}  // namespace internals
}  // namespace posenc::check
