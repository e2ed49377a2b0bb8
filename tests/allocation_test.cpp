// encode() allocates nothing, so that it can be called in a real-time loop. This program's own
// operator new counts the allocations.
#include "posenc/encoder.h"
#include "posenc/layers/rotary.h"
#include "posenc/registry.h"
#include "support.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

thread_local std::int64_t allocations = 0;

}  // namespace

// Not inline: if GCC saw that free() releases memory from an operator new, it would warn.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
// If a sanitizer's operator new were used here, it would not match the operator delete below.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes > 0 ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace posenc {
namespace {

template <class Work>
std::int64_t allocations_of(const Work& work) {
  const std::int64_t before = allocations;
  work();
  return allocations - before;
}

TEST(Allocation, IsCounted) {
  // Call operator new as a function: a compiler may elide the allocation of a new-expression.
  EXPECT_EQ(allocations_of([] { ::operator delete(::operator new(100)); }), 1);
}

class EncodingAllocates : public testing::TestWithParam<const Backend*> {};

TEST_P(EncodingAllocates, Nothing) {
  const auto encoder = GetParam()->plan({.d_model = 130});
  Matrix out(400, 130);
  std::vector<std::int64_t> positions(400);
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = static_cast<std::int64_t>(i * i);
  const std::vector<std::int32_t> narrow(positions.begin(), positions.end());
  EXPECT_EQ(allocations_of([&] { encoder->encode({.first = 1000, .count = 400}, out.view()); }), 0);
  EXPECT_EQ(allocations_of([&] { encoder->encode(positions, out.view()); }), 0);
  EXPECT_EQ(allocations_of([&] { encoder->encode(narrow, out.view()); }), 0);
}

// A step of decoding allocates nothing after the first one.
TEST(Allocation, IsNoneWhenHeadsAreTurned) {
  constexpr std::int64_t batch = 5, dimension = 128;
  const Rotary rotary(dimension);
  std::vector<float> queries(batch * 4 * dimension), keys(batch * dimension);
  const HeadsView x[] = {rows_first(queries.data(), batch, 1, 4, dimension),
                         rows_first(keys.data(), batch, 1, 1, dimension)};
  const std::vector<std::int64_t> positions = {3, 1000, 7, 0, 41};
  Matrix cache(50, dimension);
  rotary.cache(RowRange{0, 50}, RotaryLayout::halves, cache.view());
  const std::vector<std::int32_t> rows = {3, 49, 7, 0, 41};
  const auto step = [&] {
    rotary.apply(x, positions);
    rotary.apply_cache({cache.view(), RotaryLayout::halves}, x, rows);
  };
  step();
  EXPECT_EQ(allocations_of(step), 0);
}

INSTANTIATE_TEST_SUITE_P(All, EncodingAllocates, testing::ValuesIn(test::running_backends()),
                         [](const auto& each) { return test::identifier(*each.param); });

}  // namespace
}  // namespace posenc
