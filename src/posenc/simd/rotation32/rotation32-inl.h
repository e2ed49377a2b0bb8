// rotation32: symmetric angle addition in float32 for every entry. This is the fastest tier.
//
// Method  the rows of a block, in pairs around its centre, share the products of an angle addition
// Error   Rotation32Error: 2.3e-7, or 2.9e-7 without fused operations; 16-bit types add half an ulp
// Range   every position up to max_position; every type but float64
// Cost    three operations for two vectors of floats, and two (or four) to keep them in [-1, 1]
//
// The centre of block b is position paired_block_rows (b + 1/2) - 1/2. The rows j + 1/2 above and
// below it are
//   sin(centre +- a) = sin(centre) cos(a) +- u,  u = cos(centre) sin(a),  a = (j + 1/2) w
//   cos(centre +- a) = cos(centre) cos(a) +- u,  u = -sin(centre) sin(a)
// The sines and cosines of a centre come from its integer phase. The sines and cosines of the
// angles a come from a table that is computed during planning. Blocks begin at multiples of their
// length, so a row is a function of its position alone. The backend writes position 0, which these
// sums only come close to. The operations that keep values within [-1, 1] take time only in tables
// that fit in L1.
//
// The sine of a centre is an odd polynomial of its phase, a signed 32-bit fraction of a turn.
// Shifting a phase by a quarter turn and taking its magnitude folds it to the quarters next to 0. A
// cosine is the sine of a phase that is shifted by another quarter turn. A vector of both takes 11
// operations.
//
// Source: angle addition; a minimax polynomial whose coefficients are rounded one by one, lowest
// first.
#pragma once

#include "posenc/simd/anchors-inl.h"
#include "posenc/simd/paired_rows-inl.h"

