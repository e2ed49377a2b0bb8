// Rotary embeddings.
#include "python/rotary.h"

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
#include <string>
#include <string_view>
#include <vector>

namespace posenc::python {
namespace {

RotarySpec spec_of_axis(std::optional<std::int64_t> dimension, double base,
                        const py::object& frequencies, std::optional<double> attention_factor) {
  if (!dimension) throw InvalidArgument("dimension is not given; allowed: it, or axes");
  EncodingSpec spec = {.d_model = *dimension, .base = base, .frequencies = rule_of(frequencies)};
  if (attention_factor) spec.frequencies = without_attention_factor(spec.frequencies);
  RotarySpec result = rotary_spec(spec);
  if (attention_factor) result.attention_factor = *attention_factor;
  return result;
}

RotarySpec spec_of_axes(const PyAxes& axes, std::optional<std::int64_t> dimension,
                        const py::object& frequencies, std::optional<double> attention_factor) {
  if (dimension && *dimension != axes.spec.d_model()) {
    throw InvalidArgument("dimension is " + std::to_string(*dimension) +
                          "; allowed: that of the axes, " + std::to_string(axes.spec.d_model()));
  }
  if (!frequencies.is_none()) {
    throw InvalidArgument("frequencies are given with axes; allowed: those of the axes");
  }
  return {.angles = axes.spec, .attention_factor = attention_factor.value_or(1)};
}

std::unique_ptr<PyRotary> make(std::optional<std::int64_t> dimension, double base,
                               const std::string& channels, const py::object& frequencies,
                               const py::object& axes, std::optional<double> attention_factor,
                               const py::object& accuracy) {
  if (!axes.is_none() && !is_object_of<PyAxes>(axes)) {
    throw py::type_error("axes is " + text(py::repr(axes)) + "; allowed: None, or Axes");
  }
  RotarySpec spec = axes.is_none() ? spec_of_axis(dimension, base, frequencies, attention_factor)
                                   : spec_of_axes(axes.cast<const PyAxes&>(), dimension,
                                                  frequencies, attention_factor);
  spec.channels = parse_rotary_layout("channels", channels);
  const Accuracy asked = accuracy_of(accuracy);
  const ReleasedGil no_gil;
  return std::make_unique<PyRotary>(spec, asked);
}

py::tuple state_of_rotary(const PyRotary& rotary) {
  const RotarySpec& spec = rotary.spec();
  return py::make_tuple(state_of(spec.angles), static_cast<int>(spec.channels),
                        spec.attention_factor, state_of(rotary.accuracy()), rotary.text());
}

std::unique_ptr<PyRotary> rotary_of_state(const py::tuple& state) {
  const RotarySpec spec = {.angles = axes_of_state(state[0]),
                           .channels = static_cast<RotaryLayout>(state[1].cast<int>()),
                           .attention_factor = state[2].cast<double>()};
  return std::make_unique<PyRotary>(spec, accuracy_of_state(state[3]),
                                    state[4].cast<std::string>());
}

// ---- Caches -------------------------------------------------------------------------------------

constexpr std::string_view complex_layout = "complex";

/// A layout of cosines and sines in one table; complex numbers are interleaved.
RotaryLayout parse_cache_layout(const std::string& name) {
  if (name == complex_layout) return RotaryLayout::interleaved;
  if (name == "halves") return RotaryLayout::halves;
  if (name == "interleaved") return RotaryLayout::interleaved;
  throw InvalidArgument("layout is '" + name + "'; allowed: halves, interleaved, complex");
}

Repeat parse_repeat(const char* argument, const std::string& name) {
  if (name == "once") return Repeat::once;
  if (name == "halves") return Repeat::halves;
  if (name == "interleaved") return Repeat::interleaved;
  throw InvalidArgument(std::string(argument) + " is '" + name +
                        "'; allowed: once, halves, interleaved");
}

/// The same memory as pairs of real numbers.
py::array reals_of(const py::array& array, const char* name) {
  const bool is_complex = array.dtype().kind() == 'c';
  if (is_complex && array.ndim() > 0 && (array.itemsize() == 8 || array.itemsize() == 16)) {
    check_strides(array, name);
    return array.attr("view")(array.itemsize() == 8 ? "float32" : "float64").cast<py::array>();
  }
  throw InvalidArgument(std::string(name) + ".dtype is " + text(array.dtype()) +
                        "; allowed with the layout complex: complex64, complex128");
}

py::object as_complex(const py::array& table, DataType type) {
  if (type != DataType::float32 && type != DataType::float64) {
    throw InvalidArgument("dtype is " + std::string(to_string(type)) +
                          "; allowed with the layout complex: float32, float64");
  }
  return table.attr("view")(type == DataType::float32 ? "complex64" : "complex128");
}

py::object cache(const PyRotary& rotary, const py::object& from, const std::string& layout,
                 const py::object& out, const py::object& type, int threads) {
  const AxisPositions positions = axis_positions_of(from, rotary.spec().angles.axes(), 0);
  const RotaryLayout order = parse_cache_layout(layout);
  const bool is_complex = layout == complex_layout;
  py::object result = out;
  if (out.is_none()) {
    const DataType of_table = parse_type(type);
    py::array table = new_table(positions, rotary.dimension(), of_table);
    result = is_complex ? as_complex(table, of_table) : table;
  }
  const py::array table = array_of(result, "out");
  py::array reals = is_complex ? reals_of(table, "out") : table;
  check_table(table, "out", positions, rotary.dimension() / (is_complex ? 2 : 1));
  const OutputView view = output_of(reals, "out");
  const ReleasedGil no_gil;
  rotary.cache(positions.view(), order, view, threads);
  return result;
}

py::object cosines_and_sines(const PyRotary& rotary, const py::object& from,
                             const std::string& repeat, const py::object& out,
                             const py::object& type, int threads) {
  const AxisPositions positions = axis_positions_of(from, rotary.spec().angles.axes(), 0);
  const Repeat how = parse_repeat("repeat", repeat);
  const std::int64_t columns = rotary.dimension() / (how == Repeat::once ? 2 : 1);
  py::object result = out;
  if (out.is_none()) {
    const DataType of_tables = parse_type(type);
    result = py::make_tuple(new_table(positions, columns, of_tables),
                            new_table(positions, columns, of_tables));
  }
  if (!py::isinstance<py::sequence>(result) || py::len(result) != 2) {
    throw InvalidArgument("out is not a pair; allowed: (cosines, sines)");
  }
  py::array cosines = array_of(result[py::int_(0)], "cosines"),
            sines = array_of(result[py::int_(1)], "sines");
  check_table(cosines, "cosines", positions, columns);
  check_table(sines, "sines", positions, columns);
  const OutputView to_cosines = output_of(cosines, "cosines"), to_sines = output_of(sines, "sines");
  const ReleasedGil no_gil;
  rotary.cosines_and_sines(positions.view(), how, to_cosines, to_sines, threads);
  return result;
}

// ---- Heads --------------------------------------------------------------------------------------

/// One array, or several in a list or a tuple, as views.
struct Heads {
  std::vector<py::array> arrays;
  std::vector<HeadsView> views;

