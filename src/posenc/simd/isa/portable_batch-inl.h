// Vectors of 128 bits in plain C++, with the part of xsimd's interface that the kernels use. The
// ISA `scalar` uses them on every 64-bit processor, and leaves the loops to the compiler's
// vectoriser. Included in place of xsimd, whose name is a macro then (see isa-inl.h).
#pragma once

namespace xsimd {

template <class T, class Arch>
class batch_bool {
 public:
  static constexpr std::size_t size = 16 / sizeof(T);
  bool lanes[size];

  void store_unaligned(bool* to) const {
    for (std::size_t i = 0; i < size; ++i) to[i] = lanes[i];
  }
  friend batch_bool operator||(const batch_bool& a, const batch_bool& b) {
    batch_bool result;
    for (std::size_t i = 0; i < size; ++i) result.lanes[i] = a.lanes[i] || b.lanes[i];
    return result;
  }
};

template <class T, class Arch>
class batch {
  /// Integers wrap around, and are shifted and masked as bits.
  template <class Value>
  struct ArithmeticOf {
    using Type = Value;
  };
  template <std::signed_integral Value>
  struct ArithmeticOf<Value> {
    using Type = std::make_unsigned_t<Value>;
  };
  using Arithmetic = typename ArithmeticOf<T>::Type;
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

  template <class Operation>
  static batch each(const batch& a, const batch& b, const Operation& operation) {
    batch result;
    for (std::size_t i = 0; i < size; ++i) {
      result.lanes[i] = static_cast<T>(operation(a.lanes[i], b.lanes[i]));
    }
    return result;
  }
  template <class Operation>
  static batch each_bits(const batch& a, const batch& b, const Operation& operation) {
    return each(a, b, [&](T x, T y) {
      return std::bit_cast<T>(operation(std::bit_cast<Bits>(x), std::bit_cast<Bits>(y)));
    });
  }
  template <class Operation>
  static batch each_arithmetic(const batch& a, const batch& b, const Operation& operation) {
    return each(a, b, [&](T x, T y) {
      return operation(static_cast<Arithmetic>(x), static_cast<Arithmetic>(y));
    });
  }
  template <class Compare>
  static batch_bool<T, Arch> compared(const batch& a, const batch& b, const Compare& compare) {
    batch_bool<T, Arch> result;
    for (std::size_t i = 0; i < size; ++i) result.lanes[i] = compare(a.lanes[i], b.lanes[i]);
    return result;
  }

 public:
  using value_type = T;
  static constexpr std::size_t size = 16 / sizeof(T);
  T lanes[size];

  batch() = default;
  explicit batch(T value) {
    for (T& each : lanes) each = value;
  }
  static batch load_unaligned(const T* from) {
    batch result;
    std::memcpy(result.lanes, from, sizeof result.lanes);
    return result;
  }
  /// Copies bytes, because vectors of 16-bit elements are stored through a pointer to float that
  /// may be misaligned.
  void store_unaligned(T* to) const { std::memcpy(to, lanes, sizeof lanes); }

  friend batch operator+(const batch& a, const batch& b) {
    return each_arithmetic(a, b, std::plus());
  }
  friend batch operator-(const batch& a, const batch& b) {
    return each_arithmetic(a, b, std::minus());
  }
  friend batch operator*(const batch& a, const batch& b) {
    return each_arithmetic(a, b, std::multiplies());
  }
  friend batch operator&(const batch& a, const batch& b) { return each_bits(a, b, std::bit_and()); }
  friend batch operator|(const batch& a, const batch& b) { return each_bits(a, b, std::bit_or()); }
  friend batch operator^(const batch& a, const batch& b) { return each_bits(a, b, std::bit_xor()); }
  batch operator~() const {
    return each_bits(*this, *this, [](Bits x, Bits) { return ~x; });
  }
  friend batch operator<<(const batch& a, int bits) {
    return each_bits(a, a, [bits](Bits x, Bits) { return x << bits; });
  }
  friend batch operator>>(const batch& a, int bits) {
    return each(a, a, [bits](T x, T) { return x >> bits; });
  }
  friend batch_bool<T, Arch> operator!=(const batch& a, const batch& b) {
    return compared(a, b, std::not_equal_to());
  }
  friend batch_bool<T, Arch> operator<(const batch& a, const batch& b) {
    return compared(a, b, std::less());
  }
};

template <class T, class Arch>
inline batch<float, Arch> to_float(const batch<T, Arch>& from) {
  batch<float, Arch> result;
  for (std::size_t i = 0; i < result.size; ++i) result.lanes[i] = static_cast<float>(from.lanes[i]);
  return result;
}

template <class T, class Arch>
inline bool any(const batch_bool<T, Arch>& mask) {
  bool found = false;
  for (const bool each : mask.lanes) found = found || each;
  return found;
}

template <class To, class From, class Arch>
inline batch<To, Arch> bitwise_cast(const batch<From, Arch>& from) {
  return std::bit_cast<batch<To, Arch>>(from);
}

template <class T, class Arch>
inline batch<T, Arch> min(batch<T, Arch> a, const batch<T, Arch>& b) {
  for (std::size_t i = 0; i < a.size; ++i)
    a.lanes[i] = b.lanes[i] < a.lanes[i] ? b.lanes[i] : a.lanes[i];
  return a;
}

template <class T, class Arch>
inline batch<T, Arch> max(batch<T, Arch> a, const batch<T, Arch>& b) {
  for (std::size_t i = 0; i < a.size; ++i)
    a.lanes[i] = a.lanes[i] < b.lanes[i] ? b.lanes[i] : a.lanes[i];
  return a;
}

template <class T, class Arch>
inline batch<T, Arch> abs(batch<T, Arch> a) {
  for (T& each : a.lanes) each = each < 0 ? -each : each;
  return a;
}

}  // namespace xsimd

// The interface is that of version 11: bitwise_cast takes the type of an element.
#define XSIMD_VERSION_MAJOR 11