namespace posenc::simd {
namespace {

/// A phase plus one of these is the argument of folded_sine() for its sine or its cosine.
constexpr std::int32_t for_sine = 1 << 30, for_cosine = std::numeric_limits<std::int32_t>::min();

/// The sine of `shifted` minus a quarter turn, in units of 2^-32 turns.
inline F32 folded_sine(I32 shifted) {
  const I32 folded = magnitude(shifted) - I32(1 << 30);
  const F32 x = xsimd::to_float(folded) * F32(0x1p-30f);
  const F32 z = x * x;
  F32 p(0x1.3cc7f8p-13f);
  p = fused(p, z, F32(-0x1.323d14p-8f));
  p = fused(p, z, F32(0x1.4667fep-4f));
  p = fused(p, z, F32(-0x1.4abbbcp-1f));
  p = fused(p, z, F32(0x1.243f6ap-1f));  // pi / 2 - 1
  return fused(x, p, x);
}

/// The product of two integers modulo 2^64. The second integer is below 2^32.
inline U64 multiply(U64 a, U64 below_2_32) {
  return multiply_low_halves(a, below_2_32) + (multiply_low_halves(a >> 32, below_2_32) << 32);
}

/// The phase of a group's first block. Products below 2^-50 turns are left out.
inline U64 group_phase(U64 high, U64 low, std::uint64_t group) {
  const U64 group_low(group & 0xffffffff), low_upper = low >> 32;
  U64 phase = multiply(high, group_low) + (multiply_low_halves(low_upper, group_low) >> 32);
  if (const std::uint64_t group_high = group >> 32; group_high != 0) {
    phase = phase + (multiply_low_halves(high, U64(group_high)) << 32) +
            multiply_low_halves(low_upper, U64(group_high));
  }
  return phase;
}

/// Consecutive frequencies whose centres are computed together.
struct Panel32 {
  /// Phases of the next block's centre, in units of 2^-64 turns. The padding prevents 4K aliasing.
  alignas(cache_line_bytes) std::uint64_t phase[wide_panel + cache_line_floats];
  /// Sine and cosine of the block's centre, in the order of the columns: interleaved, or the
  /// cosines `wide_panel` floats after the sines.
  alignas(cache_line_bytes) float value[2 * wide_panel + 4 * cache_line_floats];
  /// The factors of u: the cosine for a sine, and minus the sine for a cosine.
  alignas(cache_line_bytes) float factor[2 * wide_panel];
};

/// Frequencies of one step: two vectors of floats, which fill one vector of a 16-bit type.
constexpr std::int64_t step32 = 2 * float_lanes;

/// The frequencies begin .. begin + size - 1, where `size` is a multiple of step32.
struct PanelRange {
  std::int64_t begin, size;
};

/// Sets the phases of a block, by adding steps to the phase of its group's first block.
[[gnu::noinline]] inline void set_phases(Panel32& panel, const Rotation32Tables& tables,
                                         PanelRange range, std::int64_t block) {
  const auto group = static_cast<std::uint64_t>(block / grouped_blocks);
  const U64 in_group(static_cast<std::uint64_t>(block % grouped_blocks));
  const auto load_at = [&](const std::uint64_t* from, std::int64_t k) {
    return U64::load_unaligned(from + range.begin + k);
  };
  for (std::int64_t k = 0; k < range.size; k += double_lanes) {
    const U64 phase =
        group_phase(load_at(tables.group_high, k), load_at(tables.group_low, k), group) +
        load_at(tables.centre, k) + multiply(load_at(tables.step, k), in_group);
    phase.store_unaligned(panel.phase + k);
  }
}

/// Returns the phases of a vector of frequencies, and advances them to the next block.
inline U64 next_phase(Panel32& panel, const Rotation32Tables& tables, PanelRange range,
                      std::int64_t k) {
  const U64 phase = U64::load_unaligned(panel.phase + k);
  (phase + U64::load_unaligned(tables.step + range.begin + k)).store_unaligned(panel.phase + k);
  return phase;
}

/// Sets the sines and cosines of a block's centre, and advances the phases to the next block.
template <bool interleaved>
[[gnu::noinline]] inline void set_centre(Panel32& panel, const Rotation32Tables& tables,
                                         PanelRange range) {
  if constexpr (interleaved) {
    std::int32_t shifts[float_lanes], signs[float_lanes];
    for (std::int64_t i = 0; i < float_lanes; ++i) {
      shifts[i] = i % 2 == 0 ? for_sine : for_cosine;
      signs[i] = i % 2 == 0 ? 0 : minus;
    }
    const I32 shift = I32::load_unaligned(shifts), sign = I32::load_unaligned(signs);
    for (std::int64_t k = 0; k < range.size; k += double_lanes) {
      const I32 phase = cast_bits<I32>(high_halves_twice(next_phase(panel, tables, range, k)));
      const F32 value = folded_sine(phase + shift);
      value.store_unaligned(panel.value + 2 * k);
      with_sign(swap_neighbours(value), sign).store_unaligned(panel.factor + 2 * k);
    }
  } else {
    for (std::int64_t k = 0; k < range.size; k += float_lanes) {
      const F64 first = cast_bits<F64>(next_phase(panel, tables, range, k)),
                second = cast_bits<F64>(next_phase(panel, tables, range, k + double_lanes));
      const Both<F64> phases = deinterleave(first, second);
      const I32 phase =
          cast_bits<I32>(high_halves(cast_bits<U64>(phases.first), cast_bits<U64>(phases.second)));
      const F32 sine = folded_sine(phase + I32(for_sine)),
                cosine = folded_sine(phase + I32(for_cosine));
      sine.store_unaligned(panel.value + k);
      cosine.store_unaligned(panel.value + wide_panel + k);
      cosine.store_unaligned(panel.factor + k);
      with_sign(sine, I32(minus)).store_unaligned(panel.factor + wide_panel + k);
    }
  }
}

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

/// See PairedRows. The first row of a pair is value * cos(a) + u, and the second row is
/// value * cos(a) - u, where u = factor * sin(a). The constants begin with j = 0.
template <class T, bool interleaved>
struct Tiles32 {
  using Element = T;
  static constexpr std::int64_t wide = 4, narrow = 2, wide_pairs = 1, staged_pairs = 1;

