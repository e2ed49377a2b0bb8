// Encodings over several axes: every entry is that of an encoding of one axis, whatever the layout,
// type, stride, stores and threads; rows that are equal, repeated, scattered; bad input.
#include "posenc/model/axes.h"

#include "posenc/model/axes_encoder.h"

#include "model/layer_support.h"
#include "posenc/registry.h"
#include "posenc/simd/kernels.h"
#include "posenc/simd/store_plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

/// Positions on three axes: those on axis 0 come first.
template <class Integer>
RowPositions on_three_axes(const std::vector<Integer>& positions) {
  const std::int64_t rows = std::ssize(positions) / 3;
  return {positions.data(), 3, rows, rows};
}

std::vector<std::int64_t> random_positions(std::int64_t rows) {
  std::mt19937_64 random(11);
  std::vector<std::int64_t> all(static_cast<std::size_t>(3 * rows));
  for (std::int64_t& position : all)
    position = static_cast<std::int64_t>(random() % 2000001) - 1000000;
  return all;
}

struct Case {
  std::string name;
  AxesSpec spec;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Layout layout : all_layouts) {
    const EncodingSpec whole = {.d_model = 128, .base = 1e6, .layout = layout};
    const std::string suffix = "_" + std::string(to_string(layout));
    all.push_back({"blocks" + suffix, axes_in_blocks({16, 56, 56}, whole)});
    all.push_back({"odd_blocks" + suffix, axes_in_blocks({44, 42, 42}, whole)});
    all.push_back({"sections" + suffix, axes_in_sections({16, 24, 24}, whole)});
    all.push_back({"interleaved" + suffix, axes_interleaved({24, 20, 20}, whole)});
    all.push_back({"alternating" + suffix, axes_alternating({20, 22, 22}, whole)});
  }
  const EncodingSpec scaled = {.d_model = 128, .base = 5e5, .frequencies = Llama3Scaling{}};
  all.push_back({"rule", axes_in_sections({16, 24, 24}, scaled)});
  AxesSpec denominators = axes_in_blocks({16, 56, 56}, {});
  denominators.parts[1].spec.frequencies = LinearScaling{3};
  denominators.parts[2].spec.frequencies = LinearScaling{0.75};
  all.push_back({"denominators", denominators});
  AxesSpec side_by_side = {.parts_have_layouts = true};
  for (const std::int64_t axis : {2, 0, 1}) {
    side_by_side.parts.push_back(
        {.axis = axis, .spec = {.d_model = 24 + 8 * axis, .layout = all_layouts[axis]}});
  }
  all.push_back({"side_by_side", side_by_side});
  AxesSpec turns = axes_in_blocks(
      {8, 8},
      {.layout = Layout::halves, .frequencies = TurnFrequencies{{1, 1, 3, 0}, {4, 7, 12, 1}}});
  for (AxisPairs& part : turns.parts) ++part.axis;
  all.push_back({"turns_without_axis_0", turns});
  return all;
}

/// The table by encodings of one axis: that of the axis of a pair, at its position.
template <class T>
BasicMatrix<T> by_one_axis(const AxesSpec& spec, const RowPositions& positions) {
  BasicMatrix<T> table(positions.count(), spec.d_model());
  const std::vector<AxisPair> pairs = pairs_of(spec);
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    EncodingSpec one = spec.parts[i].spec;
    one.layout = Layout::interleaved;
    const auto encoder = backend("rotation").plan(one);
    for (std::int64_t r = 0; r < positions.count(); ++r) {
      const auto row = encoded<T>(*encoder, {positions(spec.parts[i].axis, r), 1});
      for (const AxisPair& pair : pairs) {
        if (pair.part != i) continue;
        table(r, pair.channels.sine) = row(0, 2 * pair.k);
        table(r, pair.channels.cosine) = row(0, 2 * pair.k + 1);
      }
    }
  }
  return table;
}

class Axes : public testing::TestWithParam<Case> {};

template <class T>
void expect_rows_of_one_axis(const AxesSpec& spec, const std::vector<std::int64_t>& wide) {
  const AxesEncoder encoder(spec, {}, data_type_of<T>);
  const std::vector<std::int32_t> narrow(wide.begin(), wide.end());
  const BasicMatrix<T> expected = by_one_axis<T>(spec, on_three_axes(wide));
  int threads = 1;
  for (const std::int64_t gap : {0, 1, 5}) {
    for (const StorePolicy stores : {StorePolicy::cached, StorePolicy::non_temporal}) {
      for (const RowPositions& each : {on_three_axes(wide), on_three_axes(narrow)}) {
        Guarded<T> table(each.count(), spec.d_model(), spec.d_model() + gap, gap);
        encoder.encode(each, table.view(), {threads, stores});
        expect_rows(table, expected, std::to_string(gap) + " elements between rows");
        threads = threads % 3 + 1;
      }
    }
  }
}

