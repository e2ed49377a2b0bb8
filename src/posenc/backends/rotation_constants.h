// The constants that rotation computes when it is planned.
#pragma once

#include "posenc/backends/vectorised.h"
#include "posenc/exact/frequency.h"

#include <vector>

namespace posenc {

/// Owns the arrays of simd::RotationTables.
struct RotationConstants {
  RotationConstants(const Frequencies& frequencies, const simd::Kernels& kernels);

  /// The tables of a spec with these frequencies. exact_entry and context are null, for the caller
  /// to set. The tables are valid as long as this object.
  simd::RotationTables tables(const EncodingSpec& spec) const noexcept;

  FrequencyTables turns;
  std::vector<float> radians;
  std::vector<double> cos_row, sin_row, cos_block, sin_block;
};

}  // namespace posenc
