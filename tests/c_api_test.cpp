// The C interface: the results of the C++ interface, and bad input refused with its words.
#include "posenc/c_api.h"

#include "posenc/frequency_rule_text.h"
#include "posenc/model/grid.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/model/rotary_config.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/version.h"
#include "support.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

constexpr std::int64_t d_model = 66, rows = 40, first = 1'000'000;

/// Objects of the C interface that are freed at the end of their scope.
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

/// The object that a function makes of the arguments.
template <class T, class Function, class... Arguments>
Owned<T> made(Function function, Arguments... arguments) {
  T* object = nullptr;
  EXPECT_EQ(function(arguments..., &object), POSENC_OK) << posenc_last_error();
  return Owned<T>(object);
}

Owned<posenc_encoder> planned(const posenc_spec& spec, const char* name = "rotation") {
  return made<posenc_encoder>(posenc_plan, name, &spec);
}
Owned<posenc_encoder> planned(const char* name = "rotation") {
  return planned(posenc_default_spec(d_model), name);
}

Owned<posenc_rotary> rotary_of(double base, std::int32_t channels = POSENC_ROTARY_HALVES,
                               const char* frequencies = nullptr) {
  posenc_spec spec = posenc_default_spec(d_model);
  spec.base = base;
  spec.frequencies = frequencies;
  return made<posenc_rotary>(posenc_rotary_create, &spec, channels, nullptr);
}

/// The options of a call that gives none.
template <class Options>
constexpr const Options* not_given = nullptr;

template <class T>
constexpr auto number_of = static_cast<std::int32_t>(data_type_of<T>);

template <class T>
posenc_table table_of(std::vector<T>& values, std::int64_t columns = d_model) {
  return {values.data(), static_cast<std::int64_t>(values.size()) / columns,
          columns,       columns,
          number_of<T>,  0};
}

template <class T>
MatrixView<T> view_of(std::vector<T>& values, std::int64_t columns = d_model) {
  return {values.data(), static_cast<std::int64_t>(values.size()) / columns, columns, columns};
}

posenc_positions range(std::int64_t from, std::int64_t count) {
  return {nullptr, from, count, 0, 0, POSENC_RANGE, 0};
}

posenc_positions list(const std::vector<std::int64_t>& positions, std::int64_t axes = 0) {
  const auto count = static_cast<std::int64_t>(positions.size()),
             each = axes == 0 ? count : count / axes;
  return {positions.data(), 0, each, axes, each, POSENC_INT64, 0};
}

/// Dense, shape (batch, rows, heads, columns).
template <class T>
posenc_heads heads_of(std::vector<T>& values, std::int64_t batch, std::int64_t heads,
                      std::int64_t columns = d_model) {
  return {values.data(),          batch,   heads,           rows,         columns,
          rows * heads * columns, columns, heads * columns, number_of<T>, 0};
}

template <class T>
std::vector<T> inputs(std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(nearest<T>(static_cast<double>(i % 97) / 16 - 3));
  return values;
}

template <class T>
class CApiTypes : public testing::Test {};
using Types = testing::Types<float, double, Float16, BFloat16>;
TYPED_TEST_SUITE(CApiTypes, Types);

TYPED_TEST(CApiTypes, EncodesRangesPositionsAndCursorsAsCppDoes) {
  const auto encoder = planned();
  const auto truth = backend("rotation").plan({d_model});
  std::vector<TypeParam> got(rows * d_model), expected = got;
  const posenc_table out = table_of(got);
  const posenc_options zeros = {sizeof zeros, 0, 0},
                       two_threads = {sizeof two_threads, 2, POSENC_STORES_NON_TEMPORAL};
  truth->encode(RowRange{first, rows}, view_of(expected));
  for (const auto* options : {not_given<posenc_options>, &zeros, &two_threads}) {
    ASSERT_EQ(posenc_encode(encoder.get(), first, rows, &out, options), POSENC_OK);
    EXPECT_EQ(got, expected);
  }
  got.assign(got.size(), {});
  const auto cursor = made<posenc_cursor>(posenc_cursor_create, encoder.get(), 0, out.type);
  ASSERT_EQ(posenc_cursor_seek(cursor.get(), first), POSENC_OK);
  for (std::int64_t r = 0; r < rows; ++r)
    ASSERT_EQ(posenc_cursor_next(cursor.get(), got.data() + r * d_model, d_model), POSENC_OK);
  EXPECT_EQ(got, expected);
  std::vector<std::int64_t> positions;
  for (std::int64_t r = 0; r < rows; ++r) positions.push_back(r * r * r * 1000);
  const std::vector<std::int32_t> narrow(positions.begin(), positions.end());
  truth->encode(positions, view_of(expected));
  posenc_positions given = list(positions);
  ASSERT_EQ(posenc_encode_positions(encoder.get(), &given, &out, nullptr), POSENC_OK);
  EXPECT_EQ(got, expected);
  got.assign(got.size(), {});
  given.data = narrow.data();
  given.type = POSENC_INT32;
  ASSERT_EQ(posenc_encode_positions(encoder.get(), &given, &out, nullptr), POSENC_OK);
  EXPECT_EQ(got, expected);
}

