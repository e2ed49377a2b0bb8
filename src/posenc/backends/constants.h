// The constants of vectorised methods, computed by planning, in the form that kernels read.
#pragma once

#include "posenc/backends/backends.h"
#include "posenc/backends/shared_values.h"
#include "posenc/data_type.h"
#include "posenc/exact/fixed_point.h"
#include "posenc/exact/frequency.h"
#include "posenc/matrix.h"
#include "posenc/simd/kernels.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace posenc::detail {

/// Owns the arrays of simd::FrequencyArrays.
class FrequencyTables {
 public:
  explicit FrequencyTables(const Frequencies& frequencies);

  std::int64_t padded_count() const noexcept { return static_cast<std::int64_t>(high_.size()); }

  /// w / (2 pi) modulo 1, in units of 2^-128.
  uint128 turns(std::int64_t k) const noexcept {
    return static_cast<uint128>(high_[k]) << 64 | low_[k];
  }

  /// Valid as long as this object.
  simd::FrequencyArrays arrays() const noexcept {
    return {high_.data(), low_.data(), quarter_turns_.data(), rest_.data()};
  }

 private:
  std::vector<std::uint64_t> high_, low_;
  std::vector<double> quarter_turns_, rest_;
};

/// Sines and cosines of the angles of rows around the centre of a block, a = (j + 1/2) w.
struct HalfRowAngles {
  /// How the cosines and sines of each of paired_block_rows / 2 rows j are arranged: interleaved,
  /// or the sines half a stride after the cosines, or grouped as simd::angle_index() says.
  enum class Order { interleaved, separate, grouped };

  /// Allocates the arrays. fill() computes them.
  HalfRowAngles(std::int64_t padded_count, Order order);

  /// Allocates nothing.
  void fill(const FrequencyTables& turns, const simd::Kernels& kernels) noexcept;

  Order order;
  std::int64_t stride;                     ///< from one row to the next, in floats, unless grouped
  std::unique_ptr<double[]> cosine, sine;  ///< for j = 0
  Matrix rows;  ///< begins at a cache line, so that vectors of AVX-512 cross none
};

/// Owns the arrays of simd::AngleArrays for one position.
struct Angles {
  Angles(const FrequencyTables& turns, const simd::Kernels& kernels, std::int64_t position);
  simd::AngleArrays arrays() const noexcept { return {cosine.data(), sine.data()}; }

  std::vector<double> cosine, sine;
};

/// Owns the arrays of simd::RotationTables.
class RotationConstants {
 public:
  explicit RotationConstants(const ConstantsKey& key);

  /// The tables for rows of that layout and type. exact_entry and context are null, for the caller
  /// to set. The tables are valid as long as this object.
  simd::RotationTables tables(const RowLayout& layout, DataType type) const noexcept;

  FrequencyTables turns;
  std::vector<float> radians;
  Angles row, block;

 private:
  const simd::Kernels& kernels_;
  /// Only kernels of 16-bit types read these, so the first call with such a type fills them.
  mutable HalfRowAngles angles_;
  mutable std::once_flag angles_are_filled_;
};

/// Owns the arrays of simd::Rotation32Tables.
struct Rotation32Constants {
  explicit Rotation32Constants(const ConstantsKey& key);

  /// The tables for rows of that layout, which are valid as long as this object.
  simd::Rotation32Tables tables(const RowLayout& row) const noexcept;

  FrequencyTables turns;
  std::vector<std::uint64_t> group_high, group_low, centre, step;
  HalfRowAngles angles;
};

}  // namespace posenc::detail
