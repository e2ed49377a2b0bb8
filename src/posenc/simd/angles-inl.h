// Angles: cosines and sines of the rows around the centre of a block, in float32, for planning.
//
// Method  angle addition in double, row after row, each rounded to float
// Error   half an ulp of float32, and below 2^-46: an addition rounds two products and a sum, each
//         within 2^-54, in both components; it and the first angle have the 3 units of 2^-53 of
//         anchors-inl.h. 15 sqrt(2) 3 2^-54 + 16 * 3 * 2^-53 is 40 * 2^-52.
// Range   paired_block_rows / 2 rows
// Cost    6 operations for a vector of doubles, and the conversion
#pragma once

namespace posenc::simd {
namespace {

/// See Kernels::angles.
[[maybe_unused]] void angle_kernel(std::int64_t frequencies, const AngleArrays& first,
                                   const AngleArrays& step, const AngleRows& rows) noexcept {
  float* columns = rows.columns;
  for (std::int64_t k = 0; k < frequencies; k += float_lanes, columns += rows.vector_stride) {
    F64 s[2], c[2], sin_step[2], cos_step[2];
    for (std::int64_t i = 0; i < 2; ++i) {
      const std::int64_t at = k + i * double_lanes;
      s[i] = load(first.sine + at);
      c[i] = load(first.cosine + at);
      sin_step[i] = load(step.sine + at);
      cos_step[i] = load(step.cosine + at);
    }
    for (std::int64_t j = 0; j < paired_block_rows / 2; ++j) {
      float* const out = columns + j * rows.row_stride;
      const F32 cosine = narrow(c[0], c[1]), sine = narrow(s[0], s[1]);
      if (rows.sine_after == 0) {
        const Both<F32> pairs = interleave(cosine, sine);
        pairs.first.store_unaligned(out);
        pairs.second.store_unaligned(out + float_lanes);
      } else {
        cosine.store_unaligned(out);
        sine.store_unaligned(out + rows.sine_after);
      }
      for (std::int64_t i = 0; i < 2; ++i) {
        const F64 sine_of_row = s[i];
        s[i] = sine_of_row * cos_step[i] + c[i] * sin_step[i];
        c[i] = c[i] * cos_step[i] - sine_of_row * sin_step[i];
      }
    }
  }
}

}  // namespace
}  // namespace posenc::simd
