// Guards the module's classes against objects that Python made without __init__, by
// Class.__new__(Class): pybind11 would hand their methods memory that nothing has written. As an
// argument, self too, such an object is of the wrong type.
#pragma once

#include <pybind11/pybind11.h>

#include <concepts>

namespace posenc::suite {
struct CheckReport;
struct FrequencyReport;
}  // namespace posenc::suite

namespace posenc {

using namespace suite;

class Accuracy;
struct AxesSpec;
struct AxisPairs;
struct RotaryReading;

namespace python {

struct PyAxesEncoder;
class PyCursor;
struct PyEncoder;
struct PyPositionalEncoding;
struct PyRotary;

/// The classes that the module binds.
template <class T, class... Classes>
concept OneOf = (std::same_as<T, Classes> || ...);
template <class T>
concept Bound = OneOf<T, Accuracy, AxesSpec, AxisPairs, CheckReport, FrequencyReport, RotaryReading,
                      PyAxesEncoder, PyCursor, PyEncoder, PyPositionalEncoding, PyRotary>;

/// True of an object of that class whose __init__ has run.
template <Bound T>
bool is_object_of(const pybind11::handle& object) {
  if (!pybind11::isinstance<T>(object)) return false;
  pybind11::detail::values_and_holders parts(
      reinterpret_cast<pybind11::detail::instance*>(object.ptr()));
  for (const auto& part : parts) {
    if (!part.holder_constructed()) return false;
  }
  return true;
}

}  // namespace python
}  // namespace posenc

namespace pybind11::detail {

template <posenc::python::Bound T>
class type_caster<T> : public type_caster_base<T> {
 public:
  bool load(handle from, bool convert) {
    return type_caster_base<T>::load(from, convert) &&
           (from.is_none() || posenc::python::is_object_of<T>(from));
  }
};

}  // namespace pybind11::detail
