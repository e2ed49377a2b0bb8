// The C interface: the results of the C++ interface, and bad input refused with its words.
#include "posenc/c_api.h"

#include "frequency_rules.h"
#include "posenc/cursor.h"
#include "posenc/model/grid.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/suite/accuracy_report.h"
#include "posenc/version.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace posenc {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t d_model = 66, rows = 40, first = 1'000'000;

struct Free {
  void operator()(posenc_encoder* each) const { posenc_encoder_free(each); }
  void operator()(posenc_cursor* each) const { posenc_cursor_free(each); }
  void operator()(posenc_positional_encoding* each) const { posenc_positional_encoding_free(each); }
  void operator()(posenc_rotary* each) const { posenc_rotary_free(each); }
  void operator()(posenc_axes* each) const { posenc_axes_free(each); }
  void operator()(posenc_axes_encoder* each) const { posenc_axes_encoder_free(each); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

Owned<posenc_encoder> planned(const char* name = "rotation") {
  const posenc_spec spec = posenc_default_spec(d_model);
  posenc_encoder* encoder = nullptr;
  EXPECT_EQ(posenc_plan(name, &spec, &encoder), POSENC_OK) << posenc_last_error();
  return Owned<posenc_encoder>(encoder);
}

template <class T>
posenc_table table_of(std::vector<T>& values, std::int64_t count = rows) {
  return {values.data(), count, d_model, d_model, static_cast<std::int32_t>(data_type_of<T>), 0};
}

template <class T>
class CApiTypes : public testing::Test {};
using Types = testing::Types<float, double, Float16, BFloat16>;
TYPED_TEST_SUITE(CApiTypes, Types);

TYPED_TEST(CApiTypes, EncodesRangesAndPositionsAsCppDoes) {
  const auto expected_of = [](const auto& positions) {
    std::vector<TypeParam> values(rows * d_model);
    backend("rotation")
        .plan({d_model})
        ->encode(positions, MatrixView<TypeParam>{values.data(), rows, d_model, d_model});
    return values;
  };
  const auto encoder = planned();
  std::vector<TypeParam> got(rows * d_model);
  const posenc_table out = table_of(got);
  const posenc_options two_threads = {2, POSENC_STORES_NON_TEMPORAL};
  for (const posenc_options* options :
       {static_cast<const posenc_options*>(nullptr), &two_threads}) {
    ASSERT_EQ(posenc_encode(encoder.get(), first, rows, &out, options), POSENC_OK);
    EXPECT_EQ(got, expected_of(RowRange{first, rows}));
  }
  std::vector<std::int64_t> positions;
  for (std::int64_t r = 0; r < rows; ++r) positions.push_back(r * r * r * 1000);
  const std::vector<std::int32_t> narrow(positions.begin(), positions.end());
  ASSERT_EQ(posenc_encode_positions(encoder.get(), positions.data(), rows, &out, nullptr),
            POSENC_OK);
  EXPECT_EQ(got, expected_of(std::span<const std::int64_t>(positions)));
  got.assign(got.size(), {});
  ASSERT_EQ(posenc_encode_positions_int32(encoder.get(), narrow.data(), rows, &out, nullptr),
            POSENC_OK);
  EXPECT_EQ(got, expected_of(std::span<const std::int64_t>(positions)));
}

TYPED_TEST(CApiTypes, ACursorWritesTheRowsOfTables) {
  const auto encoder = planned();
  std::vector<TypeParam> expected(rows * d_model), got(rows * d_model);
  const posenc_table out = table_of(expected);
  ASSERT_EQ(posenc_encode(encoder.get(), first, rows, &out, nullptr), POSENC_OK);
  posenc_cursor* made = nullptr;
  ASSERT_EQ(posenc_cursor_create_of_type(encoder.get(), 0, out.type, &made), POSENC_OK);
  const Owned<posenc_cursor> cursor(made);
  ASSERT_EQ(posenc_cursor_seek(cursor.get(), first), POSENC_OK);
  for (std::int64_t r = 0; r < rows; ++r) {
    ASSERT_EQ(posenc_cursor_write_next(cursor.get(), got.data() + r * d_model, d_model), POSENC_OK);
  }
  EXPECT_EQ(got, expected);
  const float* row = nullptr;
  const bool is_float = std::is_same_v<TypeParam, float>;
  EXPECT_EQ(posenc_cursor_next(cursor.get(), &row), is_float ? POSENC_OK : POSENC_INVALID_ARGUMENT);
  EXPECT_EQ(row != nullptr, is_float);
}

TYPED_TEST(CApiTypes, EncodesGridsAsCppDoes) {
  constexpr std::int64_t grid_rows = 3, grid_columns = 5, cells = grid_rows * grid_columns,
                         channels = 64;
  const GridSpec specs[] = {mae_grid(channels), simple_vit_grid(channels),
                            detr_grid(channels, grid_rows, grid_columns)};
  for (const std::int32_t convention :
       {POSENC_MAE_GRID, POSENC_SIMPLE_VIT_GRID, POSENC_DETR_GRID}) {
    std::vector<TypeParam> expected(cells * channels), got(cells * channels);
    encode_grid(grid_rows, grid_columns, specs[convention],
                MatrixView<TypeParam>{expected.data(), cells, channels, channels});
    const posenc_table out = posenc_table{
        got.data(), cells, channels, channels, static_cast<std::int32_t>(data_type_of<TypeParam>),
        0};
    ASSERT_EQ(posenc_encode_grid(convention, grid_rows, grid_columns, channels, &out, nullptr),
              POSENC_OK)
        << posenc_last_error();
    EXPECT_EQ(got, expected);
  }
}

TEST(CApi, TurnsRealPositionsIntoMultiplesOfADenominator) {
  const std::vector<double> positions = {0.5, 2, 0.125};
  std::vector<std::int64_t> multiples(positions.size());
  double denominator = 0, max_error = -1;
  const auto call = [&] {
    return posenc_real_positions(positions.data(), 3, &denominator, multiples.data(), &max_error);
  };
  ASSERT_EQ(call(), POSENC_OK) << posenc_last_error();
  EXPECT_EQ(multiples, (std::vector<std::int64_t>{4, 16, 1}));
  EXPECT_EQ(denominator, 8);
  EXPECT_EQ(max_error, 0);
  denominator = 4;
  ASSERT_EQ(call(), POSENC_OK) << posenc_last_error();
  EXPECT_EQ(multiples, (std::vector<std::int64_t>{2, 8, 0}));
  EXPECT_EQ(denominator, 4);
  EXPECT_EQ(max_error, 0.125);
}

TEST(CApi, ListsTheBackendsAndPlansEachThatRunsHere) {
  std::set<std::string> names;
  for (std::int64_t i = 0; i < posenc_backend_count(); ++i) {
    const char* const name = posenc_backend_name(i);
    ASSERT_NE(name, nullptr);
    names.insert(name);
    EXPECT_EQ(
        posenc_backend_runs_here(i) == 1,
        cpu_has(parse_isa(std::string_view(name).substr(std::string_view(name).find(':') + 1))))
        << name;
    if (posenc_backend_runs_here(i) == 1) {
      EXPECT_STREQ(posenc_encoder_backend(planned(name).get()), name);
    }
  }
  for (const Backend* each : test::running_backends())
    EXPECT_TRUE(names.contains(each->full_name()));
  EXPECT_EQ(posenc_backend_name(-1), nullptr);
  EXPECT_EQ(posenc_backend_name(posenc_backend_count()), nullptr);
  EXPECT_EQ(posenc_backend_runs_here(posenc_backend_count()), 0);
}

TEST(CApi, SelectsAsCppDoes) {
  const posenc_spec spec = posenc_default_spec(d_model);
  const posenc_accuracy loose = {1e-6, POSENC_WITHIN, 0};
  for (const posenc_accuracy* accuracy : {static_cast<const posenc_accuracy*>(nullptr), &loose}) {
    posenc_encoder* made = nullptr;
    ASSERT_EQ(posenc_plan_selected(&spec, 0, rows, POSENC_FLOAT32, accuracy, &made), POSENC_OK);
    const Owned<posenc_encoder> encoder(made);
    const Selection expected =
        select_backend({d_model}, {0, rows},
                       {.accuracy = accuracy != nullptr ? Accuracy::within(1e-6) : Accuracy()});
    EXPECT_EQ(posenc_encoder_backend(made), expected.backend->full_name());
    EXPECT_EQ(posenc_encoder_reason(made), expected.reason);
  }
}

TEST(CApi, StatesBoundsAndMeasuresAccuracyAsCppDoes) {
  const auto encoder = planned("rotation32");
  const auto expected = backend("rotation32").plan({d_model});
  double bound = 0;
  std::int32_t is_rounded = -1;
  ASSERT_EQ(posenc_error_bound(encoder.get(), first, rows, POSENC_BFLOAT16, &bound), POSENC_OK);
  EXPECT_EQ(bound, expected->error_bound({first, rows}, DataType::bfloat16));
  ASSERT_EQ(posenc_is_correctly_rounded(encoder.get(), POSENC_FLOAT32, &is_rounded), POSENC_OK);
  EXPECT_EQ(is_rounded, 0);
  ASSERT_EQ(posenc_is_correctly_rounded(planned().get(), POSENC_FLOAT32, &is_rounded), POSENC_OK);
  EXPECT_EQ(is_rounded, 1);
  posenc_error_report report;
  ASSERT_EQ(posenc_measure_accuracy(encoder.get(), first, rows, POSENC_FLOAT32, 1, &report),
            POSENC_OK);
  const Encoder* const one[] = {expected.get()};
  const AccuracyReport truth = measure_accuracy(one, {first, rows}).front();
  EXPECT_EQ(report.max_abs, truth.error.max_abs);
  EXPECT_EQ(report.max_ulp, truth.error.max_ulp);
  EXPECT_EQ(report.rms, truth.error.rms);
  EXPECT_EQ(report.error_bound, truth.promise.max_abs);
  EXPECT_EQ(report.correctly_rounded, truth.correctly_rounded);
  EXPECT_EQ(report.entries, rows * d_model);
  EXPECT_EQ(report.wrongly_rounded, truth.wrongly_rounded);
  EXPECT_EQ(report.worst_position, truth.worst.position);
  EXPECT_EQ(report.worst_channel, truth.worst.channel);
}

TEST(CApi, KnowsThePresets) {
  for (const Preset& each : presets()) {
    posenc_spec spec;
    std::int64_t from = -1, count = -1;
    ASSERT_EQ(posenc_preset(std::string(each.name).c_str(), &spec, &from, &count), POSENC_OK);
    EXPECT_EQ(spec.d_model, each.spec.d_model);
    EXPECT_EQ(spec.base, each.spec.base);
    EXPECT_EQ(spec.layout, static_cast<int>(each.spec.layout));
    EXPECT_EQ(spec.spacing, static_cast<int>(each.spec.spacing));
    EXPECT_EQ((RowRange{from, count}), each.rows);
    EXPECT_EQ(spec.frequencies == nullptr, is_base(each.spec.frequencies));
    posenc_encoder* made = nullptr;
    ASSERT_EQ(posenc_plan("rotation", &spec, &made), POSENC_OK) << posenc_last_error();
    const Owned<posenc_encoder> encoder(made);
    Matrix expected(1, spec.d_model), got(1, spec.d_model);
    const RowRange last = {each.rows.first + each.rows.count - 1, 1};
    backend("rotation").plan(each.spec)->encode(last, expected.view());
    const posenc_table out = {got.data(), 1, spec.d_model, spec.d_model, POSENC_FLOAT32, 0};
    ASSERT_EQ(posenc_encode(encoder.get(), last.first, 1, &out, nullptr), POSENC_OK);
    EXPECT_TRUE(test::same_bits(expected.row(0), got.row(0)));
    EXPECT_EQ(posenc_preset(std::string(each.name).c_str(), &spec, nullptr, nullptr), POSENC_OK);
  }
}

/// Sets the members of a rule.
struct FillFrequencies {
  posenc_frequencies& to;

  void operator()(const BaseFrequencies&) const {}
  void operator()(const LinearScaling& from) const { to.factor = from.factor; }
  void operator()(const NtkScaling& from) const { to.factor = from.factor; }
  void operator()(const YarnScaling& from) const {
    to.factor = from.factor;
    to.trained_rows = from.trained_rows;
    to.truncate = from.truncate;
    to.attention_factor = from.attention_factor;
  }
  void operator()(const Llama3Scaling& from) const { to.factor = from.factor; }
  void operator()(const LongRopeScaling& from) const {
    set(from.factors);
    to.attention_factor = from.attention_factor;
  }
  void operator()(const OwnFrequencies& from) const { set(from.values); }
  void operator()(const ProportionalScaling& from) const {
    to.factor = from.factor;
    to.turned = from.turned;
  }
  void operator()(const TurnFrequencies& from) const {
    to.numerators = from.numerators.data();
    to.denominators = from.denominators.data();
    to.count = static_cast<std::int64_t>(from.numerators.size());
  }
  void operator()(const BaseTurns& from) const {
    to.numerator = from.numerator;
    to.denominator = from.denominator;
  }
  void operator()(const PickedFrequencies&) const {}

  void set(const std::vector<double>& values) const {
    to.values = values.data();
    to.count = static_cast<std::int64_t>(values.size());
  }
};

TEST(CApi, HasEveryRuleOfFrequencies) {
  for (const auto& [name, spec] : test::specs_of_every_rule()) {
    SCOPED_TRACE(name);
    if (std::holds_alternative<PickedFrequencies>(spec.frequencies)) continue;  // axes make it
    const auto rule = static_cast<std::int32_t>(spec.frequencies.index());
    posenc_frequencies frequencies = posenc_default_frequencies(rule);
    std::visit(FillFrequencies{frequencies}, spec.frequencies);
    posenc_spec from = posenc_default_spec(spec.d_model);
    from.base = spec.base;
    from.spacing = static_cast<std::int32_t>(spec.spacing);
    from.frequencies = &frequencies;
    posenc_encoder* made = nullptr;
    ASSERT_EQ(posenc_plan("rotation", &from, &made), POSENC_OK) << posenc_last_error();
    const Owned<posenc_encoder> encoder(made);
    Matrix expected(rows, spec.d_model), got(rows, spec.d_model);
    backend("rotation").plan(spec)->encode(RowRange{first, rows}, expected.view());
    const posenc_table out = {got.data(), rows, spec.d_model, spec.d_model, POSENC_FLOAT32, 0};
    ASSERT_EQ(posenc_encode(encoder.get(), first, rows, &out, nullptr), POSENC_OK);
    for (std::int64_t r = 0; r < rows; ++r) {
      EXPECT_TRUE(test::same_bits(expected.row(r), got.row(r))) << "row " << r;
    }
  }
}

TEST(CApi, ACursorGivesTheRowsOfTables) {
  const auto encoder = planned();
  std::vector<float> expected(rows * d_model);
  const posenc_table out = table_of(expected);
  ASSERT_EQ(posenc_encode(encoder.get(), first, rows, &out, nullptr), POSENC_OK);
  posenc_cursor* made = nullptr;
  ASSERT_EQ(posenc_cursor_create(encoder.get(), 0, &made), POSENC_OK);
  const Owned<posenc_cursor> cursor(made);
  ASSERT_EQ(posenc_cursor_seek(cursor.get(), first), POSENC_OK);
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = nullptr;
    ASSERT_EQ(posenc_cursor_next(cursor.get(), &row), POSENC_OK);
    EXPECT_EQ(
        std::vector<float>(row, row + d_model),
        std::vector<float>(expected.begin() + r * d_model, expected.begin() + (r + 1) * d_model));
  }
}

TEST(CApi, DefaultFrequenciesAreThoseOfCpp) {
  const posenc_frequencies yarn = posenc_default_frequencies(POSENC_YARN_SCALING),
                           llama3 = posenc_default_frequencies(POSENC_LLAMA3_SCALING),
                           longrope = posenc_default_frequencies(POSENC_LONGROPE_SCALING);
  const YarnScaling same_yarn = {yarn.factor, yarn.trained_rows,  yarn.high,
                                 yarn.low,    yarn.truncate != 0, yarn.attention_factor};
  EXPECT_EQ(same_yarn, YarnScaling());
  const Llama3Scaling same_llama3 = {llama3.factor, llama3.trained_rows, llama3.low, llama3.high};
  EXPECT_EQ(same_llama3, Llama3Scaling());
  EXPECT_EQ(longrope.attention_factor, LongRopeScaling().attention_factor);
}

/// The positions of a range.
posenc_positions range(std::int64_t from, std::int64_t count) {
  return {nullptr, from, count, 0, 0, POSENC_RANGE, 0};
}

posenc_positions list(const std::vector<std::int64_t>& positions, std::int64_t axes = 0) {
  const auto count = static_cast<std::int64_t>(positions.size()),
             each = axes == 0 ? count : count / axes;
  return {positions.data(), 0, each, axes, each, POSENC_INT64, 0};
}

Owned<posenc_rotary> rotary_of(std::int32_t channels = POSENC_ROTARY_HALVES) {
  posenc_rotary* made = nullptr;
  EXPECT_EQ(posenc_rotary_create(d_model, 5e5, channels, nullptr, nullptr, &made), POSENC_OK);
  return Owned<posenc_rotary>(made);
}

TEST(CApi, LayersTake16BitElements) {
  posenc_positional_encoding* made = nullptr;
  const posenc_spec spec = posenc_default_spec(d_model);
  ASSERT_EQ(posenc_positional_encoding_create(&spec, rows, 0, nullptr, &made), POSENC_OK);
  const Owned<posenc_positional_encoding> layer(made);
  posenc_rotary* made_rotary = nullptr;
  ASSERT_EQ(posenc_rotary_create(d_model, 1e4, 0, nullptr, nullptr, &made_rotary), POSENC_OK);
  const Owned<posenc_rotary> rotary(made_rotary);
  std::vector<BFloat16> x(rows * d_model, nearest<BFloat16>(0.7)), y(x.size()), expected(x.size());
  const auto view = [](std::vector<BFloat16>& values) -> posenc_sequences {
    return {values.data(),  1, rows, d_model, rows * d_model, d_model, POSENC_BATCH_FIRST,
            POSENC_BFLOAT16};
  };
  const auto same = [](std::vector<BFloat16>& values) {
    return batch_first(values.data(), 1, rows, d_model);
  };
  const posenc_sequences from = view(x), to = view(y);
  const posenc_heads heads = {y.data(), 1, 1, rows, d_model, 0, 0, d_model, POSENC_BFLOAT16, 0};
  ASSERT_EQ(posenc_positional_encoding_forward(made, &from, &to, nullptr), POSENC_OK);
  PositionalEncoding({d_model}, rows)
      .forward(SequenceView<const BFloat16>(same(x)), same(expected));
  EXPECT_EQ(y, expected);
  const posenc_positions positions = range(5, rows);
  ASSERT_EQ(posenc_rotary_apply(made_rotary, &heads, 1, &positions, nullptr), POSENC_OK);
  Rotary(d_model).apply(same(expected), 5);
  EXPECT_EQ(y, expected);
}

std::vector<float> inputs(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 97) / 16 - 3;
  return values;
}

