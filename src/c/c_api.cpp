#include "posenc/c_api.h"

#include "c/call.h"
#include "c/spec_of.h"
#include "posenc/cursor.h"
#include "posenc/model/grid.h"
#include "posenc/presets.h"
#include "posenc/real_positions.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/version.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

using namespace posenc;
using namespace posenc::detail;

// The enumerators of C++ and of C have the same numbers.
static_assert(static_cast<int>(Layout::halves_cos_first) == POSENC_HALVES_COS_FIRST);
static_assert(static_cast<int>(Spacing::inclusive) == POSENC_INCLUSIVE);
static_assert(static_cast<int>(DataType::float64) == POSENC_FLOAT64);
static_assert(static_cast<int>(DataType::bfloat16) == POSENC_BFLOAT16);
static_assert(static_cast<int>(StorePolicy::non_temporal) == POSENC_STORES_NON_TEMPORAL);
static_assert(static_cast<int>(Accuracy::Measure::absolute) == POSENC_WITHIN);
static_assert(static_cast<int>(Accuracy::Measure::ulp) == POSENC_WITHIN_ULP);

// The ABI.
static_assert(sizeof(posenc_spec) == 32 && sizeof(posenc_table) == 40);
static_assert(sizeof(posenc_options) == 8 && sizeof(posenc_accuracy) == 16);
static_assert(sizeof(posenc_sequences) == 56 && sizeof(posenc_forward_options) == 32);
static_assert(sizeof(posenc_error_report) == 72 && sizeof(posenc_frequencies) == 104);

struct posenc_cursor {
  std::variant<BasicCursor<float>, BasicCursor<double>, BasicCursor<Float16>, BasicCursor<BFloat16>>
      cursor;
};
namespace {

thread_local char last_error[1024] = "";

/// Encodes rows, which are a RowRange or a span of positions.
template <class Rows>
void encode_rows(const posenc_encoder* encoder, const Rows& rows, const posenc_table* out,
                 const posenc_options* options) {
  const OutputView view = output_of("out", out);
  checked(encoder, "encoder").encoder->encode(rows, view, options_of(options));
}

template <class Position>
std::span<const Position> positions_of(const Position* positions, std::int64_t count) {
  if (count < 0) throw InvalidArgument(format_text("count is {}; allowed: at least 0", count));
  if (count > 0) checked(positions, "positions");
  return {positions, static_cast<std::size_t>(count)};
}

GridSpec grid_of(std::int32_t convention, std::int64_t rows, std::int64_t columns,
                 std::int64_t d_model) {
  switch (convention) {
    case POSENC_MAE_GRID: return mae_grid(d_model);
    case POSENC_SIMPLE_VIT_GRID: return simple_vit_grid(d_model);
    case POSENC_DETR_GRID: return detr_grid(d_model, rows, columns);
    default: break;
  }
  throw InvalidArgument(format_text("convention is {}; allowed: 0 to {}", convention,
                                    static_cast<int>(POSENC_DETR_GRID)));
}

struct ListedBackend {
  std::string name;
  bool runs_here;
};

/// The backends at the first call, so that names stay valid. Empty if memory is lacking.
const std::vector<ListedBackend>& listed_backends() noexcept {
  static const auto list = [] {
    std::vector<ListedBackend> all;
    status_of([&] {
      for (const Backend* each : backends()) all.push_back({each->full_name(), each->runs_here()});
    });
    return all;
  }();
  return list;
}

const ListedBackend* listed_backend(std::int64_t index) noexcept {
  const auto& list = listed_backends();
  const bool exists = index >= 0 && index < static_cast<std::int64_t>(list.size());
  return exists ? &list[static_cast<std::size_t>(index)] : nullptr;
}

}  // namespace

posenc_status detail::fail(posenc_status status, const char* message) noexcept {
  std::strncpy(last_error, message, sizeof last_error - 1);
  return status;
}

