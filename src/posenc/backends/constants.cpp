#include "posenc/backends/constants.h"

#include "posenc/exact/fixed_point.h"

namespace posenc::detail {
namespace {

/// The least odd multiple of 512 bytes that holds `count` floats. A narrow panel reads 512 bytes of
/// each row, or twice 256 bytes half a stride apart. With an odd multiple, these pieces occupy all
/// sets of an L1 cache evenly. With a multiple of 4096 bytes, they would compete for a few sets.
constexpr std::int64_t spread_stride(std::int64_t count) {
  constexpr std::int64_t unit = 512 / sizeof(float);
  return ((count + unit - 1) / unit | 1) * unit;
}

/// The doubles of simd::FrequencyArrays.
struct FrequencyDoubles {
  double quarter_turns, rest;
};

/// The doubles of w / (2 pi) modulo 1. `turns` is in units of 2^-128.
FrequencyDoubles frequency_doubles(uint128 turns) noexcept {
  // The shorter of the turn and its complement is converted, so that nothing overflows.
  const bool is_negative = turns >> 127 != 0;
  const uint128 magnitude = is_negative ? -turns : turns;
  const auto rounded = static_cast<double>(magnitude);
  const uint128 lacking = magnitude - static_cast<uint128>(rounded);  // modulo 2^128
  const double rest =
      lacking >> 127 != 0 ? -static_cast<double>(-lacking) : static_cast<double>(lacking);
  constexpr double two_pi = 6.283185307179586;
  const double sign = is_negative ? -1 : 1;
  return {sign * rounded * 0x1p-126, sign * rest * 0x1p-128 * two_pi};
}

}  // namespace

FrequencyTables::FrequencyTables(const Frequencies& frequencies)
    : high_((frequencies.count() + simd::padding - 1) / simd::padding * simd::padding),
      low_(high_.size()),
      quarter_turns_(high_.size()),
      rest_(high_.size()) {
  for (std::int64_t k = 0; k < frequencies.count(); ++k) {
    high_[k] = frequencies[k].limb[0];
    low_[k] = frequencies[k].limb[1];
    const FrequencyDoubles doubles = frequency_doubles(turns(k));
    quarter_turns_[k] = doubles.quarter_turns;
    rest_[k] = doubles.rest;
  }
}

HalfRowAngles::HalfRowAngles(std::int64_t padded_count, Order wanted) : order(wanted) {
  stride = order == Order::grouped ? 2 * padded_count : spread_stride(2 * padded_count);
  cosine = std::make_unique_for_overwrite<double[]>(padded_count);
  sine = std::make_unique_for_overwrite<double[]>(padded_count);
  rows = Matrix(simd::paired_block_rows / 2, stride);
}

/// Angles are rotated in double, which costs less than a sine. After 15 rotations, the error is
/// still far below the rounding to float.
void HalfRowAngles::fill(const FrequencyTables& turns, const simd::Kernels& kernels) noexcept {
  constexpr std::int64_t piece = simd::padding;
  for (std::int64_t begin = 0; begin < turns.padded_count(); begin += piece) {
    std::uint64_t half_high[piece], half_low[piece];
    double half_quarter_turns[piece], half_rest[piece], cos_one[piece], sin_one[piece];
    const simd::FrequencyArrays w = turns.arrays().from(begin);
    for (std::int64_t k = 0; k < piece; ++k) {
      const uint128 half = turns.turns(begin + k) >> 1;
      half_high[k] = static_cast<std::uint64_t>(half >> 64);
      half_low[k] = static_cast<std::uint64_t>(half);
      // The doubles are halved, unless they belong to the complement.
      const bool is_complement = half >> 126 != 0;
      const FrequencyDoubles doubles =
          is_complement ? frequency_doubles(half)
                        : FrequencyDoubles{w.quarter_turns[k] / 2, w.rest[k] / 2};
      half_quarter_turns[k] = doubles.quarter_turns;
      half_rest[k] = doubles.rest;
    }
    kernels.anchors(piece, w, 1, sin_one, cos_one);
    kernels.anchors(piece, {half_high, half_low, half_quarter_turns, half_rest}, 1, &sine[begin],
                    &cosine[begin]);
    simd::AngleRows out = {.columns = rows.data() + begin,
                           .vector_stride = kernels.float_lanes,
                           .row_stride = stride,
                           .sine_after = stride / 2};
    if (order == Order::interleaved) {
      out = {rows.data() + 2 * begin, 2 * kernels.float_lanes, out.row_stride, 0};
    } else if (order == Order::grouped) {
      out = {rows.data() + simd::angle_index(begin, 0, kernels.float_lanes),
             simd::angle_index(kernels.float_lanes, 0, kernels.float_lanes),
             2 * kernels.float_lanes, kernels.float_lanes};
    }
    kernels.angles(piece, {&cosine[begin], &sine[begin]}, {cos_one, sin_one}, out);
  }
}

Angles::Angles(const FrequencyTables& turns, const simd::Kernels& kernels, std::int64_t position)
    : cosine(turns.padded_count()), sine(cosine.size()) {
  kernels.anchors(turns.padded_count(), turns.arrays(), static_cast<std::uint64_t>(position),
                  sine.data(), cosine.data());
}

RotationConstants::RotationConstants(const ConstantsKey& key)
    : turns(*key.frequencies),
      radians(turns.padded_count()),
      row(turns, *key.kernels, 1),
      block(turns, *key.kernels, simd::block_rows),
      kernels_(*key.kernels),
      angles_(turns.padded_count(), HalfRowAngles::Order::grouped) {
  constexpr double two_pi = 6.283185307179586;
  for (std::size_t k = 0; k < radians.size(); ++k) {
    radians[k] = static_cast<float>(two_pi * static_cast<double>(turns.turns(k)) * 0x1p-128);
  }
}

simd::RotationTables RotationConstants::tables(const RowLayout& layout,
                                               DataType type) const noexcept {
  if (size_of(type) == 2) {
    std::call_once(angles_are_filled_, [this] { angles_.fill(turns, kernels_); });
  }
  return {
      .frequencies = layout.frequencies(),
      .columns = columns_of(layout),
      .w = turns.arrays(),
      .radians = radians.data(),
      .row = row.arrays(),
      .block = block.arrays(),
      .half = {angles_.cosine.get(), angles_.sine.get()},
      .angles = angles_.rows.data(),
      .exact_entry = nullptr,
      .context = nullptr,
  };
}

Rotation32Constants::Rotation32Constants(const ConstantsKey& key)
    : turns(*key.frequencies),
      group_high(turns.padded_count()),
      group_low(group_high.size()),
      centre(group_high.size()),
      step(group_high.size()),
      angles(turns.padded_count(), key.is_interleaved ? HalfRowAngles::Order::interleaved
                                                      : HalfRowAngles::Order::separate) {
  angles.fill(turns, *key.kernels);
  for (std::size_t k = 0; k < centre.size(); ++k) {
    const uint128 frequency = turns.turns(k);
    const uint128 in_group =
        frequency * static_cast<uint128>(simd::grouped_blocks * simd::paired_block_rows);
    group_high[k] = static_cast<std::uint64_t>(in_group >> 64);
    group_low[k] = static_cast<std::uint64_t>(in_group);
    step[k] =
        static_cast<std::uint64_t>(frequency * static_cast<uint128>(simd::paired_block_rows) >> 64);
    // The centre of block 0 is at position (paired_block_rows - 1) / 2.
    const uint128 middle = (frequency >> 1) * static_cast<uint128>(simd::paired_block_rows - 1);
    centre[k] = static_cast<std::uint64_t>(middle >> 64) + (std::uint64_t{1} << 31);
  }
}

simd::Rotation32Tables Rotation32Constants::tables(const RowLayout& row) const noexcept {
  return {
      .frequencies = row.frequencies(),
      .columns = columns_of(row),
      .group_high = group_high.data(),
      .group_low = group_low.data(),
      .centre = centre.data(),
      .step = step.data(),
      .angles = angles.rows.data(),
      .angles_stride = angles.stride,
  };
}

}  // namespace posenc::detail