TYPED_TEST(CApiTypes, EncodesGridsAsCppDoes) {
  constexpr std::int64_t grid_rows = 3, grid_columns = 5, channels = 64;
  for (const std::int32_t convention :
       {POSENC_MAE_GRID, POSENC_SIMPLE_VIT_GRID, POSENC_DETR_GRID}) {
    std::vector<TypeParam> got(grid_rows * grid_columns * channels), expected = got;
    encode_grid(static_cast<GridConvention>(convention), grid_rows, grid_columns, channels,
                view_of(expected, channels));
    const posenc_table out = table_of(got, channels);
    ASSERT_EQ(posenc_encode_grid(convention, grid_rows, grid_columns, channels, &out, nullptr),
              POSENC_OK)
        << posenc_last_error();
    EXPECT_EQ(got, expected);
  }
}

TEST(CApi, ListsTheBackendsThatRunHere) {
  std::int64_t index = 0;
  for (const Backend* each : running_backends()) {
    const std::string name = each->full_name();
    EXPECT_STREQ(posenc_backend_name(index++), name.c_str());
    EXPECT_EQ(posenc_encoder_backend(planned(name.c_str()).get()), name);
  }
  EXPECT_EQ(posenc_backend_name(index), nullptr);
  EXPECT_EQ(posenc_backend_name(-1), nullptr);
}

TEST(CApi, SelectsAsCppDoes) {
  const posenc_spec spec = posenc_default_spec(d_model);
  const posenc_accuracy zeros = {sizeof zeros, 0, 0, 0},
                        loose = {sizeof loose, 1e-6, POSENC_WITHIN, 0};
  for (const auto* accuracy : {not_given<posenc_accuracy>, &zeros, &loose}) {
    const auto encoder =
        made<posenc_encoder>(posenc_plan_selected, &spec, 0, rows, POSENC_FLOAT32, accuracy);
    const Selection expected =
        select_backend({d_model}, {0, rows},
                       {.accuracy = accuracy == &loose ? Accuracy::within(1e-6) : Accuracy()});
    EXPECT_EQ(posenc_encoder_backend(encoder.get()), expected.backend->full_name());
  }
}

TEST(CApi, StatesBoundsAsCppDoes) {
  const auto encoder = planned("rotation32");
  const auto expected = backend("rotation32").plan({d_model});
  double bound = 0;
  ASSERT_EQ(posenc_error_bound(encoder.get(), first, rows, POSENC_BFLOAT16, &bound), POSENC_OK);
  EXPECT_EQ(bound, expected->error_bound({first, rows}, DataType::bfloat16));
}

