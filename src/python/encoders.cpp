// Encoders, cursors, grids and presets.
#include "posenc/cursor.h"
#include "posenc/model/grid.h"
#include "posenc/presets.h"
#include "posenc/real_positions.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/suite/parity.h"
#include "python/arrays.h"
#include "python/gil.h"
#include "python/module.h"

#include <memory>
#include <span>
#include <utility>

namespace posenc::python {

namespace {

std::unique_ptr<PyEncoder> make_encoder(std::int64_t d_model, double base, Layout layout,
                                        Spacing spacing, const FrequencyRule& frequencies,
                                        std::int64_t first, std::optional<std::string> backend,
                                        std::optional<Accuracy> accuracy, std::int64_t rows,
                                        DataType type) {
  validate(RowRange{first, 0});
  if (backend && accuracy) {
    throw InvalidArgument("accuracy is given with a backend; allowed: one of them");
  }
  auto made = std::make_unique<PyEncoder>(
      PyEncoder{first, std::move(backend), accuracy, rows, type, {}, {}});
  const EncodingSpec spec = {d_model, base, layout, spacing, frequencies};
  const ReleasedGil no_gil;
  if (made->backend) {
    made->encoder = posenc::backend(*made->backend).plan(spec);
    made->reason = "the program named it";
  } else {
    SelectedEncoder selected = plan_selected(
        spec, {first, rows}, {.accuracy = accuracy.value_or(Accuracy()), .type = type});
    made->encoder = std::move(selected.encoder);
    made->reason = selected.selection.reason;
  }
  return made;
}

py::dict encoder_arguments(const PyEncoder& self) {
  return convention_of(self.encoder->spec(), "first"_a = self.first, "backend"_a = self.backend,
                       "accuracy"_a = self.accuracy, "rows"_a = self.rows, "dtype"_a = self.type);
}

py::object encode_rows(const PyEncoder& self, const Positions& from, const Array& out,
                       DataType type, int threads, StorePolicy stores) {
  const Rows rows = rows_of(from, 1, self.first);
  const ArrayArgument table =
      table_of(out, "out", rows.table_shape(self.encoder->spec().d_model), numpy_type(type));
  return table.written_by([&](const OutputView& view) {
    rows.positions.of_axis(
        0, [&](auto each) { self.encoder->encode(each, view, EncodeOptions(threads, stores)); });
  });
}

py::object encode_grid_cells(std::int64_t rows, std::int64_t columns, std::int64_t d_model,
                             const std::string& convention, DataType type, int threads) {
  const GridSpec spec = [&] {
    if (convention == "mae") return mae_grid(d_model);
    if (convention == "simple_vit") return simple_vit_grid(d_model);
    if (convention == "detr") return detr_grid(d_model, rows, columns);
    refuse("convention", "'" + convention + "'", "mae, simple_vit, detr");
  }();
  const std::int64_t sizes[] = {rows, columns};
  const ArrayArgument table =
      table_of(py::none(), "out", {grid_cells(sizes), d_model}, numpy_type(type));
  return table.written_by(
      [&](const OutputView& view) { encode_grid(rows, columns, spec, view, threads); });
}

py::object encode_like_system(System system, const Positions& positions, std::int64_t d_model,
                              double base, Layout layout, Spacing spacing,
                              const FrequencyRule& frequencies, std::int64_t first, DataType type,
                              int threads) {
  const RowRange rows = range_of(positions, first);
  const auto encoder = [&] {
    const ReleasedGil no_gil;
    return plan_like(system, {d_model, base, layout, spacing, frequencies});
  }();
  const ArrayArgument table = table_of(py::none(), "out", {rows.count, d_model}, numpy_type(type));
  return table.written_by([&](const OutputView& view) { encoder->encode(rows, view, threads); });
}

py::tuple round_positions(const py::array_t<double, py::array::c_style>& positions,
                          std::optional<double> denominator) {
  if (positions.ndim() != 1) refuse("positions.shape", shape_text(positions), "one dimension");
  const RealPositions real = real_positions(
      std::span(positions.data(), static_cast<std::size_t>(positions.size())), denominator);
  return py::make_tuple(py::array_t<std::int64_t>(static_cast<py::ssize_t>(real.multiples.size()),
                                                  real.multiples.data()),
                        real.denominator, real.max_error);
}

py::dict preset_arguments(const std::string& name) {
  const Preset& found = preset(name);
  return convention_of(found.spec, "first"_a = found.rows.first);
}

}  // namespace

/// A cursor of any element type.
class PyCursor {
 public:
  PyCursor(const PyEncoder& encoder, std::optional<std::int64_t> first, DataType type)
      : cursor_(with_type(type, [&]<class T>(T) -> AnyCursor {
          return BasicCursor<T>(*encoder.encoder, first.value_or(encoder.first));
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

void bind_encoders(py::module_& module) {
  const EncodingSpec paper;
  py::class_<PyEncoder> encoder(module, "Encoder", R"(A backend planned for one convention.

Without `backend`, the fastest one that promises `accuracy` for tables of `rows` rows is selected:
None means correctly rounded, a number is the largest absolute error. `frequencies`: d_model / 2
numbers in radians per position, a rule such as posenc.Llama3Scaling, or the text of one, such as
"linear:factor=4". `first`: the position of the first row where no positions are given. Immutable:
any number of threads may use one. Copies are the same object; a pickled one is planned where it
is unpickled.)");
  bind_remaking(encoder, encoder_arguments)
      .def(py::init(&make_encoder), "d_model"_a, py::kw_only(), "base"_a = paper.base,
           "layout"_a = paper.layout, "spacing"_a = paper.spacing, "frequencies"_a = py::none(),
           "first"_a = 0, "backend"_a = py::none(), "accuracy"_a = py::none(), "rows"_a = 4096,
           "dtype"_a = DataType::float32)
      .def("encode", &encode_rows, "positions"_a, "out"_a = py::none(),
           "dtype"_a = DataType::float32, "threads"_a = 1, "stores"_a = StorePolicy::automatic,
           R"(Returns the encodings of these positions: an array of shape (rows, d_model).

positions: range(first, last + 1), an array or a tensor of int32 or int64, or a sequence of
integers, each from -2**53 to 2**53; or a number of rows, from position `first` of the encoder. A
row has the same bits in every call. An array of shape (batch, rows) gives (batch, rows, d_model).
out: the array to write, instead of a new one, of the same shape; a tensor of PyTorch, too. Its type
is float32, float64, float16 or bfloat16 (that of ml_dtypes, or 16-bit integers for its bits), and
it is contiguous in its last dimension. It is returned.
dtype: of a new array: "float32" (which None stands for), "float64", "float16" or "bfloat16", or
such a type of NumPy or PyTorch.)")
      .def(
          "error_bound",
          [](const PyEncoder& self, const Positions& positions, DataType type) {
            return self.encoder->error_bound(range_of(positions, self.first), type);
          },
          "positions"_a, "dtype"_a = DataType::float32,
          "A proven upper bound of |entry - exact value| over a range of positions.")
      .def(
          "is_correctly_rounded",
          [](const PyEncoder& self, DataType type) {
            return self.encoder->backend().is_correctly_rounded(type);
          },
          "dtype"_a = DataType::float32,
          "True if every entry is proven to be the value nearest to the exact one.")
      .def_property_readonly(
          "backend", [](const PyEncoder& self) { return self.encoder->backend().full_name(); },
          "Name and ISA: 'rotation:avx2'.")
      .def_readonly("reason", &PyEncoder::reason, "Why this backend was selected.")
      .def_readonly("first", &PyEncoder::first,
                    "The position of the first row where no positions are given.")
      .def_property_readonly("d_model",
                             [](const PyEncoder& self) { return self.encoder->spec().d_model; });

  py::class_<PyCursor>(module, "Cursor", R"(Rows at consecutive positions, one at a time.

next(cursor) returns the row at `position`, of shape (d_model,) and that dtype, and advances. It
begins at `first`, by default that of the encoder. A row costs little more than in a table. Two
threads must not use one cursor at once.)")
      .def(py::init<const PyEncoder&, std::optional<std::int64_t>, DataType>(), "encoder"_a,
           "first"_a = py::none(), "dtype"_a = DataType::float32, py::keep_alive<1, 2>())
      .def("seek", &PyCursor::seek, "position"_a, "Moves to any position from -2**53 to 2**53.")
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", &PyCursor::next)
      .def_property_readonly("position", &PyCursor::position);

  module.def(
      "row_count",
      [](const Positions& positions) { return rows_of(positions, 1, 0).positions.count(); },
      "positions"_a, "The number of rows of such positions, or the number itself.");
  module.def("encode_like", &encode_like_system, "system"_a, "positions"_a, "d_model"_a,
             py::kw_only(), "base"_a = paper.base, "layout"_a = paper.layout,
             "spacing"_a = paper.spacing, "frequencies"_a = py::none(), "first"_a = 0,
             "dtype"_a = DataType::float32, "threads"_a = 1,
             R"(Returns encodings with the float32 phases of another system: shape (rows, d_model).

system: "tutorial", "transformers", "vllm_bfloat16" (dtype "bfloat16" alone) or "ggml".
positions: range(first, last + 1), or a number of rows, from position `first`.

Phases are rounded as the system rounds them, operation for operation. Each entry is the correctly
rounded float32 sine or cosine of such a phase, then converted to `dtype`. A system's own expf,
powf, sinf and cosf, which its C library or vector library may have off by an ulp or two, are not
reproduced: here they are correctly rounded, too. Raises ValueError if the system does not have the
spacing, the rule of frequencies or the dtype.)");
  module.def("encode_grid", &encode_grid_cells, "rows"_a, "columns"_a, "d_model"_a,
             "convention"_a = "mae", py::kw_only(), "dtype"_a = DataType::float32, "threads"_a = 1,
             R"(Returns the encodings of a grid's cells: shape (rows * columns, d_model).

The cell of a row and a column is row `row * columns + column`, correctly rounded. convention:
"mae", "simple_vit", or "detr" (PositionEmbeddingSine, normalised, without padding).)");
  module.def("round_positions", &round_positions, "positions"_a, "denominator"_a = py::none(),
             "The multiples, the denominator and the largest error of real_positions().");
  module.def("preset", &preset_arguments, "name"_a,
             R"(The convention of a real system, as arguments: Encoder(**preset('whisper')).

Those of Encoder, encode() and PositionalEncoding. `first` is the position of the system's first
row, which is not 0 in fairseq, for one.)");
  module.def(
      "presets", [] { return descriptions_of(presets()); },
      "The names of the presets, and what each describes.");
}

}  // namespace posenc::python