TEST(CApi, AddsAndDropsAsCppDoes) {
  constexpr std::int64_t batch = 3;
  const posenc_spec spec = posenc_default_spec(d_model);
  posenc_positional_encoding* made = nullptr;
  ASSERT_EQ(posenc_positional_encoding_create(&spec, 100, 0.25, nullptr, &made), POSENC_OK);
  const Owned<posenc_positional_encoding> layer(made);
  const PositionalEncoding truth({d_model}, 100, 0.25);

  std::vector<float> x = inputs(batch * rows * d_model), y(x.size()), expected(x.size());
  const auto view = [](std::vector<float>& values) -> posenc_sequences {
    return {values.data(),         batch, rows, d_model, d_model, batch * d_model,
            POSENC_SEQUENCE_FIRST, 0};
  };
  const posenc_sequences from = view(x), to = view(y);
  const posenc_forward_options options = {60, 7, 1, 2, POSENC_STORES_AUTOMATIC, 0};
  ASSERT_EQ(posenc_positional_encoding_forward(made, &from, &to, &options), POSENC_OK);
  const ForwardOptions same = {.offset = 60, .training = true, .seed = 7, .threads = 2};
  const SequenceView<const float> readable = sequence_first(x.data(), rows, batch, d_model);
  truth.forward(readable, sequence_first(expected.data(), rows, batch, d_model), same);
  EXPECT_EQ(y, expected);
  ASSERT_EQ(posenc_positional_encoding_backward(made, &to, &options), POSENC_OK);
  truth.backward(sequence_first(expected.data(), rows, batch, d_model), same);
  EXPECT_EQ(y, expected);
  expected = x;
  ASSERT_EQ(posenc_positional_encoding_forward(made, &from, &from, nullptr), POSENC_OK);
  truth.forward(sequence_first(expected.data(), rows, batch, d_model));
  EXPECT_EQ(x, expected) << "in place";
}