TEST(CApi, AddsAndDropsAsCppDoes) {
  constexpr std::int64_t batch = 3;
  const posenc_spec spec = posenc_default_spec(d_model);
  const auto layer = made<posenc_positional_encoding>(posenc_positional_encoding_create, &spec, 100,
                                                      0.25, nullptr);
  const PositionalEncoding truth({d_model}, 100, 0.25);

  std::vector<BFloat16> x = inputs<BFloat16>(batch * rows * d_model), y(x.size()),
                        expected(x.size());
  const auto view = [](std::vector<BFloat16>& values) -> posenc_sequences {
    return {values.data(),         batch,          rows, d_model, d_model, batch * d_model,
            POSENC_SEQUENCE_FIRST, POSENC_BFLOAT16};
  };
  const posenc_sequences from = view(x), to = view(y);
  const posenc_forward_options options = {sizeof options, 60, 7, 1, 2, POSENC_STORES_AUTOMATIC, 0};
  ASSERT_EQ(posenc_positional_encoding_forward(layer.get(), &from, &to, &options), POSENC_OK);
  const ForwardOptions same = {.offset = 60, .training = true, .seed = 7, .threads = 2};
  const SequenceView<const BFloat16> readable = sequence_first(x.data(), rows, batch, d_model);
  truth.forward(readable, sequence_first(expected.data(), rows, batch, d_model), same);
  EXPECT_EQ(y, expected);
  ASSERT_EQ(posenc_positional_encoding_backward(layer.get(), &to, &options), POSENC_OK);
  truth.backward(sequence_first(expected.data(), rows, batch, d_model), same);
  EXPECT_EQ(y, expected);
  expected = x;
  const posenc_forward_options zeros = {sizeof zeros, 0, 0, 0, 0, 0, 0};
  for (const auto* defaults : {not_given<posenc_forward_options>, &zeros}) {
    ASSERT_EQ(posenc_positional_encoding_forward(layer.get(), &from, &from, defaults), POSENC_OK);
    truth.forward(sequence_first(expected.data(), rows, batch, d_model));
    EXPECT_EQ(x, expected) << "in place";
  }
}

TEST(CApi, TurnsAsCppDoes) {
  constexpr std::int64_t batch = 2, columns = d_model + 2;
  const auto rotary = rotary_of(5e5, POSENC_ROTARY_INTERLEAVED, "yarn:factor=4");
  const Rotary truth(d_model, 5e5, RotaryLayout::interleaved, YarnScaling{.factor = 4});
  std::vector<Float16> queries = inputs<Float16>(batch * rows * 5 * columns), expected = queries;
  std::vector<float> keys = inputs<float>(batch * rows * columns), expected_keys = keys;
  const posenc_heads turned[] = {heads_of(queries, batch, 5, columns),
                                 heads_of(keys, batch, 1, columns)};
  const HeadsView same[] = {rows_first(expected.data(), batch, rows, 5, columns),
                            rows_first(expected_keys.data(), batch, rows, 1, columns)};
  std::vector<std::int64_t> each(batch * rows);
  for (std::size_t i = 0; i < each.size(); ++i) each[i] = static_cast<std::int64_t>(7 * i) - 50;
  const posenc_rotate_options zeros = {sizeof zeros, 0, 0}, back = {sizeof back, 2, 1};
  for (const auto* options : {not_given<posenc_rotate_options>, &zeros, &back}) {
    const RotateOptions as_cpp = {.inverse = options == &back, .threads = 1};
    for (const posenc_positions& positions : {range(first, rows), list(each)}) {
      ASSERT_EQ(posenc_rotary_apply(rotary.get(), turned, 2, &positions, options), POSENC_OK);
      const bool is_range = positions.type == POSENC_RANGE;
      truth.apply(same, is_range ? RowPositions(RowRange{first, rows}) : each, as_cpp);
      EXPECT_EQ(queries, expected);
      EXPECT_EQ(keys, expected_keys);
    }
  }
}

TEST(CApi, CachesInEveryFormAsCppDoes) {
  const auto rotary = rotary_of(5e5);
  const Rotary truth(d_model, 5e5);
  const posenc_positions positions = range(first, rows);
  for (std::int32_t form = POSENC_CACHE_HALVES; form <= POSENC_CACHE_APART_INTERLEAVED; ++form) {
    SCOPED_TRACE(form);
    const bool is_apart = form >= POSENC_CACHE_APART_ONCE;
    const std::int64_t columns = form == POSENC_CACHE_APART_ONCE ? d_model / 2 : d_model;
    std::vector<float> cache(static_cast<std::size_t>(rows * columns)),
        sines = cache, expected = cache, expected_sines = cache;
    const posenc_table out = table_of(cache, columns), sine_out = table_of(sines, columns);
    ASSERT_EQ(posenc_rotary_cache(rotary.get(), &positions, form, &out,
                                  is_apart ? &sine_out : nullptr, nullptr),
              POSENC_OK);
    if (is_apart) {
      truth.cosines_and_sines(RowRange{first, rows},
                              static_cast<Repeat>(form - POSENC_CACHE_APART_ONCE),
                              view_of(expected, columns), view_of(expected_sines, columns));
    } else {
      truth.cache(RowRange{first, rows}, static_cast<RotaryLayout>(form), view_of(expected));
    }
    EXPECT_EQ(cache, expected);
    EXPECT_EQ(sines, expected_sines);
  }
}

