// What rotation computes when it is planned.
#pragma once

#include "posenc/backends/vectorised.h"
#include "posenc/exact/frequency.h"

#include <vector>

namespace posenc {

/// Per frequency, padded (see simd::RotationTables).
struct RotationConstants {
  RotationConstants(const Frequencies& frequencies, const simd::Kernels& kernels);

  /// The tables of a spec with these frequencies, without a way to recompute entries. Valid as long
  /// as this object.
  simd::RotationTables tables(const EncodingSpec& spec) const noexcept;

  FrequencyTables turns;
  std::vector<float> radians;
  std::vector<double> cos_row, sin_row, cos_block, sin_block;
};

}  // namespace posenc
