// xsimd: xsimd's vectorised sincos of phases in double, which are first reduced to one turn.
//
// Method  phase = anchor + n w in turns: multiples of 2^-40, whose sums are exact, and a rest
// Error   2^-50 (XsimdEncoder::error_bound)
// Range   every position up to max_position; float32 and float64
// Cost    one sincos of xsimd for two vectors of doubles
//
// A phase in radians, at most pi in magnitude, carries the roundings of a product and of a sum, at
// most 2^-52 each, and 2^-52.8 from the rounding of 2 pi. xsimd's double sincos adds one ulp, at
// most 2^-53. Blocks, which share an anchor, begin at multiples of sincos_block_rows, so that a row
// is a function of its position alone.
#pragma once

namespace posenc::simd {
namespace {

/// high 2^-40 + low 2^-103 turns.
struct SplitTurns {
  double high;
  double low;
};

inline SplitTurns split_turns(std::uint64_t high, std::uint64_t low) {
  const std::uint64_t rest = ((high & 0xffffff) << 39) | (low >> 25);
  return {static_cast<double>(static_cast<std::int64_t>(high >> 24)),
          static_cast<double>(static_cast<std::int64_t>(rest))};
}

constexpr std::int64_t sincos_panel = 256;

struct SincosPanel {
  double anchor_high[sincos_panel], anchor_low[sincos_panel];
  double step_high[sincos_panel], step_low[sincos_panel];
};

struct SineCosine {
  F64 sine;
  F64 cosine;
};

inline SineCosine sincos_at(const SincosPanel& panel, std::int64_t k, F64 n) {
  constexpr double two_pi = 6.283185307179586;
  F64 high = load(panel.anchor_high + k) + n * load(panel.step_high + k);  // below 2^47: exact
  high = high - F64(0x1p40) * xsimd::nearbyint(high * F64(0x1p-40));
  const F64 low = load(panel.anchor_low + k) + n * load(panel.step_low + k);
  const F64 x = high * F64(two_pi * 0x1p-40) + low * F64(two_pi * 0x1p-103);
  const auto both = xsimd::sincos(x);
  return {both.first, both.second};
}

/// float_lanes sines or cosines of consecutive frequencies. store_pairs() stores sines and cosines
/// as interleaved columns.
template <class Element>
struct Lanes;

template <>
struct Lanes<float> {
  F32 value;
  Lanes(F64 a, F64 b) : value(narrow(a, b)) {}
  void store(float* to) const { value.store_unaligned(to); }
  static void store_pairs(const Lanes& sines, const Lanes& cosines, float* to) {
    const Both<F32> pairs = interleave(sines.value, cosines.value);
    pairs.first.store_unaligned(to);
    pairs.second.store_unaligned(to + float_lanes);
  }
};

template <>
struct Lanes<double> {
  F64 value[2];
  Lanes(F64 a, F64 b) : value{a, b} {}
  void store(double* to) const {
    value[0].store_unaligned(to);
    value[1].store_unaligned(to + double_lanes);
  }
  static void store_pairs(const Lanes& sines, const Lanes& cosines, double* to) {
    double s[float_lanes], c[float_lanes];
    sines.store(s);
    cosines.store(c);
    for (std::int64_t i = 0; i < float_lanes; ++i) {
      to[2 * i] = s[i];
      to[2 * i + 1] = c[i];
    }
  }
};

/// Writes one row of float_lanes frequencies, of which the first `used` exist.
template <class Element>
inline void write_sincos(const SincosTables& tables, const SincosPanel& panel, std::int64_t begin,
                         std::int64_t k, std::int64_t used, F64 n, Element* row) {
  const SineCosine a = sincos_at(panel, k, n), b = sincos_at(panel, k + double_lanes, n);
  const Lanes<Element> sines(a.sine, b.sine), cosines(a.cosine, b.cosine);
  Element part[2 * float_lanes];
  if (tables.columns.interleaved) {
    Element* const to = row + 2 * (begin + k);
    if (used == float_lanes) return Lanes<Element>::store_pairs(sines, cosines, to);
    Lanes<Element>::store_pairs(sines, cosines, part);
    return copy(part, 2 * used, to);
  }
  Element* const sine_to = row + tables.columns.sine + begin + k;
  Element* const cosine_to = row + tables.columns.cosine + begin + k;
  if (used == float_lanes) {
    sines.store(sine_to);
    cosines.store(cosine_to);
    return;
  }
  sines.store(part);
  cosines.store(part + float_lanes);
  copy(part, used, sine_to);
  copy(part + float_lanes, used, cosine_to);
}

template <class Element>
inline void write_sincos_panel(const SincosTables& tables, std::int64_t begin, std::int64_t size,
                               const RowTask& task) {
  SincosPanel panel;
  const std::int64_t padded = (size + float_lanes - 1) / float_lanes * float_lanes;
  for (std::int64_t k = 0; k < padded; ++k) {
    const SplitTurns step =
        split_turns(tables.w.turns_high[begin + k], tables.w.turns_low[begin + k]);
    panel.step_high[k] = step.high;
    panel.step_low[k] = step.low;
  }
  for (std::int64_t row = 0; row < task.count; ++row) {
    const std::int64_t in_block = (task.first + row) % sincos_block_rows;
    if (row == 0 || in_block == 0) {
      const auto position = static_cast<std::uint64_t>(task.first + row - in_block);
      for (std::int64_t k = 0; k < padded; ++k) {
        __extension__ typedef unsigned __int128 uint128;
        const uint128 low = static_cast<uint128>(tables.w.turns_low[begin + k]) * position;
        const std::uint64_t high =
            tables.w.turns_high[begin + k] * position + static_cast<std::uint64_t>(low >> 64);
        const SplitTurns anchor = split_turns(high, static_cast<std::uint64_t>(low));
        panel.anchor_high[k] = anchor.high;
        panel.anchor_low[k] = anchor.low;
      }
    }
    const F64 n(static_cast<double>(in_block));
    for (std::int64_t k = 0; k < size; k += float_lanes) {
      const std::int64_t used = size - k < float_lanes ? size - k : float_lanes;
      write_sincos(tables, panel, begin, k, used, n, task.row<Element>(row));
    }
  }
}

void sincos_kernel(const SincosTables& tables, const RowTask& task) noexcept {
  const auto write =
      task.type == DataType::float64 ? write_sincos_panel<double> : write_sincos_panel<float>;
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += sincos_panel) {
    const std::int64_t left = tables.frequencies - begin;
    write(tables, begin, left < sincos_panel ? left : sincos_panel, task);
  }
}

}  // namespace
}  // namespace posenc::simd