TEST(CApi, EncodesAndTurnsOverAxesAsCppDoes) {
  const std::vector<std::int64_t> blocks = {26, 22, 18}, sections = {13, 10, 10};
  const AxesSpec in_cpp[] = {axes_in_blocks(blocks, {}), axes_in_sections(sections, {d_model}),
                             axes_interleaved(sections, {d_model}),
                             axes_alternating(sections, {d_model})};
  const posenc_spec spec = posenc_default_spec(d_model);
  std::vector<std::int64_t> positions(3 * rows);
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = static_cast<std::int64_t>(i * i) - 20;
  const posenc_positions given = list(positions, 3);
  const RowPositions same(positions.data(), 3, rows, rows);
  for (std::int32_t arrangement = 0; arrangement <= POSENC_AXES_ALTERNATING; ++arrangement) {
    SCOPED_TRACE(arrangement);
    const AxesSpec& truth = in_cpp[arrangement];
    const auto& sizes = arrangement == POSENC_AXES_IN_BLOCKS ? blocks : sections;
    const auto axes = made<posenc_axes>(posenc_axes_create, arrangement, sizes.data(), 3, &spec);
    const auto encoder =
        made<posenc_axes_encoder>(posenc_axes_encoder_create, axes.get(), POSENC_FLOAT64, nullptr);
    std::vector<double> table(rows * d_model), expected = table;
    const posenc_table out = table_of(table);
    ASSERT_EQ(posenc_axes_encode(encoder.get(), &given, &out, nullptr), POSENC_OK);
    AxesEncoder(truth, {}, DataType::float64).encode(same, view_of(expected));
    EXPECT_EQ(table, expected);

    const auto rotary = made<posenc_rotary>(posenc_rotary_create_with_axes, axes.get(),
                                            POSENC_ROTARY_HALVES, 1.5, nullptr);
    std::vector<float> x = inputs<float>(rows * d_model), turned = x;
    const posenc_heads view = heads_of(x, 1, 1);
    ASSERT_EQ(posenc_rotary_apply(rotary.get(), &view, 1, &given, nullptr), POSENC_OK);
    Rotary({.angles = truth, .channels = RotaryLayout::halves, .attention_factor = 1.5})
        .apply(rows_first(turned.data(), 1, rows, 1, d_model), same);
    EXPECT_EQ(x, turned);
  }
}

TEST(CApi, KnowsThePresets) {
  std::int64_t index = 0;
  for (const Preset& expected : presets()) {
    SCOPED_TRACE(expected.name);
    const char* const name = posenc_preset_name(index++);
    ASSERT_STREQ(name, std::string(expected.name).c_str());
    posenc_spec spec = {};
    spec.size = sizeof spec;
    RowRange usual = {-1, -1};
    ASSERT_EQ(posenc_preset(name, &spec, &usual.first, &usual.count), POSENC_OK);
    EXPECT_EQ(usual, expected.rows);
    EXPECT_EQ(spec.frequencies == nullptr, is_base(expected.spec.frequencies));
    const EncodingSpec same = {
        spec.d_model, spec.base, static_cast<Layout>(spec.layout),
        static_cast<Spacing>(spec.spacing),
        spec.frequencies ? parse_frequency_rule(spec.frequencies) : FrequencyRule()};
    EXPECT_EQ(same, expected.spec);
    EXPECT_EQ(posenc_preset(name, &spec, nullptr, nullptr), POSENC_OK);
  }
  EXPECT_EQ(posenc_preset_name(index), nullptr);
  EXPECT_EQ(posenc_preset_name(-1), nullptr);
}

