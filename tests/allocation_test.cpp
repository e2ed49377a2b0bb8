// encode() allocates nothing, so that it can be called in a real-time loop. This program's own
// operator new counts the allocations.
#include "posenc/c_api.h"
#include "posenc/encoder.h"
#include "posenc/model/axes.h"
#include "posenc/model/rotary.h"
#include "posenc/registry.h"
#include "support.h"

#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

thread_local std::int64_t allocations = 0;
/// The number of allocations that succeed before one fails. If it is negative, all succeed.
thread_local std::int64_t until_failure = -1;

}  // namespace

// These functions are not inline. If GCC saw that free() releases memory from an operator new, it
// would warn.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
// If a sanitizer's operator new were used here, it would not match the operator delete below.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  if (until_failure >= 0 && until_failure-- == 0) return nullptr;
  return std::malloc(bytes > 0 ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace posenc::test {

using namespace model;
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
  EXPECT_EQ(allocations_of([&] { encoder->encode({.first = 1000, .count = 400}, out.view()); }), 0);
  EXPECT_EQ(allocations_of([&] { encoder->encode(positions, out.view()); }), 0);
}

// A step of decoding allocates nothing after the first one.
TEST(Allocation, IsNoneWhenHeadsAreTurned) {
  constexpr std::int64_t batch = 5, dimension = 128;
  const Rotary rotary(dimension);
  std::vector<float> queries(batch * 4 * dimension), keys(batch * dimension);
  const HeadsView x[] = {rows_first(queries.data(), batch, 1, 4, dimension),
                         rows_first(keys.data(), batch, 1, 1, dimension)};
  const std::vector<std::int64_t> positions = {3, 1000, 7, 0, 41};
  const auto step = [&] { rotary.apply(x, positions); };
  step();
  EXPECT_EQ(allocations_of(step), 0);
}

/// Calls work() with each of its allocations failing in turn, and expects that it then has left the
/// output as it was.
template <class Element, class Work>
void expect_all_or_nothing(std::vector<Element>& output, const Work& work) {
  const std::vector<Element> before = output;
  std::int64_t failures = 0;
  for (bool is_done = false; !is_done; ++failures) {
    ASSERT_LT(failures, 1000);
    until_failure = failures;
    try {
      work();
      is_done = true;
    } catch (const std::bad_alloc&) {
    }
    until_failure = -1;
    if (!is_done) {
      ASSERT_EQ(output, before) << "allocation " << failures;
    }
  }
  EXPECT_NE(output, before);
}

/// Text, whose positions are equal on all axes, between rows of a grid, in several blocks of rows.
std::vector<std::int64_t> positions_on_axes(std::int64_t rows) {
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const bool is_text = row / 200 % 2 == 0;
      positions.push_back(is_text ? row : axis == 0 ? 7 : axis == 1 ? row / 20 * 1000 : row % 20);
    }
  }
  return positions;
}

TEST(Allocation, ThatFailsLeavesAllOrNothing) {
  constexpr std::int64_t rows = 1400, dimension = 128;
  const AxesSpec angles = axes_in_blocks(std::vector<std::int64_t>{32, 48, 48}, {});
  const std::vector<std::int64_t> positions = positions_on_axes(rows);
  const RowPositions of_rows(positions.data(), 3, rows, rows);
  std::vector<float> table(rows * dimension);
  expect_all_or_nothing(table, [&, encoder = AxesEncoder(angles)] {
    encoder.encode(of_rows, MatrixView<float>{table.data(), rows, dimension, dimension});
  });
  std::vector<float> heads(rows * dimension, 1.0F);
  const HeadsView x[] = {rows_first(heads.data(), 1, rows, 1, dimension)};
  const Rotary rotary(RotarySpec{angles});
  expect_all_or_nothing(heads, [&] { rotary.apply(x, of_rows); });
  std::vector<float> sum(20 * dimension, 1.0F);
  const auto encoder = backend("rotation").plan({.d_model = dimension});
  expect_all_or_nothing(sum, [&] {
    encoder->add({.first = -10, .count = 20}, {sum.data(), 20, dimension, dimension}, 1,
                 {sum.data(), 20, dimension, dimension});
  });
}

