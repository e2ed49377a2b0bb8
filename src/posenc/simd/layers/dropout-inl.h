// The mask of dropout: Philox4x32-7 (philox.h) with the counters in the lanes of vectors.
//
// Method  one word of one counter a lane; words are combined in pairs, and bytes compared
// Error   none: the mask is the one that dropout.h defines
// Range   every seed and element
// Cost    seven rounds a vector of counters: two products, two shifts, four exclusive ors each
//
// The low half of a 64-bit lane holds the word, and the high half is ignored: a product of two
// words then needs no unpacking. 8 counters give the bytes of a block's 128 elements in the order
// that dropout.h defines, without a transposition.
#pragma once

namespace posenc::simd {
namespace {

constexpr std::int64_t u64_lanes = static_cast<std::int64_t>(U64::size);
using philox::block_counters;
using philox::block_elements;

/// The keys of the rounds. They are in memory, because broadcasting loads are free.
struct PhiloxKeys {
  static constexpr std::size_t rounds = philox::rounds;
  std::uint64_t first[rounds];
  std::uint64_t second[rounds];

  explicit PhiloxKeys(std::uint64_t seed) {
    auto key_0 = static_cast<std::uint32_t>(seed), key_1 = static_cast<std::uint32_t>(seed >> 32);
    for (std::size_t round = 0; round < rounds; ++round) {
      first[round] = key_0;
      second[round] = key_1;
      key_0 += philox::key_increments[0];
      key_1 += philox::key_increments[1];
    }
  }
};

/// A vector of counters, which the rounds turn into random words.
struct PhiloxLanes {
  U64 word_0, word_1, word_2, word_3;

  /// `stream` is the third word of the counter.
  PhiloxLanes(U64 counter, std::uint32_t stream)
      : word_0(counter),
        word_1(counter >> 32),
        word_2(std::uint64_t{stream}),
        word_3(std::uint64_t{0}) {}

  void round(U64 key_0, U64 key_1) {
    const U64 product_0 = multiply_low_halves(word_0, U64(std::uint64_t{philox::multipliers[0]}));
    const U64 product_1 = multiply_low_halves(word_2, U64(std::uint64_t{philox::multipliers[1]}));
    word_0 = (product_1 >> 32) ^ word_1 ^ key_0;
    word_1 = product_1;
    word_2 = (product_0 >> 32) ^ word_3 ^ key_1;
    word_3 = product_0;
  }

  static U64 pair(U64 low, U64 high) {
    return (low & U64(std::uint64_t{0xFFFFFFFF})) | (high << 32);
  }
};

template <std::size_t... round, class... Lanes>
inline void philox_rounds(const PhiloxKeys& keys, std::index_sequence<round...>, Lanes&... lanes) {
  const auto all = [&](U64 key_0, U64 key_1) { (lanes.round(key_0, key_1), ...); };
  (all(U64(keys.first[round]), U64(keys.second[round])), ...);
}

/// All rounds of several vectors, which are independent of each other.
template <class... Lanes>
inline void philox(const PhiloxKeys& keys, Lanes&... lanes) {
  philox_rounds(keys, std::make_index_sequence<PhiloxKeys::rounds>(), lanes...);
}

inline U64 lane_numbers() {
  static constexpr std::uint64_t numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  return U64::load_unaligned(numbers);
}

/// Independent vectors of counters that the registers hold.
constexpr std::size_t vectors_at_once = float_lanes == 16 ? 4 : 2;
constexpr std::int64_t mask_elements = 2048;

/// Prefetches what the mask will be applied to while it is computed, because memory would wait for
/// the generator and then the generator for memory. Beyond L2, a call takes 0.9 of the time.
class MaskedInput {
 public:
  /// From element x and, unless it is null, from encoding.
  MaskedInput(const float* x, const float* encoding)
      : x_(reinterpret_cast<std::uintptr_t>(x)),
        encoding_(encoding == nullptr ? x_ : reinterpret_cast<std::uintptr_t>(encoding)) {}

  /// The elements of `counters` counters from `begin`. A counter has as many as a cache line holds.
  /// Lines behind the last element do no harm.
  template <std::int64_t counters>
  void prefetch(std::int64_t begin) const {
    static_assert(block_elements / block_counters == cache_line_floats);
    for (std::int64_t i = 0; i < counters; ++i) {
      const auto line = static_cast<std::uintptr_t>((begin + i) * cache_line_bytes);
      __builtin_prefetch(reinterpret_cast<const void*>(x_ + line));
      __builtin_prefetch(reinterpret_cast<const void*>(encoding_ + line));
    }
  }

 private:
  std::uintptr_t x_, encoding_;
};

/// The mask: one byte for each element, all ones if it is kept, else 0.
class Mask {
 public:
  /// The largest number of elements from `first` that fill() can take. It computes whole blocks.
  static std::int64_t may_hold(std::uint64_t first) {
    return mask_elements - static_cast<std::int64_t>(first % block_elements);
  }

