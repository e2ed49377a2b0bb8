// Encoders, positions on several axes, cursors, grids and presets.
#include "posenc/model/axes.h"
#include "posenc/model/axes_presets.h"
#include "posenc/presets.h"
#include "posenc/real_positions.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/suite/parity.h"
#include "python/module.h"

#include <pybind11/operators.h>

#include <memory>
#include <span>
#include <utility>

namespace posenc::python {

using namespace model;

/// An encoder for positions on several axes, and the arguments that it was made from.
struct PyAxesEncoder {
  PyAxesEncoder(const AxesSpec& spec, const std::optional<Accuracy>& asked, ArrayType of_tables)
      : encoder(spec, asked.value_or(Accuracy()), of_tables.of_element),
        accuracy(asked),
        type(of_tables) {}

  AxesEncoder encoder;
  std::optional<Accuracy> accuracy;
  ArrayType type;
};

namespace {

std::unique_ptr<PyEncoder> make_encoder(std::int64_t d_model, double base, Layout layout,
                                        Spacing spacing, const FrequencyRule& frequencies,
                                        std::int64_t first, std::optional<std::string> backend,
                                        std::optional<Accuracy> accuracy, std::int64_t rows,
                                        ArrayType type) {
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
        spec, {first, rows}, {.accuracy = accuracy.value_or(Accuracy()), .type = type.of_element});
    made->encoder = std::move(selected.encoder);
    made->reason = selected.selection.reason;
  }
  return made;
}

py::dict encoder_arguments(const PyEncoder& self) {
  return convention_of(self.encoder->spec(), "first"_a = self.first, "backend"_a = self.backend,
                       "accuracy"_a = self.accuracy, "rows"_a = self.rows, "dtype"_a = self.type);
}

Table encode_rows(const PyEncoder& self, const Positions& from, const Array& out,
                  std::optional<ArrayType> type, int threads) {
  const Rows rows = rows_of(from, 1, self.first);
  const Shape shape = rows.table_shape(self.encoder->spec().d_model);
  return table_of(out, shape, type).written_by([&](const OutputView& view) {
    rows.positions.of_axis(0, [&](auto each) { self.encoder->encode(each, view, threads); });
  });
}

Table encode_grid_cells(std::int64_t rows, std::int64_t columns, std::int64_t d_model,
                        GridConvention convention, ArrayType type, int threads) {
  grid_axes(convention, rows, columns, d_model);  // checks the arguments
  const std::int64_t sizes[] = {rows, columns};
  return table_of(py::none(), {grid_cells(sizes), d_model}, type)
      .written_by([&](const OutputView& view) {
        encode_grid(convention, rows, columns, d_model, view, threads);
      });
}

Table encode_like_system(suite::System system, const Positions& positions, std::int64_t d_model,
                         double base, Layout layout, Spacing spacing,
                         const FrequencyRule& frequencies, std::int64_t first, ArrayType type,
                         int threads) {
  const RowRange rows = range_of(positions, first);
  const auto encoder = without_gil([&] {
    return plan_like(system, {d_model, base, layout, spacing, frequencies});
  });
  return table_of(py::none(), {rows.count, d_model}, type).written_by([&](const OutputView& view) {
    encoder->encode(rows, view, threads);
  });
}

