#include "posenc/model/dropout.h"

#include "posenc/model/internal/checks.h"
#include "posenc/model/internal/dropout_rule.h"
#include "posenc/model/internal/philox.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace posenc {
namespace {

// The layout of the random bits: see dropout.h.
constexpr std::int64_t block_elements = 128, block_counters = 8;

std::uint32_t low(std::uint64_t value) noexcept { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) noexcept { return static_cast<std::uint32_t>(value >> 32); }

/// Which elements of a block are kept.
using Kept = std::array<bool, block_elements>;

Kept kept_of_block(const DropoutRule& rule, std::uint64_t block) noexcept {
  const PhiloxKey key = {low(rule.seed), high(rule.seed)};
  std::uint8_t bytes[block_elements];
  for (std::int64_t c = 0; c < block_counters; ++c) {
    const std::uint64_t n = block * block_counters + static_cast<std::uint64_t>(c);
    const PhiloxCounter words = philox4x32_7({low(n), high(n), 0, 0}, key);
    for (std::int64_t i = 0; i < 16; ++i) {
      bytes[i / 8 * (block_elements / 2) + 8 * c + i % 8] =
          static_cast<std::uint8_t>(words[static_cast<std::size_t>(i / 4)] >> (8 * (i % 4)));
    }
  }
  Kept kept;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i] = bytes[i] > rule.threshold;
    if (bytes[i] != rule.threshold) continue;
    const std::uint64_t n = block * block_elements + i;
    kept[i] = philox4x32_7({low(n), high(n), 1, 0}, key)[0] >= rule.fine_threshold;
  }
  return kept;
}

DropoutRule rule_of(const Dropout& dropout, std::uint64_t seed) noexcept {
  const double scaled = dropout.probability() * 256.0;
  const double whole = std::floor(scaled);
  return {seed, static_cast<std::uint8_t>(whole),
          static_cast<std::uint32_t>((scaled - whole) * 0x1p32), dropout.scale()};
}

}  // namespace

Dropout::Dropout(double probability) : probability_(probability), scale_(0) {
  if (!(probability >= 0.0 && probability < 1.0)) {
    throw InvalidArgument(
        format_text("dropout is {}; allowed: at least 0 and below 1", probability));
  }
  scale_ = static_cast<float>(1.0 / (1.0 - probability));
}

bool Dropout::keeps(std::uint64_t seed, std::uint64_t element) const noexcept {
  return kept_of_block(
      rule_of(*this, seed),
      element / block_elements)[static_cast<std::size_t>(element % block_elements)];
}

void Dropout::apply(std::span<const float> in, std::span<float> out, std::uint64_t seed,
                    std::uint64_t first_element, EncodeOptions options) const {
  check_threads(options.threads);
  const std::int64_t count = std::ssize(in);
  check_equal("out", "elements", std::ssize(out), "as many as in", count);
  check_apart({"out", InputView(out.data(), 1, count, count)},
              {"in", InputView(in.data(), 1, count, count)}, true);
  const auto rule = dropout_rule(*this, true, seed);
  parallel_for(count, rows_per_piece(1), options.threads,
               [&](std::int64_t begin, std::int64_t end, int) {
                 const std::int64_t size = end - begin;
                 float* const to = out.data() + begin;
                 if (in.data() != out.data()) std::copy_n(in.data() + begin, size, to);
                 if (rule) drop(*rule, first_element + static_cast<std::uint64_t>(begin), size, to);
               });
}

void drop(const DropoutRule& rule, std::uint64_t first_element, std::int64_t count,
          float* x) noexcept {
  for (std::int64_t i = 0; i < count;) {
    const std::uint64_t element = first_element + static_cast<std::uint64_t>(i);
    const Kept kept = kept_of_block(rule, element / block_elements);
    for (auto at = static_cast<std::size_t>(element % block_elements);
         at < kept.size() && i < count; ++at, ++i)
      x[i] = kept[at] ? x[i] * rule.scale : 0.0f;
  }
}

std::optional<DropoutRule> dropout_rule(const Dropout& dropout, bool training,
                                        std::uint64_t seed) noexcept {
  if (!training || dropout.probability() == 0.0) return std::nullopt;
  return rule_of(dropout, seed);
}

}  // namespace posenc
