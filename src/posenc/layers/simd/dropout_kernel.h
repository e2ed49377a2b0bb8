// The mask of dropout: Philox4x32-10 (philox.h) with the counters in the lanes of vectors.
//
// A lane of 64 bits holds one word of one counter, and what stands above its 32 bits does not count: a product of two words needs no
// unpacking then, and a round is two products, two shifts and the exclusive ors. The words end in pairs, so that 8 counters give the
// bytes of a block's 128 elements in the order that dropout.h defines, without a transposition.
#pragma once

namespace posenc::simd {
namespace {

constexpr std::int64_t quad_lanes = static_cast<std::int64_t>(Quads::size);
constexpr std::int64_t block_elements = 128;
constexpr std::int64_t block_counters = 8;

/// The full product of the low words of each lane.
inline Quads multiply_low_words(Quads a, Quads b) {
#if defined(__AVX512F__)
  return Quads(_mm512_mul_epu32(a, b));
#elif defined(__AVX2__)
  return Quads(_mm256_mul_epu32(a, b));
#elif defined(__SSE2__)
  return Quads(_mm_mul_epu32(a, b));
#elif defined(__aarch64__)
  return Quads(vmull_u32(vmovn_u64(a), vmovn_u64(b)));
#endif
}

/// Compares the bytes at `from`, one vector of them, with a threshold: stores all ones where a byte is at least that, else 0, and returns a
/// set bit for each byte that equals it, flag_step bits apart.
#if defined(__AVX512F__)
constexpr std::int64_t byte_lanes = 64, flag_step = 1;
inline std::uint64_t compare_bytes(const std::uint8_t* from, std::uint8_t threshold, std::uint8_t* at_least) {
  const __m512i bytes = _mm512_loadu_si512(from), level = _mm512_set1_epi8(static_cast<char>(threshold));
  _mm512_storeu_si512(at_least, _mm512_movm_epi8(_mm512_cmpge_epu8_mask(bytes, level)));
  return _mm512_cmpeq_epu8_mask(bytes, level);
}
#elif defined(__AVX2__)
constexpr std::int64_t byte_lanes = 32, flag_step = 1;
inline std::uint64_t compare_bytes(const std::uint8_t* from, std::uint8_t threshold, std::uint8_t* at_least) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  const __m256i level = _mm256_set1_epi8(static_cast<char>(threshold));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at_least), _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, level), bytes));
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, level)));
}
#elif defined(__SSE2__)
constexpr std::int64_t byte_lanes = 16, flag_step = 1;
inline std::uint64_t compare_bytes(const std::uint8_t* from, std::uint8_t threshold, std::uint8_t* at_least) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const __m128i level = _mm_set1_epi8(static_cast<char>(threshold));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(at_least), _mm_cmpeq_epi8(_mm_max_epu8(bytes, level), bytes));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, level)));
}
#elif defined(__aarch64__)
constexpr std::int64_t byte_lanes = 16, flag_step = 4;
inline std::uint64_t compare_bytes(const std::uint8_t* from, std::uint8_t threshold, std::uint8_t* at_least) {
  const uint8x16_t bytes = vld1q_u8(from), level = vdupq_n_u8(threshold);
  vst1q_u8(at_least, vcgeq_u8(bytes, level));
  const uint8x8_t fours = vshrn_n_u16(vreinterpretq_u16_u8(vceqq_u8(bytes, level)), 4);
  return vget_lane_u64(vreinterpret_u64_u8(fours), 0) & 0x1111111111111111;
}
#endif

/// Vectors of counters whose rounds do not wait for each other.
template <std::int64_t vectors>
struct Philox {
  Quads word[4][vectors];

  /// `stream` is the third word of the counter.
  Philox(const Quads (&counter)[vectors], std::uint64_t seed, std::uint32_t stream) {
    for (std::int64_t v = 0; v < vectors; ++v) {
      word[0][v] = counter[v];
      word[1][v] = counter[v] >> 32;
      word[2][v] = Quads(std::uint64_t{stream});
      word[3][v] = Quads(std::uint64_t{0});
    }
    auto key_0 = static_cast<std::uint32_t>(seed), key_1 = static_cast<std::uint32_t>(seed >> 32);
    for (int done = 0; done < 10; ++done) {
      round(key_0, key_1);
      key_0 += 0x9E3779B9;
      key_1 += 0xBB67AE85;
    }
  }

  void round(std::uint32_t key_0, std::uint32_t key_1) {
    const Quads factor_0(std::uint64_t{0xD2511F53}), factor_1(std::uint64_t{0xCD9E8D57});
    for (std::int64_t v = 0; v < vectors; ++v) {
      const Quads product_0 = multiply_low_words(word[0][v], factor_0);
      const Quads product_1 = multiply_low_words(word[2][v], factor_1);
      word[0][v] = (product_1 >> 32) ^ word[1][v] ^ Quads(std::uint64_t{key_0});
      word[1][v] = product_1;
      word[2][v] = (product_0 >> 32) ^ word[3][v] ^ Quads(std::uint64_t{key_1});
      word[3][v] = product_0;
    }
  }

  Quads pair(std::int64_t first_word, std::int64_t v) const {
    return (word[first_word][v] & Quads(std::uint64_t{0xFFFFFFFF})) | (word[first_word + 1][v] << 32);
  }
};

inline Quads lane_numbers() {
  static constexpr std::uint64_t numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  return Quads::load_unaligned(numbers);
}