TEST(CApi, TakesFrequenciesAsAnArray) {
  std::vector<double> values;
  for (std::int64_t k = 0; k < d_model / 2; ++k) values.push_back(1 + static_cast<double>(k) / 3);
  posenc_spec spec = posenc_default_spec(d_model);
  spec.values = values.data();
  spec.count = d_model / 2;
  const struct {
    const char* frequencies;
    FrequencyRule rule;
  } cases[] = {{nullptr, OwnFrequencies{values}},
               {"own", OwnFrequencies{values}},
               {"longrope:attention_factor=1", LongRopeScaling{values, 1}}};
  for (const auto& [frequencies, rule] : cases) {
    spec.frequencies = frequencies;
    std::vector<float> got(rows * d_model), expected = got;
    const posenc_table out = table_of(got);
    ASSERT_EQ(posenc_encode(planned(spec).get(), first, rows, &out, nullptr), POSENC_OK);
    backend("rotation")
        .plan({.d_model = d_model, .frequencies = rule})
        ->encode(RowRange{first, rows}, view_of(expected));
    EXPECT_EQ(got, expected);
  }
}

TEST(CApi, ReadsConfigurationsAsCppDoes) {
  const char* const gemma = R"({"model_type": "gemma3_text", "head_dim": 66, "rope_theta": 1e6})";
  posenc_config_options options = {};
  options.size = sizeof options;
  options.layers = "sliding_attention";
  options.channels = POSENC_MODEL_INTERLEAVED;
  const auto rotary =
      made<posenc_rotary>(posenc_rotary_create_from_config, gemma, &options, nullptr);
  const RotaryReading reading = read_rotary_config(gemma);
  RotarySpec spec = layers_of(reading, "sliding_attention").rotary;
  spec.channels = RotaryLayout::interleaved;
  EXPECT_EQ(posenc_rotary_description(rotary.get()), to_string(reading));
  EXPECT_EQ(posenc_rotary_dimension(rotary.get()), d_model);
  EXPECT_EQ(posenc_rotary_channels(rotary.get()), POSENC_ROTARY_INTERLEAVED);
  std::vector<float> x = inputs<float>(rows * d_model), turned = x;
  const posenc_heads view = heads_of(x, 1, 1);
  const posenc_positions positions = range(first, rows);
  ASSERT_EQ(posenc_rotary_apply(rotary.get(), &view, 1, &positions, nullptr), POSENC_OK);
  Rotary(spec).apply(rows_first(turned.data(), 1, rows, 1, d_model), RowRange{first, rows});
  EXPECT_EQ(x, turned);

  // The length of the sequence, and a further model type.
  const char* const dynamic = R"({"model_type": "mine", "head_dim": 64,
      "max_position_embeddings": 64, "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}})";
  const char* const types = R"({"models": [{"types": ["mine"], "head": "either"}]})";
  options = {sizeof options, 256, nullptr, types, POSENC_MODEL_CHANNELS, 0};
  const auto mine =
      made<posenc_rotary>(posenc_rotary_create_from_config, dynamic, &options, nullptr);
  EXPECT_EQ(posenc_rotary_description(mine.get()),
            to_string(read_rotary_config(dynamic, 256, types)));

  // Factors of the model beside the rotation: DeepSeek-V3's softmax, Ministral 3's queries.
  const char* const deepseek = R"({"model_type": "deepseek_v3", "qk_rope_head_dim": 64,
      "max_position_embeddings": 163840, "rope_scaling": {"type": "yarn", "factor": 40,
      "original_max_position_embeddings": 4096, "mscale": 1, "mscale_all_dim": 1}})";
  const auto latent =
      made<posenc_rotary>(posenc_rotary_create_from_config, deepseek, nullptr, nullptr);
  EXPECT_NEAR(posenc_rotary_softmax_factor(latent.get()), std::pow(0.1 * std::log(40) + 1, 2),
              1e-12);
  EXPECT_EQ(posenc_rotary_attention_factor(latent.get()), 1);
  const char* const ministral = R"({"model_type": "ministral3", "head_dim": 128, "rope_parameters":
      {"rope_type": "yarn", "rope_theta": 1e6, "factor": 16, "llama_4_scaling_beta": 0.1,
      "original_max_position_embeddings": 16384}, "max_position_embeddings": 262144})";
  const auto scaled =
      made<posenc_rotary>(posenc_rotary_create_from_config, ministral, nullptr, nullptr);
  std::int64_t trained_rows = 0;
  EXPECT_EQ(posenc_rotary_query_beta(scaled.get(), &trained_rows), 0.1);
  EXPECT_EQ(trained_rows, 16384);
}

