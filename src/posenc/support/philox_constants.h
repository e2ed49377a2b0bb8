// The constants of Philox4x32-7 (layers/internal/philox.h), and of the blocks in which dropout
// takes its bits (layers/dropout.h).
#pragma once

#include <cstdint>

namespace posenc::philox {

inline constexpr int rounds = 7;
inline constexpr std::uint32_t multipliers[] = {0xD2511F53, 0xCD9E8D57};
inline constexpr std::uint32_t key_increments[] = {0x9E3779B9, 0xBB67AE85};

/// Elements of a block, and counters whose bits decide them.
inline constexpr std::int64_t block_elements = 128;
inline constexpr std::int64_t block_counters = 8;

}  // namespace posenc::philox