/// Dense, shape (batch, rows, heads, columns).
posenc_heads heads_of(std::vector<float>& values, std::int64_t batch, std::int64_t heads,
                      std::int64_t columns = d_model) {
  return {values.data(),          batch,   heads,           rows,           columns,
          rows * heads * columns, columns, heads * columns, POSENC_FLOAT32, 0};
}

TEST(CApi, TurnsAsCppDoes) {
  constexpr std::int64_t batch = 2, columns = d_model + 2;
  const Owned<posenc_rotary> rotary = rotary_of(POSENC_ROTARY_INTERLEAVED);
  const Rotary truth(d_model, 5e5, RotaryLayout::interleaved);
  std::vector<float> queries = inputs(batch * rows * 5 * columns),
                     keys = inputs(batch * rows * columns), expected = queries,
                     expected_keys = keys;
  const posenc_heads turned[] = {heads_of(queries, batch, 5, columns),
                                 heads_of(keys, batch, 1, columns)};
  const HeadsView same[] = {rows_first(expected.data(), batch, rows, 5, columns),
                            rows_first(expected_keys.data(), batch, rows, 1, columns)};
  std::vector<std::int64_t> each(batch * rows);
  for (std::size_t i = 0; i < each.size(); ++i) each[i] = static_cast<std::int64_t>(7 * i) - 50;
  const posenc_rotate_options back = {2, 1};
  for (const auto* options : {static_cast<const posenc_rotate_options*>(nullptr), &back}) {
    const RotateOptions as_cpp = {.inverse = options != nullptr, .threads = 1};
    for (const posenc_positions& positions : {range(first, rows), list(each)}) {
      ASSERT_EQ(posenc_rotary_apply(rotary.get(), turned, 2, &positions, options), POSENC_OK);
      if (positions.type == POSENC_RANGE) {
        truth.apply(same, RowRange{first, rows}, as_cpp);
      } else {
        truth.apply(same, each, as_cpp);
      }
      EXPECT_EQ(queries, expected);
      EXPECT_EQ(keys, expected_keys);
    }
  }
}

