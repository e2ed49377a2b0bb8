// What the interface accepts, and what it refuses to compile because something would be lost: a
// fraction, or memory that is gone before it is used.
#include "posenc/model.h"
#include "posenc/posenc.h"
#include "support.h"

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

using Integers = std::vector<std::int64_t>;

template <class... Arguments>
concept Encodes = requires(const Encoder& encoder, Arguments&&... arguments) {
  encoder.encode(std::forward<Arguments>(arguments)...);
};
template <class... Arguments>
concept AppliesRotary = requires(const Rotary& rotary, Arguments&&... arguments) {
  rotary.apply(std::forward<Arguments>(arguments)...);
};

// Two bare integers could be a range or two positions.
template <class E>
concept TakesBareIntegers = requires(const E& encoder, OutputView out) {
  encoder.encode({5, 7}, out);
}
|| requires(const E& encoder, OutputView out, std::int64_t n) { encoder.encode({n, n}, out); }
|| requires(const E& encoder, OutputView out, std::int64_t n) { encoder.encode({0, n}, out, 2); }
|| requires(const E& encoder, OutputView out) { encoder.encode({5}, out); }
|| requires(const E& encoder, OutputView out) { encoder.encode({5, 7, 9}, out); };
static_assert(!TakesBareIntegers<Encoder>);
static_assert(Encodes<Integers&, OutputView>);
static_assert(Encodes<const Integers&, OutputView, int>);
static_assert(Encodes<std::vector<std::int32_t>&, OutputView>);
static_assert(Encodes<std::array<std::int32_t, 2>&, OutputView>);
static_assert(Encodes<std::span<std::int64_t>, OutputView>);
static_assert(Encodes<std::span<const std::int32_t, 3>, OutputView>);
static_assert(!Encodes<std::vector<std::int16_t>&, OutputView>);
static_assert(!Encodes<std::vector<std::uint32_t>&, OutputView>);
static_assert(!Encodes<std::vector<double>&, OutputView>);

// Fractions are no integers.
static_assert(AppliesRotary<const HeadsView&, std::int64_t>);
static_assert(AppliesRotary<const HeadsView&, int>);
static_assert(!AppliesRotary<const HeadsView&, double>);
static_assert(std::constructible_from<Cursor, const Encoder&, int>);
static_assert(!std::constructible_from<Cursor, const Encoder&, double>);
static_assert(std::constructible_from<Rotary, int>);
static_assert(std::constructible_from<Rotary, int, double, RotaryLayout, NtkScaling, Accuracy>);
static_assert(!std::constructible_from<Rotary, double>);
static_assert(!std::constructible_from<Rotary, float, double>);
static_assert(std::constructible_from<PositionalEncoding, const EncodingSpec&, int, double>);
static_assert(!std::constructible_from<PositionalEncoding, const EncodingSpec&, double>);
static_assert(!std::constructible_from<PositionalEncoding, const EncodingSpec&, float, double>);
static_assert(std::constructible_from<EncodeOptions, unsigned>);
static_assert(std::constructible_from<EncodeOptions, std::size_t>);
static_assert(!std::constructible_from<EncodeOptions, double>);
static_assert(!std::constructible_from<EncodeOptions, bool>);

// The memory of a temporary is gone before a view of it is used.
static_assert(std::constructible_from<RowPositions, Integers&>);
static_assert(std::constructible_from<RowPositions, const Integers&>);
static_assert(std::constructible_from<RowPositions, std::span<const std::int64_t>>);
static_assert(std::constructible_from<RowPositions, RowRange>);
static_assert(!std::constructible_from<RowPositions, Integers>);
template <class Table>
concept HasRow = requires(Table&& table) {
  std::forward<Table>(table).row(0);
};
template <class Table>
concept HasData = requires(Table&& table) {
  std::forward<Table>(table).data();
};
static_assert(HasRow<Matrix&> && HasData<Matrix&>);
static_assert(HasRow<const Matrix&> && HasData<const Matrix&>);
static_assert(!HasRow<Matrix> && !HasData<Matrix>);
static_assert(!HasRow<const Matrix> && !HasData<const Matrix>);

// A matrix is a view where one is expected, unless it is a temporary.
static_assert(Encodes<RowRange, Matrix&>);
static_assert(Encodes<RowRange, MatrixView<float>, std::size_t>);
static_assert(!Encodes<RowRange, Matrix>);
static_assert(!Encodes<RowRange, const Matrix&>);
static_assert(std::convertible_to<const Matrix&, InputView>);
static_assert(std::convertible_to<MatrixView<float>, MatrixView<const float>>);
static_assert(!std::convertible_to<MatrixView<const float>, OutputView>);

TEST(Interface, ViewsAreDenseOrHaveAStrideOrSomeRows) {
  std::vector<float> memory(6 * 10);
  const MatrixView dense(memory.data(), 6, 10), wide(memory.data(), 3, 10, 20);
  EXPECT_EQ(dense.stride, 10);
  EXPECT_EQ(wide.part(1, 2).data, memory.data() + 20);
  EXPECT_EQ(wide.part(1, 2).rows, 2);
  const OutputView any(memory.data(), 6, 10);
  EXPECT_EQ(any.stride, 10);
}

