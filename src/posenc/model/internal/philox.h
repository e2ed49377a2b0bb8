// Philox4x32-7, the counter-based generator behind dropout: Salmon, Moraes, Dror, Shaw, "Parallel
// Random Numbers: As Easy as 1, 2, 3", SC11. In that paper, seven rounds are the fewest that pass
// BigCrush. The usual ten rounds add a safety margin and take 1.4 times the operations.
#pragma once

#include <array>
#include <cstdint>

namespace posenc::model {
inline namespace internals {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

constexpr std::uint32_t low_word(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint32_t high_word(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(value >> 32);
}

/// Returns four random words, which are a pure function of the counter and the key.
constexpr PhiloxCounter philox4x32_7(PhiloxCounter counter, PhiloxKey key) noexcept {
  for (int round = 0; round < 7; ++round) {
    const std::uint64_t product_0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t product_1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {high_word(product_1) ^ counter[1] ^ key[0], low_word(product_1),
               high_word(product_0) ^ counter[3] ^ key[1], low_word(product_0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

}  // namespace internals
}  // namespace posenc::model
