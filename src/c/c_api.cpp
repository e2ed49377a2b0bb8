#include "posenc/c_api.h"

#include "posenc/cursor.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/model/axes.h"
#include "posenc/model/grid.h"
#include "posenc/model/internal/checks.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/model/rotary_config.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/made_once.h"
#include "posenc/support/with_type.h"
#include "posenc/version.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

using namespace posenc;
using namespace posenc::model;

// The enumerators of C++ and of C have the same numbers.
static_assert(static_cast<int>(Layout::halves_cos_first) == POSENC_HALVES_COS_FIRST);
static_assert(static_cast<int>(Spacing::inclusive) == POSENC_INCLUSIVE);
static_assert(static_cast<int>(DataType::float64) == POSENC_FLOAT64);
static_assert(static_cast<int>(DataType::bfloat16) == POSENC_BFLOAT16);
static_assert(static_cast<int>(StorePolicy::non_temporal) == POSENC_STORES_NON_TEMPORAL);
static_assert(static_cast<int>(Accuracy::Measure::absolute) == POSENC_WITHIN);
static_assert(static_cast<int>(Accuracy::Measure::ulp) == POSENC_WITHIN_ULP);
static_assert(static_cast<int>(BatchOrder::sequence_first) == POSENC_SEQUENCE_FIRST);
static_assert(static_cast<int>(RotaryLayout::interleaved) == POSENC_ROTARY_INTERLEAVED);
static_assert(static_cast<int>(Repeat::interleaved) ==
              POSENC_CACHE_APART_INTERLEAVED - POSENC_CACHE_APART_ONCE);

struct posenc_encoder {
  std::unique_ptr<const Encoder> encoder;
  std::string backend;
};

struct posenc_cursor {
  std::variant<BasicCursor<float>, BasicCursor<double>, BasicCursor<Float16>, BasicCursor<BFloat16>>
      cursor;
};
struct posenc_axes : AxesSpec {};
struct posenc_axes_encoder : AxesEncoder {};
struct posenc_positional_encoding : PositionalEncoding {};
struct posenc_rotary : Rotary {
  std::string description;
};

