// rotation32: symmetric angle addition in float32 for every entry. This is the fastest tier.
//
// Method  the rows of a block, in pairs around its centre, share the products of an angle addition
// Error   Rotation32Error in error_bounds.h: 2.8e-7; half an ulp of a 16-bit type more
// Range   every position up to max_position; every type but float64
// Cost    three operations for two vectors of floats, and two (or four) to keep them in [-1, 1]
//
// Rows j + 1/2 above and below the centre of a block, position paired_block_rows (b + 1/2) - 1/2:
//   sin(centre +- a) = sin(centre) cos(a) +- u,  u = cos(centre) sin(a),  a = (j + 1/2) w
//   cos(centre +- a) = cos(centre) cos(a) +- u,  u = -sin(centre) sin(a)
// The sines and cosines of a centre come from its integer phase (see centres-inl.h), those of the
// angles a from a table that is computed when planning. Blocks begin at multiples of their length,
// so that a row is a function of its position alone. Position 0, which these sums only come close
// to, is written by the backend.
//
// The error is sqrt(2) times that of a centre's sine or cosine and that of a table entry, which is
// rounded to 2^-25, and the roundings of u, of the sum, and without fused operations of the other
// product. Only tables in L1 take longer for the operations that keep values within [-1, 1].
//
// Source: the angle addition theorems.
#pragma once

#include "posenc/simd/paired_rows-inl.h"
#include "posenc/simd/rotation32/centres-inl.h"

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

/// Tiles of consecutive columns of a panel (see PairedRows): value * cos(a) + u in the first row of
/// a pair, value * cos(a) - u in the second, where u = factor * sin(a). The constants are those of
/// j = 0.
template <class T, bool interleaved>
struct Tiles32 {
  using Element = T;
  static constexpr std::int64_t wide = 4, narrow = 2, wide_pairs = 1, staged_pairs = 1;

  const float* value;
  const float* factor;
  const float* constants;
  std::int64_t constants_stride;  ///< from one j to the next
  bool are_below;                 ///< rows without a partner are below the centre

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

/// Some frequencies of a table (see write_paired_panels()).
template <class T, bool interleaved>
class PanelOf32 {
 public:
  using Tables = Rotation32Tables;
  using Tiles = Tiles32<T, interleaved>;
  static constexpr bool is_interleaved = interleaved;

  explicit PanelOf32(const Tables& tables) : tables_(tables) {}

  void start(std::int64_t begin, std::int64_t used, const RowTask& task) {
    static_assert(narrow_panel % step32 == 0 && wide_panel % step32 == 0);
    range_ = {begin, (used + step32 - 1) / step32 * step32};
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

template <class T>
inline void write_rows32(const Rotation32Tables& tables, const RowTask& task) {
  const auto write = tables.columns.interleaved ? write_paired_rows<PanelOf32<T, true>>
                                                : write_paired_rows<PanelOf32<T, false>>;
  write(tables, task);
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