constexpr std::int64_t philox_vectors = 2;
constexpr std::int64_t mask_elements = 2048;

/// Which elements are kept: a byte each, all ones or 0.
class Mask {
 public:
  /// How many elements from `first` there is memory for: blocks are computed whole.
  static std::int64_t may_hold(std::uint64_t first) {
    return mask_elements - static_cast<std::int64_t>(first % block_elements);
  }

  /// `count` elements from `first`, which may stand anywhere in a block; the first of them is at the returned place.
  const std::uint8_t* fill(const DropoutRule& rule, std::uint64_t first, std::int64_t count) {
    const auto skipped = static_cast<std::int64_t>(first % block_elements);
    const std::uint64_t first_block = first / block_elements;
    const std::int64_t blocks = (skipped + count + block_elements - 1) / block_elements;
    fill_bytes(rule.seed, first_block * block_counters, blocks * block_counters);
    // Vectors with a byte that equals the threshold are noted without a branch, which nobody could predict.
    Undecided undecided[mask_elements / byte_lanes + 1];
    std::int64_t undecided_count = 0;
    for (std::int64_t i = 0; i < blocks * block_elements; i += byte_lanes) {
      const std::uint64_t equal = compare_bytes(bytes_ + i, rule.threshold, keep_ + i);
      undecided[undecided_count] = {i, equal};
      undecided_count += equal != 0 ? 1 : 0;
    }
    decide(rule, first_block * block_elements, undecided, undecided_count);
    return keep_ + skipped;
  }

 private:
  void fill_bytes(std::uint64_t seed, std::uint64_t first_counter, std::int64_t counters) {
    constexpr std::int64_t at_once = philox_vectors * quad_lanes;
    for (std::int64_t begin = 0; begin < counters; begin += at_once) {
      Quads counter[philox_vectors];
      for (std::int64_t v = 0; v < philox_vectors; ++v) {
        counter[v] = lane_numbers() + Quads(first_counter + static_cast<std::uint64_t>(begin + v * quad_lanes));
      }
      const Philox<philox_vectors> random(counter, seed, 0);
      for (std::int64_t v = 0; v < philox_vectors; ++v) {
        const std::int64_t at = begin + v * quad_lanes;
        std::uint8_t* const to = bytes_ + at / block_counters * block_elements + at % block_counters * 8;
        store(random.pair(0, v), to);
        store(random.pair(2, v), to + block_elements / 2);
      }
    }
  }

  static void store(Quads words, std::uint8_t* to) {
    std::uint64_t values[quad_lanes];
    words.store_unaligned(values);
    std::memcpy(to, values, sizeof values);
  }

  /// Elements of one vector of bytes that equal the threshold, as compare_bytes() gives them.
  struct Undecided {
    std::int64_t begin;
    std::uint64_t equal;
  };

  /// One element in 256 is undecided: as many as a vector holds are decided at once.
  void decide(const DropoutRule& rule, std::uint64_t first, const Undecided* undecided, std::int64_t count) {
    std::uint64_t waiting[quad_lanes] = {};
    std::int64_t waiting_count = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::uint64_t equal = undecided[i].equal; equal != 0; equal &= equal - 1) {
        waiting[waiting_count++] = static_cast<std::uint64_t>(undecided[i].begin + __builtin_ctzll(equal) / flag_step);
        if (waiting_count == quad_lanes) decide_waiting(rule, first, waiting, std::exchange(waiting_count, 0));
      }
    }
    if (waiting_count > 0) decide_waiting(rule, first, waiting, waiting_count);
  }

  void decide_waiting(const DropoutRule& rule, std::uint64_t first, const std::uint64_t (&waiting)[quad_lanes],
                      std::int64_t count) {
    const Quads element[1] = {Quads::load_unaligned(waiting) + Quads(first)};
    const Philox<1> random(element, rule.seed, 1);
    std::uint64_t words[quad_lanes];
    random.word[0][0].store_unaligned(words);
    for (std::int64_t lane = 0; lane < count; ++lane) {
      if (static_cast<std::uint32_t>(words[lane]) < rule.fine_threshold) keep_[waiting[lane]] = 0;
    }
  }

  std::uint8_t bytes_[mask_elements + block_elements];  // whole vectors are computed
  std::uint8_t keep_[mask_elements];
};

/// The bytes of one vector of floats, each widened to its 32 bits.
inline Floats wide_mask(const std::uint8_t* keep) {
#if defined(__AVX512F__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(keep));
  return Floats(_mm512_castsi512_ps(_mm512_cvtepi8_epi32(bytes)));
#elif defined(__AVX2__)
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(keep));
  return Floats(_mm256_castsi256_ps(_mm256_cvtepi8_epi32(bytes)));
#else
  std::uint32_t four = 0;
  std::memcpy(&four, keep, sizeof four);
#if defined(__SSE2__)
  __m128i bytes = _mm_cvtsi32_si128(static_cast<int>(four));
  bytes = _mm_unpacklo_epi8(bytes, bytes);
  return Floats(_mm_castsi128_ps(_mm_unpacklo_epi16(bytes, bytes)));
#elif defined(__aarch64__)
  const int16x8_t pairs = vmovl_s8(vcreate_s8(four));
  return Floats(vreinterpretq_f32_s32(vmovl_s16(vget_low_s16(pairs))));
#endif
#endif
}

}  // namespace
}  // namespace posenc::simd