TEST(CApi, TakesShorterAndLongerStructs) {
  struct {
    posenc_spec spec;
    std::int64_t unknown[2];
  } longer = {posenc_default_spec(d_model), {0, 0}};
  longer.spec.layout = POSENC_HALVES;
  longer.spec.size = sizeof longer;
  EXPECT_NE(planned(longer.spec), nullptr);
  longer.unknown[1] = 1;
  posenc_encoder* encoder = nullptr;
  EXPECT_EQ(posenc_plan("rotation", &longer.spec, &encoder), POSENC_INVALID_ARGUMENT);
  EXPECT_STREQ(posenc_last_error(),
               "spec has bytes other than 0 after the first 56; allowed in this version: 0");

  // The memory beyond the size is not read.
  posenc_spec spec = posenc_default_spec(d_model);
  spec.size = offsetof(posenc_spec, base);
  spec.base = -1;
  spec.layout = spec.spacing = 77;
  spec.count = -1;
  std::vector<float> got(rows * d_model), expected = got;
  const posenc_table out = table_of(got);
  backend("rotation").plan({d_model})->encode(RowRange{first, rows}, view_of(expected));
  ASSERT_EQ(posenc_encode(planned(spec).get(), first, rows, &out, nullptr), POSENC_OK);
  EXPECT_EQ(got, expected);
}

/// A copy of a struct with one member changed.
template <class T, class Member, class Value>
T with(T changed, Member T::*member, Value value) {
  changed.*member = static_cast<Member>(value);
  return changed;
}

/// The address of a temporary struct, which is valid until the end of the call.
template <class T>
const T* at(const T& value) {
  return &value;
}

