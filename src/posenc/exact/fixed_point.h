// Fixed-point fractions of many bits, for exact frequencies and phases. All operations are integer
// operations, so the bits are the same on every machine.
#pragma once

#include "posenc/support/detail.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace posenc::detail {

__extension__ typedef unsigned __int128 uint128;

/// A fraction in [0, 1) in units of 2^(-64 Limbs); limb 0 is the highest. Arithmetic is modulo 1.
template <std::size_t Limbs>
struct Fraction {
  std::array<std::uint64_t, Limbs> limb{};

  constexpr bool operator==(const Fraction&) const = default;

  constexpr Fraction& operator+=(const Fraction& b) noexcept {
    std::uint64_t carry = 0;
    for (std::size_t i = Limbs; i-- > 0;) {
      const uint128 sum = static_cast<uint128>(limb[i]) + b.limb[i] + carry;
      limb[i] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    return *this;
  }

  constexpr Fraction& operator-=(const Fraction& b) noexcept {
    std::uint64_t borrow = 0;
    for (std::size_t i = Limbs; i-- > 0;) {
      const uint128 difference = static_cast<uint128>(limb[i]) - b.limb[i] - borrow;
      limb[i] = static_cast<std::uint64_t>(difference);
      borrow = static_cast<std::uint64_t>(difference >> 64) & 1;
    }
    return *this;
  }

  friend constexpr Fraction operator+(Fraction a, const Fraction& b) noexcept { return a += b; }
  friend constexpr Fraction operator-(Fraction a, const Fraction& b) noexcept { return a -= b; }

  /// The truncated product, which is too low by less than 2 Limbs - 1 units.
  friend constexpr Fraction operator*(const Fraction& a, const Fraction& b) noexcept {
    Fraction product;
    // Limbs are counted from the top: a.limb[i] * b.limb[j] ends at limb i + j + 1, and only the
    // high part of the first omitted column is kept.
    uint128 column = 0;  // the running column sum, with its carries above 64 bits
    for (std::size_t i = 0; i < Limbs; ++i) {
      column += static_cast<std::uint64_t>(
          (static_cast<uint128>(a.limb[i]) * b.limb[Limbs - 1 - i]) >> 64);
    }
    for (std::size_t end = Limbs - 1; end > 0; --end) {
      uint128 next = 0;
      for (std::size_t i = 0; i < end; ++i) {
        const uint128 partial = static_cast<uint128>(a.limb[i]) * b.limb[end - 1 - i];
        column += static_cast<std::uint64_t>(partial);
        next += static_cast<std::uint64_t>(partial >> 64);
      }
      product.limb[end] = static_cast<std::uint64_t>(column);
      column = next + (column >> 64);
    }
    product.limb[0] = static_cast<std::uint64_t>(column);
    return product;
  }

  /// The exact product, modulo 1.
  friend constexpr Fraction operator*(const Fraction& a, std::uint64_t factor) noexcept {
    Fraction product;
    std::uint64_t carry = 0;
    for (std::size_t i = Limbs; i-- > 0;) {
      const uint128 partial = static_cast<uint128>(a.limb[i]) * factor + carry;
      product.limb[i] = static_cast<std::uint64_t>(partial);
      carry = static_cast<std::uint64_t>(partial >> 64);
    }
    return product;
  }

  /// The truncated quotient.
  friend constexpr Fraction operator/(const Fraction& a, std::uint64_t divisor) noexcept {
    return quotient(0, a, divisor);
  }

  /// (whole + fraction) / divisor, truncated. `whole` must be below the divisor.
  static constexpr Fraction quotient(std::uint64_t whole, const Fraction& fraction,
                                     std::uint64_t divisor) noexcept {
    Fraction result;
    uint128 remainder = whole;
    for (std::size_t i = 0; i < Limbs; ++i) {
      const uint128 part = remainder << 64 | fraction.limb[i];
      result.limb[i] = static_cast<std::uint64_t>(part / divisor);
      remainder = part % divisor;
    }
    return result;
  }
};

}  // namespace posenc::detail
