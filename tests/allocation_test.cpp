// Encoding allocates nothing, so that it can stand in a real-time loop: counted by this program's
// own operator new.
#include "posenc/encoder.h"
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

// Not inline: GCC would see free() meet memory of an operator new, and warn.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
// A sanitizer's own would not go with the operator delete below.
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
  // Called as a function: a compiler may leave out what a new-expression would call.
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

INSTANTIATE_TEST_SUITE_P(All, EncodingAllocates, testing::ValuesIn(test::running_backends()),
                         [](const auto& each) { return test::identifier(*each.param); });

}  // namespace
}  // namespace posenc
