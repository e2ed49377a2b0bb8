// Rotary embeddings, from arguments or from a model's config.json.
#include "posenc/model/rotary.h"
#include "posenc/model/rotary_config.h"
#include "python/module.h"

#include <algorithm>
#include <memory>

namespace posenc::python {

using namespace model;

namespace {

RotarySpec spec_of(std::optional<std::int64_t> dimension, std::optional<double> base,
                   const FrequencyRule& frequencies, const AxesSpec* axes,
                   std::optional<double> attention_factor) {
  if (axes == nullptr) {
    if (!dimension) throw InvalidArgument("dimension is not given; allowed: it, or axes");
    EncodingSpec spec = {.d_model = *dimension,
                         .base = base.value_or(EncodingSpec().base),
                         .frequencies = frequencies};
    if (attention_factor) spec.frequencies = without_attention_factor(spec.frequencies);
    return rotary_spec(spec);
  }
  if (dimension && *dimension != axes->d_model()) {
    refuse("dimension", std::to_string(*dimension),
           "that of the axes, " + std::to_string(axes->d_model()));
  }
  if (base) throw InvalidArgument("base is given with axes; allowed: that of the axes");
  if (!is_base(frequencies)) {
    throw InvalidArgument("frequencies are given with axes; allowed: those of the axes");
  }
  return {.angles = *axes};
}

std::unique_ptr<PyRotary> make_rotary(std::optional<std::int64_t> dimension,
                                      std::optional<double> base, RotaryLayout channels,
                                      const FrequencyRule& frequencies, const AxesSpec* axes,
                                      std::optional<double> attention_factor,
                                      const std::optional<Accuracy>& accuracy,
                                      const std::optional<std::string>& said) {
  RotarySpec spec = spec_of(dimension, base, frequencies, axes, attention_factor);
  spec.channels = channels;
  if (attention_factor) spec.attention_factor = *attention_factor;
  const ReleasedGil no_gil;
  return std::make_unique<PyRotary>(spec, accuracy, said.value_or(to_string(spec)));
}

py::dict rotary_arguments(const PyRotary& self) {
  return py::dict("axes"_a = self.spec().angles, "channels"_a = self.channels(),
                  "attention_factor"_a = self.attention_factor(), "accuracy"_a = self.accuracy,
                  "said"_a = self.said);
}

// ---- Caches -------------------------------------------------------------------------------------

Table cache(const PyRotary& self, const Positions& from, CacheLayout layout, const Array& out,
            std::optional<ArrayType> type, int threads) {
  const Rows rows = rows_of(from, self.spec().angles.axes(), 0);
  const bool is_complex = layout == CacheLayout::complex;
  if (is_complex && type && type->of_element != DataType::float32 &&
      type->of_element != DataType::float64) {
    throw InvalidArgument("dtype is " + std::string(to_string(*type)) +
                          "; allowed with the layout complex: float32, float64");
  }
  const Shape shape = rows.table_shape(self.dimension() / (is_complex ? 2 : 1));
  return table_of(out, shape, type, "out", is_complex).written_by([&](const OutputView& view) {
    self.cache(rows.positions,
               layout == CacheLayout::halves ? RotaryLayout::halves : RotaryLayout::interleaved,
               view, threads);
  });
}

Typed<"tuple[NDArray[Any], NDArray[Any]]"> cosines_and_sines(const PyRotary& self,
                                                             const Positions& from, Repeat repeat,
                                                             const Array& out,
                                                             std::optional<ArrayType> type,
                                                             int threads) {
  const Rows rows = rows_of(from, self.spec().angles.axes(), 0);
  const Shape shape = rows.table_shape(self.dimension() / (repeat == Repeat::once ? 2 : 1));
  if (!out.is_none() && (!py::isinstance<py::sequence>(out) || py::len(out) != 2)) {
    throw InvalidArgument("out is not a pair; allowed: (cosines, sines)");
  }
  const auto table = [&](int i, const char* name) {
    const py::object given = out.is_none() ? py::object(py::none()) : out[py::int_(i)];
    return table_of(given, shape, type, name);
  };
  const ArrayArgument cosines = table(0, "cosines"), sines = table(1, "sines");
  const OutputView to_sines = sines.output();
  cosines.written_by([&](const OutputView& to_cosines) {
    self.cosines_and_sines(rows.positions, repeat, to_cosines, to_sines, threads);
  });
  if (!out.is_none()) return out;
  return py::make_tuple(cosines.object(), sines.object());
}

// ---- Heads --------------------------------------------------------------------------------------

/// One array, or several in a list or a tuple.
std::vector<ArrayArgument> arrays_of(const Array& from, const std::string& name) {
  if (!py::isinstance<py::list>(from) && !py::isinstance<py::tuple>(from)) return {{from, name}};
  std::vector<ArrayArgument> arrays;
  for (std::size_t i = 0; i < py::len(from); ++i)
    arrays.emplace_back(from[py::int_(i)], name + "[" + std::to_string(i) + "]");
  return arrays;
}

/// The arrays of an argument x, as views.
struct Heads {
  Heads(const Array& x, bool heads_first) : arrays(arrays_of(x, "x")) {
    for (const ArrayArgument& each : arrays) views.push_back(each.heads(heads_first));
    if (!views.empty()) batch = views[0].batch, rows = views[0].rows;
  }

