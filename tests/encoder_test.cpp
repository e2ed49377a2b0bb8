// The contract of Encoder, for every backend: a row has the same bits in every call, and nothing is
// written outside the rows.
#include "posenc/encoder.h"
#include "posenc/cursor.h"

#include "posenc/registry.h"
#include "support.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace posenc::test {
namespace {

// Positions near which methods change their path: the start, an anchor, a block, the end of a
// table, the last positions of 32 bits and those allowed; and counts of rows of several paths.
constexpr RowRange ranges[] = {
    {0, 0},
    {0, 15},
    {0, 100},
    {1, 1},
    {63, 2},
    {64, 16},
    {1000, 17},
    {4091, 77},
    {(1 << 20) - 7, 33},
    {std::numeric_limits<std::int32_t>::max() - 1, 2},
    {1'000'000'000'000, 100},
    {max_position - 50, 51},
};
constexpr std::int64_t d_models[] = {2, 4, 6, 20, 96, 98, 130, 176, 256, 510, 512, 1100, 4098};
// Larger tables are tested at position 0 only, because the path of a large shape does not depend on
// the position.
constexpr std::int64_t most_entries_elsewhere = sanitized ? 30'000 : 100'000;

/// The rows from single-row calls. Every other kind of call must reproduce them bit for bit.
template <class T>
BasicMatrix<T> one_by_one(const Encoder& encoder, std::span<const std::int64_t> positions) {
  const std::int64_t columns = encoder.spec().d_model;
  BasicMatrix<T> rows(std::ssize(positions), columns);
  for (std::int64_t r = 0; r < rows.rows(); ++r) {
    encoder.encode({.first = positions[static_cast<std::size_t>(r)], .count = 1},
                   {rows.row(r).data(), 1, columns, columns});
  }
  return rows;
}

/// Rows that begin at cache lines, at places that differ from row to row, and a page apart, by
/// every policy of stores and several threads; and gathers.
template <class T>
void expect_same_rows_in_every_call(const Encoder& encoder, RowRange rows) {
  const std::int64_t columns = encoder.spec().d_model;
  std::vector<std::int64_t> positions = positions_of(rows);
  const BasicMatrix<T> expected = one_by_one<T>(encoder, positions);
  const std::int64_t page = 4096 / std::int64_t{sizeof(T)},
                     to_page = (columns + page - 1) / page * page - columns;
  int threads = 1;
  for (const auto& [gap, offset] : {std::pair<std::int64_t, std::int64_t>{0, 0},
                                    {0, 31},
                                    {3, 1},
                                    {5, 5},
                                    {64, 0},
                                    {64, 6},
                                    {to_page, 0},
                                    {to_page, 3}}) {
    for (const StorePolicy stores : {StorePolicy::cached, StorePolicy::non_temporal}) {
      Guarded<T> out(rows.count, columns, columns + gap, offset);
      encoder.encode(rows, out.view(), {threads, stores});
      expect_rows(out, expected,
                  "gap " + std::to_string(gap) + ", offset " + std::to_string(offset) + ", " +
                      std::to_string(threads) + " threads, " + std::string(to_string(stores)));
      threads = threads % 4 + 1;
    }
  }
  const auto expect_gathered = [&](const auto& gathered, const BasicMatrix<T>& as, int of_threads) {
    Guarded<T> out(std::ssize(gathered), columns, columns + 5, 3);
    encoder.encode(gathered, out.view(), of_threads);
    expect_rows(out, as, "gather");
  };
  expect_gathered(positions, expected, 1);
  if (positions.empty()) return;
  if (positions.back() <= std::numeric_limits<std::int32_t>::max())
    expect_gathered(std::vector<std::int32_t>(positions.begin(), positions.end()), expected, 2);
  std::shuffle(positions.begin(), positions.end(), std::mt19937(20261121));
  positions.push_back(positions.front());  // the same position twice
  expect_gathered(positions, one_by_one<T>(encoder, positions), 3);
}

class EncoderRows : public testing::TestWithParam<BackendAndType> {};

TEST_P(EncoderRows, HaveTheSameBitsInEveryKindOfCall) {
  const auto& [backend, type] = GetParam();
  if (!backend->supports(type)) GTEST_SKIP() << "not written by this backend";
  std::size_t next_layout = 0;
  for (const std::int64_t d_model : d_models) {
    const Layout layout = all_layouts[next_layout++ % std::size(all_layouts)];
    const auto encoder = backend->plan({.d_model = d_model, .layout = layout});
    for (const RowRange rows : ranges) {
      if (rows.first != 0 && rows.count * d_model > most_entries_elsewhere) continue;
      SCOPED_TRACE("d_model " + std::to_string(d_model) + ", rows " + std::to_string(rows.first) +
                   " + " + std::to_string(rows.count));
      with_type(type, [&]<class T>(T) { expect_same_rows_in_every_call<T>(*encoder, rows); });
    }
  }
  for (const Layout layout : {Layout::interleaved, Layout::halves}) {
    SCOPED_TRACE("next to midpoints, " + std::string(to_string(layout)));
    const RowRange rows = {(std::int64_t{1} << 52) - 40, 90};
    std::unique_ptr<const Encoder> encoder;
    try {
      encoder = backend->plan(spec_near_midpoints(type, 256, 52, layout));
    } catch (const InvalidArgument& refusal) {
      GTEST_SKIP() << refusal.what();  // Bounds.ThePublishedMethodsRefuseNoRule
    }
    with_type(type, [&]<class T>(T) { expect_same_rows_in_every_call<T>(*encoder, rows); });
  }
}

INSTANTIATE_TEST_SUITE_P(All, EncoderRows,
                         testing::Combine(testing::ValuesIn(running_backends()),
                                          testing::ValuesIn(all_data_types)),
                         of_backend_and_type);

class EveryEncoder : public testing::TestWithParam<const Backend*> {};

TEST_P(EveryEncoder, StartsFromZeroAndOne) {
  for (const Spacing spacing : all_spacings) {
    for (const std::int64_t d_model : {4, 34}) {
      const Matrix row =
          encoded(*GetParam()->plan({.d_model = d_model, .spacing = spacing}), {0, 1});
      for (std::int64_t k = 0; k < d_model; ++k)
        EXPECT_EQ(bits(row(0, k)), bits(k % 2 == 0 ? 0.0F : 1.0F)) << k;
    }
  }
}

TEST_P(EveryEncoder, WritesNoSpareRowsAndColumnsOfAView) {
  const auto encoder = GetParam()->plan({.d_model = 98});
  const RowRange rows{5, 3};
  GuardedMatrix memory(rows.count, 98, 98 + 8, 0);
  MatrixView<float> larger = memory.view();
  larger.rows += 10;
  larger.columns += 2;
  encoder->encode(rows, larger);
  expect_rows(memory, one_by_one<float>(*encoder, positions_of(rows)), "a larger view");
}

TEST(EncoderCall, RefusesBadViewsRowsAndThreadsBeforeItWrites) {
  const auto encoder = backend("rotation").plan({.d_model = 8});
  GuardedMatrix memory(4, 8, 10, 0);
  const MatrixView<float> good = memory.view();
  const auto encode = [&](const auto& rows, MatrixView<float> view, int threads = 1) {
    return [=, &encoder] { encoder->encode(rows, view, threads); };
  };
  const auto add = [&](MatrixView<const float> x) {
    return [=, &encoder] { encoder->add({0, 4}, x, 1.0F, good); };
  };
  using Positions = std::vector<std::int64_t>;
  expect_refused({
      {"view has 4 rows; allowed: at least the row count, 5", encode(RowRange{0, 5}, good)},
      {"6 columns; allowed: at least d_model, 8", encode(RowRange{0, 4}, {good.data, 4, 6, 10})},
      {"stride 7; allowed: at least its columns, 8", encode(RowRange{0, 4}, {good.data, 4, 8, 7})},
      {"stride -10; allowed: at least", encode(RowRange{0, 4}, {good.data, 4, 8, -10})},
      // The whole view counts, not only the rows that are written.
      {"view spans 4 rows", encode(RowRange{0, 1}, {good.data, 4, 8, INT64_MAX / 4})},
      {"no memory", encode(RowRange{0, 4}, {nullptr, 4, 8, 10})},
      {"threads is 0; allowed: at least 1", encode(RowRange{0, 4}, good, 0)},
      {"row count is 4; allowed from position 9007199254740991: 0 to 2",
       encode(RowRange{max_position - 1, 4}, good)},
      {"position is -9007199254740993", encode(Positions{0, 1, 2, -max_position - 1}, good)},
      {"position is 9007199254740993", encode(Positions{0, max_position + 1}, good)},
      {"4 rows", encode(std::array<std::int32_t, 5>{0, 1, -5, 2, 3}, good)},
      {"threads is 0", encode(Positions(4), good, 0)},
      {"x is 3 x 8", add({good.data, 3, 8, 10})},
      {"x is 4 x 6", add({good.data, 4, 6, 10})},
      {"stride 9", add({good.data, 4, 8, 9})},
      {"null", add({nullptr, 4, 8, 10})},
  });
  EXPECT_TRUE(memory.untouched());
  const MatrixView<float> no_rows = {nullptr, 0, 8, 8};
  EXPECT_NO_THROW(encoder->encode(RowRange{5, 0}, no_rows));
  EXPECT_NO_THROW(encoder->encode(Positions(), no_rows, 4));
}

INSTANTIATE_TEST_SUITE_P(All, EveryEncoder, testing::ValuesIn(running_backends()), of_backend);

TEST(Cursor, EndsAtTheLastPosition) {
  const auto encoder = backend("rotation").plan({.d_model = 4});
  Cursor cursor(*encoder, max_position);
  EXPECT_EQ(cursor.next().size(), 4u);
  EXPECT_THROW(cursor.next(), InvalidArgument);
  EXPECT_THROW(cursor.seek(max_position + 1), InvalidArgument);
  EXPECT_THROW(Cursor(*encoder, -max_position - 1), InvalidArgument);
}

template <class T>
void expect_rows_of_a_table(const Encoder& encoder) {
  const std::int64_t d_model = encoder.spec().d_model;
  if (!encoder.backend().supports(data_type_of<T>)) {
    EXPECT_THROW(BasicCursor<T>(encoder, 0), InvalidArgument);
    return;
  }
  for (const std::int64_t first :
       {std::int64_t{0}, std::int64_t{7}, std::int64_t{1'000'000}, max_position - 40}) {
    const std::int64_t count = std::min<std::int64_t>(70, max_position - first + 1);
    const auto table = encoded<T>(encoder, {first, count});
    const auto expect = [&](std::span<const T> row, std::int64_t r) {
      ASSERT_EQ(std::memcmp(row.data(), table.row(r).data(), row.size_bytes()), 0) << first + r;
    };
    BasicCursor<T> cursor(encoder, first);
    std::vector<T> row(static_cast<std::size_t>(d_model));
    for (std::int64_t r = 0; r < count; ++r) {
      ASSERT_EQ(cursor.position(), first + r);
      cursor.next(std::span(row));
      expect(row, r);
    }
    row.pop_back();
    EXPECT_THAT(refusal([&] { cursor.next(std::span(row)); }), HasSubstr("row has"));
    EXPECT_EQ(cursor.position(), first + count);
    for (const std::int64_t r : {3, 0}) {
      cursor.seek(first + r);
      expect(cursor.next(), r);
    }
  }
}

TEST_P(EveryEncoder, ACursorGivesTheRowsOfTablesInEveryType) {
  const auto encoder = GetParam()->plan({.d_model = 98});
  for (const DataType type : all_data_types)
    with_type(type, [&]<class T>(T) { expect_rows_of_a_table<T>(*encoder); });
}

TEST(Matrix, IsAlignedAndEmptyOnceMoved) {
  Matrix from(3, 4);
  const float* const data = from.data();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
  Matrix to(std::move(from));
  EXPECT_EQ(to.data(), data);
  EXPECT_EQ(to.row(1).data(), data + 4);
  EXPECT_EQ(from.rows() + from.columns(), 0);
  from = std::move(to);
  EXPECT_EQ(from.data(), data);
  EXPECT_EQ(from.rows() * from.columns(), 12);
  EXPECT_EQ(to.rows(), 0);
}

TEST(Matrix, RefusesNegativeAndOverflowingShapes) {
  EXPECT_THAT(refusal([] { Matrix(-1, 4); }), HasSubstr("-1 x 4"));
  EXPECT_THAT(refusal([] { Matrix(INT64_MAX / 2, 4); }), HasSubstr("4611686018427387903 x 4"));
}

/// add() is bit-identical to encode(), then a multiplication and an addition in float32, and one
/// rounding to T.
template <class T>
void expect_sums(const Encoder& encoder, RowRange rows, std::int64_t stride, std::int64_t offset) {
  const std::int64_t d_model = encoder.spec().d_model;
  const Matrix encoding = encoded(encoder, rows);
  BasicMatrix<T> x(rows.count, stride), expected(rows.count, d_model);
  for (std::int64_t r = 0; r < rows.count; ++r) {
    for (std::int64_t i = 0; i < d_model; ++i) {
      x(r, i) = nearest<T>(static_cast<double>((31 * r + i) % 97) * 0.37 - 11.0);
      const float scaled = static_cast<float>(to_double(x(r, i))) * 1.7F;
      const float sum = scaled + encoding(r, i);
      expected(r, i) = nearest<T>(static_cast<double>(sum));
    }
  }
  const MatrixView<T> input = {x.data(), rows.count, d_model, stride};
  for (const StorePolicy stores : {StorePolicy::cached, StorePolicy::non_temporal}) {
    Guarded<T> out(rows.count, d_model, stride, offset);
    encoder.add(rows, input, 1.7F, out.view(), {2, stores});
    expect_rows(out, expected, "stride " + std::to_string(stride));
  }
  encoder.add(rows, input, 1.7F, input);
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const auto row = expected.row(r);
    ASSERT_EQ(std::memcmp(x.row(r).data(), row.data(), row.size_bytes()), 0) << "in place, " << r;
  }
}

