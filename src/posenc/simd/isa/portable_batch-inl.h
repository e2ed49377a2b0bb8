// Vectors that the compiler translates for every 64-bit processor. They have the part of xsimd's
// interface that the kernels use. The name of xsimd is a macro here (see isa-inl.h). The vectors
// have 128 bits, or 256 if the compiler is told of a processor that has them.
#pragma once

namespace xsimd {

#ifdef __AVX2__
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif

template <class T, std::size_t bytes = vector_bytes>
struct VectorOf {
  using Type [[gnu::vector_size(bytes)]] = T;
};
template <class T>
using Vector = typename VectorOf<T>::Type;

template <class Mask, class Arch>
struct batch_bool {
  Mask data;  ///< -1 in each lane that is true, 0 in the others

  friend batch_bool operator||(batch_bool a, batch_bool b) { return {a.data | b.data}; }
  void store_unaligned(bool* to) const {
    for (std::size_t i = 0; i < sizeof data / sizeof data[0]; ++i) to[i] = data[i] != 0;
  }
};

template <class Mask, class Arch>
inline bool any(batch_bool<Mask, Arch> mask) {
  const auto parts = std::bit_cast<Vector<std::uint64_t>>(mask.data);
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) all |= parts[i];
  return all != 0;
}

template <class T, class Arch>
struct batch {
  using value_type = T;
  using Lanes = Vector<T>;
  using Bits = Vector<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;
  using Mask = batch_bool<decltype(Lanes() < Lanes()), Arch>;
  static constexpr std::size_t size = sizeof(Lanes) / sizeof(T);

  Lanes data;

  batch() = default;
  explicit batch(Lanes lanes) : data(lanes) {}
  explicit batch(T value) : data(value - Lanes{}) {}  // the value in each lane
  static batch load_unaligned(const T* from) {
    batch result;
    std::memcpy(&result.data, from, sizeof result.data);
    return result;
  }
  /// Copies bytes: vectors of 16-bit elements are stored through a misaligned pointer to float.
  void store_unaligned(T* to) const { std::memcpy(to, &data, sizeof data); }

  Bits bits() const { return std::bit_cast<Bits>(data); }
  /// Integers wrap around.
  static auto arithmetic(batch a) {
    if constexpr (std::is_integral_v<T>) {
      return a.bits();
    } else {
      return a.data;
    }
  }
  template <class Vector>
  static batch from(Vector result) {
    return batch(std::bit_cast<Lanes>(result));
  }

  friend batch operator+(batch a, batch b) { return from(arithmetic(a) + arithmetic(b)); }
  friend batch operator-(batch a, batch b) { return from(arithmetic(a) - arithmetic(b)); }
  friend batch operator*(batch a, batch b) { return from(arithmetic(a) * arithmetic(b)); }
  friend batch operator&(batch a, batch b) { return from(a.bits() & b.bits()); }
  friend batch operator|(batch a, batch b) { return from(a.bits() | b.bits()); }
  friend batch operator^(batch a, batch b) { return from(a.bits() ^ b.bits()); }
  friend batch operator~(batch a) { return from(~a.bits()); }
  friend batch operator<<(batch a, int by) { return from(a.bits() << by); }
  friend batch operator>>(batch a, int by) { return from(a.data >> by); }
  friend Mask operator<(batch a, batch b) { return {a.data < b.data}; }
  friend Mask operator!=(batch a, batch b) { return {a.data != b.data}; }
};

template <class To, class From, class Arch>
inline batch<To, Arch> bitwise_cast(batch<From, Arch> from) {
  return std::bit_cast<batch<To, Arch>>(from);
}

template <class T, class Arch>
inline batch<float, Arch> to_float(batch<T, Arch> from) {
  return batch<float, Arch>(__builtin_convertvector(from.data, Vector<float>));
}

template <class Arch>
inline batch<float, Arch> abs(batch<float, Arch> a) {
  return a & bitwise_cast<float>(batch<std::uint32_t, Arch>(0x7fffffff));
}

template <class T, class Arch>
inline batch<T, Arch> min(batch<T, Arch> a, batch<T, Arch> b) {
  return batch<T, Arch>(a.data < b.data ? a.data : b.data);
}
template <class T, class Arch>
inline batch<T, Arch> max(batch<T, Arch> a, batch<T, Arch> b) {
  return batch<T, Arch>(a.data > b.data ? a.data : b.data);
}

}  // namespace xsimd

// This is the interface of version 11: bitwise_cast takes the type of an element.
#define XSIMD_VERSION_MAJOR 11
