// The constants that rotation and rotation32 compute when they are planned.
#pragma once

#include "posenc/backends/vectorised.h"
#include "posenc/exact/frequency.h"

#include <cstdint>
#include <vector>

namespace posenc {

/// Sines and cosines of the angles of rows around the centre of a block, a = (j + 1/2) w.
struct HalfRowAngles {
  /// Of each of paired_block_rows / 2 rows j, the cosines and sines interleaved, or the sines half
  /// a stride after the cosines; or grouped as simd::angle_index() says.
  enum class Order { interleaved, separate, grouped };

  HalfRowAngles(const FrequencyTables& turns, Order order, const simd::Kernels& kernels);

  std::vector<double> cosine, sine;  ///< for j = 0
  std::size_t stride;                ///< from one row to the next, in floats, unless grouped
  std::vector<float> rows;
};

/// Owns the arrays of simd::RotationTables.
struct RotationConstants {
  RotationConstants(const Frequencies& frequencies, const simd::Kernels& kernels);

  /// The tables of a spec with these frequencies. exact_entry and context are null, for the caller
  /// to set; error_bounds is 1. The tables are valid as long as this object.
  simd::RotationTables tables(const EncodingSpec& spec) const noexcept;

  FrequencyTables turns;
  std::vector<float> radians;
  std::vector<double> cos_row, sin_row, cos_block, sin_block;
  HalfRowAngles angles;
};

/// Owns the arrays of simd::Rotation32Tables.
struct Rotation32Constants {
  Rotation32Constants(const EncodingSpec& spec, const simd::Kernels& kernels);

  /// The tables of this spec, which are valid as long as this object.
  simd::Rotation32Tables tables(const EncodingSpec& spec) const noexcept;

  FrequencyTables turns;
  std::vector<std::uint64_t> group_high, group_low, centre, step;
  HalfRowAngles angles;
};

}  // namespace posenc