  const float* value;
  const float* factor;
  const float* constants;
  std::int64_t constants_stride;  ///< from one j to the next
  bool are_below;                 ///< true if rows without a partner are below the centre

  /// cos(a) and sin(a) of float_lanes columns, where `row` points to the constants of j.
  struct Angle {
    F32 cosine, sine;
  };
  Angle angle(const float* row, std::int64_t column) const {
    if constexpr (interleaved) {
      const F32 both = load(row + column);
      return {even_lanes(both), odd_lanes(both)};
    } else {
      return {load(row + column), load(row + constants_stride / 2 + column)};
    }
  }

  template <std::int64_t vectors, bool lines, bool paired>
  [[gnu::always_inline]] void write_tile(std::int64_t column, std::int64_t j, std::int64_t rows,
                                         const RowPairs<T, paired>& to) const {
    F32 values[vectors], factors[vectors];
    for (std::int64_t i = 0; i < vectors; ++i) {
      values[i] = load(value + column + i * float_lanes);
      factors[i] = load(factor + column + i * float_lanes);
      if constexpr (!paired) factors[i] = with_sign(factors[i], I32(are_below ? minus : 0));
    }
    const float* angles = constants + j * constants_stride;
    T *first = to.first, *second = to.second;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = 0; i < vectors; i += 2) {
        F32 sums[2], differences[2];
        for (std::int64_t k = 0; k < 2; ++k) {
          const Angle a = angle(angles, column + (i + k) * float_lanes);
          const F32 u = factors[i + k] * a.sine;
          sums[k] = fused(values[i + k], a.cosine, u);
          if constexpr (paired) differences[k] = fused_minus(values[i + k], a.cosine, u);
        }
        const std::int64_t at = i * float_lanes;
        store32<T, lines>(sums[0], sums[1], first + at);
        if constexpr (paired) store32<T, lines>(differences[0], differences[1], second + at);
      }
      angles += constants_stride;
      first += to.stride;
      if constexpr (paired) second -= to.stride;
    }
  }

  template <bool lines, bool paired>
  void collect_uncertain(std::int64_t, std::int64_t, const RowPairs<T, paired>&) const {}
  void write_uncertain() const {}
};

/// Some frequencies of a table (see write_paired_rows()).
template <class T, bool interleaved>
class PanelOf32 {
 public:
  using Tables = Rotation32Tables;
  using Tiles = Tiles32<T, interleaved>;
  static constexpr bool is_interleaved = interleaved;

  explicit PanelOf32(const Tables& tables) : tables_(tables) {}

  void start(std::int64_t begin, std::int64_t used, const RowTask& task) {
    static_assert(narrow_panel % step32 == 0 && wide_panel % step32 == 0);
    range_ = {begin, rounded_up(used, step32)};
    set_phases(panel_, tables_, range_, task.first / paired_block_rows);
    next_block();
  }

  void next_block() { set_centre<interleaved>(panel_, tables_, range_); }

  Tiles tiles(bool are_cosines, bool are_below) const {
    const std::int64_t in_panel = are_cosines ? wide_panel : 0;
    return {panel_.value + in_panel, panel_.factor + in_panel,
            tables_.angles + (interleaved ? 2 : 1) * range_.begin, tables_.angles_stride,
            are_below};
  }

 private:
  const Tables& tables_;
  Panel32 panel_;
  PanelRange range_;
};

[[maybe_unused]] void rotation32_kernel(const Rotation32Tables& tables,
                                        const RowTask& task) noexcept {
  visit_type(task.type, [&](auto element) {
    using T = decltype(element);
    tables.columns.interleaved ? write_paired_rows<PanelOf32<T, true>>(tables, task)
                               : write_paired_rows<PanelOf32<T, false>>(tables, task);
  });
}

}  // namespace
}  // namespace posenc::simd
