// The Python module posenc._posenc. Memory is never copied: results are written into the caller's
// array, or into a new one. The GIL is released while the library plans, encodes and measures. Only
// a cursor, which one thread at a time may use, keeps it.
#include "python/module.h"
#include "posenc/cpu.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/version.h"

#include <exception>
#include <string>
#include <system_error>
#include <vector>

namespace py = pybind11;
using namespace py::literals;

namespace {

void bind_library(py::module_& module) {
  using namespace posenc;
  module.attr("__version__") = library_version();
  py::class_<Accuracy> accuracy(module, "Accuracy", "The accuracy that a program asks for.");
  posenc::python::bind_reduced(
      accuracy,
      [](const Accuracy& self) {
        constexpr const char* makers[] = {"correctly_rounded", "within", "within_ulp"};
        const py::str maker = makers[static_cast<std::size_t>(self.measure())];
        const py::object call = py::module_::import("operator").attr("methodcaller");
        return py::make_tuple(self == Accuracy() ? call(maker) : call(maker, self.most()),
                              py::make_tuple(py::type::of<Accuracy>()));
      })
      .def_static("correctly_rounded", &Accuracy::correctly_rounded,
                  "Every entry is the value nearest to the exact one: the default.")
      .def_static("within", &Accuracy::within, "error"_a,
                  "Every entry is within this absolute error.")
      .def_static("within_ulp", &Accuracy::within_ulp, "ulp"_a,
                  "Every entry is within this error in ulp.")
      .def("__repr__", [](const Accuracy& self) { return "Accuracy(" + to_string(self) + ")"; });
  module.def(
      "backends",
      [] {
        std::vector<std::string> names;
        for (const Backend* each : backends()) {
          if (each->runs_here()) names.push_back(each->full_name());
        }
        return names;
      },
      "The backends that run on this CPU, such as 'rotation:avx2'.");
  module.def(
      "cpu", [] { return cpu().model; }, "The CPU's name, as profiles and benchmarks have it.");
  module.def(
      "frequency_rule", [](const FrequencyRule& rule) { return to_string(rule); }, "frequencies"_a,
      "The text of a rule, with all its parameters: \"linear:factor=4\".");
  module.def(
      "dynamic_ntk_factor",
      [](double factor, std::int64_t trained_rows, std::int64_t rows) {
        return dynamic_ntk_scaling(factor, trained_rows, rows).factor;
      },
      "factor"_a, "trained_rows"_a, "rows"_a,
      "The factor of dynamic_ntk_scaling() for a sequence of `rows` rows.");
}

/// pybind11's function behind every function of the module.
PyCFunction dispatcher = nullptr;

template <class Function>
Function dispatcher_as() {
  return reinterpret_cast<Function>(reinterpret_cast<void (*)()>(dispatcher));
}

/// Raises the error, in one line if pybind11 refused arguments of wrong names or types.
void raise_worded(py::error_already_set& error, const py::object& values,
                  const py::object& keywords) {
  try {
    const std::string refusal = py::str(error.value());
    if (error.matches(PyExc_TypeError) && refusal.find("(): incompatible ") != std::string::npos) {
      const py::object reason = py::module_::import("posenc.refusals").attr("reason");
      PyErr_SetObject(PyExc_TypeError, reason(refusal, values, keywords).ptr());
      return;
    }
  } catch (const std::exception&) {  // such as that of an interpreter that imports no more
  }
  error.restore();
}

/// A call as pybind11 2 receives it, with a tuple and a dictionary.
PyObject* call(PyObject* self, PyObject* values, PyObject* keywords) {
  PyObject* const result = dispatcher_as<PyCFunctionWithKeywords>()(self, values, keywords);
  if (result == nullptr) {
    py::error_already_set error;
    raise_worded(error, py::reinterpret_borrow<py::object>(values),
                 py::reinterpret_borrow<py::object>(keywords == nullptr ? Py_None : keywords));
  }
  return result;
}

/// A call as pybind11 3 receives it, with an array, whose last values have names.
PyObject* call_with_array(PyObject* self, PyObject* const* values, Py_ssize_t count,
                          PyObject* names) {
  using Function = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
  PyObject* const result = dispatcher_as<Function>()(self, values, count, names);
  if (result == nullptr) {
    py::error_already_set error;
    py::tuple positional(count);
    for (Py_ssize_t i = 0; i < count; ++i) positional[i] = py::handle(values[i]);
    py::dict named;
    if (names != nullptr) {
      for (const py::handle name : py::reinterpret_borrow<py::tuple>(names))
        named[name] = py::handle(values[count++]);
    }
    raise_worded(error, positional, named);
  }
  return result;
}

/// Puts these in the place of pybind11's, in a function or in all members of a class.
void bind_refusals(const py::handle& object) {
  if (PyCFunction_Check(object.ptr())) {
    PyMethodDef& method = *reinterpret_cast<PyCFunctionObject*>(object.ptr())->m_ml;
    const bool has_array = (method.ml_flags & METH_FASTCALL) != 0;
    const auto own = has_array ? reinterpret_cast<void (*)()>(&call_with_array)
                               : reinterpret_cast<void (*)()>(&call);
    if (method.ml_meth != reinterpret_cast<PyCFunction>(own)) dispatcher = method.ml_meth;
    method.ml_meth = reinterpret_cast<PyCFunction>(own);
  } else if (py::isinstance<py::type>(object)) {
    for (const auto& [name, member] : py::dict(object.attr("__dict__"))) bind_refusals(member);
  } else {
    for (const char* const inner : {"fget", "__func__"}) {  // of a property, or a method
      if (py::hasattr(object, inner)) bind_refusals(object.attr(inner));
    }
  }
}

/// Refuses to pickle objects of the classes that have no __reduce__ of their own. (With that of
/// Python, protocols before 2 make an object of pybind11's base class, which ends the process.)
void refuse_pickles(const py::module_& module) {
  for (const auto& [name, value] : module.attr("__dict__").cast<py::dict>()) {
    if (!py::isinstance<py::type>(value) || value.attr("__dict__").contains("__reduce__")) continue;
    const std::string why =
        std::string(py::str(name)) + " is not pickled; allowed: objects that arguments make again";
    value.attr("__reduce__") =
        py::cpp_function([why](const py::object&) -> py::object { throw py::type_error(why); },
                         py::name("__reduce__"), py::is_method(value));
  }
}

}  // namespace

PYBIND11_MODULE(_posenc, module) {
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const std::system_error& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    }
  });
  bind_library(module);  // before its types are arguments of the others
  posenc::python::bind_encoders(module);
  posenc::python::bind_axes(module);
  posenc::python::bind_layers(module);
  posenc::python::bind_reports(module);
  refuse_pickles(module);
  for (const auto& [name, member] : py::dict(module.attr("__dict__"))) bind_refusals(member);
}