TEST(CApi, RefusesBadInputWithItsReasonAndWritesNothing) {
  const auto refused = [](const char* part_of_message, posenc_status status) {
    EXPECT_EQ(status, POSENC_INVALID_ARGUMENT) << part_of_message;
    EXPECT_THAT(posenc_last_error(), AllOf(HasSubstr(part_of_message), Not(HasSubstr("\n"))));
  };
  std::vector<float> memory(rows * d_model, 42.0F);
  const std::vector<float> before = memory;
  const std::int64_t zeros[rows] = {};
  const posenc_spec spec = posenc_default_spec(d_model);
  const posenc_table table = table_of(memory);
  const posenc_positions positions = range(0, rows);

  posenc_encoder* new_encoder = nullptr;
  const auto plan_sized = [&](std::uint64_t size) {
    return posenc_plan("rotation", at(with(spec, &posenc_spec::size, size)), &new_encoder);
  };
  const auto select = [&](std::int32_t type, std::int32_t measure) {
    const posenc_accuracy accuracy = {sizeof accuracy, 1.0, measure, 0};
    return posenc_plan_selected(&spec, 0, 1, type, &accuracy, &new_encoder);
  };
  refused("backend is null", posenc_plan(nullptr, &spec, &new_encoder));
  refused("spec is null", posenc_plan("naive", nullptr, &new_encoder));
  refused("encoder is null", posenc_plan("naive", &spec, nullptr));
  refused("spec.size is 0; allowed: the size of the struct, which is 56", plan_sized(0));
  refused("spec.size is 60", plan_sized(60));
  refused("spec.size is 18446744073709551608", plan_sized(0 - std::uint64_t{8}));
  refused("measure is 3; allowed: 0 to 2", select(POSENC_FLOAT32, 3));
  refused("type is 9", select(9, POSENC_CORRECTLY_ROUNDED));

  posenc_spec filled = spec, short_spec = with(spec, &posenc_spec::size, 24);
  refused("preset is null", posenc_preset(nullptr, &filled, nullptr, nullptr));
  refused("preset is 'bert'; allowed: tutorial, ",
          posenc_preset("bert", &filled, nullptr, nullptr));
  refused("spec is null", posenc_preset("xlm", nullptr, nullptr, nullptr));
  refused("spec.size is 24; allowed for preset llama_3_1: 56",
          posenc_preset("llama_3_1", &short_spec, nullptr, nullptr));

  const auto encoder = planned();
  const auto encode = [&](const posenc_table* out, const posenc_options* options = nullptr) {
    return posenc_encode(encoder.get(), 0, rows, out, options);
  };
  const auto encode_list = [&](const posenc_positions* list) {
    return posenc_encode_positions(encoder.get(), list, &table, nullptr);
  };
  refused("encoder is null", posenc_encode(nullptr, 0, rows, &table, nullptr));
  refused("out is null", encode(nullptr));
  refused("type is 4; allowed: 0 to 3", encode(at(with(table, &posenc_table::type, 4))));
  refused("reserved is 1; allowed: 0", encode(at(with(table, &posenc_table::reserved, 1))));
  refused("options.size is 0; allowed: the size of the struct, which is 16",
          encode(&table, at(posenc_options{})));
  refused("threads is -1; allowed: 0 to 2147483647",
          encode(&table, at(posenc_options{sizeof(posenc_options), -1, 0})));
  refused("stores is 3", encode(&table, at(posenc_options{sizeof(posenc_options), 1, 3})));
  refused("positions is null", encode_list(nullptr));
  refused("positions.data is null",
          encode_list(at(with(positions, &posenc_positions::type, POSENC_INT64))));
  refused("positions.type is 3; allowed: 0 to 2",
          encode_list(at(with(positions, &posenc_positions::type, 3))));
  refused("positions.rows is -1", encode_list(at(with(positions, &posenc_positions::rows, -1))));
  refused("2 axes", encode_list(at(posenc_positions{zeros, 0, rows, 2, 0, POSENC_INT64, 0})));
  refused("bound is null", posenc_error_bound(encoder.get(), 0, 1, POSENC_FLOAT32, nullptr));

  posenc_cursor* new_cursor = nullptr;
  refused("type is 4", posenc_cursor_create(encoder.get(), 0, 4, &new_cursor));
  const auto cursor = made<posenc_cursor>(posenc_cursor_create, encoder.get(), 0, POSENC_FLOAT32);
  refused("cursor is null", posenc_cursor_seek(nullptr, 0));
  refused("row is null", posenc_cursor_next(cursor.get(), nullptr, d_model));
  refused("elements", posenc_cursor_next(cursor.get(), memory.data(), d_model - 1));

  posenc_axes* new_axes = nullptr;
  posenc_axes_encoder* new_axes_encoder = nullptr;
  refused("arrangement is 4; allowed: 0 to 3", posenc_axes_create(4, zeros, 1, &spec, &new_axes));
  refused("sizes is null", posenc_axes_create(0, nullptr, 1, &spec, &new_axes));
  refused("axes is null", posenc_axes_encoder_create(nullptr, 0, nullptr, &new_axes_encoder));
  refused("convention is 3; allowed: 0 to 2", posenc_encode_grid(3, 1, 2, 64, &table, nullptr));

  const auto layer =
      made<posenc_positional_encoding>(posenc_positional_encoding_create, &spec, rows, 0, nullptr);
  const posenc_sequences x = {memory.data(),      1, rows, d_model, rows * d_model, d_model,
                              POSENC_BATCH_FIRST, 0};
  const auto forward = [&](const posenc_sequences* from, const posenc_sequences* to,
                           const posenc_forward_options* options = nullptr) {
    return posenc_positional_encoding_forward(layer.get(), from, to, options);
  };
  const posenc_forward_options training = {sizeof training, 0, 0, 2, 1, 0, 0};
  refused("x is null", forward(nullptr, &x));
  refused("y is null", forward(&x, nullptr));
  refused("training is 2; allowed: 0, 1", forward(&x, &x, &training));
  refused("order is -1", forward(at(with(x, &posenc_sequences::order, -1)), &x));
  refused("layer is null", posenc_positional_encoding_backward(nullptr, &x, nullptr));

  posenc_rotary* new_rotary = nullptr;
  const double ones[] = {1, 1, 1, 1};
  const auto create = [&](std::int32_t channels, const char* frequencies = nullptr,
                          const double* values = nullptr, std::int64_t count = 0) {
    const posenc_spec of_values = {sizeof of_values, 8, 0, 0, 0, frequencies, values, count};
    return posenc_rotary_create(&of_values, channels, nullptr, &new_rotary);
  };
  refused("channels is 2", create(2));
  refused("frequencies is 'cubic'; allowed: base, own", create(0, "cubic"));
  refused("values is null", create(0, nullptr, nullptr, 4));
  refused("the number of values is -1", create(0, nullptr, ones, -1));
  refused("values", create(0, nullptr, ones, 3));
  refused("values has 4 numbers; allowed with frequencies 'base': none",
          create(0, "base", ones, 4));
  refused("values has 4 numbers; allowed with frequencies 'own:values=1/1/1/1': none",
          create(0, "own:values=1/1/1/1", ones, 4));

  const auto read = [&](std::int64_t length, const char* layers, const char* types,
                        std::int32_t channels) {
    const posenc_config_options options = {sizeof options, length, layers, types, channels, 0};
    return posenc_rotary_create_from_config(R"({"model_type": "llama", "head_dim": 64})", &options,
                                            nullptr, &new_rotary);
  };
  refused("config is null",
          posenc_rotary_create_from_config(nullptr, nullptr, nullptr, &new_rotary));
  refused("model_type", posenc_rotary_create_from_config("{}", nullptr, nullptr, &new_rotary));
  refused("rows is -5", read(-5, nullptr, nullptr, 0));
  refused("layers is 'odd'; allowed for llama: none", read(0, "odd", nullptr, 0));
  refused("types", read(0, nullptr, "[", 0));
  refused("channels is 3; allowed: 0 to 2", read(0, nullptr, nullptr, 3));

  const auto rotary = rotary_of(1e4);
  const posenc_heads heads = heads_of(memory, 1, 1);
  const auto rotate = [&](const posenc_heads* turned, std::int64_t count,
                          const posenc_rotate_options* options = nullptr) {
    return posenc_rotary_apply(rotary.get(), turned, count, &positions, options);
  };
  const auto cache = [&](std::int32_t form, const posenc_table* sines) {
    return posenc_rotary_cache(rotary.get(), &positions, form, &table, sines, nullptr);
  };
  refused("rotary is null", posenc_rotary_apply(nullptr, &heads, 1, &positions, nullptr));
  refused("x is null", rotate(nullptr, 1));
  refused("the number of x is -1", rotate(&heads, -1));
  refused("reserved is 1", rotate(at(with(heads, &posenc_heads::reserved, 1)), 1));
  refused("inverse is 2; allowed: 0, 1",
          rotate(&heads, 1, at(posenc_rotate_options{sizeof(posenc_rotate_options), 1, 2})));
  refused("form is 5; allowed: 0 to 4", cache(5, nullptr));
  refused("sines is null", cache(POSENC_CACHE_APART_HALVES, nullptr));
  refused("sines is a table; allowed in form 0: null", cache(0, &table));

  EXPECT_EQ(memory, before);
  EXPECT_TRUE(!new_encoder && !new_cursor && !new_rotary && !new_axes && !new_axes_encoder);
}

TEST(CApi, SaysItsVersionsAndAcceptsNull) {
  EXPECT_EQ(posenc_version(), library_version());
  EXPECT_EQ(posenc_c_abi(), POSENC_C_ABI);
  const Free free;
  free(static_cast<posenc_encoder*>(nullptr));
  free(static_cast<posenc_cursor*>(nullptr));
  free(static_cast<posenc_positional_encoding*>(nullptr));
  free(static_cast<posenc_rotary*>(nullptr));
  free(static_cast<posenc_axes*>(nullptr));
  free(static_cast<posenc_axes_encoder*>(nullptr));
  EXPECT_STREQ(posenc_encoder_backend(nullptr), "");
  EXPECT_STREQ(posenc_rotary_description(nullptr), "");
  EXPECT_EQ(posenc_rotary_attention_factor(nullptr), 0);
  EXPECT_EQ(posenc_rotary_softmax_factor(nullptr), 0);
  EXPECT_EQ(posenc_rotary_query_beta(nullptr, nullptr), 0);
  EXPECT_EQ(posenc_rotary_dimension(nullptr), 0);
  EXPECT_EQ(posenc_rotary_channels(nullptr), -1);
}

}  // namespace
}  // namespace posenc::test
