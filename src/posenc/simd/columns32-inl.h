// rotation32: the rows of a block in consecutive columns of a panel, from the sines and cosines of
// its centre and of the angles of the table.
//
// Rows of a block, which lie around its centre, of H = block_rows32 / 2:
//
//   row 2 H - 1     centre + (H - 1/2) w     j = H - 1   above: value * cos(a) + u
//   ...                                      ...
//   row H           centre + w / 2           j = 0
//                   centre                   value, turned
//   row H - 1       centre - w / 2           j = 0       below: value * cos(a) - u
//   ...                                      ...
//   row 0           centre - (H - 1/2) w     j = H - 1
//
// Method, error bound, valid range and cost: see rotation32-inl.h.
#pragma once

#include "posenc/simd/centres32-inl.h"
#include "posenc/simd/staged_row-inl.h"

namespace posenc::simd {
namespace {

/// The nearest bfloat16, ties away from 0, in the low half of each word.
inline I32 to_bfloat16(F32 value) { return (cast_bits<I32>(value) + I32(0x8000)) >> 16; }

/// Stores two vectors of consecutive columns.
template <class T>
inline void store32(F32 first, F32 second, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    clamp_to_one(first).store_unaligned(to);
    clamp_to_one(second).store_unaligned(to + float_lanes);
  } else {
    F32 packed;
    if constexpr (std::is_same_v<T, Float16>) {
      packed = pack_float16(first, second);
    } else {
      packed = pack(to_bfloat16(first), to_bfloat16(second));
    }
    packed.store_unaligned(reinterpret_cast<float*>(to));
  }
}

/// Columns of the widest panel.
constexpr std::int64_t most_panel_columns32 = 1024;

/// Consecutive columns of a panel. The constants are those of row j + 1/2, for j = 0.
template <class T, bool interleaved>
struct Columns32 {
  const float* value;
  const float* turned;
  const float* constants;
  std::int64_t constants_stride;  ///< from one j to the next
  std::int64_t count;
  T* out;  ///< in the first row to write

  /// cos(a) and sin(a) of float_lanes columns, where `row` is that of j.
  struct Angle {
    F32 cosine;
    F32 sine;
  };
  Angle angle(const float* row, std::int64_t column) const {
    if constexpr (interleaved) {
      const F32 both = load(row + column);
      return {even_lanes(both), odd_lanes(both)};
    } else {
      return {load(row + column), load(row + constants_stride / 2 + column)};
    }
  }

