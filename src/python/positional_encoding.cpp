// Positional encodings.
#include "posenc/model/positional_encoding.h"
#include "python/arguments.h"
#include "python/arrays.h"
#include "python/bindings.h"
#include "python/gil.h"
#include "python/state.h"

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace posenc::python {
/// The layer, and what it was made of besides that.
struct PyPositionalEncoding {
  PyPositionalEncoding(const EncodingSpec& spec, std::int64_t max_rows, double dropout,
                       EncodingSource from, const Accuracy& asked, std::int64_t first_position)
      : layer(spec, max_rows, dropout, from, asked),
        source(from),
        accuracy(asked),
        first(first_position) {}

  PositionalEncoding layer;
  EncodingSource source;
  Accuracy accuracy;
  std::int64_t first;  ///< the default of offset
};

namespace {

std::unique_ptr<PyPositionalEncoding> make(std::int64_t d_model, std::int64_t max_rows,
                                           double dropout, double base, const std::string& layout,
                                           const std::string& spacing,
                                           const py::object& frequencies, std::int64_t first,
                                           const py::object& accuracy, const std::string& source) {
  validate(RowRange{first, 0});
  const EncodingSpec spec = spec_of(d_model, base, layout, spacing, frequencies);
  const EncodingSource from = parse_source(source);
  const Accuracy asked = accuracy_of(accuracy);
  const ReleasedGil no_gil;
  return std::make_unique<PyPositionalEncoding>(spec, max_rows, dropout, from, asked, first);
}

py::tuple state_of_layer(const PyPositionalEncoding& self) {
  return py::make_tuple(state_of(self.layer.spec()), self.layer.max_rows(),
                        self.layer.dropout().probability(), static_cast<int>(self.source),
                        state_of(self.accuracy), self.first);
}

std::unique_ptr<PyPositionalEncoding> layer_of_state(const py::tuple& state) {
  return std::make_unique<PyPositionalEncoding>(
      spec_of_state(state[0]), state[1].cast<std::int64_t>(), state[2].cast<double>(),
      static_cast<EncodingSource>(state[3].cast<int>()), accuracy_of_state(state[4]),
      state[5].cast<std::int64_t>());
}

py::object forward(const PyPositionalEncoding& self, const py::object& x, const py::object& out,
                   std::optional<std::int64_t> offset, bool training, std::uint64_t seed,
                   int threads, const std::string& stores, bool batch_first) {
  const py::array input = array_of(x, "x");
  const ForwardOptions options = {offset.value_or(self.first), training, seed, threads,
                                  parse_store_policy(stores)};
  py::object result = out;
  with_sequences(input, "x", [&]<class T>(T) {
    if (out.is_none()) {
      result = py::array(numpy_type(data_type_of<T>),
                         std::vector<py::ssize_t>(input.shape(), input.shape() + input.ndim()));
    }
    py::array output = array_of(result, "out");
    check_shape(output, "out", {input.shape(), input.shape() + input.ndim()});
    with_writable_sequences(output, "out", batch_first, [&]<class U>(const SequenceView<U>& to) {
      if constexpr (std::is_same_v<T, U>) {
        const auto from = view_of(input, batch_first, static_cast<const T*>(input.data()));
        const ReleasedGil no_gil;
        self.layer.forward(from, to, options);
      } else {
        throw InvalidArgument("out.dtype is " + text(output.dtype()) +
                              "; allowed: that of x, which is " + text(input.dtype()));
      }
    });
  });
  return result;
}

py::object backward(const PyPositionalEncoding& self, const py::object& gradient,
                    std::uint64_t seed, int threads, bool batch_first) {
  py::array array = array_of(gradient, "gradient");
  const ForwardOptions options = {.offset = 0, .training = true, .seed = seed, .threads = threads};
  with_writable_sequences(array, "gradient", batch_first, [&](const auto& view) {
    const ReleasedGil no_gil;
    self.layer.backward(view, options);
  });
  return gradient;
}

}  // namespace

void bind_positional_encoding(py::module_& module) {
  using py::arg;
  const EncodingSpec paper;

  py::class_<PyPositionalEncoding> layer(module, "PositionalEncoding",
                                         R"(Adds encodings to sequences: y = dropout(x + PE).

max_rows: positions from 0 to max_rows - 1. first: the position of the first row of a sequence where
forward() is given no offset. frequencies, accuracy: as in Encoder. source: the source
of the encodings that are added, which does not change the bits: "fused" computes them while they
are added, "cached" keeps a table of max_rows rows, and "automatic" keeps one if it stays in the
last-level cache. Immutable.)");
  bind_copies(layer)
      .def(py::init(&make), arg("d_model"), arg("max_rows") = 5000, py::kw_only(),
           arg("dropout") = 0.0, arg("base") = paper.base, arg("layout") = "interleaved",
           arg("spacing") = "paper", arg("frequencies") = py::none(), arg("first") = 0,
           arg("accuracy") = py::none(), arg("source") = "automatic")
      .def("forward", &forward, arg("x"), arg("out") = py::none(), py::kw_only(),
           arg("offset") = py::none(), arg("training") = false, arg("seed") = 0, arg("threads") = 1,
           arg("stores") = "automatic", arg("batch_first") = true,
           R"(Returns dropout(x + PE), where PE begins at position `offset`, by default `first`.

x: shape (batch, rows, d_model), or (rows, batch, d_model) if not batch_first, or (rows, d_model);
float32, or float16 or bfloat16, of which each result is computed in float32 and rounded once.
out: the array to write, of the same type, which may be x itself. Dropout is applied if `training`;
its mask is a function of `seed` and the element's index.

Raises ValueError, before anything is written, if an argument is not allowed.)")
      .def("backward", &backward, arg("gradient"), py::kw_only(), arg("seed"), arg("threads") = 1,
           arg("batch_first") = true,
           "Turns the gradient of the output of forward(training=True) into that of x, in place.")
      .def_property_readonly(
          "reason", [](const PyPositionalEncoding& each) { return each.layer.selection().reason; })
      .def(py::pickle(&state_of_layer, &layer_of_state));
}

}  // namespace posenc::python