TEST(CApi, CachesAsCppDoes) {
  const Owned<posenc_rotary> rotary = rotary_of();
  const Rotary truth(d_model, 5e5);
  const posenc_positions positions = range(first, rows);
  std::vector<BFloat16> half(rows * d_model), expected_half(rows * d_model);
  const posenc_table half_out = table_of(half);
  ASSERT_EQ(
      posenc_rotary_cache(rotary.get(), &positions, POSENC_ROTARY_INTERLEAVED, &half_out, nullptr),
      POSENC_OK);
  truth.cache(RowRange{first, rows}, RotaryLayout::interleaved,
              MatrixView<BFloat16>{expected_half.data(), rows, d_model, d_model});
  EXPECT_EQ(half, expected_half);

  // By caches in both forms, whose rows are picked.
  std::vector<float> cache(rows * d_model), cosines(cache), sines(cache);
  const posenc_table out = table_of(cache), cosine_out = table_of(cosines),
                     sine_out = table_of(sines);
  ASSERT_EQ(posenc_rotary_cache(rotary.get(), &positions, POSENC_ROTARY_HALVES, &out, nullptr),
            POSENC_OK);
  ASSERT_EQ(posenc_rotary_cosines_and_sines(rotary.get(), &positions, POSENC_REPEAT_HALVES,
                                            &cosine_out, &sine_out, nullptr),
            POSENC_OK);
  std::vector<float> x = inputs(rows * d_model), again = x, expected = x;
  std::vector<std::int64_t> picked(rows), real(rows);
  for (std::size_t i = 0; i < picked.size(); ++i) {
    picked[i] = static_cast<std::int64_t>(picked.size() - 1 - i);
    real[i] = first + picked[i];
  }
  const posenc_positions rows_of_cache = list(picked);
  const posenc_heads turned = heads_of(x, 1, 1), turned_again = heads_of(again, 1, 1);
  ASSERT_EQ(posenc_rotary_apply_cache(rotary.get(), &out, POSENC_ROTARY_HALVES, &turned, 1,
                                      &rows_of_cache, nullptr),
            POSENC_OK);
  ASSERT_EQ(posenc_rotary_apply_cosines_and_sines(rotary.get(), &cosine_out, &sine_out,
                                                  POSENC_REPEAT_HALVES, &turned_again, 1,
                                                  &rows_of_cache, nullptr),
            POSENC_OK);
  truth.apply(rows_first(expected.data(), 1, rows, 1, d_model), real);
  EXPECT_EQ(x, expected);
  EXPECT_EQ(again, expected);
}