  Heads(const py::object& x, bool heads_first) {
    if (!py::isinstance<py::list>(x) && !py::isinstance<py::tuple>(x)) {
      add(x, "x", heads_first);
      return;
    }
    for (std::size_t i = 0; i < py::len(x); ++i)
      add(x[py::int_(i)], ("x[" + std::to_string(i) + "]").c_str(), heads_first);
  }

  std::int64_t batch() const { return views.empty() ? 0 : views[0].batch; }
  std::int64_t rows() const { return views.empty() ? 0 : views[0].rows; }

 private:
  void add(const py::object& x, const char* name, bool heads_first) {
    arrays.push_back(array_of(x, name));
    views.push_back(heads_of(arrays.back(), name, heads_first));
  }
};

/// The positions of the rows of heads: from `first` on, or given ones.
AxisPositions positions_of_heads(const Heads& heads, std::int64_t first, const py::object& given,
                                 std::int64_t axes) {
  if (given.is_none()) return {{{first, heads.rows()}, {}}, 0, {}};
  if (first != 0) {
    throw InvalidArgument("first is " + std::to_string(first) +
                          " with positions; allowed: one of them");
  }
  AxisPositions positions = axis_positions_of(given, axes);
  const auto& shape = positions.shape;
  const bool fits = shape.size() < 2 ||
                    (shape[1] == heads.rows() && (shape[0] == 1 || shape[0] == heads.batch()));
  if (fits) return positions;
  throw InvalidArgument("positions has " + std::to_string(shape[0]) + " sequences of " +
                        std::to_string(shape[1]) + " rows; allowed: as many as x, " +
                        std::to_string(heads.batch()) + " of " + std::to_string(heads.rows()));
}

py::object apply(const PyRotary& rotary, const py::object& x, std::int64_t first,
                 const py::object& given, bool inverse, int threads, bool heads_first) {
  const Heads heads(x, heads_first);
  const AxisPositions positions =
      positions_of_heads(heads, first, given, rotary.spec().angles.axes());
  {
    const ReleasedGil no_gil;
    rotary.apply(heads.views, positions.view(), {.inverse = inverse, .threads = threads});
  }
  return x;
}

/// A cache, or cosines and sines apart, and their memory.
struct Cache {
  std::vector<py::array> arrays;

