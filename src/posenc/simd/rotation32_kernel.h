// rotation32: one angle addition in float32 for every entry, of two factors that are each evaluated directly: the fastest tier.
//
//   position = 16 b + n:  sin(phase) = V cos(n w) + U sin(n w),  cos(phase) = U cos(n w) - V sin(n w)
//   V, U      sine and cosine at the block's first position, from its phase in integers (modulo one turn by themselves)
//   cos(n w), sin(n w)   tables of 16 rows, made when planning
//
// Blocks and their anchors stand at multiples of their length, so that a row depends on its position alone.
//
// Error bound: the angle of V and U carries two roundings (2 * 2^-24 pi / 4), their series and its last rounding 2^-24: 1.6e-7 at most; the
// angle addition passes sqrt(2) of that on, 2.3e-7, and adds the tables' roundings, sqrt(2) 2^-25, and its own, 2 * 2^-25: 3.3e-7.
#pragma once

namespace posenc::simd {
namespace {

struct SineCosine32 {
  Floats sine;
  Floats cosine;
};

/// Of a phase in units of 2^-32 turns.
inline SineCosine32 sincos_of_turns(Words phase) {
  const Words quadrant = (phase + Words(1 << 29)) >> 30;
  const Words rest = phase - (quadrant << 30);
  const Floats x = xsimd::to_float(rest) * Floats(0x1.921fb6p-30f);  // 2 pi 2^-32
  const Floats square = x * x;
  Floats s = fused(square, Floats(1.0f / 362880), Floats(-1.0f / 5040));
  s = fused(s, square, Floats(1.0f / 120));
  s = fused(s, square, Floats(-1.0f / 6));
  s = fused(s * square, x, x);
  Floats c = fused(square, Floats(-1.0f / 3628800), Floats(1.0f / 40320));
  c = fused(c, square, Floats(-1.0f / 720));
  c = fused(c, square, Floats(1.0f / 24));
  c = fused(c, square, Floats(-0.5f));
  c = fused(c, square, Floats(1.0f));
  const auto bits = [](Floats value) { return xsimd::bitwise_cast<Words>(value); };
  const Words swapped = Words(0) - (quadrant & Words(1));
  const Words sine = (bits(s) & ~swapped) | (bits(c) & swapped);
  const Words cosine = (bits(c) & ~swapped) | (bits(s) & swapped);
  const Words sine_sign = (quadrant & Words(2)) << 30;
  const Words cosine_sign = ((quadrant + Words(1)) & Words(2)) << 30;
  return {xsimd::bitwise_cast<Floats>(sine ^ sine_sign), xsimd::bitwise_cast<Floats>(cosine ^ cosine_sign)};
}

constexpr std::int64_t rotation32_panel = 256;

struct Panel32 {
  std::uint64_t phase[rotation32_panel];  ///< of the block's first position, in units of 2^-64 turns, dealt
  std::uint64_t step[rotation32_panel];   ///< of one block
  float sine[rotation32_panel];           ///< V
  float cosine[rotation32_panel];         ///< U
};

/// Where the k-th of float_lanes frequencies stands among dealt ones.
constexpr std::int64_t dealt_place(std::int64_t k) { return (k % 4 / 2) * double_lanes + k / 4 * 2 + k % 2; }

/// The phases at a block: exact at every anchored_blocks-th, then a sum of truncated steps, off by less than 2^-58 turns.
inline void set_phases(Panel32& panel, const Rotation32Tables& tables, std::int64_t begin, std::int64_t size,
                       std::int64_t block) {
  const std::int64_t in_group = block % anchored_blocks;
  const auto position = static_cast<std::uint64_t>((block - in_group) * block_rows);
  for (std::int64_t k = 0; k < size; ++k) {
    __extension__ typedef unsigned __int128 uint128;
    const std::uint64_t high = tables.turns_high[begin + k], low = tables.turns_low[begin + k];
    const uint128 product = static_cast<uint128>(low) * position;
    const uint128 step = (static_cast<uint128>(high) << 64 | low) * static_cast<std::uint64_t>(block_rows);
    const std::int64_t at = k / float_lanes * float_lanes + dealt_place(k % float_lanes);
    panel.step[at] = static_cast<std::uint64_t>(step >> 64);
    panel.phase[at] = high * position + static_cast<std::uint64_t>(product >> 64) +
                      static_cast<std::uint64_t>(in_group) * panel.step[at];
  }
}

inline void next_phases(Panel32& panel, std::int64_t size) {
  for (std::int64_t k = 0; k < size; ++k) panel.phase[k] += panel.step[k];
}

inline void set_block(Panel32& panel, std::int64_t size) {
  for (std::int64_t k = 0; k < size; k += float_lanes) {
    const Quads a = Quads::load_unaligned(panel.phase + k), b = Quads::load_unaligned(panel.phase + k + double_lanes);
    const SineCosine32 at = sincos_of_turns(xsimd::bitwise_cast<Words>(high_words(a, b)));
    at.sine.store_unaligned(panel.sine + k);
    at.cosine.store_unaligned(panel.cosine + k);
  }
}

template <bool streamed>
inline void store(Floats value, float* to) {
  if constexpr (streamed) {
    stream(value, to);
  } else {
    value.store_unaligned(to);
  }
}

/// float_lanes frequencies of one row.
struct RowOutput {
  float* sine;  ///< of the panel's first frequency; of both where they are interleaved
  float* cosine;

