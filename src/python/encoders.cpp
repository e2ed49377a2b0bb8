// Encoders, cursors, grids and presets.
#include "posenc/cursor.h"
#include "posenc/model/grid.h"
#include "posenc/presets.h"
#include "posenc/real_positions.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/suite/parity.h"
#include "python/arguments.h"
#include "python/arrays.h"
#include "python/bindings.h"
#include "python/encoder.h"
#include "python/gil.h"
#include "python/state.h"

#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace posenc::python {

using namespace suite;

PyEncoder::PyEncoder(EncoderPlan plan) : plan_(std::move(plan)) {
  const ReleasedGil no_gil;
  if (plan_.backend) {
    encoder_ = posenc::backend(*plan_.backend).plan(plan_.spec);
    reason_ = "the program named it";
  } else {
    SelectedEncoder selected =
        plan_selected(plan_.spec, {plan_.first, plan_.rows}, plan_.selection);
    encoder_ = std::move(selected.encoder);
    reason_ = selected.selection.reason;
  }
}

std::string PyEncoder::backend() const { return encoder_->backend().full_name(); }

py::object PyEncoder::encode(const py::object& from, const py::object& out, const py::object& type,
                             int threads, const std::string& stores) const {
  const std::int64_t columns = encoder_->spec().d_model;
  Positions of_rows = positions_of(from, first());
  const auto count = static_cast<py::ssize_t>(of_rows.count());
  const AxisPositions rows = {std::move(of_rows), 0, {count}};
  const Positions& positions = rows.of_all_axes;
  const EncodeOptions options(threads, parse_store_policy(stores));
  const py::object result = out.is_none() ? new_table(rows, columns, parse_type(type)) : out;
  py::array table = array_of(result, "out");
  check_table(table, "out", rows, columns);
  with_table(table, "out", [&](const auto& view) {
    const ReleasedGil no_gil;
    if (const auto* own = std::get_if<1>(&positions.each)) {
      encoder_->encode(std::span<const std::int64_t>(*own), view, options);
    } else if (const auto* wide = std::get_if<2>(&positions.each)) {
      encoder_->encode(std::span(wide->data(), static_cast<std::size_t>(positions.count())), view,
                       options);
    } else if (const auto* narrow = std::get_if<3>(&positions.each)) {
      encoder_->encode(std::span(narrow->data(), static_cast<std::size_t>(positions.count())), view,
                       options);
    } else {
      encoder_->encode(positions.rows, view, options);
    }
  });
  return result;
}

/// A cursor of any element type.
class PyCursor {
 public:
  PyCursor(const PyEncoder& encoder, std::optional<std::int64_t> first, const py::object& type)
      : cursor_(with_type(parse_type(type), [&]<class T>(T) -> AnyCursor {
          return BasicCursor<T>(encoder.encoder(), first.value_or(encoder.first()));
        })) {}

  void seek(std::int64_t position) {
    std::visit([&](auto& cursor) { cursor.seek(position); }, cursor_);
  }

  std::int64_t position() const {
    return std::visit([](const auto& cursor) { return cursor.position(); }, cursor_);
  }

  py::array next() {
    return std::visit(
        []<class T>(BasicCursor<T>& cursor) {
          const std::span<const T> row = cursor.next();
          return py::array(numpy_type(data_type_of<T>), row.size(), row.data());
        },
        cursor_);
  }

 private:
  using AnyCursor = std::variant<BasicCursor<float>, BasicCursor<double>, BasicCursor<Float16>,
                                 BasicCursor<BFloat16>>;
  AnyCursor cursor_;
};