Typed<"tuple[NDArray[numpy.int64], float, float]"> round_positions(
    const py::array_t<double, py::array::c_style>& positions, std::optional<double> denominator) {
  if (positions.ndim() != 1)
    refuse("positions.shape", text(positions.attr("shape")), "one dimension");
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

// ---- Axes ---------------------------------------------------------------------------------------

using Arrange = AxesSpec (*)(const IntegerView&, const EncodingSpec&);

/// Binds a function of sizes and a convention. The frequencies of the convention run through all
/// pairs of the sections. (Blocks have widths of their own.)
void bind_arrangement(py::module_& module, const char* name, Arrange arrange, const char* argument,
                      const char* text) {
  const EncodingSpec paper;
  module.def(
      name,
      [arrange](const Sizes& sizes, double base, Layout layout, Spacing spacing,
                const FrequencyRule& frequencies) {
        std::int64_t pairs = 0;
        for (const std::int64_t each : sizes) {
          if (each >= 0 && each <= max_d_model) pairs += each;  // arrange() refuses others
        }
        return arrange(sizes, {2 * pairs, base, layout, spacing, frequencies});
      },
      py::arg(argument), py::kw_only(), "base"_a = paper.base, "layout"_a = paper.layout,
      "spacing"_a = paper.spacing, "frequencies"_a = py::none(), text);
}

Table encode_on_axes(const PyAxesEncoder& self, const Positions& from, const Array& out,
                     std::optional<ArrayType> type, int threads) {
  const AxesEncoder& encoder = self.encoder;
  const Rows rows = rows_of(from, encoder.spec().axes(), 0);
  return table_of(out, rows.table_shape(encoder.d_model()), type)
      .written_by([&](const OutputView& view) { encoder.encode(rows.positions, view, threads); });
}

py::array_t<std::int64_t> array_of_axes(const Sizes& positions, std::int64_t axes) {
  const auto count = static_cast<py::ssize_t>(positions.size());
  return py::array_t<std::int64_t>({axes, count / std::max<py::ssize_t>(axes, 1)},
                                   positions.data());
}

}  // namespace

void bind_encoders(py::module_& module) {
  const EncodingSpec paper;
  py::class_<PyEncoder> encoder(module, "Encoder", R"(A backend planned for one convention.

Without `backend`, the fastest backend that promises `accuracy` for tables of `rows` rows is
selected. `accuracy`: None means correctly rounded, and a number is the largest absolute error.
`frequencies`: d_model / 2 numbers in radians per position, a rule such as posenc.Llama3Scaling, or
the text of a rule, such as "linear:factor=4". `first`: the position of the first row if a call
gives no positions. An encoder is immutable, so any number of threads may use it. Copies are the
same object. A pickled encoder is planned again where it is unpickled.)");
  bind_remaking(encoder, encoder_arguments)
      .def(py::init(&make_encoder), "d_model"_a, py::kw_only(), "base"_a = paper.base,
           "layout"_a = paper.layout, "spacing"_a = paper.spacing, "frequencies"_a = py::none(),
           "first"_a = 0, "backend"_a = py::none(), "accuracy"_a = py::none(), "rows"_a = 4096,
           "dtype"_a = ArrayType{})
      .def("encode", &encode_rows, "positions"_a, "out"_a = py::none(), "dtype"_a = py::none(),
           "threads"_a = 1,
           R"(Returns the encodings of these positions: an array of shape (rows, d_model).

positions: range(first, last + 1), an array or tensor of int32 or int64, or a sequence of integers,
each from -2**53 to 2**53. A number of rows is also allowed: the rows then begin at position `first`
of the encoder. A row has the same bits in every call. An array of shape (batch, rows) gives a
result of shape (batch, rows, d_model).
out: the array to write and return, instead of a new one: an array or a PyTorch tensor. It has the
shape of the result, the type float32, float64, float16 or bfloat16, and a contiguous last
dimension.
dtype: the type of a new array: "float32" (also None), "float64", "float16", "bfloat16", or such a
type of NumPy or PyTorch. If both are given, `out` must have this type. NumPy has bfloat16 only with
the package ml_dtypes. "bfloat16_bits" returns the bits of bfloat16 in an array of uint16.)")
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

  module.def(
      "row_count",
      [](const Positions& positions) { return rows_of(positions, 1, 0).positions.count(); },
      "positions"_a, "The number of rows of such positions, or the number itself.");
  module.def("encode_like", &encode_like_system, "system"_a, "positions"_a, "d_model"_a,
             py::kw_only(), "base"_a = paper.base, "layout"_a = paper.layout,
             "spacing"_a = paper.spacing, "frequencies"_a = py::none(), "first"_a = 0,
             "dtype"_a = ArrayType{}, "threads"_a = 1,
             R"(Returns encodings with the float32 phases of another system: shape (rows, d_model).

system: "tutorial" or "transformers". vLLM has the rotary embeddings of Transformers.
positions: range(first, last + 1), or a number of rows, from position `first`.

Phases are rounded as the system rounds them, operation for operation. Each entry is the correctly
rounded float32 sine or cosine of its phase, then converted to `dtype`. The system's own expf, powf,
sinf and cosf come from a C library or vector library and may be off by an ulp or two. These errors
are not reproduced: here the functions are correctly rounded. Raises ValueError if the system does
not have the spacing, the rule of frequencies or the dtype.)");
  module.def("encode_grid", &encode_grid_cells, "rows"_a, "columns"_a, "d_model"_a,
             "convention"_a = GridConvention::mae, py::kw_only(), "dtype"_a = ArrayType{},
             "threads"_a = 1,
             R"(Returns the encodings of a grid's cells: shape (rows * columns, d_model).

The cell in row r and column c has its encoding in row r * columns + c of the result, correctly
rounded. convention: "mae", "simple_vit", or "detr" (PositionEmbeddingSine, normalised, without
padding).)");
  module.def("round_positions", &round_positions, "positions"_a, "denominator"_a = py::none(),
             "The multiples, the denominator and the largest error of real_positions().");
  module.def("preset", &preset_arguments, "name"_a,
             R"(The convention of a real system, as arguments: Encoder(**preset('whisper')).

The arguments fit Encoder and encode(). `first` is the position of the system's first row; in
fairseq, for example, it is not 0.)");
  module.def(
      "presets", [] { return descriptions_of(presets()); },
      "The names of the presets, and what each describes.");
}

