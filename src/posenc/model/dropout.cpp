#include "posenc/model/dropout.h"

#include "posenc/model/internal/checks.h"
#include "posenc/model/internal/dropout_rule.h"
#include "posenc/model/internal/philox.h"
#include "posenc/spec.h"
#include "posenc/support/format.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace posenc {
namespace {

constexpr std::uint64_t block_elements = philox::block_elements;
constexpr std::uint64_t block_counters = philox::block_counters;

std::uint32_t low(std::uint64_t value) noexcept { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) noexcept { return static_cast<std::uint32_t>(value >> 32); }

/// The byte of an element: see dropout.h.
std::uint8_t random_byte(std::uint64_t seed, std::uint64_t element) noexcept {
  const std::uint64_t in_block = element % block_elements;
  const std::uint64_t counter = element / block_elements * block_counters + in_block % 64 / 8;
  const auto words = philox4x32_7({low(counter), high(counter), 0, 0}, {low(seed), high(seed)});
  return static_cast<std::uint8_t>(words[2 * (in_block / 64) + in_block % 8 / 4] >>
                                   (8 * (element % 4)));
}

/// The word of an element: see dropout.h.
std::uint32_t random_word(std::uint64_t seed, std::uint64_t element) noexcept {
  return philox4x32_7({low(element), high(element), 1, 0}, {low(seed), high(seed)})[0];
}

simd::DropoutRule rule_of(const Dropout& dropout, std::uint64_t seed) noexcept {
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
  const simd::DropoutRule rule = rule_of(*this, seed);
  const std::uint8_t byte = random_byte(seed, element);
  if (byte != rule.threshold) return byte > rule.threshold;
  return random_word(seed, element) >= rule.fine_threshold;
}

void Dropout::apply(std::span<const float> in, std::span<float> out, std::uint64_t seed,
                    std::uint64_t first_element, EncodeOptions options) const {
  check_threads(options.threads);
  if (in.size() != out.size()) {
    throw InvalidArgument(
        format_text("out has {} elements; allowed: as many as in, {}", out.size(), in.size()));
  }
  if (in.data() != out.data()) check_disjoint("out", memory_of(out), "in", memory_of(in));
  const auto rule = dropout_rule(*this, true, seed);
  // Parts share no block of the generator, and no cache line if the memory is aligned.
  const auto count = static_cast<std::int64_t>(in.size());
  constexpr auto block = static_cast<std::int64_t>(block_elements);
  parallel_for((count + block - 1) / block, rows_per_piece(block), options.threads,
               [&](std::int64_t begin, std::int64_t end, int) {
                 const std::int64_t first = begin * block, last = std::min(end * block, count);
                 simd::best_kernels().combine(
                     {.x = in.data() + first,
                      .encoding = nullptr,
                      .out = out.data() + first,
                      .count = last - first,
                      .scale = 1.0f,
                      .dropout = rule ? &*rule : nullptr,
                      .first_element = first_element + static_cast<std::uint64_t>(first),
                      .non_temporal = false});
               });
}

std::optional<simd::DropoutRule> dropout_rule(const Dropout& dropout, bool training,
                                              std::uint64_t seed) noexcept {
  if (!training || dropout.probability() == 0.0) return std::nullopt;
  return rule_of(dropout, seed);
}

}  // namespace posenc