  std::vector<ArrayArgument> arrays;
  std::vector<HeadsView> views;
  std::int64_t batch = 0, rows = 0;
};

/// The positions of the rows of heads: the given positions, or positions from `first` on.
Rows rows_of_heads(const Heads& heads, std::int64_t first, const Positions& given,
                   std::int64_t axes) {
  if (given.is_none()) return {RowRange{first, heads.rows}, {heads.rows}, {}};
  if (first != 0) refuse("first", std::to_string(first) + " with positions", "one of them");
  Rows rows = rows_of(given, axes);
  const Shape& shape = rows.shape;
  const bool fits =
      shape.size() < 2 || (shape[1] == heads.rows && (shape[0] == 1 || shape[0] == heads.batch));
  if (fits) return rows;
  throw InvalidArgument("positions has " + std::to_string(shape[0]) + " sequences of " +
                        std::to_string(shape[1]) + " rows; allowed: as many as x, " +
                        std::to_string(heads.batch) + " of " + std::to_string(heads.rows));
}

Array apply(const PyRotary& self, const Array& x, std::int64_t first, const Positions& positions,
            bool inverse, int threads, bool heads_first) {
  const Heads heads(x, heads_first);
  const Rows rows = rows_of_heads(heads, first, positions, self.spec().angles.axes());
  const RotateOptions options = {.inverse = inverse, .threads = threads};
  without_gil([&] { self.apply(heads.views, rows.positions, options); });
  return x;
}

// ---- Configurations -----------------------------------------------------------------------------

/// The rotary embeddings by kind of layers, and the number of rows that the model allows. If
/// `layers` is given, only this kind is read. The kind "all" means that all layers are alike.
Typed<"tuple[dict[str, Rotary], int]"> read_config(const std::string& json,
                                                   std::optional<std::int64_t> rows,
                                                   std::optional<RotaryLayout> channels,
                                                   const std::optional<std::string>& layers) {
  RotaryReading reading = read_rotary_config(json, rows);
  for (RotaryReading::Layers& each : reading.layers)
    each.rotary.channels = channels.value_or(each.rotary.channels);
  py::dict rotaries;
  for (const RotaryReading::Layers& each : reading.layers) {
    if (layers && &each != &layers_of(reading, *layers)) continue;
    auto rotary = without_gil([&] {
      return std::make_unique<PyRotary>(
          each.rotary, std::nullopt,
          to_string(RotaryReading{reading.model_type, {each}, reading.unturned}));
    });
    rotaries[py::str(each.kind.empty() ? "all" : each.kind)] = py::cast(std::move(rotary));
  }
  return py::make_tuple(rotaries, reading.most_rows);
}

}  // namespace

void bind_layers(py::module_& module) {
  py::class_<PyRotary> rotary(module, "Rotary", R"(Rotary position embeddings from exact phases.

dimension: the number of channels of a head that are rotated. channels: "halves" rotates channels k
and k + dimension / 2 (GPT-NeoX, Llama), "interleaved" channels 2k and 2k + 1 (the paper, GPT-J).
base: 10000 if it is None. frequencies, accuracy: as in Encoder. axes: the Axes of positions on
several axes, instead of a base and frequencies. attention_factor: the factor of cosines and sines;
by default, the factor of the frequencies. said: the text that repr() shows in parentheses; by
default, a description of the embedding.
posenc.rotary_from_config() reads all of these from a model's config.json. Immutable.)");
  bind_remaking(rotary, rotary_arguments)
      .def(py::init(&make_rotary), "dimension"_a = py::none(), py::kw_only(), "base"_a = py::none(),
           "channels"_a = RotaryLayout::halves, "frequencies"_a = py::none(), "axes"_a = py::none(),
           "attention_factor"_a = py::none(), "accuracy"_a = py::none(), "said"_a = py::none())
      .def("cache", &cache, "positions"_a, "layout"_a = CacheLayout::halves, py::kw_only(),
           "out"_a = py::none(), "dtype"_a = py::none(), "threads"_a = 1,
           R"(Returns cosines and sines: an array of shape (rows, dimension).

positions: as in Encoder.encode(). A number of rows begins at position 0, and an array of shape
(batch, rows) gives a result of shape (batch, rows, dimension). If there are several axes, the first
of two or three dimensions is the axis.
layout: "halves" has all cosines before all sines, as in vLLM. "interleaved" has each cosine before
its sine, as in ggml. "complex" has complex numbers of shape (rows, dimension / 2), as in diffusers.
out, dtype: as in Encoder.encode().)")
      .def("cosines_and_sines", &cosines_and_sines, "positions"_a, "repeat"_a = Repeat::once,
           py::kw_only(), "out"_a = py::none(), "dtype"_a = py::none(), "threads"_a = 1,
           R"(Returns (cosines, sines), each of shape (rows, dimension / 2) or (rows, dimension).

repeat: "once" has each value once (ONNX, TensorRT), "halves" all values and then all again
(Transformers), and "interleaved" each value twice side by side (diffusers). positions, dtype: as in
cache(). out: a pair of arrays.)")
      .def("apply", &apply, "x"_a, "first"_a = 0, py::kw_only(), "positions"_a = py::none(),
           "inverse"_a = false, "threads"_a = 1, "heads_first"_a = false,
           R"(Rotates x in place and returns it. Row r is at position first + r, or positions[r].

x: an array of shape (rows, head_dim), (rows, heads, head_dim) or (batch, rows, heads, head_dim). If
heads_first, its shape is (heads, rows, head_dim) or (batch, heads, rows, head_dim), as in
Transformers. The type is float32, float16 or bfloat16. Results of 16 bits are computed in float32
and rounded once. A list of arrays, such as queries and keys, is rotated by the same angles.
positions: an array of shape (rows) or (batch, rows), a range or a sequence. If there are several
axes, an array of shape (axes, rows) or (axes, batch, rows).
inverse: rotates by the opposite angles.)")
      .def_property_readonly(
          "channels", [](const PyRotary& self) { return self.channels(); },
          "Which channels are a pair: \"halves\" or \"interleaved\".")
      .def_property_readonly("dimension", [](const PyRotary& self) { return self.dimension(); })
      .def_property_readonly(
          "attention_factor", [](const PyRotary& self) { return self.attention_factor(); },
          "Cosines and sines are multiplied by it.")
      .def_property_readonly("axes", [](const PyRotary& self) { return self.spec().angles; })
      .def("__repr__", [](const PyRotary& self) { return "Rotary(" + self.said + ")"; });
  module.def("read_config", &read_config, "text"_a, "rows"_a, "channels"_a, "layers"_a,
             "The embeddings by kinds of layers, and the most rows, of a configuration in JSON.");
  module.def("known_model_types", &known_model_types,
             "The model types that rotary_from_config() reads.");
}

}  // namespace posenc::python
