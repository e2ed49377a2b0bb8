#include "posenc/model/dropout.h"

#include "posenc/error.h"
#include "posenc/model/internal/philox.h"
#include "posenc/support/format.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace posenc::model {
namespace {

// The layout of the random bits: see dropout.h.
constexpr std::int64_t block_elements = 128, block_counters = 8;

/// True for each element of a block that is kept.
using Kept = std::array<bool, block_elements>;

Kept kept_of_block(std::uint64_t seed, std::uint8_t threshold, std::uint32_t fine_threshold,
                   std::uint64_t block) noexcept {
  const PhiloxKey key = {low_word(seed), high_word(seed)};
  std::uint8_t bytes[block_elements];
  for (std::int64_t c = 0; c < block_counters; ++c) {
    const std::uint64_t n = block * block_counters + static_cast<std::uint64_t>(c);
    const PhiloxCounter words = philox4x32_7({low_word(n), high_word(n), 0, 0}, key);
    for (std::int64_t i = 0; i < 16; ++i) {
      bytes[i / 8 * (block_elements / 2) + 8 * c + i % 8] =
          static_cast<std::uint8_t>(words[static_cast<std::size_t>(i / 4)] >> (8 * (i % 4)));
    }
  }
  Kept kept;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i] = bytes[i] > threshold;
    if (bytes[i] != threshold) continue;
    const std::uint64_t n = block * block_elements + i;
    kept[i] = philox4x32_7({low_word(n), high_word(n), 1, 0}, key)[0] >= fine_threshold;
  }
  return kept;
}

}  // namespace

Dropout::Dropout(double probability) : probability_(probability) {
  if (!(probability >= 0.0 && probability < 1.0))
    throw_invalid("dropout is {}; allowed: at least 0 and below 1", probability);
  scale_ = static_cast<float>(1.0 / (1.0 - probability));
  const double scaled = probability * 256.0, whole = std::floor(scaled);
  threshold_ = static_cast<std::uint8_t>(whole);
  fine_threshold_ = static_cast<std::uint32_t>((scaled - whole) * 0x1p32);
}

bool Dropout::keeps(std::uint64_t seed, std::uint64_t element) const noexcept {
  const Kept kept = kept_of_block(seed, threshold_, fine_threshold_, element / block_elements);
  return kept[static_cast<std::size_t>(element % block_elements)];
}

void Dropout::apply(std::span<float> x, std::uint64_t seed,
                    std::uint64_t first_element) const noexcept {
  if (probability_ == 0.0) return;
  for (std::size_t i = 0; i < x.size();) {
    const std::uint64_t element = first_element + i;
    const Kept kept = kept_of_block(seed, threshold_, fine_threshold_, element / block_elements);
    for (auto at = static_cast<std::size_t>(element % block_elements);
         at < kept.size() && i < x.size(); ++at, ++i)
      x[i] = kept[at] ? x[i] * scale_ : 0.0f;
  }
}

}  // namespace posenc::model
