// The kernels of unrounded.h, for one ISA.
#pragma once

#include "simd/unrounded.h"

#include "posenc/simd/rotation/rotation-inl.h"
#include "posenc/simd/rotation32/rotation32-inl.h"

#include <bit>

namespace posenc::simd {
namespace {

/// Stores doubles in the order of the columns, in place of floats.
template <bool non_temporal>
void store_vector(const Both<F64>& value, double* out) {
  double lanes[float_lanes];
  value.first.store_unaligned(lanes);
  value.second.store_unaligned(lanes + double_lanes);
  for (std::int64_t k = 0; k < float_lanes; ++k) out[k] = lanes[deinterleaved_place(k)];
}

/// A replacement of RoundToFloat32 that stores the values of the recurrence without rounding.
struct KeepDouble {
  using Element = double;
  using Value = Both<F64>;
  using Threshold = F32;
  struct RoundingMargin {};

  static constexpr bool adds = false;
  static constexpr double value_scale = 1.0;

  static Threshold threshold(F32) { return F32(0.0f); }
  static Value round(F64 a, F64 b, Threshold, RoundingMargin&) { return {a, b}; }
  static RoundingMargin largest_margin() { return {}; }
  static auto is_uncertain(const RoundingMargin&, Threshold) { return F32(0.0f) < F32(0.0f); }
};

/// Keeps the values that are between the bounds of a 16-bit type. No entry is uncertain, because
/// both bounds are the value.
template <>
struct RoundFloat32<float> {
  struct Round : RoundToBFloat16 {
    using Element = float;
  };
  static constexpr bool is_float16 = false;
  static constexpr int dropped = 16;
  static constexpr float error = 0, least_error = 0, least_width = 0;

  template <bool alternating, bool non_temporal>
  static void store(const I32 (&sums)[2], float* to) {
    const auto value = [](I32 sum) { return cast_bits<F32>(sum - I32(1 << (dropped - 1))); };
    const Both<F32> stored = alternating ? interleave(value(sums[0]), value(sums[1]))
                                         : Both<F32>{value(sums[0]), value(sums[1])};
    stored.first.store_unaligned(to);
    stored.second.store_unaligned(to + float_lanes);
  }
};

void values_between_bounds(const RotationTables& tables, const RowTask& task) noexcept {
  write_bracketed_rows<float>(tables, task);
}

void unrounded_rows(const RotationTables& tables, const RowTask& task) noexcept {
  write_rows<KeepDouble>(tables, task, nullptr);
}

template <bool interleaved>
void store_high_low(const RowTask& task, const RoundedDoubles& value, std::int64_t used,
                    double* high, double* low) {
  double high_lanes[double_lanes], low_lanes[double_lanes];
  value.high.store_unaligned(high_lanes);
  value.least.store_unaligned(low_lanes);
  for (std::int64_t i = 0; i < used && i < double_lanes; ++i) {
    double* const to = high + (interleaved ? 2 * i : i);
    *to = high_lanes[fixed_place<interleaved>(i)];
    low[to - task.row<double>(0)] = low_lanes[fixed_place<interleaved>(i)];
  }
}

template <bool interleaved>
void unrounded_float64_panel(const RotationTables& tables, std::int64_t begin, std::int64_t used,
                             const RowTask& task, double* low) {
  for_each_float64_rows<interleaved>(tables, begin, used, task, [&](SideRows rows) {
    rows.error = F64(0.0);
    for (std::int64_t k = 0; k < used; k += double_lanes) {
      RoundedDoubles sines[2], cosines[2];
      rows.at(k, sines, cosines);
      for (std::int64_t i = 0; i < rows.count; ++i) {
        double *sine = rows.row[i].sine, *cosine = interleaved ? sine + 1 : rows.row[i].cosine;
        const std::int64_t at = interleaved ? 2 * k : k;
        store_high_low<interleaved>(task, sines[i], used - k, sine + at, low);
        store_high_low<interleaved>(task, cosines[i], used - k, cosine + at, low);
      }
    }
  });
}

void unrounded_float64_rows(const RotationTables& tables, const RowTask& task,
                            double* low) noexcept {
  const auto write =
      tables.columns.interleaved ? unrounded_float64_panel<true> : unrounded_float64_panel<false>;
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += fixed_panel) {
    const std::int64_t left = tables.frequencies - begin;
    write(tables, begin, left < fixed_panel ? left : fixed_panel, task, low);
  }
}

void rotate_anchors(const RotationTables& tables, std::int64_t frequencies, double* sine,
                    double* cosine) noexcept {
  rotate(tables.block, frequencies, sine, cosine);
}

void folded_sines(const std::int32_t* shifted, std::int64_t count, float* sines) noexcept {
  for (std::int64_t i = 0; i < count; i += float_lanes)
    folded_sine(I32::load_unaligned(shifted + i)).store_unaligned(sines + i);
}

template <class Round>
Rounded rounded_by(double value) {
  const F64 scaled(value * Round::value_scale);
  const auto threshold = Round::threshold(F32(1.0f));
  auto least = Round::largest_margin();
  typename Round::Value::value_type lanes[float_lanes];
  Round::round(scaled, scaled, threshold, least).store_unaligned(lanes);
  return {std::bit_cast<std::uint32_t>(lanes[0]),
          !xsimd::any(Round::is_uncertain(least, threshold))};
}

Rounded rounded(double value, DataType type) noexcept {
  if (type == DataType::float32) return rounded_by<RoundToFloat32>(value);
  return type == DataType::float16 ? rounded_by<RoundToFloat16>(value)
                                   : rounded_by<RoundToBFloat16>(value);
}

}  // namespace

const UnroundedKernels& POSENC_JOIN(POSENC_ISA, _unrounded)() noexcept {
  static constexpr UnroundedKernels kernels = {unrounded_rows,         values_between_bounds,
                                               unrounded_float64_rows, rotate_anchors,
                                               folded_sines,           rounded};
  return kernels;
}

}  // namespace posenc::simd
