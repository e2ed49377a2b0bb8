#include "python/state.h"

#include "python/arguments.h"

#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace posenc::python {

py::tuple state_of(const Accuracy& accuracy) {
  return py::make_tuple(static_cast<int>(accuracy.measure()), accuracy.most());
}

Accuracy accuracy_of_state(const py::tuple& state) {
  const auto most = state[1].cast<double>();
  switch (static_cast<Accuracy::Measure>(state[0].cast<int>())) {
    case Accuracy::Measure::absolute: return Accuracy::within(most);
    case Accuracy::Measure::ulp: return Accuracy::within_ulp(most);
    case Accuracy::Measure::correctly_rounded: break;
  }
  return {};
}

py::tuple state_of(const EncodingSpec& spec) {
  return py::make_tuple(spec.d_model, spec.base, std::string(to_string(spec.layout)),
                        std::string(to_string(spec.spacing)), to_string(spec.frequencies));
}

EncodingSpec spec_of_state(const py::tuple& state) {
  return spec_of(state[0].cast<std::int64_t>(), state[1].cast<double>(),
                 state[2].cast<std::string>(), state[3].cast<std::string>(), state[4]);
}

py::tuple state_of(const AxisPairs& pairs) {
  return py::make_tuple(pairs.axis, state_of(pairs.spec), pairs.frequencies, pairs.pairs,
                        pairs.denominator);
}

AxisPairs axis_pairs_of_state(const py::tuple& state) {
  using Indices = std::vector<std::int64_t>;
  return {state[0].cast<std::int64_t>(), spec_of_state(state[1]), state[2].cast<Indices>(),
          state[3].cast<Indices>(), state[4].cast<double>()};
}

py::tuple state_of(const AxesSpec& spec) {
  py::tuple parts(spec.parts.size());
  for (std::size_t i = 0; i < spec.parts.size(); ++i) parts[i] = state_of(spec.parts[i]);
  return py::make_tuple(parts, std::string(to_string(spec.layout)), spec.parts_have_layouts);
}

AxesSpec axes_of_state(const py::tuple& state) {
  AxesSpec spec;
  for (const py::handle part : state[0].cast<py::tuple>())
    spec.parts.push_back(axis_pairs_of_state(part.cast<py::tuple>()));
  spec.layout = parse_layout(state[1].cast<std::string>());
  spec.parts_have_layouts = state[2].cast<bool>();
  validate(spec);
  return spec;
}

}  // namespace posenc::python
