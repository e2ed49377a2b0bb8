#include "python/arguments.h"

#include "posenc/error.h"
#include "posenc/support/with_type.h"

#include <cstdlib>
#include <string>
#include <utility>

namespace posenc::python {

using namespace model;

void refuse_type(const char* name, const py::handle& value, const std::string& allowed) {
  std::string shown = py::str(py::module_::import("reprlib").attr("repr")(value));
  if (shown.find('\n') != std::string::npos)
    shown = "of type " + std::string(py::str(py::type::of(value).attr("__name__")));
  throw py::type_error(std::string(name) + " is " + shown + "; allowed: " + allowed);
}

template <>
FrequencyRule converted(const py::handle& value) {
  if (value.is_none()) return {};
  if (py::isinstance<py::str>(value)) return parse_frequency_rule(value.cast<std::string>());
  return OwnFrequencies{value.cast<std::vector<double>>()};
}

template <>
Accuracy converted(const py::handle& value) {
  if (value.is_none()) return {};
  if (!py::isinstance<py::str>(value)) return Accuracy::within(value.cast<double>());
  const auto text = value.cast<std::string>();
  char* end = nullptr;
  const double most = std::strtod(text.c_str(), &end);
  if (std::string_view(end) == " ulp") return Accuracy::within_ulp(most);
  throw InvalidArgument("accuracy is '" + text + "'; allowed: a number, a text such as '1 ulp'");
}

template <>
EncodingSpec converted(const py::handle& value) {
  const auto from = value.cast<py::tuple>();
  return {.d_model = argument<std::int64_t>(from[0], "d_model"),
          .base = argument<double>(from[1], "base"),
          .layout = argument<Layout>(from[2], "layout"),
          .spacing = argument<Spacing>(from[3], "spacing"),
          .frequencies = argument<FrequencyRule>(from[4], "frequencies")};
}

template <>
AxesSpec converted(const py::handle& value) {
  const auto from = value.cast<py::tuple>();
  AxesSpec axes = {.parts = {},
                   .layout = argument<Layout>(from[1], "layout"),
                   .parts_have_layouts = from[2].cast<bool>()};
  for (const py::handle each : from[0]) {
    const auto part = each.cast<py::tuple>();
    axes.parts.push_back({.axis = part[0].cast<std::int64_t>(),
                          .spec = converted<EncodingSpec>(part[py::slice(1, 6, 1)]),
                          .frequencies = part[6].cast<Sizes>(),
                          .pairs = part[7].cast<Sizes>()});
  }
  return axes;
}

py::tuple tuple_of(const EncodingSpec& spec) {
  const py::object rule = is_base(spec.frequencies)
                              ? py::object(py::none())
                              : py::object(py::str(to_string(spec.frequencies)));
  return py::make_tuple(spec.d_model, spec.base, to_string(spec.layout), to_string(spec.spacing),
                        rule);
}

py::tuple tuple_of(const AxesSpec& axes) {
  py::list parts;
  for (const AxisPairs& each : axes.parts) {
    parts.append(
        py::make_tuple(each.axis) + tuple_of(each.spec) +
        py::make_tuple(py::tuple(py::cast(each.frequencies)), py::tuple(py::cast(each.pairs))));
  }
  return py::make_tuple(py::tuple(parts), to_string(axes.layout), axes.parts_have_layouts);
}

// ---- Positions and arrays -----------------------------------------------------------------------

template <>
RowPositions converted(const py::handle& value) {
  const py::object given = value.attr("array");
  if (given.is_none()) {
    return RowRange{value.attr("first").cast<std::int64_t>(),
                    value.attr("size").cast<std::int64_t>()};
  }
  const auto array = given.cast<py::array>();
  const auto axes = value.attr("axes").cast<std::int64_t>();
  const std::int64_t count = array.size() / std::max<std::int64_t>(axes, 1);
  if (array.itemsize() == 4)
    return {static_cast<const std::int32_t*>(array.data()), axes, count, count};
  return {static_cast<const std::int64_t*>(array.data()), axes, count, count};
}

Memory::Memory(const py::handle& from)
    : array(from.attr("array")),
      type(parse_data_type(from.attr("type").cast<std::string>())),
      name(from.attr("name").cast<std::string>()) {}

void Memory::refuse_strides(const char* allowed) const {
  throw InvalidArgument(name + ".strides is " + std::string(py::str(array.attr("strides"))) +
                        "; allowed: " + allowed);
}

std::int64_t Memory::stride(py::ssize_t dimension) const {
  // In NumPy, a dimension of size 1 may have any stride.
  const bool counts = array.size() > 0 && array.shape(dimension) > 1;
  if (counts && array.strides(dimension) % array.itemsize() != 0)
    refuse_strides("multiples of an element");
  return array.strides(dimension) / array.itemsize();
}

void* Memory::contiguous_data() const {
  const py::ssize_t last = array.ndim() - 1;
  if (array.size() > 0 && array.shape(last) > 1 && stride(last) != 1)
    refuse_strides("contiguous in the last dimension");
  return const_cast<void*>(array.data());
}

template <>
OutputView converted(const py::handle& value) {
  const Memory out(value);
  const std::int64_t rows = out.size(0), columns = out.size(1);
  const std::int64_t row_stride = rows > 1 && columns > 0 ? out.stride(0) : columns;
  return with_type(out.type, [&]<class T>(T) {
    return OutputView(static_cast<T*>(out.contiguous_data()), rows, columns, row_stride);
  });
}

template <>
Heads converted(const py::handle& value) {
  Heads heads;
  for (const py::handle each : value) {
    const Memory x(each);
    with_type(x.type, [&]<class T>(T) {
      heads.emplace_back(static_cast<T*>(x.contiguous_data()),
                         HeadsShape{x.size(0), x.size(1), x.size(2), x.size(3), x.stride(0),
                                    x.stride(1), x.stride(2)});
    });
  }
  return heads;
}

}  // namespace posenc::python
