// Encoders, axes, rotary embeddings, and the conventions of other systems.
#include "posenc/check/columns.h"
#include "posenc/error.h"
#include "posenc/model/axes_presets.h"
#include "posenc/model/rotary_config.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/suite/parity.h"
#include "python/module.h"

#include <memory>
#include <utility>

namespace posenc::python {

using namespace model;

namespace {

/// The names of presets, and the description of each.
template <class Presets>
py::dict descriptions_of(const Presets& presets) {
  py::dict all;
  for (const auto& each : presets) all[py::str(each.name)] = each.description;
  return all;
}

/// An encoder with a backend that the program named.
SelectedEncoder named(std::unique_ptr<const Encoder> encoder) {
  return {std::move(encoder), {.reason = "the program named it"}};
}

SelectedEncoder plan_encoder(const Convention& spec, Integer<"first"> first,
                             const Optional<std::string, "backend">& backend,
                             AskedAccuracy accuracy, Integer<"rows"> rows, Type type) {
  validate(RowRange{first, 0});
  if (!backend.value)
    return plan_selected(spec, {first, rows}, {.accuracy = accuracy, .type = type});
  if (accuracy.value != Accuracy())
    throw InvalidArgument("accuracy is given with a backend; allowed: one of them");
  return named(posenc::backend(*backend.value).plan(spec));
}

/// The frequencies of the convention run through all pairs of the sections. (Blocks have widths of
/// their own.)
py::tuple arrange(const std::string& arrangement, const py::object& given,
                  const Convention& convention) {
  const bool in_blocks = arrangement == "in_blocks";
  const auto sizes = argument<Sizes>(given, in_blocks ? "channels" : "sections");
  std::int64_t pairs = 0;
  for (const std::int64_t each : sizes) {
    if (each >= 0 && each <= max_d_model) pairs += each;  // the arrangements refuse others
  }
  EncodingSpec spec = convention;
  spec.d_model = 2 * pairs;
  if (in_blocks) return tuple_of(axes_in_blocks(sizes, spec));
  if (arrangement == "in_sections") return tuple_of(axes_in_sections(sizes, spec));
  if (arrangement == "interleaved") return tuple_of(axes_interleaved(sizes, spec));
  return tuple_of(axes_alternating(sizes, spec));
}

py::array_t<std::int64_t> array_of_axes(const Sizes& positions, std::int64_t axes) {
  const auto count = static_cast<py::ssize_t>(positions.size());
  return py::array_t<std::int64_t>({axes, count / std::max<py::ssize_t>(axes, 1)},
                                   positions.data());
}

// ---- Rotary embeddings --------------------------------------------------------------------------

/// The axes and the attention factor of a rotary embedding on one axis.
py::tuple rotary_on_one_axis(const Convention& convention,
                             Optional<double, "attention_factor"> attention_factor) {
  EncodingSpec spec = convention;
  if (attention_factor.value) spec.frequencies = without_attention_factor(spec.frequencies);
  const RotarySpec rotary = rotary_spec(spec);
  return py::make_tuple(tuple_of(rotary.angles),
                        attention_factor.value.value_or(rotary.attention_factor));
}

Rotary plan_rotary(const Arg<AxesSpec, "axes">& axes, Arg<RotaryLayout, "channels"> channels,
                   Arg<double, "attention_factor"> attention_factor,
                   Arg<double, "softmax_factor"> softmax_factor,
                   std::pair<double, std::int64_t> query_scaling, AskedAccuracy accuracy) {
  const QueryScaling queries = {query_scaling.first, query_scaling.second};
  return Rotary(RotarySpec{axes, channels, attention_factor, softmax_factor, queries}, accuracy);
}

/// Rotates heads. Without positions, rows are at consecutive positions from `first` on.
void apply(const Rotary& self, const Arg<Heads, "x">& x, Integer<"first"> first,
           const Optional<RowPositions, "positions">& positions, Arg<bool, "inverse"> inverse,
           Threads threads) {
  const RowRange range = {first, x.value.empty() ? 0 : x.value[0].rows};
  self.apply(x.value, positions.value.value_or(range),
             {.inverse = inverse, .threads = threads.value});
}

/// The frequency of each pair of a rotary embedding, in the order of the pairs.
std::vector<double> frequencies(const Rotary& self) {
  const AxesSpec& angles = self.spec().angles;
  std::vector<double> all(static_cast<std::size_t>(self.dimension() / 2));
  std::vector<std::vector<double>> of_parts;
  for (const AxisPairs& part : angles.parts) of_parts.push_back(check::frequencies_of(part.spec));
  for (const AxisPair& pair : pairs_of(angles))
    all[static_cast<std::size_t>(pair.place)] =
        of_parts[pair.part][static_cast<std::size_t>(pair.k)];
  return all;
}

/// The rotary embeddings by kind of layers, each as (axes, keywords of posenc.Rotary), and the
/// number of rows that the model allows. If `layers` is given, only this kind is read. The kind
/// "all" means that all layers are alike.
py::tuple read_config(const std::string& json, const Optional<std::int64_t, "rows">& rows,
                      const Optional<RotaryLayout, "channels">& channels,
                      const Optional<std::string, "layers">& layers, const std::string& types) {
  const RotaryReading reading = read_rotary_config(json, rows, types);
  py::dict rotaries;
  for (RotaryReading::Layers each : reading.layers) {
    if (layers.value && each != layers_of(reading, *layers.value)) continue;
    each.rotary.channels = channels.value.value_or(each.rotary.channels);
    const bool in_halves = each.rotary.channels == RotaryLayout::halves;
    const QueryScaling& queries = each.rotary.queries;
    py::object scaling = py::none();
    if (queries.beta != 0) scaling = py::make_tuple(queries.beta, queries.trained_rows);
    rotaries[py::str(each.kind.empty() ? "all" : each.kind)] = py::make_tuple(
        tuple_of(each.rotary.angles),
        py::dict(
            "channels"_a = in_halves ? "halves" : "interleaved",
            "attention_factor"_a = each.rotary.attention_factor,
            "softmax_factor"_a = each.rotary.softmax_factor, "query_scaling"_a = scaling,
            "said"_a = to_string(RotaryReading{reading.model_type, {each}, reading.unturned})));
  }
  return py::make_tuple(rotaries, reading.most_rows);
}

void bind_axes(py::module_& module) {
  module.def("arrange", &arrange);
  module.def("axes_sizes", [](const Arg<AxesSpec, "axes">& axes) {
    validate(axes.value);
    return py::make_tuple(axes.value.d_model(), axes.value.axes());
  });
  module.def("grid_axes", [](Arg<GridConvention, "convention"> convention, Integer<"rows"> rows,
                             Integer<"columns"> columns, Integer<"d_model"> d_model) {
    return tuple_of(grid_axes(convention, rows, columns, d_model));
  });
  module.def("grid_positions",
             [](const Arg<Sizes, "sizes">& sizes, const Arg<Sizes, "firsts">& firsts) {
               return array_of_axes(grid_positions(sizes.value, firsts.value),
                                    static_cast<std::int64_t>(sizes.value.size()));
             });
  module.def("axes_table", [](const Arg<std::string, "name">& name,
                              const Optional<GridSizes, "sizes">& sizes) {
    const AxesTable table = axes_table(name.value, sizes);
    return py::make_tuple(tuple_of(table.spec), array_of_axes(table.positions, table.spec.axes()));
  });
  module.def("axes_presets", [] { return descriptions_of(axes_presets()); });
}

void bind_rotary(py::module_& module) {
  module.def("rotary_on_one_axis", &rotary_on_one_axis);
  module.def("plan_rotary", &plan_rotary, without_gil);
  py::class_<Rotary>(module, "Rotary")
      .def(
          "cache",
          [](const Rotary& self, const Positions& rows, Arg<CacheLayout, "layout"> layout,
             const Out& out, Threads threads) {
            const bool in_halves = layout == CacheLayout::halves;
            self.cache(rows, in_halves ? RotaryLayout::halves : RotaryLayout::interleaved,
                       out.value, threads.value);
          },
          without_gil)
      .def(
          "cosines_and_sines",
          [](const Rotary& self, const Positions& rows, Arg<Repeat, "repeat"> repeat,
             const Out& cosines, const Out& sines, Threads threads) {
            self.cosines_and_sines(rows, repeat, cosines.value, sines.value, threads.value);
          },
          without_gil)
      .def("apply", &apply, without_gil)
      .def("frequencies", &frequencies)
      .def("convention",
           [](const Rotary& self) -> py::object {
             const auto spec = spec_of_equal_positions(self.spec().angles);
             if (!spec) return py::none();
             return tuple_of(*spec);
           })
      .def("__str__", [](const Rotary& self) { return to_string(self.spec()); });
  module.def("read_config", &read_config);
  module.def("known_model_types", &known_model_types);
}

}  // namespace

void bind_encoders(py::module_& module) {
  module.def("plan_encoder", &plan_encoder, without_gil);
  module.def(
      "plan_encoder_like",
      [](Arg<suite::System, "system"> system, const Convention& spec) {
        return named(plan_like(system, spec));
      },
      without_gil);
  py::class_<SelectedEncoder>(module, "Encoder")
      .def(
          "encode",
          [](const SelectedEncoder& self, const Positions& rows, const Out& out, Threads threads) {
            rows.value.of_axis(
                0, [&](auto each) { self.encoder->encode(each, out.value, threads.value); });
          },
          without_gil)
      .def("error_bound",
           [](const SelectedEncoder& self, const Positions& rows, Type type) {
             if (!rows.value.is_range())
               throw InvalidArgument("positions is a list; allowed: a range of step 1");
             return self.encoder->error_bound({rows.value.first(), rows.value.count()}, type);
           })
      .def("is_correctly_rounded",
           [](const SelectedEncoder& self, Type type) {
             return self.encoder->backend().is_correctly_rounded(type);
           })
      .def_property_readonly(
          "backend",
          [](const SelectedEncoder& self) { return self.encoder->backend().full_name(); })
      .def_property_readonly("reason",
                             [](const SelectedEncoder& self) { return self.selection.reason; });
  module.def(
      "plan_on_axes",
      [](const Arg<AxesSpec, "axes">& axes, AskedAccuracy accuracy, Type type) {
        return AxesEncoder(axes, accuracy, type);
      },
      without_gil);
  py::class_<AxesEncoder>(module, "AxesEncoder")
      .def(
          "encode",
          [](const AxesEncoder& self, const Positions& rows, const Out& out, Threads threads) {
            self.encode(rows, out.value, threads.value);
          },
          without_gil);
  module.def("preset", [](const Arg<std::string, "name">& name) {
    const Preset& found = preset(name.value);
    return tuple_of(found.spec) + py::make_tuple(found.rows.first);
  });
  module.def("presets", [] { return descriptions_of(presets()); });
  bind_axes(module);
  bind_rotary(module);
}

}  // namespace posenc::python
