// Encodings of positions on several axes.
#include "posenc/model/axes.h"
#include "posenc/model/axes_presets.h"

#include "python/arguments.h"
#include "python/arrays.h"
#include "python/axes.h"
#include "python/bindings.h"
#include "python/gil.h"
#include "python/state.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace posenc::python {
namespace {

using Sizes = std::vector<std::int64_t>;

PyAxes axes_of_parts(const std::vector<AxisPairs>& parts, const std::string& layout,
                     bool parts_have_layouts) {
  const AxesSpec spec = {parts, parse_layout(layout), parts_have_layouts};
  validate(spec);
  return {spec};
}

/// The spec whose frequencies run through all pairs of the sections.
EncodingSpec spec_of_sections(const Sizes& sections, double base, const std::string& layout,
                              const std::string& spacing, const py::object& frequencies) {
  std::int64_t pairs = 0;
  for (const std::int64_t each : sections) {
    if (each >= 0 && each <= max_d_model) pairs += each;  // others are refused by the caller
  }
  return spec_of(2 * pairs, base, layout, spacing, frequencies);
}

/// Binds a function of sizes and a convention.
template <class Make>
void bind_arrangement(py::module_& module, const char* name, const char* sizes, const char* text,
                      const Make& make) {
  using py::arg;
  module.def(
      name,
      [make](const Sizes& given, double base, const std::string& layout, const std::string& spacing,
             const py::object& frequencies) {
        return PyAxes{make(given, base, layout, spacing, frequencies)};
      },
      arg(sizes), py::kw_only(), arg("base") = EncodingSpec().base, arg("layout") = "interleaved",
      arg("spacing") = "paper", arg("frequencies") = py::none(), text);
}

template <class Arrange>
auto of_sections(const Arrange& arrange) {
  return [arrange](const Sizes& sections, double base, const std::string& layout,
                   const std::string& spacing, const py::object& frequencies) {
    return arrange(sections, spec_of_sections(sections, base, layout, spacing, frequencies));
  };
}

py::object encode(const PyAxesEncoder& self, const py::object& from, const py::object& out,
                  const py::object& type, int threads, const std::string& stores) {
  const AxesEncoder& encoder = self.encoder;
  const AxisPositions positions = axis_positions_of(from, encoder.spec().axes(), 0);
  const EncodeOptions options(threads, parse_store_policy(stores));
  const py::object result =
      out.is_none() ? new_table(positions, encoder.d_model(), parse_type(type)) : out;
  py::array table = array_of(result, "out");
  check_table(table, "out", positions, encoder.d_model());
  const OutputView view = output_of(table, "out");
  {
    const ReleasedGil no_gil;
    encoder.encode(positions.view(), view, options);
  }
  return result;
}

py::array_t<std::int64_t> rows_of_axes(const std::vector<std::int64_t>& positions,
                                       std::int64_t axes) {
  const py::ssize_t rows = static_cast<py::ssize_t>(positions.size()) / axes;
  return py::array_t<std::int64_t>({static_cast<py::ssize_t>(axes), rows}, positions.data());
}

py::tuple named_table(const std::string& name, const std::optional<GridSizes>& sizes) {
  const AxesTable table = axes_table(name, sizes);
  return py::make_tuple(PyAxes{table.spec}, rows_of_axes(table.positions, table.spec.axes()));
}

template <class Real>
py::array_t<std::int64_t> multiples_of(const PyAxes& axes, const py::array& positions) {
  const auto dense = py::array_t<Real, py::array::c_style>(positions);
  const std::span<const Real> each(dense.data(), static_cast<std::size_t>(dense.size()));
  return rows_of_axes(axis_multiples(axes.spec, each), axes.spec.axes());
}

py::array_t<std::int64_t> real_multiples(const PyAxes& axes, const py::array& positions) {
  const bool is_real = positions.dtype().kind() == 'f';
  const bool is_shape = positions.ndim() == 2 && positions.shape(0) == axes.spec.axes();
  if (is_shape && is_real && positions.itemsize() == 4) return multiples_of<float>(axes, positions);
  if (is_shape && is_real && positions.itemsize() == 8)
    return multiples_of<double>(axes, positions);
  throw InvalidArgument("positions has dtype " + text(positions.dtype()) + " and shape " +
                        shape_of(positions) + "; allowed: float32 or float64, (" +
                        std::to_string(axes.spec.axes()) + ", rows)");
}

void bind_axes_class(py::module_& module) {
  using py::arg;
  py::class_<AxisPairs> bound_pairs(module, "AxisPairs",
                                    R"(Pairs of channels on one axis: a part of Axes.

d_model, base, layout, spacing, frequencies: an encoding, as in Encoder. picks: which of its
frequencies the pairs have, by their index; by default all. pairs: the places of the pairs in a row;
by default those after the pairs of the part before. denominator: positions count 1 / denominator
each.)");
  bind_copies(bound_pairs)
      .def(py::init([](std::int64_t axis, std::int64_t d_model, double base,
                       const std::string& layout, const std::string& spacing,
                       const py::object& frequencies, const Sizes& picks, const Sizes& pairs,
                       double denominator) {
             return AxisPairs{axis, spec_of(d_model, base, layout, spacing, frequencies), picks,
                              pairs, denominator};
           }),
           arg("axis"), arg("d_model"), py::kw_only(), arg("base") = EncodingSpec().base,
           arg("layout") = "interleaved", arg("spacing") = "paper", arg("frequencies") = py::none(),
           arg("picks") = Sizes(), arg("pairs") = Sizes(), arg("denominator") = 1.0)
      .def(py::pickle([](const AxisPairs& each) { return state_of(each); }, &axis_pairs_of_state));

  py::class_<PyAxes> bound_axes(module, "Axes",
                                R"(Which pairs of a row's channels are on which axis.

axes_in_blocks(), axes_in_sections() and others make the usual ones. parts: AxisPairs. layout: of
all channels of a row; if parts_have_layouts, the channels of each part are one behind the other, in
the layout of its encoding.)");
  bind_copies(bound_axes)
      .def(py::init(&axes_of_parts), arg("parts"), py::kw_only(), arg("layout") = "interleaved",
           arg("parts_have_layouts") = false)
      .def(
          "__eq__",
          [](const PyAxes& a, const py::object& b) {
            return is_object_of<PyAxes>(b) && a.spec == b.cast<const PyAxes&>().spec;
          },
          arg("other"))
      .def_property_readonly("d_model", [](const PyAxes& each) { return each.spec.d_model(); })
      .def_property_readonly(
          "axes", [](const PyAxes& each) { return each.spec.axes(); }, "The number of axes.")
      .def(py::pickle([](const PyAxes& each) { return state_of(each.spec); },
                      [](const py::tuple& state) { return PyAxes{axes_of_state(state)}; }));
}

void bind_arrangements(py::module_& module) {
  bind_arrangement(
      module, "axes_in_blocks", "channels",
      "A block of channels[axis] columns for each axis, with frequencies of its own (Flux, Wan).",
      [](const Sizes& channels, double base, const std::string& layout, const std::string& spacing,
         const py::object& frequencies) {
        const std::int64_t widest =
            channels.empty() ? 2 : *std::max_element(channels.begin(), channels.end());
        return axes_in_blocks(channels, spec_of(widest, base, layout, spacing, frequencies));
      });
  bind_arrangement(module, "axes_in_sections", "sections",
                   "The first sections[0] pairs are on axis 0, the next sections[1] on axis 1, and "
                   "so on (M-RoPE).",
                   of_sections([](const Sizes& sections, const EncodingSpec& spec) {
                     return axes_in_sections(sections, spec);
                   }));
  bind_arrangement(module, "axes_interleaved", "sections",
                   "As many pairs, with the axes interleaved (Qwen3-VL's mrope_interleaved).",
                   of_sections([](const Sizes& sections, const EncodingSpec& spec) {
                     return axes_interleaved(sections, spec);
                   }));
  bind_arrangement(module, "axes_alternating", "sections",
                   "As many pairs, with axes 1 and 2 alternating before axis 0 (ERNIE 4.5-VL).",
                   of_sections([](const Sizes& sections, const EncodingSpec& spec) {
                     return axes_alternating(sections, spec);
                   }));
  module.def(
      "grid_positions",
      [](const Sizes& sizes, const Sizes& firsts) {
        const std::vector<std::int64_t> positions = grid_positions(sizes, firsts);
        const auto axes = static_cast<py::ssize_t>(sizes.size());
        const py::ssize_t cells = axes == 0 ? 0 : static_cast<py::ssize_t>(positions.size()) / axes;
        return py::array_t<std::int64_t>({axes, cells}, positions.data());
      },
      py::arg("sizes"), py::arg("firsts") = Sizes(),
      R"(The positions of a grid's cells, in row-major order: int64, shape (axes, cells).

firsts: the position of the first cell on each axis, by default 0.)");
  module.def("axes_table", &named_table, py::arg("name"), py::arg("sizes") = py::none(),
             R"(The Axes of a system, and the positions of a grid's cells: (axes, positions).

sizes: cells along time, height and width; by default those of a usual grid. The encoding of a cell
is a row; AxesEncoder and Rotary take both.)");
  module.def(
      "axes_presets",
      [] {
        py::dict all;
        for (const AxesPreset& each : axes_presets())
          all[py::str(std::string(each.name))] = std::string(each.description);
        return all;
      },
      "The names that axes_table() takes, and what each describes.");
  module.def("axis_multiples", &real_multiples, py::arg("axes"), py::arg("positions"),
             R"(Positions that are not integers, as multiples of 1 / denominator of their axis.

positions: float32 or float64, shape (axes, rows). Returns int64 of the same shape. Raises
ValueError unless each position is the value of its type nearest to such a multiple.)");
}

}  // namespace

