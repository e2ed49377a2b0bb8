// rotation32: one angle addition in float32 for every entry. This is the fastest tier.
//
// Method. At position block_rows32 b + n:
//   sin(phase) = V cos(n w) + U sin(n w),  cos(phase) = U cos(n w) - V sin(n w)
//   V, U                sine and cosine at the block's first position, from its integer phase
//   cos(n w), sin(n w)  tables of block_rows32 rows, computed when planning
// Blocks begin at multiples of their length, so that a row is a function of its position alone.
//
// Error bound (rotation32_error in error_bounds.h):
//   anchor          two roundings of an angle of at most pi / 4, the series, and the last rounding:
//                   1.6e-7
//   angle addition  at most sqrt(2) times the error of the anchor and of the table entry, which is
//                   rounded to 2^-25, and two roundings: 3.21e-7
//   16-bit types    half an ulp of the type more
//
// Valid range: every position up to max_position; every type but float64.
//
// Cost: five operations for two vectors of floats: two products, two fused operations, a negation.
//
// Source: the angle addition theorems.
#pragma once

#include "posenc/simd/anchors-inl.h"

namespace posenc::simd {
namespace {

struct SineCosine32 {
  F32 sine;
  F32 cosine;
};

/// Sine and cosine of a phase in units of 2^-32 turns, by their Taylor series.
inline SineCosine32 sincos_of_turns(I32 phase) {
  const I32 quadrant = (phase + I32(1 << 29)) >> 30;
  const I32 rest = phase - (quadrant << 30);
  const F32 x = xsimd::to_float(rest) * F32(0x1.921fb6p-30f);  // 2 pi 2^-32
  const F32 square = x * x;
  F32 s = fused(square, F32(1.0f / 362880), F32(-1.0f / 5040));
  s = fused(s, square, F32(1.0f / 120));
  s = fused(s, square, F32(-1.0f / 6));
  s = fused(s * square, x, x);
  F32 c = fused(square, F32(-1.0f / 3628800), F32(1.0f / 40320));
  c = fused(c, square, F32(-1.0f / 720));
  c = fused(c, square, F32(1.0f / 24));
  c = fused(c, square, F32(-0.5f));
  c = fused(c, square, F32(1.0f));
  const auto bits = [](F32 value) { return cast_bits<I32>(value); };
  const I32 swapped = I32(0) - (quadrant & I32(1));
  const I32 sine = (bits(s) & ~swapped) | (bits(c) & swapped);
  const I32 cosine = (bits(c) & ~swapped) | (bits(s) & swapped);
  const I32 sine_sign = (quadrant & I32(2)) << 30;
  const I32 cosine_sign = ((quadrant + I32(1)) & I32(2)) << 30;
  return {cast_bits<F32>(sine ^ sine_sign), cast_bits<F32>(cosine ^ cosine_sign)};
}

constexpr std::int64_t rotation32_panel = 512;

struct Panel32 {
  /// Phases at the block's first position, in units of 2^-64 turns, deinterleaved.
  std::uint64_t phase[rotation32_panel];
  std::uint64_t step[rotation32_panel];  ///< difference of the phases of successive blocks
  float sine[rotation32_panel];          ///< V
  float cosine[rotation32_panel];        ///< U
};

/// Sets the phases of a block. They are truncated to 2^-64 turns at every block whose number is a
/// multiple of anchored_blocks32. The blocks after it add truncated steps, and their error is below
/// 2^-58 turns.
inline void set_phases(Panel32& panel, const Rotation32Tables& tables, std::int64_t begin,
                       std::int64_t size, std::int64_t block) {
  const std::int64_t in_group = block % anchored_blocks32;
  const auto position = static_cast<std::uint64_t>((block - in_group) * block_rows32);
  for (std::int64_t k = 0; k < size; ++k) {
    __extension__ typedef unsigned __int128 uint128;
    const std::uint64_t high = tables.turns_high[begin + k], low = tables.turns_low[begin + k];
    const uint128 product = static_cast<uint128>(low) * position;
    const uint128 step =
        (static_cast<uint128>(high) << 64 | low) * static_cast<std::uint64_t>(block_rows32);
    const std::int64_t at = k / float_lanes * float_lanes + deinterleaved_place(k % float_lanes);
    panel.step[at] = static_cast<std::uint64_t>(step >> 64);
    panel.phase[at] = high * position + static_cast<std::uint64_t>(product >> 64) +
                      static_cast<std::uint64_t>(in_group) * panel.step[at];
  }
}

inline void next_phases(Panel32& panel, std::int64_t size) {
  for (std::int64_t k = 0; k < size; ++k) panel.phase[k] += panel.step[k];
}

/// Sets V and U of a block from its phases.
inline void set_block(Panel32& panel, std::int64_t size) {
  for (std::int64_t k = 0; k < size; k += float_lanes) {
    const U64 a = U64::load_unaligned(panel.phase + k),
              b = U64::load_unaligned(panel.phase + k + double_lanes);
    const SineCosine32 at = sincos_of_turns(cast_bits<I32>(high_halves(a, b)));
    at.sine.store_unaligned(panel.sine + k);
    at.cosine.store_unaligned(panel.cosine + k);
  }
}

/// The nearest bfloat16, ties away from 0, in the low half of each word.
inline I32 to_bfloat16(F32 value) { return (cast_bits<I32>(value) + I32(0x8000)) >> 16; }

/// Stores two vectors of consecutive columns.
template <class T, bool non_temporal>
inline void store32(F32 first, F32 second, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    if constexpr (non_temporal) {
      store_non_temporal(first, to);
      store_non_temporal(second, to + float_lanes);
    } else {
      first.store_unaligned(to);
      second.store_unaligned(to + float_lanes);
    }
  } else {
    F32 packed;
    if constexpr (std::is_same_v<T, Float16>) {
      packed = pack_float16(first, second);
    } else {
      packed = pack(to_bfloat16(first), to_bfloat16(second));
    }
    if constexpr (non_temporal) {
      store_non_temporal(packed, reinterpret_cast<float*>(to));
    } else {
      packed.store_unaligned(reinterpret_cast<float*>(to));
    }
  }
}

/// Frequencies of one step: two vectors of floats, which fill one vector of a 16-bit type.
constexpr std::int64_t step32 = 2 * float_lanes;

/// Writes step32 frequencies of one row: one run of columns if interleaved, else two.
template <class T, bool interleaved, bool non_temporal>
inline void write_step32(const SineCosine32 (&both)[2], T* sine, T* cosine) {
  if constexpr (interleaved) {
    for (std::int64_t i = 0; i < 2; ++i) {
      const Both<F32> pairs = interleave(both[i].sine, both[i].cosine);
      store32<T, non_temporal>(pairs.first, pairs.second, sine + i * step32);
    }
  } else {
    store32<T, non_temporal>(both[0].sine, both[1].sine, sine);
    store32<T, non_temporal>(both[0].cosine, both[1].cosine, cosine);
  }
}

template <class T, bool interleaved, bool non_temporal>
inline void write_row32(const Panel32& panel, const float* cos_row, const float* sin_row,
                        std::int64_t used, T* sine, T* cosine) {
  const auto rotated = [&](std::int64_t k) {
    const F32 s = load(panel.sine + k), c = load(panel.cosine + k);
    const F32 cos_n = load(cos_row + k), sin_n = load(sin_row + k);
    return SineCosine32{fused(s, cos_n, c * sin_n), fused(c, cos_n, s * (F32(0.0f) - sin_n))};
  };
  constexpr std::int64_t columns_each = interleaved ? 2 : 1;
  std::int64_t k = 0;
  for (; k + step32 <= used; k += step32) {
    const SineCosine32 both[2] = {rotated(k), rotated(k + float_lanes)};
    write_step32<T, interleaved, non_temporal>(both, sine + columns_each * k,
                                               cosine + columns_each * k);
  }
  if (k == used) return;
  const SineCosine32 both[2] = {rotated(k), rotated(k + float_lanes)};
  T last[2 * step32];
  write_step32<T, interleaved, false>(both, last, last + step32);
  for (std::int64_t i = 0; i < columns_each * (used - k); ++i) sine[columns_each * k + i] = last[i];
  if constexpr (interleaved) return;
  for (std::int64_t i = 0; i < used - k; ++i) cosine[k + i] = last[step32 + i];
}

template <class T, bool interleaved, bool non_temporal>
void write_panel32(const Rotation32Tables& tables, std::int64_t begin, std::int64_t used,
                   const RowTask& task) {
  const std::int64_t size = (used + step32 - 1) / step32 * step32;
  const std::int64_t first_column = interleaved ? 2 * begin : begin;
  Panel32 panel;
  for (std::int64_t row = 0; row < task.count;) {
    const std::int64_t position = task.first + row;
    const std::int64_t block = position / block_rows32;
    if (row == 0 || block % anchored_blocks32 == 0) {
      set_phases(panel, tables, begin, size, block);
    } else {
      next_phases(panel, size);
    }
    set_block(panel, size);
    std::int64_t n = position % block_rows32;
    for (; n < block_rows32 && row < task.count; ++n, ++row) {
      T* const out = task.row<T>(row) + first_column;
      const std::int64_t table_row = n * tables.row_stride + begin;
      write_row32<T, interleaved, non_temporal>(
          panel, tables.cos_rows + table_row, tables.sin_rows + table_row, used,
          out + tables.columns.sine, out + tables.columns.cosine);
    }
  }
}

template <class T>
inline void write_rows32(const Rotation32Tables& tables, const RowTask& task) {
  const auto write =
      tables.columns.interleaved
          ? (task.non_temporal ? write_panel32<T, true, true> : write_panel32<T, true, false>)
          : (task.non_temporal ? write_panel32<T, false, true> : write_panel32<T, false, false>);
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += rotation32_panel) {
    const std::int64_t left = tables.frequencies - begin;
    write(tables, begin, left < rotation32_panel ? left : rotation32_panel, task);
  }
  if (task.non_temporal) fence();
}

void rotation32_kernel(const Rotation32Tables& tables, const RowTask& task) noexcept {
  switch (task.type) {
    case DataType::float16: return write_rows32<Float16>(tables, task);
    case DataType::bfloat16: return write_rows32<BFloat16>(tables, task);
    default: return write_rows32<float>(tables, task);
  }
}

}  // namespace
}  // namespace posenc::simd
