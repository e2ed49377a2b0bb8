// Positional encodings.
#include "posenc/model/positional_encoding.h"
#include "python/arrays.h"
#include "python/gil.h"
#include "python/module.h"

#include <memory>

namespace posenc::python {

/// The layer, and the arguments that it was made of, besides those that it knows.
struct PyPositionalEncoding {
  PositionalEncoding layer;
  std::int64_t first;  ///< the default of offset
  std::optional<Accuracy> accuracy;
  EncodingSource source;
};

namespace {

std::unique_ptr<PyPositionalEncoding> make(std::int64_t d_model, std::int64_t max_rows,
                                           double dropout, double base, Layout layout,
                                           Spacing spacing, const FrequencyRule& frequencies,
                                           std::int64_t first,
                                           const std::optional<Accuracy>& accuracy,
                                           EncodingSource source) {
  validate(RowRange{first, 0});
  const EncodingSpec spec = {d_model, base, layout, spacing, frequencies};
  const ReleasedGil no_gil;
  return std::unique_ptr<PyPositionalEncoding>(new PyPositionalEncoding{
      PositionalEncoding(spec, max_rows, dropout, source, accuracy.value_or(Accuracy())), first,
      accuracy, source});
}

py::dict arguments_of(const PyPositionalEncoding& self) {
  return convention_of(self.layer.spec(), "max_rows"_a = self.layer.max_rows(),
                       "dropout"_a = self.layer.dropout().probability(), "first"_a = self.first,
                       "accuracy"_a = self.accuracy, "source"_a = self.source);
}

py::object forward(const PyPositionalEncoding& self, const Array& from, const Array& out,
                   std::optional<std::int64_t> offset, bool training, std::uint64_t seed,
                   int threads, StorePolicy stores, bool batch_first) {
  const ArrayArgument x(from, "x");
  const AnySequences input = x.sequences(batch_first, false);
  const ArrayArgument y = table_of(out, "out", x.shape(), numpy_type(x.type()));
  const WritableSequences output = y.sequences(batch_first);
  {
    const ReleasedGil no_gil;
    self.layer.forward(input, output,
                       {offset.value_or(self.first), training, seed, threads, stores});
  }
  return y.object();
}

Array backward(const PyPositionalEncoding& self, const Array& gradient, std::uint64_t seed,
               int threads, bool batch_first) {
  const ArrayArgument array(gradient, "gradient");
  const WritableSequences view = array.sequences(batch_first);
  {
    const ReleasedGil no_gil;
    self.layer.backward(view, {.training = true, .seed = seed, .threads = threads});
  }
  return gradient;
}

}  // namespace

void bind_positional_encoding(py::module_& module) {
  const EncodingSpec paper;
  py::class_<PyPositionalEncoding> layer(module, "PositionalEncoding",
                                         R"(Adds encodings to sequences: y = dropout(x + PE).

max_rows: positions from 0 to max_rows - 1. first: the position of the first row of a sequence where
forward() is given no offset. frequencies, accuracy: as in Encoder. source, which does not change
the bits: "fused" computes the encodings while they are added, "cached" keeps a table of max_rows
rows, and "automatic" keeps one if it stays in the last-level cache. Immutable.)");
  bind_remaking(layer, arguments_of)
      .def(py::init(&make), "d_model"_a, "max_rows"_a = 5000, py::kw_only(), "dropout"_a = 0.0,
           "base"_a = paper.base, "layout"_a = paper.layout, "spacing"_a = paper.spacing,
           "frequencies"_a = py::none(), "first"_a = 0, "accuracy"_a = py::none(),
           "source"_a = EncodingSource::automatic)
      .def("forward", &forward, "x"_a, "out"_a = py::none(), py::kw_only(), "offset"_a = py::none(),
           "training"_a = false, "seed"_a = 0, "threads"_a = 1, "stores"_a = StorePolicy::automatic,
           "batch_first"_a = true,
           R"(Returns dropout(x + PE), where PE begins at position `offset`, by default `first`.

x: shape (batch, rows, d_model), or (rows, batch, d_model) if not batch_first, or (rows, d_model);
float32, or float16 or bfloat16, of which each result is computed in float32 and rounded once.
out: the array to write, of the same type, which may be x itself. Dropout is applied if `training`;
its mask is a function of `seed` and the element's index.)")
      .def("backward", &backward, "gradient"_a, py::kw_only(), "seed"_a, "threads"_a = 1,
           "batch_first"_a = true,
           "Turns the gradient of the output of forward(training=True) into that of x, in place.")
      .def_property_readonly(
          "reason", [](const PyPositionalEncoding& self) { return self.layer.selection().reason; });
}

}  // namespace posenc::python