namespace {

thread_local char last_error[1024] = "";

posenc_status fail(posenc_status status, const char* message) noexcept {
  std::strncpy(last_error, message, sizeof last_error - 1);
  return status;
}

/// The status of a call that may throw.
template <class Call>
posenc_status status_of(const Call& call) noexcept {
  try {
    call();
    return POSENC_OK;
  } catch (const InvalidArgument& error) {
    return fail(POSENC_INVALID_ARGUMENT, error.what());
  } catch (const std::bad_alloc&) {
    return fail(POSENC_OUT_OF_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return fail(POSENC_INTERNAL_ERROR, error.what());
  }
}

template <class T>
T& checked(T* pointer, std::string_view name) {
  if (pointer == nullptr) throw_invalid("{} is null; allowed: not null", name);
  return *pointer;
}

/// Sets *result to a new object made from the value that make() returns.
template <class T, class Make>
posenc_status create(T** result, std::string_view name, const Make& make) noexcept {
  return status_of([&] {
    T*& made = checked(result, name);
    made = new T{make()};
  });
}

/// The enumerator with this number; 0 to `last` are allowed.
template <class Enum>
Enum enumerator(std::string_view name, std::int32_t number, Enum last) {
  check_range(name, number, 0, static_cast<std::int32_t>(last));
  return static_cast<Enum>(number);
}

/// A flag, which must be 0 or 1.
bool flag(std::string_view name, std::int32_t value) {
  if (value != 0 && value != 1) throw_invalid("{} is {}; allowed: 0, 1", name, value);
  return value == 1;
}

void check_reserved(std::int32_t reserved) {
  if (reserved != 0) throw_invalid("reserved is {}; allowed: 0", reserved);
}

/// True if these bytes of an object are 0; `first` may be beyond `end`.
bool is_zero(const void* object, std::uint64_t first, std::uint64_t end) {
  const char* const bytes = static_cast<const char*>(object);
  while (first < end && bytes[first] == 0) ++first;
  return first >= end;
}

/// A copy of a struct that begins with its size. Members that the caller does not give are 0, which
/// means their defaults. Null means defaults only.
template <class T>
T given(std::string_view name, const T* from) {
  T known = {};
  if (from == nullptr) return known;
  const std::uint64_t size = from->size;
  if (size < sizeof size || size > 4096 || size % sizeof size != 0)
    throw_invalid("{}.size is {}; allowed: the size of the struct, which is {} in this version",
                  name, size, sizeof known);
  if (!is_zero(from, sizeof known, size))
    throw_invalid("{} has bytes other than 0 after the first {}; allowed in this version: 0", name,
                  sizeof known);
  std::memcpy(&known, from, std::min<std::size_t>(size, sizeof known));
  return known;
}

/// The number of threads; 0 means the default, 1.
int threads_of(std::int32_t threads) {
  check_range("threads", threads, 0, INT32_MAX);
  return std::max(threads, 1);
}

/// A list of `count` elements; at most `most` are allowed.
template <class T>
std::span<const T> list_of(std::string_view name, const T* first, std::int64_t count,
                           std::int64_t most) {
  check_range(format_text("the number of {}", name), count, 0, most);
  if (count > 0) checked(first, name);
  return {first, static_cast<std::size_t>(count)};
}

DataType data_type(std::int32_t number) { return enumerator("type", number, DataType::bfloat16); }

/// The rule of the text. The values become its list.
FrequencyRule rule_of(const posenc_spec& from) {
  const auto values = list_of("values", from.values, from.count, max_d_model);
  const char* const text = from.frequencies ? from.frequencies : values.empty() ? "base" : "own";
  FrequencyRule rule = parse_frequency_rule(text);
  if (values.empty()) return rule;
  auto* const own = std::get_if<OwnFrequencies>(&rule);
  auto* const scaling = std::get_if<LongRopeScaling>(&rule);
  std::vector<double>* const list = own ? &own->values : scaling ? &scaling->factors : nullptr;
  if (list == nullptr || !list->empty())
    throw_invalid("values has {} numbers; allowed with frequencies '{}': none", values.size(),
                  text);
  list->assign(values.begin(), values.end());
  return rule;
}

EncodingSpec spec_of(const posenc_spec* spec) {
  const posenc_spec from = given("spec", &checked(spec, "spec"));
  return {from.d_model, from.base == 0 ? EncodingSpec().base : from.base,
          static_cast<Layout>(from.layout), static_cast<Spacing>(from.spacing), rule_of(from)};
}

Accuracy accuracy_of(const posenc_accuracy* accuracy) {
  const posenc_accuracy from = given("accuracy", accuracy);
  check_reserved(from.reserved);
  switch (enumerator("measure", from.measure, Accuracy::Measure::ulp)) {
    case Accuracy::Measure::absolute: return Accuracy::within(from.most);
    case Accuracy::Measure::ulp: return Accuracy::within_ulp(from.most);
    case Accuracy::Measure::correctly_rounded: break;
  }
  return {};
}

OutputView table_of(std::string_view name, const posenc_table* table) {
  const posenc_table& from = checked(table, name);
  check_reserved(from.reserved);
  return with_type(data_type(from.type), [&]<class T>(T) {
    return OutputView(static_cast<T*>(from.data), from.rows, from.columns, from.stride);
  });
}

EncodeOptions options_of(const posenc_options* options) {
  const posenc_options from = given("options", options);
  return {threads_of(from.threads), enumerator("stores", from.stores, StorePolicy::non_temporal)};
}

RowPositions positions_of(const posenc_positions* positions) {
  const posenc_positions& from = checked(positions, "positions");
  check_reserved(from.reserved);
  check_range("positions.type", from.type, POSENC_RANGE, POSENC_INT32);
  check_range("positions.rows", from.rows, 0, INT64_MAX);
  if (from.type == POSENC_RANGE) return RowRange{from.first, from.rows};
  if (from.rows > 0) checked(static_cast<const char*>(from.data), "positions.data");
  if (from.type == POSENC_INT64) {
    return {static_cast<const std::int64_t*>(from.data), from.axes, from.rows, from.axis_stride};
  }
  return {static_cast<const std::int32_t*>(from.data), from.axes, from.rows, from.axis_stride};
}

const Encoder& encoder_of(const posenc_encoder* encoder) {
  return *checked(encoder, "encoder").encoder;
}

/// A batch of sequences of any type except float64.
WritableSequences sequences_of(std::string_view name, const posenc_sequences* sequences) {
  const posenc_sequences& from = checked(sequences, name);
  const BatchOrder order = enumerator("order", from.order, BatchOrder::sequence_first);
  const DataType type = data_type(from.type);
  check_not_double(name, type);
  WritableSequences view(SequenceView<float>{static_cast<float*>(from.data), order, from.batch,
                                             from.rows, from.columns, from.batch_stride,
                                             from.row_stride});
  view.type = type;
  return view;
}

ForwardOptions forward_options_of(const posenc_forward_options* options) {
  const posenc_forward_options from = given("options", options);
  check_reserved(from.reserved);
  return {from.offset, flag("training", from.training), from.seed, threads_of(from.threads),
          enumerator("stores", from.stores, StorePolicy::non_temporal)};
}

HeadsView heads_of(const posenc_heads& from) {
  check_reserved(from.reserved);
  return with_type(data_type(from.type), [&]<class T>(T) {
    return HeadsView(static_cast<T*>(from.data),
                     {from.batch, from.heads, from.rows, from.columns, from.batch_stride,
                      from.head_stride, from.row_stride});
  });
}

std::vector<HeadsView> heads_of(const posenc_heads* x, std::int64_t count) {
  std::vector<HeadsView> views;
  for (const posenc_heads& each : list_of("x", x, count, 1024)) views.push_back(heads_of(each));
  return views;
}

RotateOptions rotate_options_of(const posenc_rotate_options* options) {
  const posenc_rotate_options from = given("options", options);
  return {.inverse = flag("inverse", from.inverse), .threads = threads_of(from.threads)};
}

RotaryLayout rotary_layout(std::int32_t channels) {
  return enumerator("channels", channels, RotaryLayout::interleaved);
}

posenc_rotary rotary_of(const RotarySpec& spec, const posenc_accuracy* accuracy) {
  return {Rotary(spec, accuracy_of(accuracy)), to_string(spec)};
}

/// A text that may be null.
std::string_view text_of(const char* text) { return text != nullptr ? text : ""; }

/// Texts that the first call with enough memory collects.
using Texts = std::vector<std::string>;

/// The text of a preset's rule, or null for the frequencies of the base.
const char* rule_text(const Preset& preset) {
  static std::atomic<const Texts*> known = nullptr;
  const Texts& all = made_once(known, [] {
    Texts rules;
    for (const Preset& each : presets()) rules.push_back(to_string(each.spec.frequencies));
    return std::make_unique<const Texts>(std::move(rules));
  });
  const auto index = static_cast<std::size_t>(&preset - presets().data());
  return is_base(preset.spec.frequencies) ? nullptr : all[index].c_str();
}

}  // namespace

extern "C" {

const char* posenc_last_error() { return last_error; }

const char* posenc_version() { return library_version_text(); }

int32_t posenc_c_abi() { return POSENC_C_ABI; }

const char* posenc_preset_name(int64_t index) {
  const bool exists = index >= 0 && index < std::ssize(presets());
  // The names are literals, which end with a zero.
  return exists ? presets()[static_cast<std::size_t>(index)].name.data() : nullptr;
}

posenc_status posenc_preset(const char* name, posenc_spec* spec, int64_t* first, int64_t* rows) {
  return status_of([&] {
    const Preset& found = preset(&checked(name, "preset"));
    const std::uint64_t size = given("spec", &checked(spec, "spec")).size;
    const auto& [d_model, base, layout, spacing, rule] = found.spec;
    const posenc_spec filled = {
        size, d_model, base, int32_t(layout), int32_t(spacing), rule_text(found), nullptr, 0};
    if (!is_zero(&filled, size, sizeof filled))
      throw_invalid("spec.size is {}; allowed for preset {}: {}", size, name, sizeof filled);
    std::memcpy(spec, &filled, std::min<std::size_t>(size, sizeof filled));
    if (first != nullptr) *first = found.rows.first;
    if (rows != nullptr) *rows = found.rows.count;
  });
}

// ---- Encoders -----------------------------------------------------------------------------------

const char* posenc_backend_name(int64_t index) {
  const char* name = nullptr;
  status_of([&] {
    static std::atomic<const Texts*> known = nullptr;
    const Texts& names = made_once(known, [] {
      Texts all;
      for (const Backend* each : backends())
        if (each->runs_here()) all.push_back(each->full_name());
      return std::make_unique<const Texts>(std::move(all));
    });
    if (index >= 0 && index < std::ssize(names))
      name = names[static_cast<std::size_t>(index)].c_str();
  });
  return name;
}

posenc_status posenc_plan(const char* name, const posenc_spec* spec, posenc_encoder** encoder) {
  return create(encoder, "encoder", [&]() -> posenc_encoder {
    const Backend& chosen = backend(&checked(name, "backend"));
    return {chosen.plan(spec_of(spec)), chosen.full_name()};
  });
}

posenc_status posenc_plan_selected(const posenc_spec* spec, int64_t first, int64_t rows,
                                   int32_t type, const posenc_accuracy* accuracy,
                                   posenc_encoder** encoder) {
  return create(encoder, "encoder", [&]() -> posenc_encoder {
    SelectedEncoder selected = plan_selected(
        spec_of(spec), {first, rows}, {.accuracy = accuracy_of(accuracy), .type = data_type(type)});
    return {std::move(selected.encoder), selected.selection.backend->full_name()};
  });
}

void posenc_encoder_free(posenc_encoder* encoder) { delete encoder; }

const char* posenc_encoder_backend(const posenc_encoder* encoder) {
  return encoder != nullptr ? encoder->backend.c_str() : "";
}

posenc_status posenc_encode(const posenc_encoder* encoder, int64_t first, int64_t rows,
                            const posenc_table* out, const posenc_options* options) {
  return status_of([&] {
    encoder_of(encoder).encode(RowRange{first, rows}, table_of("out", out), options_of(options));
  });
}

posenc_status posenc_encode_positions(const posenc_encoder* encoder,
                                      const posenc_positions* positions, const posenc_table* out,
                                      const posenc_options* options) {
  return status_of([&] {
    const Encoder& planned = encoder_of(encoder);
    const RowPositions rows = positions_of(positions);
    validate(rows, 1);
    rows.of_axis(0, [&](auto of_axis) {
      planned.encode(of_axis, table_of("out", out), options_of(options));
    });
  });
}

posenc_status posenc_error_bound(const posenc_encoder* encoder, int64_t first, int64_t rows,
                                 int32_t type, double* bound) {
  return status_of([&] {
    const RowRange range = {first, rows};
    validate(range);
    checked(bound, "bound") = encoder_of(encoder).error_bound(range, data_type(type));
  });
}

posenc_status posenc_cursor_create(const posenc_encoder* encoder, int64_t first, int32_t type,
                                   posenc_cursor** cursor) {
  return create(cursor, "cursor", [&] {
    return with_type(data_type(type), [&]<class T>(T) {
      return posenc_cursor{BasicCursor<T>(encoder_of(encoder), first)};
    });
  });
}

posenc_status posenc_cursor_seek(posenc_cursor* cursor, int64_t position) {
  return status_of([&] {
    std::visit([&](auto& each) { each.seek(position); }, checked(cursor, "cursor").cursor);
  });
}

posenc_status posenc_cursor_next(posenc_cursor* cursor, void* row, int64_t elements) {
  return status_of([&] {
    check_range("elements", elements, 0, max_d_model);
    void* const memory = &checked(static_cast<char*>(row), "row");
    std::visit(
        [&]<class T>(BasicCursor<T>& each) {
          each.next(std::span(static_cast<T*>(memory), static_cast<std::size_t>(elements)));
        },
        checked(cursor, "cursor").cursor);
  });
}

void posenc_cursor_free(posenc_cursor* cursor) { delete cursor; }

// ---- Positions on several axes ------------------------------------------------------------------

posenc_status posenc_axes_create(int32_t arrangement, const int64_t* sizes, int64_t count,
                                 const posenc_spec* spec, posenc_axes** axes) {
  return create(axes, "axes", [&] {
    constexpr decltype(&axes_in_blocks) arrangements[] = {axes_in_blocks, axes_in_sections,
                                                          axes_interleaved, axes_alternating};
    check_range("arrangement", arrangement, 0, POSENC_AXES_ALTERNATING);
    return arrangements[arrangement](list_of("sizes", sizes, count, max_d_model), spec_of(spec));
  });
}

void posenc_axes_free(posenc_axes* axes) { delete axes; }

posenc_status posenc_axes_encoder_create(const posenc_axes* axes, int32_t type,
                                         const posenc_accuracy* accuracy,
                                         posenc_axes_encoder** encoder) {
  return create(encoder, "encoder", [&] {
    return AxesEncoder(checked(axes, "axes"), accuracy_of(accuracy), data_type(type));
  });
}

posenc_status posenc_axes_encode(const posenc_axes_encoder* encoder,
                                 const posenc_positions* positions, const posenc_table* out,
                                 const posenc_options* options) {
  return status_of([&] {
    checked(encoder, "encoder")
        .encode(positions_of(positions), table_of("out", out), options_of(options));
  });
}

void posenc_axes_encoder_free(posenc_axes_encoder* encoder) { delete encoder; }

posenc_status posenc_encode_grid(int32_t convention, int64_t rows, int64_t columns, int64_t d_model,
                                 const posenc_table* out, const posenc_options* options) {
  return status_of([&] {
    encode_grid(enumerator("convention", convention, GridConvention::detr), rows, columns, d_model,
                table_of("out", out), options_of(options));
  });
}

// ---- Positional encodings -----------------------------------------------------------------------

posenc_status posenc_positional_encoding_create(const posenc_spec* spec, int64_t max_rows,
                                                double dropout, const posenc_accuracy* accuracy,
                                                posenc_positional_encoding** layer) {
  return create(layer, "layer", [&] {
    return PositionalEncoding(spec_of(spec), max_rows, dropout, EncodingSource::automatic,
                              accuracy_of(accuracy));
  });
}

posenc_status posenc_positional_encoding_forward(const posenc_positional_encoding* layer,
                                                 const posenc_sequences* x,
                                                 const posenc_sequences* y,
                                                 const posenc_forward_options* options) {
  return status_of([&] {
    checked(layer, "layer")
        .forward(sequences_of("x", x), sequences_of("y", y), forward_options_of(options));
  });
}

posenc_status posenc_positional_encoding_backward(const posenc_positional_encoding* layer,
                                                  const posenc_sequences* gradient,
                                                  const posenc_forward_options* options) {
  return status_of([&] {
    checked(layer, "layer")
        .backward(sequences_of("gradient", gradient), forward_options_of(options));
  });
}

void posenc_positional_encoding_free(posenc_positional_encoding* layer) { delete layer; }

// ---- Rotary position embeddings -----------------------------------------------------------------

posenc_status posenc_rotary_create(const posenc_spec* spec, int32_t channels,
                                   const posenc_accuracy* accuracy, posenc_rotary** rotary) {
  return create(rotary, "rotary", [&] {
    return rotary_of(rotary_spec(spec_of(spec), rotary_layout(channels)), accuracy);
  });
}

posenc_status posenc_rotary_create_with_axes(const posenc_axes* axes, int32_t channels,
                                             double attention_factor,
                                             const posenc_accuracy* accuracy,
                                             posenc_rotary** rotary) {
  return create(rotary, "rotary", [&] {
    return rotary_of({checked(axes, "axes"), rotary_layout(channels), attention_factor}, accuracy);
  });
}

posenc_status posenc_rotary_create_from_config(const char* config,
                                               const posenc_config_options* options,
                                               const posenc_accuracy* accuracy,
                                               posenc_rotary** rotary) {
  return create(rotary, "rotary", [&] {
    const posenc_config_options from = given("options", options);
    check_reserved(from.reserved);
    check_range("channels", from.channels, POSENC_MODEL_CHANNELS, POSENC_MODEL_INTERLEAVED);
    const auto rows = from.rows == 0 ? std::nullopt : std::optional(from.rows);
    const RotaryReading reading =
        read_rotary_config(&checked(config, "config"), rows, text_of(from.types));
    RotarySpec spec = layers_of(reading, text_of(from.layers)).rotary;
    if (from.channels != POSENC_MODEL_CHANNELS) spec.channels = rotary_layout(from.channels - 1);
    posenc_rotary made = rotary_of(spec, accuracy);
    made.description = to_string(reading);
    return made;
  });
}

int64_t posenc_rotary_dimension(const posenc_rotary* rotary) {
  return rotary != nullptr ? rotary->dimension() : 0;
}

int32_t posenc_rotary_channels(const posenc_rotary* rotary) {
  return rotary != nullptr ? static_cast<int32_t>(rotary->channels()) : -1;
}

double posenc_rotary_attention_factor(const posenc_rotary* rotary) {
  return rotary != nullptr ? rotary->attention_factor() : 0;
}

double posenc_rotary_softmax_factor(const posenc_rotary* rotary) {
  return rotary != nullptr ? rotary->spec().softmax_factor : 0;
}

double posenc_rotary_query_beta(const posenc_rotary* rotary, int64_t* trained_rows) {
  const QueryScaling queries = rotary != nullptr ? rotary->spec().queries : QueryScaling();
  if (trained_rows != nullptr) *trained_rows = queries.trained_rows;
  return queries.beta;
}

const char* posenc_rotary_description(const posenc_rotary* rotary) {
  return rotary != nullptr ? rotary->description.c_str() : "";
}

posenc_status posenc_rotary_cache(const posenc_rotary* rotary, const posenc_positions* positions,
                                  int32_t form, const posenc_table* cache,
                                  const posenc_table* sines, const posenc_options* options) {
  return status_of([&] {
    const Rotary& angles = checked(rotary, "rotary");
    const RowPositions rows = positions_of(positions);
    const OutputView out = table_of("cache", cache);
    const EncodeOptions how = options_of(options);
    check_range("form", form, 0, POSENC_CACHE_APART_INTERLEAVED);
    if (form >= POSENC_CACHE_APART_ONCE) {
      const auto repeat = static_cast<Repeat>(form - POSENC_CACHE_APART_ONCE);
      return angles.cosines_and_sines(rows, repeat, out, table_of("sines", sines), how);
    }
    if (sines != nullptr) throw_invalid("sines is a table; allowed in form {}: null", form);
    angles.cache(rows, static_cast<RotaryLayout>(form), out, how);
  });
}

posenc_status posenc_rotary_apply(const posenc_rotary* rotary, const posenc_heads* x, int64_t count,
                                  const posenc_positions* positions,
                                  const posenc_rotate_options* options) {
  return status_of([&] {
    checked(rotary, "rotary")
        .apply(heads_of(x, count), positions_of(positions), rotate_options_of(options));
  });
}

void posenc_rotary_free(posenc_rotary* rotary) { delete rotary; }

}  // extern "C"