/// Sums at cache lines, at places that differ from row to row, and pages and half pages apart.
template <class T>
void expect_sums_in_every_place(const Encoder& encoder) {
  const std::int64_t d_model = encoder.spec().d_model;
  SCOPED_TRACE("d_model " + std::to_string(d_model));
  for (const RowRange rows : {RowRange{0, 1}, RowRange{-50, 90}, RowRange{70'000, 600}})
    expect_sums<T>(encoder, rows, d_model, 0);
  constexpr std::int64_t line = 64 / sizeof(T), page = 4096 / sizeof(T);
  const std::int64_t lines = (d_model + line - 1) / line * line,
                     pages = (d_model + page - 1) / page * page;
  for (const auto& [stride, offset] : {std::pair<std::int64_t, std::int64_t>{lines, 0},
                                       {d_model, 1},
                                       {d_model + 5, 5},
                                       {pages, 0},
                                       {pages, 15},
                                       {pages + page / 2, 0}})
    expect_sums<T>(encoder, {4091, 77}, stride, offset);
}

TEST_P(EveryEncoder, AddIsBitIdenticalToEncodeThenAdd) {
  for (const Layout layout : all_layouts) {
    for (const std::int64_t d_model : {2, 34, 64, 130, 256, 1100})
      expect_sums_in_every_place<float>(*GetParam()->plan({.d_model = d_model, .layout = layout}));
  }
}

TEST_P(EveryEncoder, AddOf16BitElementsRoundsOnce) {
  for (const std::int64_t d_model : {2, 98, 1100}) {
    const auto encoder = GetParam()->plan({.d_model = d_model});
    expect_sums_in_every_place<Float16>(*encoder);
    expect_sums_in_every_place<BFloat16>(*encoder);
  }
  expect_sums<BFloat16>(*GetParam()->plan({.d_model = 5000}), {0, 150}, 5002, 0);
}

}  // namespace
}  // namespace posenc::test
