// The constants that rotation and rotation32 compute when they are planned.
#pragma once

#include "posenc/backends/vectorised.h"
#include "posenc/data_type.h"
#include "posenc/exact/frequency.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace posenc::detail {

/// Sines and cosines of the angles of rows around the centre of a block, a = (j + 1/2) w.
struct HalfRowAngles {
  /// Of each of paired_block_rows / 2 rows j, the cosines and sines interleaved, or the sines half
  /// a stride after the cosines; or grouped as simd::angle_index() says.
  enum class Order { interleaved, separate, grouped };

  /// Allocates the arrays. fill() computes them.
  HalfRowAngles(std::int64_t padded_count, Order order);

  /// Allocates nothing.
  void fill(const FrequencyTables& turns, const simd::Kernels& kernels) noexcept;

  Order order;
  std::size_t stride;                      ///< from one row to the next, in floats, unless grouped
  std::unique_ptr<double[]> cosine, sine;  ///< for j = 0
  std::unique_ptr<float[]> rows;
};

/// Owns the arrays of simd::RotationTables.
class RotationConstants {
 public:
  RotationConstants(const Frequencies& frequencies, const simd::Kernels& kernels);

  /// The tables of a spec with these frequencies, for rows of that type. exact_entry and context
  /// are null, for the caller to set. The tables are valid as long as this object.
  simd::RotationTables tables(const EncodingSpec& spec, DataType type) const noexcept;

  FrequencyTables turns;
  std::vector<float> radians;
  std::vector<double> cos_row, sin_row, cos_block, sin_block;

 private:
  const simd::Kernels& kernels_;
  /// Only kernels of 16-bit types read them. The first call of such a type therefore fills them.
  mutable HalfRowAngles angles_;
  mutable std::once_flag angles_are_filled_;
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

/// The constants of a spec, which are computed once a process while they are kept.
std::shared_ptr<const RotationConstants> shared_rotation_constants(const EncodingSpec& spec,
                                                                   const Frequencies& frequencies,
                                                                   const simd::Kernels& kernels);
std::shared_ptr<const Rotation32Constants> shared_rotation32_constants(
    const EncodingSpec& spec, const simd::Kernels& kernels);

}  // namespace posenc::detail
