// xsimd: applies the vectorised sincos of xsimd to phases in double, which are first reduced to one
// turn.
//
// Method  phase = anchor + n w in turns: multiples of 2^-40, whose sums are exact, and a rest
// Error   2^-50 (XsimdEncoder::error_bound)
// Range   every position up to max_position; float32 and float64
// Cost    one sincos of xsimd for two vectors of doubles
//
// A phase carries the rounding errors of a product and of a sum, at most 2^-52 each, and an error
// of 2^-52.8 from 2 pi. The sincos of xsimd adds 2^-53. Blocks, which share an anchor, begin at
// multiples of sincos_block_rows, so a row is a function of its position alone.
#pragma once

namespace posenc::simd {
namespace {

constexpr std::int64_t sincos_panel = 256;

/// The turns of each frequency of a panel: high 2^-40 + low 2^-103.
struct SplitTurns {
  double high[sincos_panel], low[sincos_panel];

  void set(std::int64_t k, std::uint64_t turns_high, std::uint64_t turns_low) {
    const std::uint64_t rest = ((turns_high & 0xffffff) << 39) | (turns_low >> 25);
    high[k] = static_cast<double>(static_cast<std::int64_t>(turns_high >> 24));
    low[k] = static_cast<double>(static_cast<std::int64_t>(rest));
  }
};

/// The sines and cosines of float_lanes consecutive frequencies.
struct Sincos {
  F64 sine[2], cosine[2];

  /// Computes the sines and cosines of the phases anchor + n step.
  Sincos(const SplitTurns& anchor, const SplitTurns& step, std::int64_t k, F64 n) {
    const auto sincos_at = [&](std::int64_t at) {
      constexpr double two_pi = 6.283185307179586;
      F64 high = load(anchor.high + at) + n * load(step.high + at);  // below 2^47: exact
      high = high - F64(0x1p40) * xsimd::nearbyint(high * F64(0x1p-40));
      const F64 low = load(anchor.low + at) + n * load(step.low + at);
      return xsimd::sincos(high * F64(two_pi * 0x1p-40) + low * F64(two_pi * 0x1p-103));
    };
    std::tie(sine[0], cosine[0]) = sincos_at(k);
    std::tie(sine[1], cosine[1]) = sincos_at(k + double_lanes);
  }
};

inline void store(const F64 (&values)[2], double* to) {
  values[0].store_unaligned(to);
  values[1].store_unaligned(to + double_lanes);
}
inline void store(const F64 (&values)[2], float* to) {
  narrow(values[0], values[1]).store_unaligned(to);
}
inline void store_pairs(const Sincos& of, double* to) {
  for (std::int64_t i = 0; i < 2; ++i) {
    const Both<F64> pairs = interleave(of.sine[i], of.cosine[i]);
    store({pairs.first, pairs.second}, to + i * float_lanes);
  }
}
inline void store_pairs(const Sincos& of, float* to) {
  const Both<F32> pairs =
      interleave(narrow(of.sine[0], of.sine[1]), narrow(of.cosine[0], of.cosine[1]));
  pairs.first.store_unaligned(to);
  pairs.second.store_unaligned(to + float_lanes);
}

/// Writes float_lanes frequencies of one row, from k on. Only the first `used` frequencies exist.
template <class Element>
inline void write_sincos(const Columns& columns, const Sincos& of, std::int64_t k,
                         std::int64_t used, Element* row) {
  // Columns that stand together go through a buffer if they do not fill whole vectors.
  Element part[2 * float_lanes];
  const auto write = [&](std::int64_t each, Element* to, const auto& store_at) {
    if (used == float_lanes) return store_at(to);
    store_at(part);
    copy(part, each * used, to);
  };
  if (columns.interleaved) {
    write(2, row + 2 * k, [&](Element* to) { store_pairs(of, to); });
  } else {
    write(1, row + columns.sine + k, [&](Element* to) { store(of.sine, to); });
    write(1, row + columns.cosine + k, [&](Element* to) { store(of.cosine, to); });
  }
}

template <class Element>
inline void write_sincos_panel(const SincosTables& tables, std::int64_t begin, std::int64_t size,
                               const RowTask& task) {
  SplitTurns anchor, step;
  const std::int64_t padded = rounded_up(size, float_lanes);
  const FrequencyArrays w = tables.w.from(begin);
  for (std::int64_t k = 0; k < padded; ++k) step.set(k, w.turns_high[k], w.turns_low[k]);
  for (std::int64_t row = 0; row < task.count; ++row) {
    const std::int64_t in_block = (task.first + row) % sincos_block_rows;
    if (row == 0 || in_block == 0) {
      const auto position = static_cast<std::uint64_t>(task.first + row - in_block);
      for (std::int64_t k = 0; k < padded; ++k) {
        __extension__ typedef unsigned __int128 uint128;
        const uint128 low = static_cast<uint128>(w.turns_low[k]) * position;
        anchor.set(k, w.turns_high[k] * position + static_cast<std::uint64_t>(low >> 64),
                   static_cast<std::uint64_t>(low));
      }
    }
    const F64 n(static_cast<double>(in_block));
    for (std::int64_t k = 0; k < size; k += float_lanes) {
      const std::int64_t used = smaller(size - k, float_lanes);
      write_sincos(tables.columns, Sincos(anchor, step, k, n), begin + k, used,
                   task.row<Element>(row));
    }
  }
}

void sincos_kernel(const SincosTables& tables, const RowTask& task) noexcept {
  const auto write =
      task.type == DataType::float64 ? write_sincos_panel<double> : write_sincos_panel<float>;
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += sincos_panel) {
    write(tables, begin, smaller(tables.frequencies - begin, sincos_panel), task);
  }
}

}  // namespace
}  // namespace posenc::simd
