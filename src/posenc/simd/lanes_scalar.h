// The operations that lanes.h declares, in plain C++.
#pragma once

namespace posenc::simd {
namespace {

constexpr bool fused_rounds_once = false;
constexpr bool has_word_minimum = false;

inline Floats narrow(Doubles a, Doubles b) {
  Floats result;
  for (std::size_t i = 0; i < 2; ++i) {
    result.lanes[i] = static_cast<float>(a.lanes[i]);
    result.lanes[i + 2] = static_cast<float>(b.lanes[i]);
  }
  return result;
}
inline Both<Floats> interleave(Floats a, Floats b) {
  const float first[] = {a.lanes[0], b.lanes[0], a.lanes[1], b.lanes[1]};
  const float second[] = {a.lanes[2], b.lanes[2], a.lanes[3], b.lanes[3]};
  return {load(first), load(second)};
}
inline Both<Doubles> deal(Doubles a, Doubles b) { return {a, b}; }
inline Both<Doubles> deal_pairs(Doubles a, Doubles b) {
  const double first[] = {a.lanes[0], b.lanes[0]}, second[] = {a.lanes[1], b.lanes[1]};
  return {load(first), load(second)};
}

/// 32 bits of each of four 64-bit lanes, from so many bits up.
inline Floats words_of(Quads a, Quads b, int shift) {
  const auto word = [shift](std::uint64_t lane) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(lane >> shift));
  };
  Floats result;
  for (std::size_t i = 0; i < 2; ++i) {
    result.lanes[i] = word(a.lanes[i]);
    result.lanes[i + 2] = word(b.lanes[i]);
  }
  return result;
}
inline Floats low_words(Quads a, Quads b) { return words_of(a, b, 0); }
inline Floats high_words(Quads a, Quads b) { return words_of(a, b, 32); }

inline Floats pack(Words a, Words b) {
  std::uint16_t halves[8];
  for (std::size_t i = 0; i < 4; ++i) {
    halves[i] = static_cast<std::uint16_t>(a.lanes[i]);
    halves[i + 4] = static_cast<std::uint16_t>(b.lanes[i]);
  }
  Floats result;
  std::memcpy(result.lanes, halves, sizeof halves);
  return result;
}
inline Floats pack_float16(Floats a, Floats b) { return pack(to_float16(a), to_float16(b)); }

inline Doubles fused(Doubles a, Doubles b, Doubles c) { return a * b + c; }
inline Doubles fused_minus(Doubles a, Doubles b, Doubles c) { return a * b - c; }
inline Floats fused(Floats a, Floats b, Floats c) { return a * b + c; }
inline void fence() {}
inline void stream(Floats from, float* to) { from.store_unaligned(to); }

inline Quads multiply_low_words(Quads a, Quads b) {
  const Quads low(std::uint64_t{0xffffffff});
  return (a & low) * (b & low);
}
inline Floats wide_mask(const std::uint8_t* keep) {
  Words result;
  for (std::size_t i = 0; i < result.size; ++i) result.lanes[i] = keep[i] != 0 ? -1 : 0;
  return cast_bits<Floats>(result);
}
constexpr std::int64_t byte_lanes = 16, flag_step = 1;
inline std::uint64_t compare_bytes(const std::uint8_t* from, std::uint8_t threshold,
                                   std::uint8_t* at_least) {
  std::uint64_t equal = 0;
  for (std::size_t i = 0; i < byte_lanes; ++i) {
    at_least[i] = from[i] >= threshold ? 0xff : 0;
    equal |= std::uint64_t{from[i] == threshold} << i;
  }
  return equal;
}

}  // namespace
}  // namespace posenc::simd