namespace {

std::unique_ptr<PyEncoder> make_encoder(std::int64_t d_model, double base,
                                        const std::string& layout, const std::string& spacing,
                                        const py::object& frequencies, std::int64_t first,
                                        const std::optional<std::string>& backend,
                                        const py::object& accuracy, std::int64_t rows,
                                        const py::object& type, int threads) {
  validate(RowRange{first, 0});
  if (backend && !accuracy.is_none()) {
    throw InvalidArgument("accuracy is given with a backend; allowed: one of them");
  }
  return std::make_unique<PyEncoder>(
      EncoderPlan{.spec = spec_of(d_model, base, layout, spacing, frequencies),
                  .first = first,
                  .backend = backend,
                  .selection = {.accuracy = accuracy_of(accuracy),
                                .type = parse_type(type),
                                .threads = threads},
                  .rows = rows});
}

py::tuple encoder_state(const PyEncoder& encoder) {
  const EncoderPlan& plan = encoder.plan();
  return py::make_tuple(
      state_of(plan.spec), plan.first, plan.backend, state_of(plan.selection.accuracy),
      std::string(to_string(plan.selection.type)), plan.selection.threads, plan.rows);
}

std::unique_ptr<PyEncoder> encoder_of_state(const py::tuple& state) {
  return std::make_unique<PyEncoder>(
      EncoderPlan{.spec = spec_of_state(state[0]),
                  .first = state[1].cast<std::int64_t>(),
                  .backend = state[2].cast<std::optional<std::string>>(),
                  .selection = {.accuracy = accuracy_of_state(state[3]),
                                .type = parse_type(state[4]),
                                .threads = state[5].cast<int>()},
                  .rows = state[6].cast<std::int64_t>()});
}

GridSpec grid_of(const std::string& convention, std::int64_t d_model, std::int64_t rows,
                 std::int64_t columns) {
  if (convention == "mae") return mae_grid(d_model);
  if (convention == "simple_vit") return simple_vit_grid(d_model);
  if (convention == "detr") return detr_grid(d_model, rows, columns);
  throw InvalidArgument("convention is '" + convention + "'; allowed: mae, simple_vit, detr");
}

py::object encode_grid_cells(std::int64_t rows, std::int64_t columns, std::int64_t d_model,
                             const std::string& convention, const py::object& type, int threads) {
  const GridSpec spec = grid_of(convention, d_model, rows, columns);
  py::array table(numpy_type(parse_type(type)),
                  std::vector<py::ssize_t>{grid_cells(rows, columns), d_model});
  with_table(table, "out", [&](const auto& view) {
    const ReleasedGil no_gil;
    encode_grid(rows, columns, spec, view, threads);
  });
  return table;
}

py::array encode_like_system(const std::string& system, const py::object& from,
                             std::int64_t d_model, double base, const std::string& layout,
                             const std::string& spacing, const py::object& frequencies,
                             std::int64_t first, const py::object& type, int threads) {
  const EncodingSpec spec = spec_of(d_model, base, layout, spacing, frequencies);
  const System like = parse_system(system);
  const auto encoder = [&] {
    const ReleasedGil no_gil;
    return plan_like(like, spec);
  }();
  const RowRange rows = rows_of(from, first);
  validate(rows);
  table_bytes(spec, rows.count, size_of(parse_type(type)));
  py::array table(numpy_type(parse_type(type)), std::vector<py::ssize_t>{rows.count, d_model});
  with_table(table, "out", [&](const auto& view) {
    const ReleasedGil no_gil;
    encoder->encode(rows, view, threads);
  });
  return table;
}

py::tuple round_positions(const py::array_t<double, py::array::c_style>& positions,
                          std::optional<double> denominator) {
  if (positions.ndim() != 1) {
    throw InvalidArgument("positions.shape is " + shape_of(positions) + "; allowed: one dimension");
  }
  const RealPositions real = real_positions(
      std::span(positions.data(), static_cast<std::size_t>(positions.size())), denominator);
  return py::make_tuple(py::array_t<std::int64_t>(static_cast<py::ssize_t>(real.multiples.size()),
                                                  real.multiples.data()),
                        real.denominator, real.max_error);
}

py::dict preset_arguments(const std::string& name) {
  const Preset& found = preset(name);
  const EncodingSpec& spec = found.spec;
  py::dict arguments;
  arguments["d_model"] = spec.d_model;
  arguments["base"] = spec.base;
  arguments["layout"] = std::string(to_string(spec.layout));
  arguments["spacing"] = std::string(to_string(spec.spacing));
  if (!is_base(spec.frequencies)) arguments["frequencies"] = to_string(spec.frequencies);
  arguments["first"] = found.rows.first;
  return arguments;
}

void bind_grids_and_presets(py::module_& module) {
  using py::arg;
  const py::str float32("float32");
  module.def("encode_grid", &encode_grid_cells, arg("rows"), arg("columns"), arg("d_model"),
             arg("convention") = "mae", py::kw_only(), arg("dtype") = float32, arg("threads") = 1,
             R"(Returns the encodings of a grid's cells: shape (rows * columns, d_model).

The cell of a row and a column is row `row * columns + column`, correctly rounded. convention:
"mae", "simple_vit", or "detr" (PositionEmbeddingSine, normalised, without padding).)");
  module.def("round_positions", &round_positions, arg("positions"), arg("denominator") = py::none(),
             "The multiples, the denominator and the largest error of real_positions().");
  module.def("preset", &preset_arguments, arg("name"),
             R"(The convention of a real system, as arguments: Encoder(**preset('whisper')).

Those of Encoder, encode() and PositionalEncoding. `first` is the position of the system's first
row, which is not 0 in fairseq, for one.)");
  module.def(
      "presets",
      [] {
        py::dict all;
        for (const Preset& each : presets()) {
          all[py::str(std::string(each.name))] = std::string(each.description);
        }
        return all;
      },
      "The names of the presets, and what each describes.");
}

void bind_encoder(py::module_& module) {
  using py::arg;
  const py::str float32("float32");
  const EncodingSpec paper;

  py::class_<PyEncoder> encoder(module, "Encoder", R"(A backend planned for one convention.

Without `backend`, the fastest one that promises `accuracy` for tables of `rows` rows is selected:
None means correctly rounded, a number is the largest absolute error. `frequencies`: d_model / 2
numbers in radians per position, a rule such as posenc.Llama3Scaling, or the text of one, such as
"linear:factor=4". `first`: the position of the first row where no positions are given. Immutable:
any number of threads may use one. Copies are the same object; a pickled one is planned where it
is unpickled. Raises ValueError if an argument is not allowed.)");
  bind_copies(encoder)
      .def(py::init(&make_encoder), arg("d_model"), py::kw_only(), arg("base") = paper.base,
           arg("layout") = "interleaved", arg("spacing") = "paper", arg("frequencies") = py::none(),
           arg("first") = 0, arg("backend") = py::none(), arg("accuracy") = py::none(),
           arg("rows") = 4096, arg("dtype") = float32, arg("threads") = 1)
      .def("encode", &PyEncoder::encode, arg("positions"), arg("out") = py::none(),
           arg("dtype") = float32, arg("threads") = 1, arg("stores") = "automatic",
           R"(Returns the encodings of these positions: an array of shape (rows, d_model).

positions: range(first, last + 1), an array or a tensor of int32 or int64, or a sequence of
integers, each from -2**53 to 2**53; or a number of rows, from position `first` of the encoder. A
row has the same bits in every call.
out: the array to write, instead of a new one, of the same shape; a tensor of PyTorch, too. Its type
is float32, float64, float16 or bfloat16 (that of ml_dtypes, or 16-bit integers for its bits), and
it is contiguous in its last dimension. It is returned.
dtype: of a new array: "float32" (which None stands for), "float64", "float16" or "bfloat16", or
such a type of NumPy or PyTorch.

Raises ValueError, before anything is written, if an argument is not allowed.)")
      .def(
          "error_bound",
          [](const PyEncoder& each, const py::object& positions, const py::object& type) {
            const RowRange rows = rows_of(positions);
            validate(rows);
            return each.encoder().error_bound(rows, parse_type(type));
          },
          arg("positions"), arg("dtype") = float32,
          "A proven upper bound of |entry - exact value| over a range of positions.")
      .def(
          "is_correctly_rounded",
          [](const PyEncoder& each, const py::object& type) {
            return each.encoder().backend().is_correctly_rounded(parse_type(type));
          },
          arg("dtype") = float32,
          "True if every entry is proven to be the value nearest to the exact one.")
      .def_property_readonly("backend", &PyEncoder::backend, "Name and ISA: 'rotation:avx2'.")
      .def_property_readonly("reason", &PyEncoder::reason, "Why this backend was selected.")
      .def_property_readonly("first", &PyEncoder::first,
                             "The position of the first row where no positions are given.")
      .def_property_readonly("d_model",
                             [](const PyEncoder& each) { return each.encoder().spec().d_model; })
      .def(py::pickle(&encoder_state, &encoder_of_state));
}

void bind_cursor(py::module_& module) {
  using py::arg;
  py::class_<PyCursor>(module, "Cursor", R"(Rows at consecutive positions, one at a time.

next(cursor) returns the row at `position`, of shape (d_model,) and that dtype, and advances. It
begins at `first`, by default that of the encoder. A row costs little more than in a table. Two
threads must not use one cursor at once.)")
      .def(py::init<const PyEncoder&, std::optional<std::int64_t>, const py::object&>(),
           arg("encoder"), arg("first") = py::none(), arg("dtype") = "float32",
           py::keep_alive<1, 2>())
      .def("seek", &PyCursor::seek, arg("position"), "Moves to any position from -2**53 to 2**53.")
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", &PyCursor::next)
      .def_property_readonly("position", &PyCursor::position);
}

void bind_encoding_functions(py::module_& module) {
  using py::arg;
  const py::str float32("float32");
  const EncodingSpec paper;

  module.def("row_count", &count_of_rows, arg("positions"),
             "The number of rows of such positions, or the number itself.");
  module.def("encode_like", &encode_like_system, arg("system"), arg("positions"), arg("d_model"),
             py::kw_only(), arg("base") = paper.base, arg("layout") = "interleaved",
             arg("spacing") = "paper", arg("frequencies") = py::none(), arg("first") = 0,
             arg("dtype") = float32, arg("threads") = 1,
             R"(Returns encodings with the float32 phases of another system: shape (rows, d_model).

system: "tutorial", "transformers", "vllm_bfloat16" (dtype "bfloat16" alone) or "ggml".
positions: range(first, last + 1), or a number of rows, from position `first`.

Phases are rounded as the system rounds them, operation for operation. Each entry is the correctly
rounded float32 sine or cosine of such a phase, then converted to `dtype`. A system's own expf,
powf, sinf and cosf, which its C library or vector library may have off by an ulp or two, are not
reproduced: here they are correctly rounded, too. Raises ValueError if the system does not have the
spacing, the rule of frequencies or the dtype.)");
}

}  // namespace

void bind_encoders(py::module_& module) {
  bind_encoder(module);
  bind_cursor(module);
  bind_encoding_functions(module);
  bind_grids_and_presets(module);
}

}  // namespace posenc::python
