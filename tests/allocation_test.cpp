// encode() allocates nothing, so that it can be called in a real-time loop. This program's own
// operator new counts the allocations.
#include "posenc/c_api.h"
#include "posenc/encoder.h"
#include "posenc/model/axes.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/model/rotary_config.h"
#include "posenc/registry.h"
#include "support.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

thread_local std::int64_t allocations = 0;
/// The number of allocations that succeed before one fails. If it is negative, all succeed.
thread_local std::int64_t until_failure = -1;
/// True if all later allocations fail, too.
thread_local bool failure_lasts = false;

/// Counts an allocation. Returns true if it fails.
bool fails() {
  ++allocations;
  if (until_failure != 0) {
    until_failure -= until_failure > 0 ? 1 : 0;
    return false;
  }
  if (!failure_lasts) until_failure = -1;
  return true;
}

}  // namespace

// These functions are not inline. If GCC saw that free() releases memory from an operator new, it
// would warn.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (fails()) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
// If a sanitizer's operator new were used here, it would not match the operator delete below.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return fails() ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
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

/// Calls work() with one allocation failing after another until none fails, alone and with all
/// later ones. Expects that each failure is a std::bad_alloc and leaves the output as it was. After
/// the first 100 allocations, about every hundredth part of them is tried.
template <class Work>
void expect_all_or_nothing(const std::vector<float>& output, const Work& work) {
  const std::vector<float> before = output;
  bool is_done = false;
  for (std::int64_t failures = 0; !is_done; failures += 1 + failures / 100) {
    ASSERT_LT(failures, 1'000'000);
    for (int tries = 0; tries < 2 && !is_done; ++tries) {
      until_failure = failures;
      failure_lasts = tries == 0;
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
  }
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
  expect_all_or_nothing(table, [&] {
    AxesEncoder(angles).encode(of_rows,
                               MatrixView<float>{table.data(), rows, dimension, dimension});
  });
  EXPECT_EQ(table[1], 1);
  std::vector<float> heads(rows * dimension, 1.0F);
  const HeadsView x[] = {rows_first(heads.data(), 1, rows, 1, dimension)};
  expect_all_or_nothing(heads, [&] { Rotary(RotarySpec{angles}).apply(x, of_rows); });
  EXPECT_NE(heads.back(), 1);
  std::vector<float> sum(20 * dimension, 1.0F);
  const MatrixView<float> out = {sum.data(), 20, dimension, dimension};
  const auto encoder = backend("rotation").plan({.d_model = dimension});
  expect_all_or_nothing(sum, [&] { encoder->add({.first = -10, .count = 20}, out, 1, out); });
  EXPECT_NE(sum[0], 1);
  const ForwardOptions options = {.training = true, .seed = 1};
  expect_all_or_nothing(sum, [&] {
    PositionalEncoding({.d_model = dimension}, 20, 0.5)
        .forward(batch_first(sum.data(), 1, 20, dimension), options);
  });
}

// All functions of the C interface share the code that turns exceptions into statuses.
TEST(Allocation, ThatFailsIsAStatusOfTheCInterface) {
  until_failure = 0;
  failure_lasts = false;
  const char* const version = posenc_version();
  posenc_backend_name(0);
  until_failure = -1;
  EXPECT_STRNE(version, "");
  EXPECT_NE(posenc_backend_name(0), nullptr) << "a failure lasts for one call";

  std::vector<float> row(64, 0.5F);
  const auto expect = [&](const auto& call) {
    expect_all_or_nothing(row, [&] {
      const posenc_status status = call();
      if (status == POSENC_OUT_OF_MEMORY) throw std::bad_alloc();
      ASSERT_EQ(status, POSENC_OK) << posenc_last_error();
    });
  };
  const posenc_spec spec = posenc_default_spec(64);
  posenc_spec of_rule = spec, of_preset = spec;
  of_rule.frequencies = "llama3:factor=8,trained_rows=8192";
  expect([&] { return posenc_preset("llama_3_1", &of_preset, nullptr, nullptr); });
  posenc_encoder* encoder = nullptr;
  expect([&] { return posenc_plan("rotation", &of_rule, &encoder); });
  posenc_encoder_free(encoder);
  expect([&] { return posenc_plan_selected(&spec, 0, 9, POSENC_FLOAT32, nullptr, &encoder); });
  posenc_cursor* cursor = nullptr;
  expect([&] { return posenc_cursor_create(encoder, 0, POSENC_FLOAT32, &cursor); });
  expect([&] { return posenc_cursor_next(cursor, row.data(), 64); });
  posenc_cursor_free(cursor);
  posenc_encoder_free(encoder);
  constexpr std::int64_t sizes[] = {8, 12, 12};
  posenc_axes* axes = nullptr;
  expect([&] { return posenc_axes_create(POSENC_AXES_IN_SECTIONS, sizes, 3, &spec, &axes); });
  posenc_axes_free(axes);
  posenc_positional_encoding* layer = nullptr;
  expect([&] { return posenc_positional_encoding_create(&spec, 16, 0.5, nullptr, &layer); });
  posenc_positional_encoding_free(layer);
  posenc_rotary* rotary = nullptr;
  const char* config = R"({"model_type": "llama", "head_dim": 64, "x": [[1], {"y": [2]}]})";
  const auto read = [&] {
    return posenc_rotary_create_from_config(config, nullptr, nullptr, &rotary);
  };
  expect(read);
  posenc_rotary_free(rotary);
  expect(read);  // every allocation, now that the model types are known
  posenc_rotary_free(rotary);
  rotary = nullptr;
  config = R"({"model_type": "llava", "text_config": {"model_type": "llama", "head_dim": 64}})";
  expect(read);
  posenc_rotary_free(rotary);
  rotary = nullptr;
  config = R"({"model_type": "llama", "head_dim": 64, "x": [[1], {"y": [2]})";
  expect([&] {  // of text that is not JSON
    const posenc_status status = read();
    return status == POSENC_INVALID_ARGUMENT ? POSENC_OK : status;
  });
}

/// Reads the configuration with each allocation failing together with all later ones.
void expect_an_end(const std::string& config) {
  bool is_done = false;
  failure_lasts = true;
  for (std::int64_t failures = 0; !is_done; ++failures) {
    until_failure = failures;
    try {
      read_rotary_config(config);
      is_done = true;
    } catch (const std::bad_alloc&) {
    } catch (const InvalidArgument&) {
      is_done = true;
    }
    until_failure = -1;
  }
}

TEST(Allocation, ThatFailsEndsNoReadingOfAConfiguration) {
  read_rotary_config(R"({"model_type": "llama", "head_dim": 64})");  // reads the model types, too
  std::string text = read_file(std::filesystem::path(POSENC_TEST_DATA) / "rotary_readings.json");
  for (std::size_t at = 0; (at = text.find("Infinity", at)) != std::string::npos;)
    text.replace(at, 8, "null");  // Python writes it, and JSON has no infinity
  const auto data = nlohmann::json::parse(text);
  std::size_t number = 0;
  for (const auto& each : data.at("models"))
    if (number++ % (sanitized ? 16 : 1) == 0) expect_an_end(each.at("config").dump());
  EXPECT_GT(number, 250U);
}

INSTANTIATE_TEST_SUITE_P(All, EncodingAllocates, testing::ValuesIn(running_backends()), of_backend);

}  // namespace
}  // namespace posenc::test
