// Stores vectors and rows.
//
// Method  plain stores, or non-temporal stores of whole cache lines of a row that a buffer holds
// Error   none; a sum out = x * scale + encoding rounds each operation
// Range   any address of an element, any count
// Cost    through a buffer, one load and one store per vector; incomplete lines are read from
//         memory
//
// Non-temporal stores are slow if each of several rows 4096 bytes apart gets one line in turn
// (three times as slow on Zen 3). Kernels can therefore compute rows into a buffer in the L1 cache.
// From there, a row goes to memory at once, with plain stores for its incomplete lines.
#pragma once

#include "posenc/simd/kernels.h"

namespace posenc::simd {
namespace {

/// True if a vector is a whole cache line (AVX-512). Such vectors are stored without a buffer, in
/// any order.
constexpr bool has_line_vectors = float_lanes * sizeof(float) == cache_line_bytes;

/// Stores a vector of floats, or of the bits of 16-bit elements, non-temporally if it is aligned.
template <bool non_temporal, class T>
inline void store_vector(F32 bits, T* to) {
  auto* const floats = reinterpret_cast<float*>(to);
  if constexpr (non_temporal) {
    store_non_temporal(bits, floats);
  } else {
    bits.store_unaligned(floats);
  }
}

/// Calls visit(T()) for the element type, unless it is float64.
template <class Visit>
inline void visit_type(DataType type, const Visit& visit) {
  if (type == DataType::bfloat16) return visit(BFloat16());
  if (type == DataType::float16) return visit(Float16());
  visit(float());
}

/// The element that has the lowest bits of a word.
template <class Element>
inline Element element_of(std::uint64_t bits) {
  using Short = std::conditional_t<sizeof(Element) == 4, std::uint32_t, std::uint16_t>;
  using Bits = std::conditional_t<sizeof(Element) == 8, std::uint64_t, Short>;
  return std::bit_cast<Element>(static_cast<Bits>(bits));
}

/// The sine or cosine of frequency k at a position, rounded in integers.
template <class Element>
inline Element exact_element(const RotationTables& tables, std::int64_t position, std::int64_t k,
                             bool is_cosine) {
  return element_of<Element>(
      tables.exact_entry(tables.context, position, k, is_cosine, data_type_of<Element>));
}

/// Executes a fence if the plan needs one after its last store.
inline void finish(const StorePlan& stores) {
  if (stores.method != StoreMethod::plain) fence();
}

/// Memory for elements on their way to an output. If the addresses of a load and an earlier store
/// have the same last 12 bits, the load waits for that store. This takes long if the store is
/// non-temporal (a fifth of the speed on Zen 3). The elements therefore lie half a page from the
/// output, modulo a page.
template <class Element, std::int64_t elements>
class StagingBuffer {
 public:
  Element* place_for(const Element* out) {
    const auto ahead = reinterpret_cast<std::uintptr_t>(out + elements_of_page / 2) -
                       reinterpret_cast<std::uintptr_t>(memory_);
    return memory_ + ahead % page_bytes / cache_line_bytes * (cache_line_bytes / sizeof(Element));
  }

 private:
  static constexpr auto elements_of_page = page_bytes / static_cast<std::int64_t>(sizeof(Element));
  alignas(cache_line_bytes) Element memory_[elements + elements_of_page];
};

/// Stores a row of elements, or adds it to an input, in the order of the columns.
template <class Element, bool adds = false>
struct StagedRow {
  static constexpr std::int64_t line =
      cache_line_bytes / static_cast<std::int64_t>(sizeof(Element));  ///< elements
  static constexpr std::int64_t lanes = float_lanes * static_cast<std::int64_t>(sizeof(float)) /
                                        static_cast<std::int64_t>(sizeof(Element));

  const Element* from;
  Element* out;
  const Addition* addition = nullptr;

  /// The largest count, at most `count`, after which a cache line of `out` begins. The result may
  /// be negative.
  std::int64_t whole_lines(std::int64_t count) const {
    const auto end = reinterpret_cast<std::uintptr_t>(out + count);
    return count - static_cast<std::int64_t>(end % cache_line_bytes / sizeof(Element));
  }

  /// Fetches the incomplete lines of the elements 0 .. count - 1.
  void prefetch_ends(std::int64_t count) const {
    constexpr int to_write = 1;
    if (whole_lines(0) != 0) __builtin_prefetch(out, to_write);
    if (whole_lines(count) != count) __builtin_prefetch(out + count - 1, to_write);
  }

  /// Stores the elements begin .. end - 1. Whole lines are stored non-temporally.
  void store(std::int64_t begin, std::int64_t end) const {
    const std::int64_t first_line = whole_lines(begin + line - 1);
    std::int64_t i = begin;
    for (; i < first_line && i < end; ++i) store_one(i);
    for (; i + line <= end; i += line) {
      for (std::int64_t j = 0; j < line; j += lanes) store_vector(i + j);
    }
    for (; i < end; ++i) store_one(i);
  }

  void store_one(std::int64_t i) const {
    if constexpr (adds) {
      out[i] = out[i + addition->distance] * addition->scale + from[i];
    } else {
      out[i] = from[i];
    }
  }

 private:
  void store_vector(std::int64_t i) const {
    F32 value = load(reinterpret_cast<const float*>(from + i));
    if constexpr (adds) value = load(out + i + addition->distance) * F32(addition->scale) + value;
    simd::store_vector<true>(value, out + i);
  }
};

}  // namespace
}  // namespace posenc::simd