extern "C" {

const char* posenc_last_error() { return last_error; }

const char* posenc_version() {
  static const std::string version = library_version();
  return version.c_str();
}

int32_t posenc_c_abi() { return POSENC_C_ABI; }

posenc_frequencies posenc_default_frequencies(int32_t rule) { return default_frequencies(rule); }

posenc_spec posenc_default_spec(int64_t d_model) {
  return {d_model, EncodingSpec().base, POSENC_INTERLEAVED, POSENC_PAPER, nullptr};
}

posenc_status posenc_preset(const char* name, posenc_spec* spec, int64_t* first, int64_t* rows) {
  return status_of([&] {
    static const std::vector<posenc_frequencies> frequencies = [] {
      std::vector<posenc_frequencies> all;
      for (const Preset& each : presets())
        all.push_back(detail::frequencies_of(each.spec.frequencies));
      return all;
    }();
    const Preset& found = preset(&checked(name, "name"));
    const posenc_frequencies& of_preset =
        frequencies[static_cast<std::size_t>(&found - presets().data())];
    checked(spec, "spec") = {found.spec.d_model, found.spec.base,
                             static_cast<int32_t>(found.spec.layout),
                             static_cast<int32_t>(found.spec.spacing),
                             of_preset.rule == POSENC_BASE_FREQUENCIES ? nullptr : &of_preset};
    if (first != nullptr) *first = found.rows.first;
    if (rows != nullptr) *rows = found.rows.count;
  });
}

// ---- Backends and selection ---------------------------------------------------------------------

int64_t posenc_backend_count() { return static_cast<int64_t>(listed_backends().size()); }

const char* posenc_backend_name(int64_t index) {
  const ListedBackend* const found = listed_backend(index);
  return found != nullptr ? found->name.c_str() : nullptr;
}

int32_t posenc_backend_runs_here(int64_t index) {
  const ListedBackend* const found = listed_backend(index);
  return found != nullptr && found->runs_here ? 1 : 0;
}

// ---- Encoders -----------------------------------------------------------------------------------

posenc_status posenc_plan(const char* name, const posenc_spec* spec, posenc_encoder** encoder) {
  return status_of([&] {
    posenc_encoder*& result = checked(encoder, "encoder");
    const Backend& chosen = backend(&checked(name, "backend"));
    result = new posenc_encoder{chosen.plan(spec_of(spec)), chosen.full_name(), ""};
  });
}

posenc_status posenc_plan_selected(const posenc_spec* spec, int64_t first, int64_t rows,
                                   int32_t type, const posenc_accuracy* accuracy,
                                   posenc_encoder** encoder) {
  return status_of([&] {
    posenc_encoder*& result = checked(encoder, "encoder");
    SelectedEncoder selected = plan_selected(
        spec_of(spec), {first, rows}, {.accuracy = accuracy_of(accuracy), .type = data_type(type)});
    result = new posenc_encoder{std::move(selected.encoder),
                                selected.selection.backend->full_name(), selected.selection.reason};
  });
}

void posenc_encoder_free(posenc_encoder* encoder) { delete encoder; }

const char* posenc_encoder_backend(const posenc_encoder* encoder) {
  return encoder != nullptr ? encoder->backend.c_str() : "";
}

const char* posenc_encoder_reason(const posenc_encoder* encoder) {
  return encoder != nullptr ? encoder->reason.c_str() : "";
}

posenc_status posenc_encode(const posenc_encoder* encoder, int64_t first, int64_t rows,
                            const posenc_table* out, const posenc_options* options) {
  return status_of([&] { encode_rows(encoder, RowRange{first, rows}, out, options); });
}

posenc_status posenc_encode_positions(const posenc_encoder* encoder, const int64_t* positions,
                                      int64_t count, const posenc_table* out,
                                      const posenc_options* options) {
  return status_of([&] { encode_rows(encoder, positions_of(positions, count), out, options); });
}

posenc_status posenc_encode_positions_int32(const posenc_encoder* encoder, const int32_t* positions,
                                            int64_t count, const posenc_table* out,
                                            const posenc_options* options) {
  return status_of([&] { encode_rows(encoder, positions_of(positions, count), out, options); });
}

posenc_status posenc_error_bound(const posenc_encoder* encoder, int64_t first, int64_t rows,
                                 int32_t type, double* bound) {
  return status_of([&] {
    const RowRange range = {first, rows};
    validate(range);
    checked(bound, "bound") =
        checked(encoder, "encoder").encoder->error_bound(range, data_type(type));
  });
}

posenc_status posenc_is_correctly_rounded(const posenc_encoder* encoder, int32_t type,
                                          int32_t* answer) {
  return status_of([&] {
    const Encoder& asked = *checked(encoder, "encoder").encoder;
    checked(answer, "answer") = asked.backend().is_correctly_rounded(data_type(type)) ? 1 : 0;
  });
}

// ---- Cursors ------------------------------------------------------------------------------------

posenc_status posenc_cursor_create(const posenc_encoder* encoder, int64_t first,
                                   posenc_cursor** cursor) {
  return status_of([&] {
    posenc_cursor*& result = checked(cursor, "cursor");
    result = new posenc_cursor{Cursor(*checked(encoder, "encoder").encoder, first)};
  });
}

posenc_status posenc_cursor_create_of_type(const posenc_encoder* encoder, int64_t first,
                                           int32_t type, posenc_cursor** cursor) {
  return status_of([&] {
    posenc_cursor*& result = checked(cursor, "cursor");
    const Encoder& rows = *checked(encoder, "encoder").encoder;
    with_type(data_type(type),
              [&]<class T>(T) { result = new posenc_cursor{BasicCursor<T>(rows, first)}; });
  });
}

posenc_status posenc_cursor_seek(posenc_cursor* cursor, int64_t position) {
  return status_of([&] {
    std::visit([&](auto& each) { each.seek(position); }, checked(cursor, "cursor").cursor);
  });
}

posenc_status posenc_cursor_write_next(posenc_cursor* cursor, void* row, int64_t elements) {
  return status_of([&] {
    if (elements < 0)
      throw InvalidArgument(format_text("elements is {}; allowed: d_model", elements));
    void* const memory = &checked(static_cast<char*>(row), "row");
    std::visit(
        [&]<class T>(BasicCursor<T>& each) {
          each.next(std::span(static_cast<T*>(memory), static_cast<std::size_t>(elements)));
        },
        checked(cursor, "cursor").cursor);
  });
}

posenc_status posenc_cursor_next(posenc_cursor* cursor, const float** row) {
  return status_of([&] {
    const float*& result = checked(row, "row");
    auto* const of_floats = std::get_if<Cursor>(&checked(cursor, "cursor").cursor);
    if (of_floats == nullptr)
      throw InvalidArgument("cursor is not of float32; allowed: posenc_cursor_write_next()");
    result = of_floats->next().data();
  });
}

void posenc_cursor_free(posenc_cursor* cursor) { delete cursor; }

// ---- Real positions -----------------------------------------------------------------------------

posenc_status posenc_real_positions(const double* positions, int64_t count, double* denominator,
                                    int64_t* multiples, double* max_error) {
  return status_of([&] {
    const std::span<const double> given = positions_of(positions, count);
    if (count > 0) checked(multiples, "multiples");
    double& chosen = checked(denominator, "denominator");
    const RealPositions real = chosen == 0 ? real_positions(given) : real_positions(given, chosen);
    std::ranges::copy(real.multiples, multiples);
    chosen = real.denominator;
    if (max_error != nullptr) *max_error = real.max_error;
  });
}

// ---- Grids --------------------------------------------------------------------------------------

posenc_status posenc_encode_grid(int32_t convention, int64_t rows, int64_t columns, int64_t d_model,
                                 const posenc_table* out, const posenc_options* options) {
  return status_of([&] {
    const GridSpec spec = grid_of(convention, rows, columns, d_model);
    encode_grid(rows, columns, spec, output_of("out", out), options_of(options));
  });
}

}  // extern "C"