  template <bool interleaved, bool streamed>
  void write(SineCosine32 both, std::int64_t k) const {
    if constexpr (interleaved) {
      const Both<Floats> pairs = interleave(both.sine, both.cosine);
      store<streamed>(pairs.first, sine + 2 * k);
      store<streamed>(pairs.second, sine + 2 * k + float_lanes);
    } else {
      store<streamed>(both.sine, sine + k);
      store<streamed>(both.cosine, cosine + k);
    }
  }

  /// The last frequencies, fewer than a vector holds.
  template <bool interleaved>
  void write_part(SineCosine32 both, std::int64_t k, std::int64_t used) const {
    float sines[float_lanes], cosines[float_lanes];
    both.sine.store_unaligned(sines);
    both.cosine.store_unaligned(cosines);
    for (std::int64_t i = 0; i < used; ++i) {
      sine[interleaved ? 2 * (k + i) : k + i] = sines[i];
      (interleaved ? sine + 1 : cosine)[interleaved ? 2 * (k + i) : k + i] = cosines[i];
    }
  }
};

template <bool interleaved, bool streamed>
inline void write_row32(const Panel32& panel, const float* cos_row, const float* sin_row, std::int64_t used,
                        const RowOutput& out) {
  const auto rotated = [&](std::int64_t k) {
    const Floats s = load(panel.sine + k), c = load(panel.cosine + k);
    const Floats cos_n = load(cos_row + k), sin_n = load(sin_row + k);
    return SineCosine32{fused(s, cos_n, c * sin_n), fused(c, cos_n, s * (Floats(0.0f) - sin_n))};
  };
  std::int64_t k = 0;
  for (; k + float_lanes <= used; k += float_lanes) out.write<interleaved, streamed>(rotated(k), k);
  if (k < used) out.write_part<interleaved>(rotated(k), k, used - k);
}

template <bool interleaved, bool streamed>
void write_panel32(const Rotation32Tables& tables, std::int64_t begin, std::int64_t used, std::int64_t first,
                   std::int64_t count, float* out, std::ptrdiff_t stride) {
  const std::int64_t size = (used + float_lanes - 1) / float_lanes * float_lanes;
  Panel32 panel;
  for (std::int64_t row = 0; row < count;) {
    const std::int64_t position = first + row;
    const std::int64_t block = position / block_rows;
    if (row == 0 || block % anchored_blocks == 0) {
      set_phases(panel, tables, begin, size, block);
    } else {
      next_phases(panel, size);
    }
    set_block(panel, size);
    std::int64_t n = position % block_rows;
    for (; n < block_rows && row < count; ++n, ++row) {
      const RowOutput to = {out + row * stride + tables.columns.sine + (interleaved ? 2 * begin : begin),
                            out + row * stride + tables.columns.cosine + (interleaved ? 2 * begin : begin)};
      const std::int64_t table_row = n * tables.row_stride + begin;
      write_row32<interleaved, streamed>(panel, tables.cos_rows + table_row, tables.sin_rows + table_row, used, to);
    }
  }
}

void rotation32_kernel(const Rotation32Tables& tables, std::int64_t first, std::int64_t count, float* out,
                       std::ptrdiff_t stride) noexcept {
  const auto write = tables.columns.interleaved
                         ? (tables.streamed ? write_panel32<true, true> : write_panel32<true, false>)
                         : (tables.streamed ? write_panel32<false, true> : write_panel32<false, false>);
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += rotation32_panel) {
    const std::int64_t left = tables.frequencies - begin;
    write(tables, begin, left < rotation32_panel ? left : rotation32_panel, first, count, out, stride);
  }
  if (tables.streamed) fence();
}

}  // namespace
}  // namespace posenc::simd