TEST(CApi, EncodesAndTurnsOverAxesAsCppDoes) {
  const std::int64_t sections[] = {d_model / 2 - 2, 1, 1};
  const posenc_spec spec = posenc_default_spec(d_model);
  posenc_axes* made = nullptr;
  ASSERT_EQ(posenc_axes_create(POSENC_AXES_IN_SECTIONS, sections, 3, &spec, &made), POSENC_OK);
  const Owned<posenc_axes> axes(made);
  const AxesSpec truth = axes_in_sections(sections, {d_model});
  std::vector<std::int64_t> positions(3 * rows);
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = static_cast<std::int64_t>(i * i) - 20;
  const posenc_positions given = list(positions, 3);
  const RowPositions same(positions.data(), 3, rows, rows);

  posenc_axes_encoder* made_encoder = nullptr;
  ASSERT_EQ(posenc_axes_encoder_create(made, POSENC_FLOAT64, nullptr, &made_encoder), POSENC_OK);
  const Owned<posenc_axes_encoder> encoder(made_encoder);
  std::vector<double> table(rows * d_model), expected(table);
  const posenc_table out = table_of(table);
  ASSERT_EQ(posenc_axes_encode(made_encoder, &given, &out, nullptr), POSENC_OK);
  AxesEncoder(truth, {}, DataType::float64)
      .encode(same, MatrixView<double>{expected.data(), rows, d_model, d_model});
  EXPECT_EQ(table, expected);

  posenc_rotary* made_rotary = nullptr;
  ASSERT_EQ(posenc_rotary_create_with_axes(made, POSENC_ROTARY_HALVES, 1.5, nullptr, &made_rotary),
            POSENC_OK);
  const Owned<posenc_rotary> rotary(made_rotary);
  std::vector<float> x = inputs(rows * d_model), turned = x;
  const posenc_heads view = heads_of(x, 1, 1);
  ASSERT_EQ(posenc_rotary_apply(made_rotary, &view, 1, &given, nullptr), POSENC_OK);
  Rotary({.angles = truth, .channels = RotaryLayout::halves, .attention_factor = 1.5})
      .apply(rows_first(turned.data(), 1, rows, 1, d_model), same);
  EXPECT_EQ(x, turned);
}

TEST(CApi, TakesAxesInParts) {
  const std::int64_t evens[] = {0, 2}, odds[] = {1, 3}, first_two[] = {0, 1};
  const posenc_spec spec = posenc_default_spec(8), of_two = posenc_default_spec(4);
  const posenc_axis_pairs parts[] = {{0, spec, first_two, 2, evens, 2, 1},
                                     {1, of_two, nullptr, 0, odds, 2, 4}};
  posenc_axes* made = nullptr;
  ASSERT_EQ(posenc_axes_create_from_parts(parts, 2, POSENC_HALVES, 0, &made), POSENC_OK);
  const Owned<posenc_axes> axes(made);
  posenc_axes_encoder* made_encoder = nullptr;
  ASSERT_EQ(posenc_axes_encoder_create(made, POSENC_FLOAT32, nullptr, &made_encoder), POSENC_OK);
  const Owned<posenc_axes_encoder> encoder(made_encoder);
  const std::vector<std::int64_t> positions = {3, 5, 8, -9};
  const posenc_positions given = list(positions, 2);
  std::vector<float> row(16), expected(16);
  const posenc_table out = {row.data(), 2, 8, 8, POSENC_FLOAT32, 0};
  ASSERT_EQ(posenc_axes_encode(made_encoder, &given, &out, nullptr), POSENC_OK);
  const AxesSpec same = {
      .parts = {{0, {.d_model = 8}, {0, 1}, {0, 2}, 1}, {1, {.d_model = 4}, {}, {1, 3}, 4}},
      .layout = Layout::halves};
  AxesEncoder(same).encode(RowPositions(positions.data(), 2, 2, 2),
                           MatrixView<float>{expected.data(), 2, 8, 8});
  EXPECT_EQ(row, expected);
}

TEST(CApi, SaysItsVersions) {
  EXPECT_EQ(posenc_version(), library_version());
  EXPECT_EQ(posenc_c_abi(), POSENC_C_ABI);
}

