#include "posenc/backends/rotation_constants.h"

#include "posenc/exact/fixed_point.h"

#include <cstddef>

namespace posenc {
namespace {

constexpr std::size_t half_block = simd::paired_block_rows / 2;

/// The least odd multiple of 512 bytes that holds `count` floats. A narrow panel reads 512 bytes of
/// each row, or two times 256 bytes, half a stride apart. All of them together then occupy every
/// set of an L1 cache evenly; a multiple of 4096 bytes would let them compete for a few.
constexpr std::size_t spread_stride(std::size_t count) {
  constexpr std::size_t unit = 512 / sizeof(float);
  const std::size_t units = (count + unit - 1) / unit;
  return (units % 2 == 1 ? units : units + 1) * unit;
}

}  // namespace

/// Angles are rotated in double, which costs less than a sine. After 15 rotations, the error is
/// still far below the rounding to float.
HalfRowAngles::HalfRowAngles(const FrequencyTables& turns, Order order,
                             const simd::Kernels& kernels)
    : cosine(static_cast<std::size_t>(turns.padded_count())),
      sine(cosine.size()),
      stride(order == Order::grouped ? 2 * cosine.size() : spread_stride(2 * cosine.size())),
      rows(half_block * stride) {
  const std::size_t padded = cosine.size();
  std::vector<double> cos_one(padded), sin_one(padded);
  const auto sincos = [&](const FrequencyTables& of, std::vector<double>& sines,
                          std::vector<double>& cosines) {
    kernels.anchors(of.padded_count(), of.arrays(), 1, sines.data(), cosines.data());
  };
  sincos(turns, sin_one, cos_one);
  sincos(turns.halves(), sine, cosine);
  std::vector<double> s = sine, c = cosine;
  const auto lanes = static_cast<std::size_t>(kernels.float_lanes);
  const std::size_t sine_after = order == Order::interleaved ? 1
                                 : order == Order::separate  ? stride / 2
                                                             : lanes;
  for (std::size_t j = 0; j < half_block; ++j) {
    for (std::size_t k = 0; k < padded; ++k) {
      const std::size_t place = order == Order::grouped
                                    ? static_cast<std::size_t>(simd::angle_index(
                                          static_cast<std::int64_t>(k),
                                          static_cast<std::int64_t>(j), kernels.float_lanes))
                                    : j * stride + (order == Order::interleaved ? 2 * k : k);
      rows[place] = static_cast<float>(c[k]);
      rows[place + sine_after] = static_cast<float>(s[k]);
      const double sine_of_row = s[k];
      s[k] = sine_of_row * cos_one[k] + c[k] * sin_one[k];
      c[k] = c[k] * cos_one[k] - sine_of_row * sin_one[k];
    }
  }
}

RotationConstants::RotationConstants(const Frequencies& frequencies, const simd::Kernels& kernels)
    : turns(frequencies),
      radians(static_cast<std::size_t>(turns.padded_count())),
      cos_row(radians.size()),
      sin_row(radians.size()),
      cos_block(radians.size()),
      sin_block(radians.size()),
      angles(turns, HalfRowAngles::Order::grouped, kernels) {
  const auto anchors = [&](std::int64_t rows, std::vector<double>& sine,
                           std::vector<double>& cosine) {
    kernels.anchors(turns.padded_count(), turns.arrays(), static_cast<std::uint64_t>(rows),
                    sine.data(), cosine.data());
  };
  anchors(1, sin_row, cos_row);
  anchors(simd::block_rows, sin_block, cos_block);
  constexpr double two_pi = 6.283185307179586;
  for (std::size_t k = 0; k < radians.size(); ++k) {
    radians[k] = static_cast<float>(two_pi * static_cast<double>(turns.turns(k)) * 0x1p-128);
  }
}

simd::RotationTables RotationConstants::tables(const EncodingSpec& spec) const noexcept {
  return {
      .frequencies = spec.d_model / 2,
      .columns = columns_of(spec),
      .w = turns.arrays(),
      .radians = radians.data(),
      .cos_row = cos_row.data(),
      .sin_row = sin_row.data(),
      .cos_block = cos_block.data(),
      .sin_block = sin_block.data(),
      .cos_half = angles.cosine.data(),
      .sin_half = angles.sine.data(),
      .angles = angles.rows.data(),
      .narrow_panels = simd::narrow_panels(),
      .has_fast_lines = simd::has_fast_lines(),
      .exact_entry = nullptr,
      .context = nullptr,
      .error_bounds = 1,
  };
}

Rotation32Constants::Rotation32Constants(const EncodingSpec& spec, const simd::Kernels& kernels)
    : turns(Frequencies(spec)),
      group_high(static_cast<std::size_t>(turns.padded_count())),
      group_low(group_high.size()),
      centre(group_high.size()),
      step(group_high.size()),
      angles(turns,
             spec.layout == Layout::interleaved ? HalfRowAngles::Order::interleaved
                                                : HalfRowAngles::Order::separate,
             kernels) {
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

simd::Rotation32Tables Rotation32Constants::tables(const EncodingSpec& spec) const noexcept {
  return {
      .frequencies = spec.d_model / 2,
      .columns = columns_of(spec),
      .group_high = group_high.data(),
      .group_low = group_low.data(),
      .centre = centre.data(),
      .step = step.data(),
      .angles = angles.rows.data(),
      .angles_stride = static_cast<std::int64_t>(angles.stride),
      .narrow_panels = simd::narrow_panels(),
  };
}

}  // namespace posenc