  /// Computes the mask of `count` elements from `first`, which may be anywhere in a block. Returns
  /// the byte of the first of them.
  const std::uint8_t* fill(const DropoutRule& rule, std::uint64_t first, std::int64_t count,
                           const MaskedInput& input) {
    const auto skipped = static_cast<std::int64_t>(first % block_elements);
    const std::uint64_t first_block = first / block_elements;
    const std::int64_t blocks = (skipped + count + block_elements - 1) / block_elements;
    const PhiloxKeys keys(rule.seed);
    fill_bytes(keys, first_block * block_counters, blocks * block_counters, input);
    // Vectors with a byte that equals the threshold are collected without a branch, which would be
    // unpredictable.
    Undecided undecided[mask_elements / byte_lanes + 1];
    std::int64_t undecided_count = 0;
    for (std::int64_t i = 0; i < blocks * block_elements; i += byte_lanes) {
      const std::uint64_t equal = compare_bytes(bytes_ + i, rule.threshold, keep_ + i);
      undecided[undecided_count] = {i, equal};
      undecided_count += equal != 0 ? 1 : 0;
    }
    decide(rule, keys, first_block * block_elements, undecided, undecided_count);
    return keep_ + skipped;
  }

 private:
  void fill_bytes(const PhiloxKeys& keys, std::uint64_t first_counter, std::int64_t counters,
                  const MaskedInput& input) {
    constexpr std::int64_t at_once = static_cast<std::int64_t>(vectors_at_once) * u64_lanes;
    for (std::int64_t begin = 0; begin < counters; begin += at_once) {
      input.prefetch<at_once>(begin);
      fill_some(keys, first_counter, begin, std::make_index_sequence<vectors_at_once>());
    }
  }

  template <std::size_t... v>
  void fill_some(const PhiloxKeys& keys, std::uint64_t first_counter, std::int64_t begin,
                 std::index_sequence<v...>) {
    const U64 counter = lane_numbers() + U64(first_counter + static_cast<std::uint64_t>(begin));
    PhiloxLanes lanes[] = {
        PhiloxLanes(counter + U64(static_cast<std::uint64_t>(v * u64_lanes)), 0)...};
    philox(keys, lanes[v]...);
    (store(lanes[v], begin + static_cast<std::int64_t>(v) * u64_lanes), ...);
  }

  /// Stores the bytes of a vector of counters, the first of which is counter `at`.
  void store(const PhiloxLanes& lanes, std::int64_t at) {
    std::uint8_t* const to =
        bytes_ + at / block_counters * block_elements + at % block_counters * 8;
    store(PhiloxLanes::pair(lanes.word_0, lanes.word_1), to);
    store(PhiloxLanes::pair(lanes.word_2, lanes.word_3), to + block_elements / 2);
  }

  static void store(U64 words, std::uint8_t* to) {
    if constexpr (std::endian::native == std::endian::big) {
      std::uint64_t values[u64_lanes];
      words.store_unaligned(values);
      for (std::uint64_t& each : values) each = __builtin_bswap64(each);
      std::memcpy(to, values, sizeof values);
    } else {
      // Not by way of an array, which GCC copies in parts that miss store forwarding.
      cast_bits<F32>(words).store_unaligned(reinterpret_cast<float*>(to));
    }
  }

  /// The elements of one vector of bytes that equal the threshold, as compare_bytes() returns them.
  struct Undecided {
    std::int64_t begin;
    std::uint64_t equal;
  };

  /// Decides the undecided elements, one in 256, a vector at a time.
  void decide(const DropoutRule& rule, const PhiloxKeys& keys, std::uint64_t first,
              const Undecided* undecided, std::int64_t count) {
    std::uint64_t waiting[u64_lanes] = {};
    std::int64_t waiting_count = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::uint64_t equal = undecided[i].equal; equal != 0; equal &= equal - 1) {
        waiting[waiting_count++] =
            static_cast<std::uint64_t>(undecided[i].begin + __builtin_ctzll(equal) / flag_step);
        if (waiting_count == u64_lanes)
          decide_waiting(rule, keys, first, waiting, std::exchange(waiting_count, 0));
      }
    }
    if (waiting_count > 0) decide_waiting(rule, keys, first, waiting, waiting_count);
  }

  void decide_waiting(const DropoutRule& rule, const PhiloxKeys& keys, std::uint64_t first,
                      const std::uint64_t (&waiting)[u64_lanes], std::int64_t count) {
    const U64 element = U64::load_unaligned(waiting) + U64(first);
    PhiloxLanes random(element, 1);
    philox(keys, random);
    std::uint64_t words[u64_lanes];
    random.word_0.store_unaligned(words);
    for (std::int64_t lane = 0; lane < count; ++lane) {
      if (static_cast<std::uint32_t>(words[lane]) < rule.fine_threshold) keep_[waiting[lane]] = 0;
    }
  }

  // The bytes have room for whole groups of vectors.
  std::uint8_t bytes_[mask_elements + static_cast<std::int64_t>(vectors_at_once) * block_elements];
  std::uint8_t keep_[mask_elements];
};

}  // namespace
}  // namespace posenc::simd