// ---- Bad input ----------------------------------------------------------------------------------

struct Refused {
  const char* name;
  const char* message;  ///< a part of it
  std::function<posenc_status()> call;
};

/// A rule with a factor and values, and nothing else.
posenc_frequencies rule_with(std::int32_t rule, double factor, const double* values,
                             std::int64_t count) {
  posenc_frequencies frequencies = posenc_default_frequencies(POSENC_BASE_FREQUENCIES);
  frequencies.rule = rule;
  frequencies.factor = factor;
  frequencies.values = values;
  frequencies.count = count;
  return frequencies;
}

/// Objects that the refused calls use. Nothing may be written to the memory.
struct Objects {
  posenc_frequencies by_zero = rule_with(POSENC_LINEAR_SCALING, 0, nullptr, 0);
  posenc_spec spec = posenc_default_spec(d_model), odd = posenc_default_spec(7),
              scaled_by_zero = spec;
  Owned<posenc_encoder> encoder = planned();
  std::vector<float> memory = std::vector<float>(rows * d_model, 42.0f);
  posenc_table table = table_of(memory), narrow = table, unknown_type = table, reserved = table,
               float64 = table;
  posenc_sequences sequences = {memory.data(),      1, rows, d_model, rows* d_model, d_model,
                                POSENC_BATCH_FIRST, 0};
  posenc_sequences unknown_order = sequences, half = sequences;
  std::int64_t on_axes[rows] = {};
  posenc_heads heads = heads_of(memory, 1, 1), double_heads = heads, reserved_heads = heads;
  posenc_positions positions = range(0, rows), list_of_none = positions, unknown_list = positions,
                   negative_rows = positions, far = positions, on_two_axes = positions;
  posenc_axes* new_axes = nullptr;
  posenc_axes_encoder* new_axes_encoder = nullptr;
  posenc_encoder* new_encoder = nullptr;
  posenc_cursor* new_cursor = nullptr;
  posenc_positional_encoding* new_layer = nullptr;
  posenc_rotary* new_rotary = nullptr;
  Owned<posenc_positional_encoding> layer;
  Owned<posenc_rotary> rotary;
  Owned<posenc_cursor> cursor;

  Objects() {
    posenc_cursor* made_cursor = nullptr;
    posenc_cursor_create(encoder.get(), 0, &made_cursor);
    cursor.reset(made_cursor);
    scaled_by_zero.frequencies = &by_zero;
    narrow.stride = d_model - 1;
    unknown_type.type = 4;
    reserved.reserved = 1;
    float64.type = POSENC_FLOAT64;
    unknown_order.order = -1;
    half.type = POSENC_FLOAT16;
    double_heads.type = POSENC_FLOAT64;
    reserved_heads.reserved = 1;
    list_of_none.type = POSENC_INT64;
    unknown_list.type = 3;
    negative_rows.rows = -1;
    far.first = max_position;
    on_two_axes = {on_axes, 0, rows, 2, 0, POSENC_INT64, 0};
    posenc_positional_encoding* made_layer = nullptr;
    posenc_positional_encoding_create(&spec, rows, 0, nullptr, &made_layer);
    layer.reset(made_layer);
    posenc_rotary* made_rotary = nullptr;
    posenc_rotary_create(d_model, 1e4, 0, nullptr, nullptr, &made_rotary);
    rotary.reset(made_rotary);
  }
};

posenc_status apply(const Objects& o, const posenc_heads* x, std::int64_t count,
                    const posenc_positions* positions) {
  return posenc_rotary_apply(o.rotary.get(), x, count, positions, nullptr);
}

