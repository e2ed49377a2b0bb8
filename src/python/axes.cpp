// Encodings of positions on several axes.
#include "posenc/model/axes.h"
#include "posenc/model/axes_presets.h"

#include "python/arrays.h"
#include "python/gil.h"
#include "python/module.h"

#include <memory>
#include <span>

namespace posenc::python {

/// Encodings, and what they are planned for.
struct PyAxesEncoder {
  PyAxesEncoder(const AxesSpec& spec, const std::optional<Accuracy>& asked, DataType of_tables)
      : encoder(spec, asked.value_or(Accuracy()), of_tables), accuracy(asked), type(of_tables) {}

  AxesEncoder encoder;
  std::optional<Accuracy> accuracy;
  DataType type;
};

namespace {

using Arrange = AxesSpec (*)(std::span<const std::int64_t>, const EncodingSpec&);

/// Binds a function of sizes and a convention, whose frequencies run through all pairs of sections.
/// (Blocks have widths of their own.)
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

py::object encode_on_axes(const PyAxesEncoder& self, const Positions& from, const Array& out,
                          DataType type, int threads, StorePolicy stores) {
  const AxesEncoder& encoder = self.encoder;
  const Rows rows = rows_of(from, encoder.spec().axes(), 0);
  const ArrayArgument table =
      table_of(out, "out", rows.table_shape(encoder.d_model()), numpy_type(type));
  return table.written_by([&](const OutputView& view) {
    encoder.encode(rows.positions, view, EncodeOptions(threads, stores));
  });
}

py::array_t<std::int64_t> array_of_axes(const Sizes& positions, std::int64_t axes) {
  const auto count = static_cast<py::ssize_t>(positions.size());
  return py::array_t<std::int64_t>({axes, count / std::max<py::ssize_t>(axes, 1)},
                                   positions.data());
}

}  // namespace

void bind_axes(py::module_& module) {
  const EncodingSpec paper;
  py::class_<AxisPairs> pairs(module, "AxisPairs",
                              R"(Pairs of channels on one axis: a part of Axes.

d_model, base, layout, spacing, frequencies: an encoding, as in Encoder. picks: which of its
frequencies the pairs have, by their index; by default all. pairs: the places of the pairs in a row;
by default those after the pairs of the part before.)");
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

axes_in_blocks(), axes_in_sections() and others make the usual ones. parts: AxisPairs. layout: of
all channels of a row; if parts_have_layouts, the channels of each part are one behind the other, in
the layout of its encoding.)");
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
      .def(
          "__eq__",
          [](const AxesSpec& self, const py::object& other) {
            return is_object_of<AxesSpec>(other) && self == other.cast<const AxesSpec&>();
          },
          "other"_a)
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
        return py::make_tuple(table.spec, array_of_axes(table.positions, table.spec.axes()));
      },
      "name"_a, "sizes"_a = py::none(),
      R"(The Axes of a system, and the positions of a grid's cells: (axes, positions).

sizes: cells along time, height and width; by default those of a usual grid. The encoding of a cell
is a row; AxesEncoder and Rotary take both.)");
  module.def(
      "axes_presets", [] { return descriptions_of(axes_presets()); },
      "The names that axes_table() takes, and what each describes.");
  py::class_<PyAxesEncoder> encoder(module, "AxesEncoder",
                                    R"(Encodings of positions on several axes.

accuracy: as in Encoder. dtype: that of the tables that backends are selected for. Immutable.)");
  bind_remaking(encoder,
                [](const PyAxesEncoder& self) {
                  return py::dict("axes"_a = self.encoder.spec(), "accuracy"_a = self.accuracy,
                                  "dtype"_a = self.type);
                })
      .def(py::init(
               [](const AxesSpec& spec, const std::optional<Accuracy>& accuracy, DataType type) {
                 const ReleasedGil no_gil;
                 return std::make_unique<PyAxesEncoder>(spec, accuracy, type);
               }),
           "axes"_a, py::kw_only(), "accuracy"_a = py::none(), "dtype"_a = DataType::float32)
      .def("encode", &encode_on_axes, "positions"_a, "out"_a = py::none(),
           "dtype"_a = DataType::float32, "threads"_a = 1, "stores"_a = StorePolicy::automatic,
           R"(Returns the encodings of these positions: an array of shape (rows, d_model).

positions: an array of int32 or int64 of shape (axes, rows); or positions that are equal on all
axes, as in Encoder.encode(), where a number of rows begins at position 0. A batch of sequences,
(axes, batch, rows), gives (batch, rows, d_model).
out, dtype: as in Encoder.encode().)")
      .def_property_readonly("d_model",
                             [](const PyAxesEncoder& self) { return self.encoder.d_model(); })
      .def_property_readonly("axes", [](const PyAxesEncoder& self) { return self.encoder.spec(); })
      .def_property_readonly(
          "reason", [](const PyAxesEncoder& self) { return self.encoder.selection().reason; });
}

}  // namespace posenc::python