void bind_axes(py::module_& module) {
  using py::arg;
  const py::str float32("float32");
  bind_axes_class(module);
  bind_arrangements(module);
  py::class_<PyAxesEncoder> encoder(module, "AxesEncoder",
                                    R"(Encodings of positions on several axes.

accuracy: as in Encoder. dtype: that of the tables that backends are selected for. Immutable.)");
  bind_copies(encoder)
      .def(py::init([](const PyAxes& axes, const py::object& accuracy, const py::object& type) {
             const Accuracy asked = accuracy_of(accuracy);
             const DataType of_tables = parse_type(type);
             const ReleasedGil no_gil;
             return std::make_unique<PyAxesEncoder>(axes.spec, asked, of_tables);
           }),
           arg("axes"), py::kw_only(), arg("accuracy") = py::none(), arg("dtype") = float32)
      .def("encode", &encode, arg("positions"), arg("out") = py::none(), arg("dtype") = float32,
           arg("threads") = 1, arg("stores") = "automatic",
           R"(Returns the encodings of these positions: an array of shape (rows, d_model).

positions: an array of int32 or int64 of shape (axes, rows); or positions that are equal on all
axes, as in Encoder.encode(), where a number of rows begins at position 0. A batch of sequences,
(axes, batch, rows), gives (batch, rows, d_model).
out, dtype: as in Encoder.encode().)")
      .def_property_readonly("d_model",
                             [](const PyAxesEncoder& each) { return each.encoder.d_model(); })
      .def_property_readonly("axes",
                             [](const PyAxesEncoder& each) { return PyAxes{each.encoder.spec()}; })
      .def_property_readonly(
          "reason", [](const PyAxesEncoder& each) { return each.encoder.selection().reason; })
      .def(py::pickle(
          [](const PyAxesEncoder& each) {
            return py::make_tuple(state_of(each.encoder.spec()), state_of(each.accuracy),
                                  std::string(to_string(each.type)));
          },
          [](const py::tuple& state) {
            return std::make_unique<PyAxesEncoder>(
                axes_of_state(state[0]), accuracy_of_state(state[1]), parse_type(state[2]));
          }));
}

}  // namespace posenc::python