std::vector<Refused> refused_calls(Objects& o) {
  static const posenc_options no_threads = {0, 0}, unknown_stores = {1, 3};
  static const posenc_accuracy negative = {-1.0, POSENC_WITHIN, 0}, unknown = {1.0, 3, 0},
                               impossible = {1e-30, POSENC_WITHIN, 0};
  static const posenc_forward_options beyond = {1, 0, 0, 1, 0, 0};
  static const std::int64_t negative_position[] = {3, -max_position - 1};
  static const double frequency = 1;
  static const posenc_frequencies unknown_rule = rule_with(10, 1, nullptr, 0),
                                  negative_count = rule_with(1, 1, &frequency, -1),
                                  no_values = rule_with(1, 1, nullptr, 4),
                                  no_turns = rule_with(POSENC_TURN_FREQUENCIES, 1, nullptr, 4),
                                  one_value = rule_with(1, 1, &frequency, 1);
  posenc_encoder* const e = o.encoder.get();
  double number;
  return {
      {"no_backend", "backend is null",
       [&o] { return posenc_plan(nullptr, &o.spec, &o.new_encoder); }},
      {"unknown_backend", "'nonsense'",
       [&o] { return posenc_plan("nonsense", &o.spec, &o.new_encoder); }},
      {"no_spec", "spec is null", [&o] { return posenc_plan("naive", nullptr, &o.new_encoder); }},
      {"odd", "d_model is 7", [&o] { return posenc_plan("naive", &o.odd, &o.new_encoder); }},
      {"no_place", "encoder is null", [&o] { return posenc_plan("naive", &o.spec, nullptr); }},
      {"negative_error", "-1",
       [&o] { return posenc_plan_selected(&o.spec, 0, 1, 0, &negative, &o.new_encoder); }},
      {"unknown_measure", "measure is 3; allowed: 0 to 2",
       [&o] { return posenc_plan_selected(&o.spec, 0, 1, 0, &unknown, &o.new_encoder); }},
      {"impossible_error", "1e-30",
       [&o] { return posenc_plan_selected(&o.spec, 0, 1, 0, &impossible, &o.new_encoder); }},
      {"selected_type", "type is 9",
       [&o] { return posenc_plan_selected(&o.spec, 0, 1, 9, nullptr, &o.new_encoder); }},
      {"selected_rows", "-5",
       [&o] { return posenc_plan_selected(&o.spec, 0, -5, 0, nullptr, &o.new_encoder); }},
      {"no_encoder", "encoder is null",
       [&o] { return posenc_encode(nullptr, 0, rows, &o.table, nullptr); }},
      {"no_out", "out is null", [e] { return posenc_encode(e, 0, rows, nullptr, nullptr); }},
      {"far_first", "-9007199254740993",
       [&o, e] { return posenc_encode(e, -max_position - 1, rows, &o.table, nullptr); }},
      {"too_many_rows", "rows",
       [&o, e] { return posenc_encode(e, 0, rows + 1, &o.table, nullptr); }},
      {"narrow", "stride", [&o, e] { return posenc_encode(e, 0, rows, &o.narrow, nullptr); }},
      {"unknown_type", "type is 4; allowed: 0 to 3",
       [&o, e] { return posenc_encode(e, 0, rows, &o.unknown_type, nullptr); }},
      {"reserved", "reserved is 1; allowed: 0",
       [&o, e] { return posenc_encode(e, 0, rows, &o.reserved, nullptr); }},
      {"no_threads", "threads is 0",
       [&o, e] { return posenc_encode(e, 0, rows, &o.table, &no_threads); }},
      {"unknown_stores", "stores is 3",
       [&o, e] { return posenc_encode(e, 0, rows, &o.table, &unknown_stores); }},
      {"no_positions", "positions is null",
       [&o, e] { return posenc_encode_positions(e, nullptr, 2, &o.table, nullptr); }},
      {"negative_count", "count is -2",
       [&o, e] { return posenc_encode_positions(e, negative_position, -2, &o.table, nullptr); }},
      {"negative_position", "-9007199254740993",
       [&o, e] { return posenc_encode_positions(e, negative_position, 2, &o.table, nullptr); }},
      {"bound_rows", "-9007199254740993",
       [e, &number] { return posenc_error_bound(e, -max_position - 1, 1, 0, &number); }},
      {"no_bound", "bound is null", [e] { return posenc_error_bound(e, 0, 1, 0, nullptr); }},
      {"no_answer", "answer is null", [e] { return posenc_is_correctly_rounded(e, 0, nullptr); }},
      {"cursor_position", "-9007199254740993",
       [&o, e] { return posenc_cursor_create(e, -max_position - 1, &o.new_cursor); }},
      {"no_cursor", "cursor is null", [] { return posenc_cursor_seek(nullptr, 0); }},
      {"no_row", "row is null", [] { return posenc_cursor_next(nullptr, nullptr); }},
      {"cursor_type", "type is 4",
       [&o, e] { return posenc_cursor_create_of_type(e, 0, 4, &o.new_cursor); }},
      {"cursor_elements", "elements",
       [&o] { return posenc_cursor_write_next(o.cursor.get(), o.memory.data(), d_model - 1); }},
      {"cursor_negative", "elements is -1",
       [&o] { return posenc_cursor_write_next(o.cursor.get(), o.memory.data(), -1); }},
      {"no_written_row", "row is null",
       [&o] { return posenc_cursor_write_next(o.cursor.get(), nullptr, d_model); }},
      {"no_denominator", "denominator is null",
       [] { return posenc_real_positions(nullptr, 0, nullptr, nullptr, nullptr); }},
      {"no_multiples", "multiples is null",
       [&number] { return posenc_real_positions(&number, 1, &number, nullptr, nullptr); }},
      {"no_real_positions", "positions is null",
       [&number] { return posenc_real_positions(nullptr, 1, &number, nullptr, nullptr); }},
      {"real_count", "count is -1",
       [&number] { return posenc_real_positions(&number, -1, &number, nullptr, nullptr); }},
      {"grid_convention", "convention is 3; allowed: 0 to 2",
       [&o] { return posenc_encode_grid(3, 1, 1, 64, &o.table, nullptr); }},
      {"grid_d_model", "d_model is 6",
       [&o] { return posenc_encode_grid(0, 1, 1, 6, &o.table, nullptr); }},
      {"grid_size", "grid is -1 x 1",
       [&o] { return posenc_encode_grid(0, -1, 1, 64, &o.table, nullptr); }},
      {"grid_memory", "view has",
       [&o] { return posenc_encode_grid(0, rows, 2, 64, &o.table, nullptr); }},
      {"dropout", "1.5",
       [&o] { return posenc_positional_encoding_create(&o.spec, 1, 1.5, nullptr, &o.new_layer); }},
      {"no_x", "x is null",
       [&o] {
         return posenc_positional_encoding_forward(o.layer.get(), nullptr, &o.sequences, nullptr);
       }},
      {"no_y", "y is null",
       [&o] {
         return posenc_positional_encoding_forward(o.layer.get(), &o.sequences, nullptr, nullptr);
       }},
      {"beyond_max_rows", "max_rows",
       [&o] {
         return posenc_positional_encoding_forward(o.layer.get(), &o.sequences, &o.sequences,
                                                   &beyond);
       }},
      {"types_of_forward", "y.type is 0; allowed: that of x, 2",
       [&o] {
         return posenc_positional_encoding_forward(o.layer.get(), &o.half, &o.sequences, nullptr);
       }},
      {"type_of_heads", "x.type is float64; allowed: float32, float16, bfloat16",
       [&o] { return apply(o, &o.double_heads, 1, &o.positions); }},
      {"reserved_of_heads", "reserved is 1",
       [&o] { return apply(o, &o.reserved_heads, 1, &o.positions); }},
      {"no_heads", "x is null", [&o] { return apply(o, nullptr, 1, &o.positions); }},
      {"count_of_heads", "count is -1", [&o] { return apply(o, &o.heads, -1, &o.positions); }},
      {"no_positions", "positions is null", [&o] { return apply(o, &o.heads, 1, nullptr); }},
      {"no_list", "positions.data is null",
       [&o] { return apply(o, &o.heads, 1, &o.list_of_none); }},
      {"positions_type", "positions.type is 3; allowed: 0 to 2",
       [&o] { return apply(o, &o.heads, 1, &o.unknown_list); }},
      {"positions_rows", "positions.rows is -1",
       [&o] { return apply(o, &o.heads, 1, &o.negative_rows); }},
      {"axes_of_positions", "2 axes", [&o] { return apply(o, &o.heads, 1, &o.on_two_axes); }},
      {"arrangement", "arrangement is 4; allowed: 0 to 3",
       [&o] { return posenc_axes_create(4, o.on_axes, 1, &o.spec, &o.new_axes); }},
      {"no_sizes", "sizes is null",
       [&o] { return posenc_axes_create(0, nullptr, 1, &o.spec, &o.new_axes); }},
      {"sections", "sections have the sum 0",
       [&o] { return posenc_axes_create(1, o.on_axes, 3, &o.spec, &o.new_axes); }},
      {"no_parts", "parts is null",
       [&o] { return posenc_axes_create_from_parts(nullptr, 1, 0, 0, &o.new_axes); }},
      {"no_axes", "axes is null",
       [&o] { return posenc_axes_encoder_create(nullptr, 0, nullptr, &o.new_axes_encoder); }},
      {"unknown_order", "order is -1",
       [&o] {
         return posenc_positional_encoding_backward(o.layer.get(), &o.unknown_order, nullptr);
       }},
      {"no_layer", "layer is null",
       [&o] { return posenc_positional_encoding_backward(nullptr, &o.sequences, nullptr); }},
      {"dimension", "7",
       [&o] { return posenc_rotary_create(7, 1e4, 0, nullptr, nullptr, &o.new_rotary); }},
      {"channels", "channels is 2",
       [&o] { return posenc_rotary_create(8, 1e4, 2, nullptr, nullptr, &o.new_rotary); }},
      {"rule", "frequencies.rule is 10; allowed: 0 to 9",
       [&o] { return posenc_rotary_create(8, 1e4, 0, &unknown_rule, nullptr, &o.new_rotary); }},
      {"frequency_count", "frequencies.count is -1; allowed: 0 to",
       [&o] { return posenc_rotary_create(8, 1e4, 0, &negative_count, nullptr, &o.new_rotary); }},
      {"no_turns", "frequencies.numerators is null",
       [&o] { return posenc_rotary_create(8, 1e4, 0, &no_turns, nullptr, &o.new_rotary); }},
      {"no_frequencies", "frequencies.values is null",
       [&o] { return posenc_rotary_create(8, 1e4, 0, &no_values, nullptr, &o.new_rotary); }},
      {"too_few_frequencies", "frequencies has 1 values; allowed: d_model / 2, which is 4",
       [&o] { return posenc_rotary_create(8, 1e4, 0, &one_value, nullptr, &o.new_rotary); }},
      {"factor", "factor is 0",
       [&o] { return posenc_plan("naive", &o.scaled_by_zero, &o.new_encoder); }},
      {"cache_layout", "layout is 5",
       [&o] { return posenc_rotary_cache(o.rotary.get(), &o.positions, 5, &o.table, nullptr); }},
      {"repeat", "repeat is 3; allowed: 0 to 2",
       [&o] {
         return posenc_rotary_cosines_and_sines(o.rotary.get(), &o.positions, 3, &o.table, &o.table,
                                                nullptr);
       }},
      {"no_sines", "sines is null",
       [&o] {
         return posenc_rotary_cosines_and_sines(o.rotary.get(), &o.positions, 1, &o.table, nullptr,
                                                nullptr);
       }},
      {"same_table", "sines overlaps the cosines",
       [&o] {
         return posenc_rotary_cosines_and_sines(o.rotary.get(), &o.positions, 1, &o.table, &o.table,
                                                nullptr);
       }},
      {"no_rotary", "rotary is null",
       [&o] { return posenc_rotary_apply(nullptr, &o.heads, 1, &o.positions, nullptr); }},
      {"apply_position", "9007199254740992", [&o] { return apply(o, &o.heads, 1, &o.far); }},
      {"no_cache", "cache is null",
       [&o] {
         return posenc_rotary_apply_cache(o.rotary.get(), nullptr, 0, &o.heads, 1, &o.positions,
                                          nullptr);
       }},
      {"cache_type", "cache.type is float64",
       [&o] {
         return posenc_rotary_apply_cache(o.rotary.get(), &o.float64, 0, &o.heads, 1, &o.positions,
                                          nullptr);
       }},
      {"no_report", "report is null",
       [e] { return posenc_measure_accuracy(e, 0, 1, 0, 1, nullptr); }},
      {"unknown_preset", "'nonsense'",
       [&o] { return posenc_preset("nonsense", &o.spec, nullptr, nullptr); }},
  };
}