/// Calls a function of the C interface with one allocation failing after another until none fails.
/// After the first 100 allocations, about every hundredth part of them is tried. The call must not
/// throw, must write nothing to the memory if it fails, and must work afterwards.
template <class Work>
void expect_status(const std::vector<float>& memory, const Work& work) {
  const std::vector<float> before = memory;
  posenc_status status = POSENC_OUT_OF_MEMORY;
  for (std::int64_t failures = 0; status != POSENC_OK; failures += 1 + failures / 100) {
    ASSERT_LT(failures, 1'000'000) << posenc_last_error();
    until_failure = failures;
    status = work();
    until_failure = -1;
    if (status != POSENC_OK) {
      ASSERT_EQ(status, POSENC_OUT_OF_MEMORY) << failures << ": " << posenc_last_error();
      ASSERT_EQ(memory, before) << failures;
    }
  }
}

TEST(Allocation, ThatFailsIsAStatusOfTheCInterface) {
  until_failure = 0;
  posenc_backend_name(0);
  EXPECT_STRNE(posenc_version(), "");
  until_failure = -1;
  EXPECT_NE(posenc_backend_name(0), nullptr) << "a failure lasts for one call";

  // All functions that return a status share the code that turns exceptions into one. These
  // functions allocate the most.
  std::vector<float> memory(std::size_t{64} * 64, 0.5F);
  const auto expect = [&](const auto& work) { expect_status(memory, work); };
  const posenc_spec spec = posenc_default_spec(64);
  posenc_spec of_rule = spec;
  of_rule.frequencies = "llama3:factor=8,trained_rows=8192";
  posenc_spec of_preset = spec;
  expect([&] { return posenc_preset("llama_3_1", &of_preset, nullptr, nullptr); });
  posenc_encoder* encoder = nullptr;
  expect([&] { return posenc_plan("rotation", &of_rule, &encoder); });
  posenc_encoder_free(encoder);
  expect([&] { return posenc_plan_selected(&spec, 0, 9, POSENC_FLOAT32, nullptr, &encoder); });
  posenc_cursor* cursor = nullptr;
  expect([&] { return posenc_cursor_create(encoder, 0, POSENC_FLOAT32, &cursor); });
  expect([&] { return posenc_cursor_next(cursor, memory.data(), 64); });
  posenc_cursor_free(cursor);
  posenc_encoder_free(encoder);

  std::vector<std::int64_t> list(48);
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::int64_t>(i * i % 17);
  const posenc_positions on_axes = {list.data(), 0, 16, 3, 16, POSENC_INT64, 0};
  const posenc_table table = {memory.data(), 16, 64, 64, POSENC_FLOAT32, 0};
  constexpr std::int64_t sizes[] = {8, 12, 12};
  posenc_axes* axes = nullptr;
  expect([&] { return posenc_axes_create(POSENC_AXES_IN_SECTIONS, sizes, 3, &spec, &axes); });
  posenc_axes_encoder* of_axes = nullptr;
  expect([&] { return posenc_axes_encoder_create(axes, POSENC_FLOAT32, nullptr, &of_axes); });
  expect([&] { return posenc_axes_encode(of_axes, &on_axes, &table, nullptr); });
  posenc_axes_encoder_free(of_axes);

  posenc_positional_encoding* layer = nullptr;
  const posenc_sequences x = {memory.data(), 2, 8, 64, 8 * 64, 64, POSENC_BATCH_FIRST,
                              POSENC_FLOAT32};
  const posenc_forward_options training = {sizeof training, 3, 1, 1, 1, POSENC_STORES_AUTOMATIC, 0};
  expect([&] { return posenc_positional_encoding_create(&spec, 16, 0.5, nullptr, &layer); });
  expect([&] { return posenc_positional_encoding_forward(layer, &x, &x, &training); });
  posenc_positional_encoding_free(layer);

  posenc_rotary* rotary = nullptr;
  const posenc_heads heads = {memory.data(), 1, 2, 16, 64, 0, 64, 128, POSENC_FLOAT32, 0};
  expect([&] {
    return posenc_rotary_create_with_axes(axes, POSENC_ROTARY_HALVES, 1.5, nullptr, &rotary);
  });
  expect([&] { return posenc_rotary_apply(rotary, &heads, 1, &on_axes, nullptr); });
  posenc_rotary_free(rotary);
  rotary = nullptr;
  const char* const config = R"({"model_type": "llama", "head_dim": 64})";
  expect([&] { return posenc_rotary_create_from_config(config, nullptr, nullptr, &rotary); });
  posenc_rotary_free(rotary);
  posenc_axes_free(axes);
}

INSTANTIATE_TEST_SUITE_P(All, EncodingAllocates, testing::ValuesIn(running_backends()), of_backend);

}  // namespace
}  // namespace posenc::test