  Cache(const py::object& from, const std::string& layout) {
    if (!py::isinstance<py::tuple>(from) && !py::isinstance<py::list>(from)) {
      const py::array table = array_of(from, "cache");
      arrays.push_back(layout == complex_layout ? reals_of(table, "cache") : table);
    } else if (py::len(from) == 2) {
      arrays = {array_of(from[py::int_(0)], "cosines"), array_of(from[py::int_(1)], "sines")};
    } else {
      throw InvalidArgument("cache has " + std::to_string(py::len(from)) +
                            " arrays; allowed: one, or (cosines, sines)");
    }
  }

  /// The dimensions before the columns: (rows), or (batch, rows).
  std::vector<py::ssize_t> rows() const {
    return {arrays[0].shape(), arrays[0].shape() + std::max<py::ssize_t>(arrays[0].ndim() - 1, 0)};
  }

  RotaryCacheView view(const std::string& layout) const {
    if (arrays.size() == 1) return {input_of(arrays[0], "cache"), parse_cache_layout(layout)};
    return {input_of(arrays[0], "cosines"), input_of(arrays[1], "sines"),
            parse_repeat("layout", layout)};
  }
};

/// The rows of a cache that turn heads. A cache of shape (batch, rows, columns) has one for each.
AxisPositions rows_of_cache(const Cache& cache, const Heads& heads, std::int64_t first,
                            const py::object& given) {
  const std::vector<py::ssize_t> rows = cache.rows();
  if (rows.size() < 2) return positions_of_heads(heads, first, given, 1);
  const bool is_shared = rows[0] == 1;
  const bool fits = rows.size() == 2 && (is_shared || rows[0] == heads.batch()) &&
                    rows[1] == heads.rows() && first == 0 && given.is_none();
  if (!fits) {
    throw InvalidArgument("cache.shape is " + shape_of(cache.arrays[0]) +
                          "; allowed: (rows, columns), or (" + std::to_string(heads.batch()) +
                          ", " + std::to_string(heads.rows()) +
                          ", columns) without first and positions");
  }
  return {{{0, is_shared ? heads.rows() : heads.batch() * heads.rows()}, {}}, 0, {}};
}

py::object apply_cache(const PyRotary& rotary, const py::object& from, const py::object& x,
                       const std::string& layout, std::int64_t first, const py::object& given,
                       bool inverse, int threads, bool heads_first) {
  const Cache cache(from, layout);
  const RotaryCacheView view = cache.view(layout);
  const Heads heads(x, heads_first);
  const AxisPositions rows = rows_of_cache(cache, heads, first, given);
  {
    const ReleasedGil no_gil;
    rotary.apply_cache(view, heads.views, rows.view(), {.inverse = inverse, .threads = threads});
  }
  return x;
}

}  // namespace

void bind_rotary(py::module_& module) {
  using py::arg;
  const py::str float32("float32");
  py::class_<PyRotary> rotary(module, "Rotary", R"(Rotary position embeddings from exact phases.

dimension: channels of a head that are turned. channels: "halves" turns k and k + dimension / 2
(GPT-NeoX, Llama), "interleaved" 2k and 2k + 1 (the paper, GPT-J). frequencies, accuracy: as in
Encoder. axes: of positions on several axes, instead of a base and frequencies. attention_factor:
what cosines and sines are multiplied by, by default that of the frequencies.
posenc.rotary_from_config() reads all from a model's config.json. Immutable.)");
  bind_copies(rotary)
      .def(py::init(&make), arg("dimension") = py::none(), py::kw_only(), arg("base") = 10000.0,
           arg("channels") = "halves", arg("frequencies") = py::none(), arg("axes") = py::none(),
           arg("attention_factor") = py::none(), arg("accuracy") = py::none())
      .def("cache", &cache, arg("positions"), arg("layout") = "halves", py::kw_only(),
           arg("out") = py::none(), arg("dtype") = float32, arg("threads") = 1,
           R"(Returns cosines and sines: an array of shape (rows, dimension).

positions: as in Encoder.encode(), where a number of rows begins at position 0; an array of shape
(batch, rows) gives (batch, rows, dimension). If there are several axes, the first of two or three
dimensions is the axis.
layout: "halves" is that of vLLM, cosines before sines; "interleaved" that of ggml, cosine before
sine; "complex" that of diffusers, complex numbers of shape (rows, dimension / 2).
out, dtype: as in Encoder.encode().)")
      .def("cosines_and_sines", &cosines_and_sines, arg("positions"), arg("repeat") = "once",
           py::kw_only(), arg("out") = py::none(), arg("dtype") = float32, arg("threads") = 1,
           R"(Returns (cosines, sines), each of shape (rows, dimension / 2) or (rows, dimension).

repeat: "once" (ONNX, TensorRT), "halves" (Transformers: all, and then all again) or "interleaved"
(diffusers: each next to itself). positions, dtype: as in cache(). out: a pair of arrays.)")
      .def("apply", &apply, arg("x"), arg("first") = 0, py::kw_only(),
           arg("positions") = py::none(), arg("inverse") = false, arg("threads") = 1,
           arg("heads_first") = false,
           R"(Turns x in place and returns it. Row r is at position first + r, or positions[r].

x: shape (rows, head_dim), (rows, heads, head_dim) or (batch, rows, heads, head_dim); if
heads_first, (heads, rows, head_dim) or (batch, heads, rows, head_dim), as Transformers has it.
float32, or float16 or bfloat16, of which each result is computed in float32 and rounded once. A
list of arrays, such as queries and keys, is turned by the same angles.
positions: an array of shape (rows) or (batch, rows), a range or a sequence; if there are several
axes, an array of shape (axes, rows) or (axes, batch, rows).
inverse: by the opposite angles.)")
      .def("apply_cache", &apply_cache, arg("cache"), arg("x"), arg("layout") = "halves",
           py::kw_only(), arg("first") = 0, arg("positions") = py::none(), arg("inverse") = false,
           arg("threads") = 1, arg("heads_first") = false,
           R"(The same by a cache: row first + r of it turns row r of x, or row positions[r].

cache: what cache() returns, or the pair of cosines_and_sines(). One of shape (batch, rows, columns)
has a row for each row of x. layout: that of the cache, or "once", "halves" or "interleaved" for a
pair.)")
      .def_property_readonly(
          "channels",
          [](const PyRotary& each) {
            return each.channels() == RotaryLayout::halves ? "halves" : "interleaved";
          },
          "Which channels are a pair: \"halves\" or \"interleaved\".")
      .def_property_readonly("dimension", [](const PyRotary& each) { return each.dimension(); })
      .def_property_readonly(
          "attention_factor", [](const PyRotary& each) { return each.attention_factor(); },
          "Cosines and sines are multiplied by it.")
      .def_property_readonly("axes",
                             [](const PyRotary& each) { return PyAxes{each.spec().angles}; })
      .def_property_readonly("reason", [](const PyRotary& each) { return each.selection().reason; })
      .def("__repr__", [](const PyRotary& each) { return "Rotary(" + each.text() + ")"; })
      .def(py::pickle(&state_of_rotary, &rotary_of_state));
}

}  // namespace posenc::python
