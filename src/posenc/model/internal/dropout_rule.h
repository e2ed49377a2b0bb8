// Dropout as layers apply it. Internal: not installed.
#pragma once

#include "posenc/model/dropout.h"

#include <cstdint>
#include <optional>

namespace posenc {

/// Decides which elements are kept. dropout.h defines the random bits of an element.
struct DropoutRule {
  std::uint64_t seed;
  std::uint8_t threshold;        ///< drops an element if its byte is below, keeps it if above
  std::uint32_t fine_threshold;  ///< if the byte is equal, drops the element if its word is below
  float scale;                   ///< factor of the elements that are kept
};

/// Empty if nothing is dropped: dropout is then the identity, at no cost.
std::optional<DropoutRule> dropout_rule(const Dropout& dropout, bool training,
                                        std::uint64_t seed) noexcept;

/// x[i] = x[i] * scale if element first_element + i is kept, else 0.
void drop(const DropoutRule& rule, std::uint64_t first_element, std::int64_t count,
          float* x) noexcept;

}  // namespace posenc