TEST(Interface, AMatrixIsAViewAndAnyIntegerANumberOfThreads) {
  const RowRange rows = {.first = 3, .count = 40};
  const auto encoder = backend("rotation").plan({.d_model = 64});
  Matrix table(40, 64);
  encoder->encode(rows, table, std::thread::hardware_concurrency());
  const Matrix expected = encode(rows, {.d_model = 64});
  EXPECT_TRUE(std::ranges::equal(table.row(39), expected.row(39)));
  Matrix sum(40, 64);
  std::fill_n(sum.data(), 40 * 64, 1.0F);
  encoder->add(rows, sum, 0.0F, sum);
  EXPECT_TRUE(std::ranges::equal(sum.row(39), expected.row(39)));
  expect_refused(
      {{"threads is -3; allowed: at least 1", [&] { encoder->encode(rows, table, -3L); }},
       {"threads is -2147483648", [&] { encoder->encode(rows, table, std::int64_t{-1} << 40); }}});
}

TEST(Interface, EveryElementTypeHasATable) {
  const RowRange rows = {.first = 7, .count = 5};
  const BasicMatrix<BFloat16> narrow = encode<BFloat16>(rows, {.d_model = 8});
  const BasicMatrix<double> wide = encode<double>(rows, {.d_model = 8});
  for (std::int64_t row = 0; row < 5; ++row)
    for (std::int64_t column = 0; column < 8; ++column)
      EXPECT_EQ(narrow(row, column), nearest<BFloat16>(wide(row, column)));
}

TEST(Interface, ACursorMayOwnItsEncoder) {
  Cursor cursor(backend("rotation").plan({.d_model = 8}), 5);
  EXPECT_EQ(cursor.next()[0], encode({.first = 5, .count = 1}, {.d_model = 8})(0, 0));
}

TEST(Interface, ListsInBracesAndOfAnyIntegersAreSections) {
  const EncodingSpec spec = {.d_model = 128};
  const std::vector<int> list = {16, 24, 24};
  const std::array<std::int64_t, 3> array = {16, 24, 24};
  EXPECT_EQ(axes_in_sections({16, 24, 24}, spec), axes_in_sections(list, spec));
  EXPECT_EQ(axes_in_sections({16, 24, 24}, spec), axes_in_sections(array, spec));
  EXPECT_EQ(axes_in_blocks({16, 56, 56}, {}).d_model(), 128);
  EXPECT_EQ(grid_positions({1, 2, 3}).size(), 18u);
}

TEST(Interface, SeveralTensorsStandInBraces) {
  const Rotary rotary(8, 10000.0, RotaryLayout::halves, LinearScaling{2});
  std::vector<float> q(3 * 8), k(3 * 8);
  std::iota(q.begin(), q.end(), 1.0F);
  k = q;
  std::vector<float> both = q;
  const Integers positions = {4, 5, 9};
  rotary.apply({rows_first(q.data(), 1, 3, 1, 8), rows_first(k.data(), 1, 3, 1, 8)}, positions);
  rotary.apply(rows_first(both.data(), 1, 3, 1, 8), positions);
  EXPECT_EQ(q, both);
  EXPECT_EQ(k, both);
}

TEST(Interface, ASumRefusesMemoryThatOverlaps) {
  const auto encoder = backend("rotation").plan({.d_model = 8});
  std::vector<float> memory(200, 1.0F);
  const RowRange rows = {.first = 0, .count = 4};
  const auto view = [&](std::int64_t from) {
    return MatrixView<float>(memory.data() + from, 4, 8, 16);
  };
  EXPECT_NO_THROW(encoder->add(rows, view(0), 1, view(0)));
  EXPECT_NO_THROW(encoder->add(rows, view(0), 1, view(8))) << "halves of wider rows";
  EXPECT_NO_THROW(encoder->add(rows, view(0), 1, view(64)));
  EXPECT_NO_THROW(encoder->add(rows, view(100), 1, view(0)));
  for (const std::int64_t apart : {1, 4, 7, 9, 15, 17, 55}) {
    expect_refused(
        {{"x overlaps the output", [&] { encoder->add(rows, view(0), 1, view(apart)); }},
         {"x overlaps the output", [&] { encoder->add(rows, view(apart), 1, view(0)); }}});
  }
}

TEST(Interface, DropoutNeedsASeed) {
  const PositionalEncoding encoding({.d_model = 8}, 16, 0.5);
  std::vector<float> x(8, 1.0F);
  const SequenceView<float> view = batch_first(x.data(), 1, 1, 8);
  expect_refused({{"seed is not given", [&] { encoding.forward(view, {.training = true}); }},
                  {"seed is not given", [&] { encoding.backward(view, {.training = true}); }}});
  EXPECT_EQ(x, std::vector<float>(8, 1.0F));
  EXPECT_NO_THROW(encoding.forward(view, {.training = true, .seed = 0}));
  EXPECT_NO_THROW(PositionalEncoding({.d_model = 8}, 16).forward(view, {.training = true}));
}

}  // namespace
}  // namespace posenc::test