TEST_P(Axes, HaveTheRowsOfOneAxisAtAnyStrideAndWriteNothingElse) {
  for (const auto& positions : {grid_positions({3, 5, 11}, {0, -2, -7}), random_positions(50)}) {
    for (const DataType type : all_data_types)
      with_type(type, [&]<class T>(T) { expect_rows_of_one_axis<T>(GetParam().spec, positions); });
  }
}

TEST_P(Axes, AreEqualIfOnePositionIsGivenForAll) {
  const AxesSpec& spec = GetParam().spec;
  const AxesEncoder encoder(spec);
  const std::vector<std::int64_t> each = positions_of({-30, 70});
  std::vector<std::int64_t> thrice;
  for (int axis = 0; axis < 3; ++axis) thrice.insert(thrice.end(), each.begin(), each.end());
  const Matrix expected = by_one_axis<float>(spec, each);
  for (const RowPositions& same :
       {RowPositions(RowRange{-30, 70}), RowPositions(each), on_three_axes(thrice)}) {
    Matrix table(70, spec.d_model());
    encoder.encode(same, table.view());
    EXPECT_TRUE(same_bits(table, expected));
  }
}

INSTANTIATE_TEST_SUITE_P(Specs, Axes, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST(Axes, PairsAreThoseOfTheModels) {
  const auto axes_of = [](const AxesSpec& spec) {
    std::string axes(static_cast<std::size_t>(spec.d_model() / 2), '-');
    for (const AxisPair& pair : pairs_of(spec))
      axes[static_cast<std::size_t>(pair.place)] = "thw"[spec.parts[pair.part].axis];
    return axes;
  };
  EXPECT_EQ(axes_of(axes_in_sections({3, 2, 3}, {.d_model = 16})), "ttthhwww");
  EXPECT_EQ(axes_of(axes_interleaved({4, 3, 2}, {.d_model = 18})), "thwthwtht");
  EXPECT_EQ(axes_of(axes_alternating({2, 3, 3}, {.d_model = 16})), "hwhwhwtt");
}

TEST(Axes, RefuseBadInput) {
  const EncodingSpec eight = {.d_model = 8}, six = {.d_model = 6};
  const EncodingSpec yarn = {.d_model = 8, .frequencies = YarnScaling{.factor = 4}};
  const auto of_parts = [](std::vector<AxisPairs> parts, bool have_layouts = false,
                           Layout layout = {}) {
    return [=] { AxesEncoder({parts, layout, have_layouts}); };
  };
  const std::vector<std::int64_t> many(17), huge(2, std::int64_t{1} << 40);
  const auto grid = [](std::vector<std::int64_t> sizes, std::vector<std::int64_t> firsts = {}) {
    return [=] { static_cast<void>(grid_positions(sizes, firsts)); };
  };
  expect_refused({
      {"the parts have 0 channels; allowed: 2 to", of_parts({})},
      {"parts[0].axis is -1; allowed: 0 to 15", of_parts({{.axis = -1, .spec = eight}})},
      {"d_model is 7", of_parts({{.spec = {.d_model = 7}}})},
      {"parts[0].frequencies has 4; allowed: 0 to 3",
       of_parts({{.spec = eight, .frequencies = {4}}})},
      {"parts[0].pairs has 1 values; allowed: one for each frequency, 4",
       of_parts({{.spec = eight, .pairs = {0}}})},
      {"parts[1].pairs has 3; allowed: 0 to 7, each in one part",
       of_parts({{.spec = eight}, {.spec = eight, .pairs = {3, 4, 5, 6}}})},
      {"parts[0].spec has an attention factor of 1.13", of_parts({{.spec = yarn}})},
      {"parts[0].pairs is given", of_parts({{.spec = eight, .pairs = {0, 1, 2, 3}}}, true)},
      {"layout is 7; allowed: 0 to 2", of_parts({{.spec = eight}}, false, static_cast<Layout>(7))},
      {"sections has 3 pairs; allowed: d_model / 2, 4",
       [&] {
         axes_in_sections({1, 2}, eight);
       }},
      {"a section is -1",
       [&] {
         axes_interleaved({-1, 5}, eight);
       }},
      {"the number of sections is 17; allowed: 1 to 16", [&] { axes_interleaved(many, eight); }},
      {"there are 2 sections",
       [&] {
         axes_alternating({1, 2}, six);
       }},
      {"d_model is 7",
       [&] {
         axes_in_blocks({8, 7}, {});
       }},
      {"a size of the grid is -1", grid({-1, 5})},
      {"at most 9007199254740992 cells", grid(huge)},
      {"the number of axes is 17; allowed: 0 to 16", grid(many)},
      {"there are 1 first positions; allowed: none, or 2", grid({2, 2}, {1})},
      {"row count is 2", grid({2, 2}, {max_position, 0})},
      {"first position is 9223372036854775807", grid({2, 2}, {INT64_MAX, 0})},
  });
  EXPECT_EQ(to_string(static_cast<Layout>(-1)), "unknown");
}

TEST(Axes, RefuseBadCallsAndWriteNothing) {
  const AxesEncoder encoder(axes_in_blocks({4, 4}, {}));
  GuardedMatrix out(2, 8, 9, 1);
  const std::int64_t good[] = {1, 2, 3, 4}, far[] = {1, 2, 3, max_position + 1},
                     near[] = {std::numeric_limits<std::int64_t>::min(), 2, 3, 4};
  const std::int64_t* const no_wide = nullptr;
  const std::int32_t* const no_narrow = nullptr;
  const RowPositions two(good, 2, 2, 2);
  const auto encode = [&](const RowPositions& positions, MatrixView<float> view, int threads = 1) {
    return [=, &encoder] { encoder.encode(positions, view, threads); };
  };
  expect_refused({
      {"position of row 1 on axis 1 is 9007199254740993; allowed: -90071",
       encode(RowPositions(far, 2, 2, 2), out.view())},
      {"position of row 0 on axis 0 is -9223372036854775808",
       encode(RowPositions(near, 2, 2, 2), out.view())},
      {"positions are on 1 axes; allowed: 2, or", encode(RowPositions(good, 1, 2, 2), out.view())},
      {"positions have no memory", encode(RowPositions(no_wide, 0, 2, 2), out.view())},
      {"positions have no memory", encode(RowPositions(no_narrow, 2, 2, 2), out.view())},
      {"row count is -1", encode(RowPositions(good, 2, -1, 2), out.view())},
      {"row count is 2", encode(RowRange{max_position, 2}, out.view())},
      {"view has 1 rows", encode(two, {out.view().data, 1, 8, 8})},
      {"view has no memory", encode(two, {nullptr, 2, 8, 8})},
      {"threads is 0", encode(two, out.view(), 0)},
  });
  EXPECT_TRUE(out.untouched());
  encode(RowPositions(good, 2, 0, 2), {nullptr, 0, 8, 8})();
  encode(RowPositions(no_wide, 0, 0, 0), out.view())();
  EXPECT_FALSE(RowPositions(std::span(good, 0)).is_range());
}

// ---- Negative positions -------------------------------------------------------------------------

class NegativePositions : public testing::TestWithParam<const Backend*> {};

/// Rows around 0, in every type and layout, by ranges and gathers.
TEST_P(NegativePositions, NegateTheSines) {
  constexpr std::int64_t d_model = 70, most = 150, rows = 2 * most + 1;
  std::vector<std::int64_t> backwards = positions_of({-most, rows});
  std::ranges::reverse(backwards);
  for (const Layout layout : all_layouts) {
    const EncodingSpec spec = {.d_model = d_model, .layout = layout};
    const auto encoder = GetParam()->plan(spec);
    for (const DataType type : all_data_types) {
      if (!GetParam()->supports(type)) continue;
      with_type(type, [&]<class T>(T) {
        const auto positive = encoded<T>(*encoder, {0, most + 1});
        const auto all = encoded<T>(*encoder, {-most, rows}, {2, StorePolicy::non_temporal});
        BasicMatrix<T> gathered(rows, d_model);
        encoder->encode(backwards, gathered.view());
        for (const std::int64_t p : backwards) {
          for (std::int64_t k = 0; k < d_model / 2; ++k) {
            const auto [sine, cosine] = channels_of(spec, k);
            const std::int64_t magnitude = p < 0 ? -p : p;
            const double sign = p < 0 ? -1 : 1;
            for (const T got : {all(p + most, sine), gathered(most - p, sine)})
              ASSERT_EQ(to_double(got), sign * to_double(positive(magnitude, sine))) << p;
            for (const T got : {all(p + most, cosine), gathered(most - p, cosine)})
              ASSERT_EQ(to_double(got), to_double(positive(magnitude, cosine))) << p;
          }
        }
      });
    }
  }
}

TEST_P(NegativePositions, ReachAsFarAsPositiveOnes) {
  const auto encoder = GetParam()->plan({.d_model = 16});
  const Matrix positive = encoded(*encoder, {max_position, 1}),
               negative = encoded(*encoder, {-max_position, 1});
  for (std::int64_t c = 0; c < 16; ++c)
    EXPECT_EQ(negative(0, c), c % 2 == 0 ? -positive(0, c) : positive(0, c)) << c;
  EXPECT_EQ(encoder->error_bound({-max_position, 1}), encoder->error_bound({max_position - 1, 1}));
}

INSTANTIATE_TEST_SUITE_P(Backends, NegativePositions, testing::ValuesIn(running_backends()),
                         of_backend);

// ---- Kernels ------------------------------------------------------------------------------------

/// Parts side by side of any size, at any address; or each of the whole row, by masks.
TEST(JoinKernels, CopyOrSelectPartsOfRows) {
  std::mt19937_64 random(7);
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  constexpr std::int64_t table_rows = 13, rows = 41;
  for_each_isa([&](const simd::ModelKernels& kernels, const simd::Kernels&) {
    for (int repetition = 0; repetition < 100; ++repetition) {
      const bool has_masks = below(2) == 0;
      std::vector<std::int64_t> index(rows);
      for (std::int64_t& at : index) at = below(table_rows);
      std::vector<std::vector<char>> tables, masks;
      std::vector<simd::JoinPart> parts;
      std::int64_t row_bytes = has_masks ? 2 + 2 * below(300) : 0;
      const std::int64_t count = has_masks ? 2 + below(5) : 1 + below(4);
      for (std::int64_t p = 0; p < count; ++p) {
        const std::int64_t bytes = has_masks ? row_bytes : 2 + 2 * below(p == 3 ? 3000 : 200);
        std::vector<char>& table = tables.emplace_back(table_rows * bytes);
        for (char& byte : table) byte = static_cast<char>(random());
        masks.emplace_back(bytes);
        parts.push_back(
            {table.data(), bytes, index.data(), has_masks ? 0 : row_bytes, bytes, nullptr});
        if (!has_masks) row_bytes += bytes;
      }
      for (std::int64_t at = 0; has_masks && at < row_bytes; ++at)
        masks[static_cast<std::size_t>(below(count))][at] = static_cast<char>(0xff);
      const std::int64_t gap = 2 * below(40), offset = 2 * below(40);
      std::vector<char> out(offset + rows * (row_bytes + gap) + 64, 'x'), expected = out;
      for (std::size_t p = 0; p < parts.size(); ++p) {
        if (has_masks) parts[p].mask = masks[p].data();
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t at = 0; at < parts[p].bytes; ++at) {
            if (!has_masks || masks[p][at] != 0)
              expected[offset + r * (row_bytes + gap) + parts[p].to + at] = parts[p].row(r)[at];
          }
        }
      }
      kernels.join({parts.data(), count, rows, row_bytes, out.data() + offset, row_bytes + gap,
                    simd::plan_joined_rows(below(2) == 0, row_bytes)});
      ASSERT_EQ(out, expected);
    }
  });
}