void bind_axes(py::module_& module) {
  const EncodingSpec paper;
  py::class_<AxisPairs> pairs(module, "AxisPairs",
                              R"(Pairs of channels on one axis: a part of Axes.

d_model, base, layout, spacing, frequencies: an encoding, as in Encoder. picks: the indices of its
frequencies that the pairs have; by default, all. pairs: the places of the pairs in a row; by
default, they follow the pairs of the part before.)");
  bind_remaking(pairs,
                [](const AxisPairs& self) {
                  return convention_of(self.spec, "axis"_a = self.axis,
                                       "picks"_a = self.frequencies, "pairs"_a = self.pairs);
                })
      .def(py::init([](std::int64_t axis, std::int64_t d_model, double base, Layout layout,
                       Spacing spacing, const FrequencyRule& frequencies, const Sizes& picks,
                       const Sizes& places) {
             return AxisPairs{axis, {d_model, base, layout, spacing, frequencies}, picks, places};
           }),
           "axis"_a, "d_model"_a, py::kw_only(), "base"_a = paper.base, "layout"_a = paper.layout,
           "spacing"_a = paper.spacing, "frequencies"_a = py::none(), "picks"_a = Sizes(),
           "pairs"_a = Sizes());

  py::class_<AxesSpec> axes(module, "Axes", R"(Which pairs of a row's channels are on which axis.

axes_in_blocks(), axes_in_sections() and other functions make the usual arrangements. parts: a
sequence of AxisPairs. layout: the layout of all channels of a row. If parts_have_layouts, the
channels of each part are contiguous instead, in the layout of the part's encoding.)");
  bind_remaking(axes,
                [](const AxesSpec& self) {
                  return py::dict("parts"_a = self.parts, "layout"_a = self.layout,
                                  "parts_have_layouts"_a = self.parts_have_layouts);
                })
      .def(
          py::init([](const std::vector<AxisPairs>& parts, Layout layout, bool parts_have_layouts) {
            const AxesSpec spec = {parts, layout, parts_have_layouts};
            validate(spec);
            return spec;
          }),
          "parts"_a, py::kw_only(), "layout"_a = paper.layout, "parts_have_layouts"_a = false)
      .def(py::self == py::self)
      .def_property_readonly("d_model", &AxesSpec::d_model)
      .def_property_readonly("axes", &AxesSpec::axes, "The number of axes.");

  bind_arrangement(module, "axes_in_blocks", &axes_in_blocks, "channels",
                   "A block of channels[axis] columns for each axis, with frequencies of its own "
                   "(Flux, Wan).");
  bind_arrangement(module, "axes_in_sections", &axes_in_sections, "sections",
                   "The first sections[0] pairs are on axis 0, the next sections[1] on axis 1, and "
                   "so on (M-RoPE).");
  bind_arrangement(module, "axes_interleaved", &axes_interleaved, "sections",
                   "As many pairs, with the axes interleaved (Qwen3-VL's mrope_interleaved).");
  bind_arrangement(module, "axes_alternating", &axes_alternating, "sections",
                   "As many pairs, with axes 1 and 2 alternating before axis 0 (ERNIE 4.5-VL).");
  module.def(
      "grid_positions",
      [](const Sizes& sizes, const Sizes& firsts) {
        return array_of_axes(grid_positions(sizes, firsts),
                             static_cast<std::int64_t>(sizes.size()));
      },
      "sizes"_a, "firsts"_a = Sizes(),
      R"(The positions of a grid's cells, in row-major order: int64, shape (axes, cells).

firsts: the position of the first cell on each axis, by default 0.)");
  module.def(
      "axes_table",
      [](const std::string& name, const std::optional<GridSizes>& sizes) {
        const AxesTable table = axes_table(name, sizes);
        return Typed<"tuple[Axes, NDArray[numpy.int64]]">(
            py::make_tuple(table.spec, array_of_axes(table.positions, table.spec.axes())));
      },
      "name"_a, "sizes"_a = py::none(),
      R"(The Axes of a system, and the positions of a grid's cells: (axes, positions).

sizes: the number of cells along time, height and width; by default, a usual grid. Each cell is a
row. AxesEncoder and Rotary take both the axes and the positions.)");
  module.def(
      "axes_presets", [] { return descriptions_of(axes_presets()); },
      "The names that axes_table() takes, and what each describes.");
  py::class_<PyAxesEncoder> encoder(module, "AxesEncoder",
                                    R"(Encodings of positions on several axes.

accuracy: as in Encoder. dtype: the type of the tables for which backends are selected. An
AxesEncoder is immutable.)");
  bind_remaking(encoder,
                [](const PyAxesEncoder& self) {
                  return py::dict("axes"_a = self.encoder.spec(), "accuracy"_a = self.accuracy,
                                  "dtype"_a = self.type);
                })
      .def(py::init(
               [](const AxesSpec& spec, const std::optional<Accuracy>& accuracy, ArrayType type) {
                 const ReleasedGil no_gil;
                 return std::make_unique<PyAxesEncoder>(spec, accuracy, type);
               }),
           "axes"_a, py::kw_only(), "accuracy"_a = py::none(), "dtype"_a = ArrayType{})
      .def("encode", &encode_on_axes, "positions"_a, "out"_a = py::none(), "dtype"_a = py::none(),
           "threads"_a = 1,
           R"(Returns the encodings of these positions: an array of shape (rows, d_model).

positions: an array of int32 or int64 of shape (axes, rows), or positions that are equal on all
axes, as in Encoder.encode(). A number of rows begins at position 0. A batch of sequences, of shape
(axes, batch, rows), gives a result of shape (batch, rows, d_model).
out, dtype: as in Encoder.encode().)")
      .def_property_readonly("axes", [](const PyAxesEncoder& self) { return self.encoder.spec(); });
}

}  // namespace posenc::python
