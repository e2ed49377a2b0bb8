// rotation32: the rows of a block in consecutive columns of a panel, from the sines and cosines of
// its centre and of the angles of the table:
//
//   above the centre    value * cos(a) + u, where u = turned * sin(a) and a = (j + 1/2) w
//   below it            value * cos(a) - u
//
// Method, error bound, valid range and cost: see rotation32-inl.h.
#pragma once

#include "posenc/simd/rotation32/centres-inl.h"
#include "posenc/simd/paired_rows-inl.h"

namespace posenc::simd {
namespace {

/// The nearest bfloat16, ties away from 0, in the low half of each word.
inline I32 to_bfloat16(F32 value) { return (cast_bits<I32>(value) + I32(0x8000)) >> 16; }

/// Stores two vectors of consecutive columns.
template <class T, bool non_temporal = false>
inline void store32(F32 first, F32 second, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    store_vector<non_temporal>(clamp_to_one(first), to);
    store_vector<non_temporal>(clamp_to_one(second), to + float_lanes);
  } else {
    F32 packed;
    if constexpr (std::is_same_v<T, Float16>) {
      packed = pack_float16(first, second);
    } else {
      packed = pack(to_bfloat16(first), to_bfloat16(second));
    }
    store_vector<non_temporal>(packed, to);
  }
}

/// Consecutive columns of a panel (see PairedRows). The constants are those of row j + 1/2, for
/// j = 0.
template <class T, bool interleaved>
struct Columns32 {
  using Element = T;
  static constexpr std::int64_t wide = 4, narrow = 2, staged_pairs = 1;

  const float* value;
  const float* turned;
  const float* constants;
  std::int64_t constants_stride;  ///< from one j to the next

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

  template <std::int64_t vectors, bool above, bool below, bool lines>
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
        if constexpr (above) store32<T, lines>(sums[0], sums[1], upper + to);
        if constexpr (below) store32<T, lines>(differences[0], differences[1], lower + to);
      }
      angles += constants_stride;
      upper += stride;
      lower -= stride;
    }
  }

  template <bool above, bool below, bool lines>
  void collect_uncertain(std::int64_t, std::int64_t, T*, T*, std::ptrdiff_t) const {}
  void write_uncertain() const {}
};

}  // namespace
}  // namespace posenc::simd