TEST(ExtentKernels, FindTheLeastAndTheGreatest) {
  std::mt19937_64 random(9);
  for_each_isa([&](const simd::ModelKernels& kernels, const simd::Kernels&) {
    for (std::size_t count = 1; count < 80; ++count) {
      std::vector<std::int64_t> wide(count);
      for (std::int64_t& value : wide) value = static_cast<std::int32_t>(random());
      const std::vector<std::int32_t> narrow(wide.begin(), wide.end());
      const auto [least, most] = std::ranges::minmax(wide);
      for (const bool is_wide : {false, true}) {
        std::int64_t low = 5, high = 5;
        kernels.extent(is_wide ? static_cast<const void*>(wide.data()) : narrow.data(), is_wide,
                       static_cast<std::int64_t>(count), low, high);
        ASSERT_EQ(low, std::min<std::int64_t>(least, 5));
        ASSERT_EQ(high, std::max<std::int64_t>(most, 5));
      }
    }
  });
}

TEST(AxesEncoder, PositionsMayBeInTheMemoryThatIsWritten) {
  const AxesEncoder encoder(axes_in_blocks({16, 24, 24}, {}));
  std::vector<std::int64_t> memory = random_positions(600);
  Matrix expected(600, 64);
  encoder.encode(on_three_axes(memory), expected.view());
  memory.resize(600 * 64);
  auto* const out = reinterpret_cast<float*>(memory.data());
  encoder.encode(RowPositions(memory.data(), 3, 600, 600), MatrixView<float>{out, 600, 64, 64}, 2);
  EXPECT_TRUE(std::equal(out, out + 600 * 64, expected.data()));
}

}  // namespace
}  // namespace posenc::test