TEST(CApi, RefusesBadInputWithItsReasonAndWritesNothing) {
  Objects objects;
  const std::vector<float> before = objects.memory;
  for (const Refused& each : refused_calls(objects)) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(each.call(), POSENC_INVALID_ARGUMENT);
    EXPECT_THAT(posenc_last_error(), HasSubstr(each.message));
    EXPECT_THAT(posenc_last_error(), Not(HasSubstr("\n")));
  }
  EXPECT_EQ(objects.memory, before);
  EXPECT_EQ(objects.new_encoder, nullptr);
  EXPECT_EQ(objects.new_cursor, nullptr);
  EXPECT_EQ(objects.new_layer, nullptr);
  EXPECT_EQ(objects.new_rotary, nullptr);
  EXPECT_EQ(objects.new_axes, nullptr);
  EXPECT_EQ(objects.new_axes_encoder, nullptr);
}

TEST(CApi, NullIsFreedAndHasNoName) {
  posenc_encoder_free(nullptr);
  posenc_cursor_free(nullptr);
  posenc_positional_encoding_free(nullptr);
  posenc_rotary_free(nullptr);
  posenc_axes_free(nullptr);
  posenc_axes_encoder_free(nullptr);
  EXPECT_STREQ(posenc_encoder_backend(nullptr), "");
  EXPECT_STREQ(posenc_encoder_reason(nullptr), "");
}

}  // namespace
}  // namespace posenc