  /// Writes `rows` rows of some vectors above the centre, below it, or both: those of j + 1/2, and
  /// the next ones away from the centre.
  template <std::int64_t vectors, bool above, bool below>
  void write_tile(std::int64_t column, std::int64_t j, std::int64_t rows, T* upper, T* lower,
                  std::ptrdiff_t stride) const {
    F32 values[vectors], factors[vectors];
    for (std::int64_t i = 0; i < vectors; ++i) {
      values[i] = load(value + column + i * float_lanes);
      factors[i] = load(turned + column + i * float_lanes);
    }
    const float* angles = constants + j * constants_stride;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = 0; i < vectors; i += 2) {
        F32 sums[2], differences[2];
        for (std::int64_t k = 0; k < 2; ++k) {
          const Angle a = angle(angles, column + (i + k) * float_lanes);
          const F32 u = factors[i + k] * a.sine;
          if constexpr (above) sums[k] = fused(values[i + k], a.cosine, u);
          if constexpr (below) differences[k] = fused_minus(values[i + k], a.cosine, u);
        }
        const std::int64_t to = i * float_lanes;
        if constexpr (above) store32<T>(sums[0], sums[1], upper + to);
        if constexpr (below) store32<T>(differences[0], differences[1], lower + to);
      }
      angles += constants_stride;
      upper += stride;
      lower -= stride;
    }
  }

  /// Stores the rows of j_begin to j_end - 1, at most `at_once` of them before the next columns.
  template <bool above, bool below>
  void store_side(std::int64_t j_begin, std::int64_t j_end, std::int64_t at_once, T* upper,
                  T* lower, std::ptrdiff_t stride) const {
    constexpr std::int64_t wide = 4, narrow = 2;
    for (std::int64_t j = j_begin; j < j_end; j += at_once) {
      const std::int64_t rows = j_end - j < at_once ? j_end - j : at_once;
      std::int64_t done = 0;
      for (; done + wide * float_lanes <= count; done += wide * float_lanes) {
        write_tile<wide, above, below>(done, j, rows, upper + done, lower + done, stride);
      }
      if (done + step32 <= count) {
        write_tile<narrow, above, below>(done, j, rows, upper + done, lower + done, stride);
        done += step32;
      }
      for (std::int64_t row = 0; done < count && row < rows; ++row) {
        T last_upper[step32], last_lower[step32];
        write_tile<narrow, above, below>(done, j + row, 1, last_upper, last_lower, 0);
        for (std::int64_t i = 0; done + i < count; ++i) {
          if constexpr (above) upper[row * stride + done + i] = last_upper[i];
          if constexpr (below) lower[done + i - row * stride] = last_lower[i];
        }
      }
      upper += rows * stride;
      lower -= rows * stride;
    }
  }

  /// The same by way of buffers, and non-temporally: one pair of rows after the other.
  template <bool above, bool below>
  void stage_side(std::int64_t j_begin, std::int64_t j_end, T* upper, T* lower,
                  std::ptrdiff_t stride) const {
    using Row = StagedRow<T>;
    StagingBuffer<T, most_panel_columns32> upper_buffer, lower_buffer;
    for (std::int64_t j = j_begin; j < j_end; ++j) {
      const std::int64_t row = (j - j_begin) * stride;
      if constexpr (above) Row{nullptr, upper + row}.prefetch_ends(count);
      if constexpr (below) Row{nullptr, lower - row}.prefetch_ends(count);
    }
    for (std::int64_t j = j_begin; j < j_end; ++j) {
      T* const from_upper = upper_buffer.place_for(upper);
      T* const from_lower = lower_buffer.place_for(lower);
      store_side<above, below>(j, j + 1, 1, from_upper, from_lower, 0);
      if constexpr (above) Row{from_upper, upper}.store(0, count);
      if constexpr (below) Row{from_lower, lower}.store(0, count);
      upper += stride;
      lower -= stride;
    }
  }

  template <bool above, bool below>
  void write_side(std::int64_t j_begin, std::int64_t j_end, std::int64_t at_once, T* upper,
                  T* lower, std::ptrdiff_t stride, bool non_temporal) const {
    non_temporal ? stage_side<above, below>(j_begin, j_end, upper, lower, stride)
                 : store_side<above, below>(j_begin, j_end, at_once, upper, lower, stride);
  }

  /// Writes rows n to end - 1 of the block: non-temporally, or `pairs` pairs of rows at a time if
  /// these are all.
  void write(std::int64_t n, std::int64_t end, std::int64_t pairs, std::ptrdiff_t stride,
             bool non_temporal) const {
    constexpr std::int64_t half = block_rows32 / 2;
    if (end - n == block_rows32) {
      return write_side<true, true>(0, half, pairs, out + half * stride, out + (half - 1) * stride,
                                    stride, non_temporal);
    }
    if (n < half) {
      const std::int64_t last = (end < half ? end : half) - 1;
      write_side<false, true>(half - 1 - last, half - n, half, out, out + (last - n) * stride,
                              stride, non_temporal);
    }
    if (end > half) {
      const std::int64_t first = n < half ? half : n;
      write_side<true, false>(first - half, end - half, half, out + (first - n) * stride, out,
                              stride, non_temporal);
    }
  }
};

}  // namespace
}  // namespace posenc::simd
