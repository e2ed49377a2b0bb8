#include "posenc/backends/rotation_constants.h"

#include <cstddef>

namespace posenc {

RotationConstants::RotationConstants(const Frequencies& frequencies, const simd::Kernels& kernels)
    : turns(frequencies),
      radians(turns.high.size()),
      cos_row(turns.high.size()),
      sin_row(turns.high.size()),
      cos_block(turns.high.size()),
      sin_block(turns.high.size()) {
  const auto anchors = [&](std::int64_t rows, std::vector<double>& sine,
                           std::vector<double>& cosine) {
    kernels.anchors(turns.padded_count(), turns.high.data(), turns.low.data(),
                    static_cast<std::uint64_t>(rows), sine.data(), cosine.data());
  };
  anchors(1, sin_row, cos_row);
  anchors(simd::block_rows, sin_block, cos_block);
  constexpr double two_pi = 6.283185307179586;
  for (std::size_t k = 0; k < radians.size(); ++k) {
    radians[k] = static_cast<float>(two_pi * (static_cast<double>(turns.high[k]) * 0x1p-64 +
                                              static_cast<double>(turns.low[k]) * 0x1p-128));
  }
}

simd::RotationTables RotationConstants::tables(const EncodingSpec& spec) const noexcept {
  return {
      .frequencies = spec.d_model / 2,
      .columns = columns_of(spec),
      .turns_high = turns.high.data(),
      .turns_low = turns.low.data(),
      .radians = radians.data(),
      .cos_row = cos_row.data(),
      .sin_row = sin_row.data(),
      .cos_block = cos_block.data(),
      .sin_block = sin_block.data(),
      .exact_entry = nullptr,
      .context = nullptr,
  };
}

}  // namespace posenc
