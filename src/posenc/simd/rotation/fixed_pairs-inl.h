// rotation, to float64: sines and cosines of a panel's frequencies at one position, in about 80
// bits: from the integer phase, or rotated from those at another position.
//
// Error bound: see rotation_to_float64-inl.h.
//
// Valid range: every position up to max_position.
//
// Source: the angle addition theorems.
#pragma once

#include "posenc/simd/anchors-inl.h"
#include "posenc/simd/rotation/fixed-inl.h"

namespace posenc::simd {
namespace {

constexpr std::int64_t fixed_panel = 32;  ///< frequencies

/// Sines and cosines of up to fixed_panel frequencies as Fixed.
struct FixedPairs {
  double sine_high[fixed_panel], sine_low[fixed_panel], cosine_high[fixed_panel],
      cosine_low[fixed_panel];

  FixedPair at(std::int64_t k) const {
    return {{load(sine_high + k), load(sine_low + k)},
            {load(cosine_high + k), load(cosine_low + k)}};
  }
  void set(std::int64_t k, const FixedPair& both) {
    both.sine.high.store_unaligned(sine_high + k);
    both.sine.low.store_unaligned(sine_low + k);
    both.cosine.high.store_unaligned(cosine_high + k);
    both.cosine.low.store_unaligned(cosine_low + k);
  }
};

/// The place of frequency k in FixedPairs: in order, or permuted within its vector so that
/// deinterleave_pairs(sines, cosines) gives interleaved columns.
template <bool interleaved>
constexpr std::int64_t fixed_place(std::int64_t k) {
  constexpr std::int64_t half = double_lanes / 2;
  const std::int64_t lane = k % double_lanes;
  return interleaved ? k - lane + (lane < half ? 2 * lane : 2 * (lane - half) + 1) : k;
}

/// Phases modulo one turn, in units of 2^-128 turns: high 2^64 + low. All are stored before the
/// first is read: loading a vector right after storing its lanes one by one misses store
/// forwarding.
template <bool interleaved>
struct PlacedPhases {
  std::uint64_t high[fixed_panel], low[fixed_panel];

  /// The phases at a position for frequencies in units of 2^-128 turns.
  PlacedPhases(std::int64_t count, const FrequencyArrays& w, std::uint64_t position) {
    for (std::int64_t k = 0; k < count; ++k) {
      __extension__ typedef unsigned __int128 uint128;
      const uint128 low_product = static_cast<uint128>(w.turns_low[k]) * position;
      const std::int64_t at = fixed_place<interleaved>(k);
      high[at] = w.turns_high[k] * position + static_cast<std::uint64_t>(low_product >> 64);
      low[at] = static_cast<std::uint64_t>(low_product);
    }
  }
};

/// The angle of a phase from the nearest quarter turn, and the number of quarters in the upper two
/// bits.
struct FixedAngle {
  U64 quarters;
  Fixed angle;
};

inline FixedAngle reduce(U64 phase_high, U64 phase_low) {
  // The angle is high 2^-28 + low 2^-80 turns, high at most 2^25 in magnitude.
  const U64 biased = phase_high + U64(std::uint64_t{1} << 61);
  const U64 in_quarter = biased & U64(~std::uint64_t{0} >> 2);
  const F64 turns = to_doubles(in_quarter >> 36, 0x1p25) * F64(0x1p-28);
  const U64 tail = ((in_quarter & U64(0xfffffffff)) << 16) | (phase_low >> 48);
  // 2 pi is the sum of a multiple of 2^-23 with 26 bits, and `rest`.
  const F64 two_pi(0x1.921fb58p+2), rest(-0x1.dde973dcb3b3ap-25);
  return {biased, to_fixed(turns * two_pi, fused(to_doubles(tail, 0),
                                                 F64(6.283185307179586 * 0x1p-80), turns * rest))};
}

/// Frequencies that are evaluated together, so that their dependent operations overlap: up to
/// twice as fast as one vector at a time.
constexpr std::int64_t fixed_anchor_vectors = 2;
static_assert(fixed_panel % (fixed_anchor_vectors * double_lanes) == 0);

/// The pairs of the frequencies begin .. begin + size - 1 at one position.
template <bool interleaved>
inline void set_fixed_anchors(const RotationTables& tables, std::int64_t begin, std::int64_t size,
                              std::uint64_t position, FixedPairs& pairs) {
  const PlacedPhases<interleaved> phases(size, tables.w.from(begin), position);
  for (std::int64_t k = 0; k < size; k += fixed_anchor_vectors * double_lanes) {
    U64 quarters[fixed_anchor_vectors];
    Fixed angles[fixed_anchor_vectors];
    FixedPair both[fixed_anchor_vectors];
    for (std::int64_t i = 0; i < fixed_anchor_vectors; ++i) {
      const std::int64_t at = k + i * double_lanes;
      const FixedAngle reduced =
          reduce(U64::load_unaligned(phases.high + at), U64::load_unaligned(phases.low + at));
      quarters[i] = reduced.quarters;
      angles[i] = reduced.angle;
    }
    small_sincos(angles, both);
    for (std::int64_t i = 0; i < fixed_anchor_vectors; ++i) {
      turn(quarters[i], both[i].sine.high, both[i].cosine.high);
      turn(quarters[i], both[i].sine.low, both[i].cosine.low);
      pairs.set(k + i * double_lanes, both[i]);
    }
  }
}

/// out = pairs, rotated by the angles of `by`. out may be pairs.
inline void rotate(const FixedPairs& pairs, const FixedPairs& by, std::int64_t size,
                   FixedPairs& out) {
  for (std::int64_t k = 0; k < size; k += double_lanes) {
    const FixedPair of = pairs.at(k), with = by.at(k);
    const F64 sine = with.sine.high + with.sine.low, cosine = with.cosine.high + with.cosine.low;
    const F64 sine_low =
        low_product(of.sine, with.cosine, cosine) + low_product(of.cosine, with.sine, sine);
    const F64 cosine_low =
        low_product(of.cosine, with.cosine, cosine) - low_product(of.sine, with.sine, sine);
    out.set(
        k,
        {to_fixed(fused(of.sine.high, with.cosine.high, of.cosine.high * with.sine.high), sine_low),
         to_fixed(fused_minus(of.cosine.high, with.cosine.high, of.sine.high * with.sine.high),
                  cosine_low)});
  }
}

/// Sets the padding behind the last frequency to 3/4, whose rounding is certain.
template <bool interleaved>
inline void fill_padding(std::int64_t used, std::int64_t size, FixedPairs& pairs) {
  for (std::int64_t k = used; k < size; ++k) {
    const std::int64_t at = fixed_place<interleaved>(k);
    pairs.sine_high[at] = pairs.cosine_high[at] = 0.75;
    pairs.sine_low[at] = pairs.cosine_low[at] = 0.0;
  }
}

/// Fills by[n - 1] with cos and sin of n w for n = 1 .. rows: from the phase if n is a power of
/// two, else by angle addition.
template <bool interleaved>
inline void fill_rows(const RotationTables& tables, std::int64_t begin, std::int64_t size,
                      std::int64_t rows, FixedPairs* by) {
  for (std::int64_t n = 1; n <= rows; ++n) {
    const std::int64_t last_power = n & -n, others = n - last_power;
    if (others == 0) {
      set_fixed_anchors<interleaved>(tables, begin, size, static_cast<std::uint64_t>(n), by[n - 1]);
    } else {
      rotate(by[others - 1], by[last_power - 1], size, by[n - 1]);
    }
  }
}

}  // namespace
}  // namespace posenc::simd
