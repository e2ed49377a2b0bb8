// The Python module posenc._posenc: classes and functions on NumPy arrays. Memory is never copied:
// results are written into the caller's array, or into a new one. The GIL is released while the
// library plans, encodes and measures. Only a cursor, which one thread at a time may use, keeps it.
#include "posenc/cursor.h"
#include "posenc/encoder.h"
#include "posenc/grid.h"
#include "posenc/layers/positional_encoding.h"
#include "posenc/layers/rotary.h"
#include "posenc/presets.h"
#include "posenc/profile.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/tuning/accuracy.h"
#include "posenc/tuning/pick.h"
#include "posenc/version.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace py = pybind11;

namespace posenc {
namespace {

std::string text(const py::handle& object) { return py::str(object).cast<std::string>(); }

// ---- Element types ------------------------------------------------------------------------------

/// bfloat16 is the type of the package ml_dtypes if that is installed, else uint16: the bits.
py::dtype numpy_type(DataType type) {
  switch (type) {
    case DataType::float32: return py::dtype("float32");
    case DataType::float64: return py::dtype("float64");
    case DataType::float16: return py::dtype("float16");
    case DataType::bfloat16: break;
  }
  try {
    return py::dtype::from_args(py::module_::import("ml_dtypes").attr("bfloat16"));
  } catch (const py::error_already_set&) {
    return py::dtype("uint16");
  }
}

DataType type_of(const py::array& array, const char* name) {
  const py::dtype type = array.dtype();
  if (type.is(py::dtype::of<float>())) return DataType::float32;  // without asking in Python
  const char kind = type.kind();
  const bool is_float = kind == 'f', is_bits = kind == 'u' || kind == 'i' || kind == 'V';
  if (type.attr("isnative").cast<bool>()) {
    if (is_float && type.itemsize() == 4) return DataType::float32;
    if (is_float && type.itemsize() == 8) return DataType::float64;
    if (is_float && type.itemsize() == 2) return DataType::float16;
    if (is_bits && type.itemsize() == 2) return DataType::bfloat16;
  }
  throw InvalidArgument(std::string(name) + ".dtype is " + text(type) +
                        "; allowed: float32, float64, float16, and for bfloat16 that of ml_dtypes "
                        "or 16-bit integers, in the byte order of this machine");
}

/// A string, or a NumPy type.
DataType parse_type(const py::object& type) {
  if (py::isinstance<py::str>(type)) return parse_data_type(type.cast<std::string>());
  return type_of(py::array(py::dtype::from_args(type), std::vector<py::ssize_t>{0}), "dtype");
}

// ---- Arrays -------------------------------------------------------------------------------------

bool is_tensor_of_torch(const py::object& object) {
  const std::string module = text(py::type::of(object).attr("__module__"));
  return (module == "torch" || module.starts_with("torch.")) && py::hasattr(object, "__array__");
}

/// The array itself, or an array that shares memory with another library's: a tensor of PyTorch in
/// the memory of the CPU, of bfloat16 too. An object that only has __array__ may return a copy, in
/// which results would be lost.
py::array array_of(const py::object& from, const char* name) {
  if (py::isinstance<py::array>(from)) return py::reinterpret_borrow<py::array>(from);
  const bool is_tensor = is_tensor_of_torch(from);
  if (!is_tensor && !py::hasattr(from, "__array_interface__")) {
    throw py::type_error(std::string(name) + " is of type " +
                         text(py::type::of(from).attr("__name__")) +
                         "; allowed: an array of NumPy, or what shares its memory with one");
  }
  py::object shared = from;
  if (is_tensor && text(from.attr("dtype")) == "torch.bfloat16") {
    shared = from.attr("view")(py::module_::import("torch").attr("int16"));
  }
  return py::module_::import("numpy").attr("asarray")(shared).cast<py::array>();
}

std::string shape_of(const py::array& array) { return text(array.attr("shape")); }

/// Throws unless the last dimension is contiguous and every stride is a number of whole elements.
void check_strides(const py::array& array, const char* name) {
  const py::ssize_t item = array.itemsize(), last = array.ndim() - 1;
  bool allowed = array.shape(last) <= 1 || array.strides(last) == item;
  for (py::ssize_t i = 0; i < last; ++i) allowed = allowed && array.strides(i) % item == 0;
  if (allowed) return;
  throw InvalidArgument(std::string(name) + ".strides is " + text(array.attr("strides")) +
                        "; allowed: contiguous in the last dimension, and whole elements");
}

/// In elements.
std::int64_t stride_of(const py::array& array, py::ssize_t dimension) {
  return array.strides(dimension) / array.itemsize();
}

void* data_of(py::array& array, const char* name) {
  if (!array.writeable()) {
    throw InvalidArgument(std::string(name) + " is read-only; allowed: a writable array");
  }
  return array.mutable_data();
}

void check_dimensions(const py::array& array, const char* name, py::ssize_t most) {
  if (array.ndim() >= 2 && array.ndim() <= most) return;
  throw InvalidArgument(std::string(name) + ".shape is " + shape_of(array) +
                        "; allowed: " + (most == 2 ? "two" : "two or three") + " dimensions");
}

/// Calls use(view) for a table of any type.
template <class Use>
void with_table(py::array& array, const char* name, const Use& use) {
  check_dimensions(array, name, 2);
  check_strides(array, name);
  // The stride of a single row may be anything in NumPy.
  const std::int64_t stride = array.shape(0) > 1 ? stride_of(array, 0) : array.shape(1);
  with_type(type_of(array, name), [&]<class T>(T) {
    use(MatrixView<T>{static_cast<T*>(data_of(array, name)), array.shape(0), array.shape(1),
                      stride});
  });
}

/// Two or three dimensions: (rows, columns), (batch, rows, columns) or (rows, batch, columns).
template <class T>
SequenceView<T> view_of(const py::array& array, bool batch_first, T* data) {
  SequenceView<T> view;
  view.data = data;
  view.order = batch_first ? BatchOrder::batch_first : BatchOrder::sequence_first;
  const bool one = array.ndim() == 2;
  const py::ssize_t batch = batch_first ? 0 : 1, rows = one ? 0 : 1 - batch;
  view.batch = one ? 1 : array.shape(batch);
  view.rows = array.shape(rows);
  view.columns = array.shape(array.ndim() - 1);
  view.row_stride = stride_of(array, rows);
  view.batch_stride = one ? view.rows * view.columns : stride_of(array, batch);
  return view;
}

/// Calls use(T{}) for the element type of an array of sequences.
template <class Use>
void with_sequences(const py::array& array, const char* name, const Use& use) {
  check_dimensions(array, name, 3);
  check_strides(array, name);
  with_type(type_of(array, name), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, double>) {
      throw InvalidArgument(std::string(name) +
                            ".dtype is float64; allowed: float32, float16, bfloat16");
    } else {
      use(T{});
    }
  });
}

/// Calls use(view) for an array of sequences that is written to.
template <class Use>
void with_writable_sequences(py::array& array, const char* name, bool batch_first, const Use& use) {
  with_sequences(array, name, [&]<class T>(T) {
    use(view_of(array, batch_first, static_cast<T*>(data_of(array, name))));
  });
}

// ---- Arguments ----------------------------------------------------------------------------------

StorePolicy parse_stores(const std::string& name) {
  if (name == "automatic") return StorePolicy::automatic;
  if (name == "cached") return StorePolicy::cached;
  if (name == "non_temporal") return StorePolicy::non_temporal;
  throw InvalidArgument("stores is '" + name + "'; allowed: automatic, cached, non_temporal");
}

EncodingSource parse_source(const std::string& name) {
  if (name == "automatic") return EncodingSource::automatic;
  if (name == "fused") return EncodingSource::fused;
  if (name == "cached") return EncodingSource::cached;
  throw InvalidArgument("source is '" + name + "'; allowed: automatic, fused, cached");
}

RotaryLayout parse_rotary_layout(const char* argument, const std::string& name) {
  if (name == "halves") return RotaryLayout::halves;
  if (name == "interleaved") return RotaryLayout::interleaved;
  throw InvalidArgument(std::string(argument) + " is '" + name + "'; allowed: halves, interleaved");
}

/// None, a largest absolute error, or an Accuracy.
Accuracy accuracy_of(const py::object& accuracy) {
  if (accuracy.is_none()) return {};
  if (py::isinstance<Accuracy>(accuracy)) return accuracy.cast<Accuracy>();
  if (PyFloat_Check(accuracy.ptr()) || PyLong_Check(accuracy.ptr())) {
    return Accuracy::within(accuracy.cast<double>());
  }
  throw py::type_error("accuracy is " + text(py::repr(accuracy)) +
                       "; allowed: None, a largest error, or an Accuracy");
}

/// Rows in order, or positions of which each is a row.
struct Positions {
  RowRange rows;  ///< if `each` is empty
  std::variant<std::monostate, std::vector<std::int64_t>,
               py::array_t<std::int64_t, py::array::c_style>,
               py::array_t<std::int32_t, py::array::c_style>>
      each;

  std::int64_t count() const { return rows.count; }
};

std::int64_t integer(const py::handle& value, const char* name) {
  const std::int64_t number = PyLong_AsLongLong(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw InvalidArgument(std::string(name) + " is " + text(py::repr(value)) +
                          "; allowed: a 64-bit integer");
  }
  return number;
}

/// From range(first, last + 1), a one-dimensional array of int32 or int64, or a sequence of
/// integers.
Positions positions_of(const py::object& from) {
  if (PyRange_Check(from.ptr()) != 0) {
    const std::int64_t start = integer(from.attr("start"), "first position"),
                       step = integer(from.attr("step"), "step"),
                       count = static_cast<std::int64_t>(py::len(from));
    if (step == 1) return {{start, count}, {}};
    if (count > 0) integer(from[py::int_(-1)], "last position");  // no sum below overflows
    std::vector<std::int64_t> each;
    for (std::int64_t i = 0; i < count; ++i) each.push_back(start + i * step);
    return {{0, count}, std::move(each)};
  }
  if (py::isinstance<py::array>(from)) {
    const auto array = py::reinterpret_borrow<py::array>(from);
    const bool is_integer = array.dtype().kind() == 'i';
    if (array.ndim() == 1 && is_integer && array.itemsize() == 4) {
      return {{0, array.shape(0)}, py::array_t<std::int32_t, py::array::c_style>(array)};
    }
    if (array.ndim() == 1 && is_integer && array.itemsize() == 8) {
      return {{0, array.shape(0)}, py::array_t<std::int64_t, py::array::c_style>(array)};
    }
    throw InvalidArgument("positions has dtype " + text(array.dtype()) + " and shape " +
                          shape_of(array) + "; allowed: one dimension of int32 or int64");
  }
  if (!py::isinstance<py::sequence>(from) || py::isinstance<py::str>(from)) {
    throw py::type_error(
        "positions is " + text(py::repr(from)) +
        "; allowed: a range, an array of int32 or int64, or a sequence of integers");
  }
  std::vector<std::int64_t> each;
  for (const py::handle value : from) each.push_back(integer(value, "a position"));
  const auto count = static_cast<std::int64_t>(each.size());
  return {{0, count}, std::move(each)};
}

/// Positions that layers take: a range of step 1.
RowRange rows_of(const py::object& from) {
  const Positions positions = positions_of(from);
  if (std::holds_alternative<std::monostate>(positions.each)) return positions.rows;
  throw InvalidArgument("positions is " + text(py::repr(from)) + "; allowed: a range of step 1");
}

FrequencyRule cast_rule(const py::object& from) {
  if (from.is_none()) return {};
  if (!py::hasattr(from, "rule")) return OwnFrequencies{from.cast<std::vector<double>>()};
  const std::string rule = text(from.attr("rule"));
  const auto real = [&](const char* name) { return from.attr(name).cast<double>(); };
  const auto reals = [&](const char* name) { return from.attr(name).cast<std::vector<double>>(); };
  const auto rows = [&] { return integer(from.attr("trained_rows"), "trained_rows"); };
  if (rule == "linear") return LinearScaling{real("factor")};
  if (rule == "ntk") return NtkScaling{real("factor")};
  if (rule == "llama3") {
    return Llama3Scaling{real("factor"), rows(), real("low_frequency_factor"),
                         real("high_frequency_factor")};
  }
  if (rule == "yarn") {
    return YarnScaling{real("factor"),
                       rows(),
                       real("beta_fast"),
                       real("beta_slow"),
                       from.attr("truncate").cast<bool>(),
                       real("attention_factor")};
  }
  if (rule == "longrope") return LongRopeScaling{reals("factors"), real("attention_factor")};
  throw InvalidArgument("frequencies is of the rule '" + rule +
                        "'; allowed: linear, ntk, yarn, llama3, longrope");
}

/// From None, one of the classes in frequencies.py, or a sequence of frequencies.
FrequencyRule rule_of(const py::object& from) {
  try {
    return cast_rule(from);
  } catch (const py::cast_error&) {
    throw py::type_error("frequencies is " + text(py::repr(from)) +
                         "; allowed: None, a sequence of numbers, or a rule of numbers");
  }
}

EncodingSpec spec_of(std::int64_t d_model, double base, const std::string& layout,
                     const std::string& spacing, const py::object& frequencies) {
  return {d_model, base, parse_layout(layout), parse_spacing(spacing), rule_of(frequencies)};
}

// ---- Encoders -----------------------------------------------------------------------------------

/// Selection needs rows and a type, so that an encoder knows what it will mostly encode.
class PyEncoder {
 public:
  PyEncoder(std::int64_t d_model, double base, const std::string& layout,
            const std::string& spacing, const py::object& frequencies,
            const std::optional<std::string>& name, const py::object& accuracy, std::int64_t rows,
            const py::object& type, int threads) {
    const EncodingSpec spec = spec_of(d_model, base, layout, spacing, frequencies);
    if (name) {
      if (!accuracy.is_none()) {
        throw InvalidArgument("accuracy is given with a backend; allowed: one of them");
      }
      const py::gil_scoped_release no_gil;
      encoder_ = posenc::backend(*name).plan(spec);
      reason_ = "the program named it";
    } else {
      const SelectionOptions options = {
          .accuracy = accuracy_of(accuracy), .type = parse_type(type), .threads = threads};
      const py::gil_scoped_release no_gil;
      SelectedEncoder selected = plan_selected(spec, {0, rows}, options);
      encoder_ = std::move(selected.encoder);
      reason_ = selected.selection.reason;
    }
  }

  const Encoder& encoder() const { return *encoder_; }
  std::string backend() const {
    return encoder_->backend() + ":" + std::string(to_string(encoder_->isa()));
  }
  const std::string& reason() const { return reason_; }

  py::object encode(const py::object& from, const py::object& out, const py::object& type,
                    int threads, const std::string& stores) const {
    const Positions positions = positions_of(from);
    const EncodeOptions options(threads, parse_stores(stores));
    const py::object result = out.is_none() ? new_table(positions, parse_type(type)) : out;
    py::array table = array_of(result, "out");
    with_table(table, "out", [&](const auto& view) {
      const py::gil_scoped_release no_gil;
      if (const auto* own = std::get_if<1>(&positions.each)) {
        encoder_->encode(std::span<const std::int64_t>(*own), view, options);
      } else if (const auto* wide = std::get_if<2>(&positions.each)) {
        encoder_->encode(std::span(wide->data(), static_cast<std::size_t>(positions.count())), view,
                         options);
      } else if (const auto* narrow = std::get_if<3>(&positions.each)) {
        encoder_->encode(std::span(narrow->data(), static_cast<std::size_t>(positions.count())),
                         view, options);
      } else {
        encoder_->encode(positions.rows, view, options);
      }
    });
    return result;
  }

 private:
  py::object new_table(const Positions& positions, DataType type) const {
    if (std::holds_alternative<std::monostate>(positions.each)) validate(positions.rows);
    table_bytes(encoder_->spec(), positions.count(), size_of(type));
    return py::array(numpy_type(type),
                     std::vector<py::ssize_t>{positions.count(), encoder_->spec().d_model});
  }

  std::unique_ptr<const Encoder> encoder_;
  std::string reason_;
};

py::dict measured_accuracy(const PyEncoder& encoder, const py::object& positions,
                           const py::object& type, int threads) {
  AccuracyOptions options;
  options.threads = threads;
  options.type = parse_type(type);
  const RowRange rows = rows_of(positions);
  AccuracyReport report;
  {
    const py::gil_scoped_release no_gil;
    const Encoder* const one[] = {&encoder.encoder()};
    report = measure_accuracy(one, rows, options).front();
  }
  py::dict result;
  result["backend"] = encoder.backend();
  result["reference"] = report.reference;
  result["entries"] = report.entries;
  result["max_abs"] = report.error.max_abs;
  result["max_ulp"] = report.error.max_ulp;
  result["rms"] = report.error.rms;
  result["error_bound"] = report.error_bound;
  result["correctly_rounded"] = report.correctly_rounded;
  result["wrongly_rounded"] = report.wrongly_rounded;
  result["worst_position"] = report.worst.position;
  result["worst_channel"] = report.worst.channel;
  return result;
}

std::optional<ErrorBudget> budget_of(const py::object& accuracy) {
  if (accuracy.is_none()) return std::nullopt;
  const Accuracy asked = accuracy_of(accuracy);
  switch (asked.measure()) {
    case Accuracy::Measure::absolute:
      return ErrorBudget{asked.most(), ErrorBudget::Measure::absolute};
    case Accuracy::Measure::ulp: return ErrorBudget{asked.most(), ErrorBudget::Measure::ulp};
    case Accuracy::Measure::correctly_rounded: break;
  }
  throw InvalidArgument(
      "accuracy is correctly rounded; allowed for a pick: None, or a largest error, absolute or in "
      "ulp");
}

py::dict candidate_of(const ComparedCandidate& from) {
  py::dict result;
  result["backend"] = from.full_name();
  result["gfloats_per_second"] = from.gfloats_per_second;
  result["time_ratio"] = from.ratio;
  result["time_ratio_interval"] = py::make_tuple(from.low, from.high);
  result["tied"] = from.tied;
  result["error_bound"] = from.error_bound;
  result["max_abs"] = from.max_abs;
  return result;
}

py::dict pick_backends(const py::object& accuracy,
                       const std::vector<std::pair<std::int64_t, std::int64_t>>& shapes,
                       const py::object& type, int threads, int processes, int samples,
                       double seconds_per_sample, const std::optional<std::string>& save) {
  PickOptions options;
  for (const auto& [rows, d_model] : shapes) {
    options.shapes.push_back(
        {std::to_string(rows) + "x" + std::to_string(d_model), {.d_model = d_model}, {0, rows}});
  }
  options.budget = budget_of(accuracy);
  options.type = parse_type(type);
  options.threads = threads;
  options.processes = processes;
  options.samples = samples;
  options.seconds_per_sample = seconds_per_sample;
  options.progress = [](double, std::string_view) {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  };
  PickResult picked;
  {
    const py::gil_scoped_release no_gil;
    picked = pick(options);
    if (save && picked.disturbed.empty()) {
      const LoadedProfile older = load_profile(*save);
      save_profile(older.profile ? merge(*older.profile, picked.profile) : picked.profile, *save);
    }
  }
  py::list classes;
  for (const ClassDecision& decision : picked.decisions) {
    py::dict each;
    each["shape"] = std::string(to_string(decision.shape));
    each["pick"] = decision.pick ? py::object(candidate_of(*decision.pick)) : py::none();
    each["noise_floor"] = decision.noise_floor;
    py::list others;
    for (const ComparedCandidate& other : decision.others) {
      if (other.compared) others.append(candidate_of(other));
    }
    each["others"] = others;
    classes.append(each);
  }
  py::dict result;
  result["classes"] = classes;
  result["disturbed"] = picked.disturbed;
  return result;
}

// ---- Layers -------------------------------------------------------------------------------------

py::object forward(const PositionalEncoding& layer, const py::object& x, const py::object& out,
                   std::int64_t offset, bool training, std::uint64_t seed, int threads,
                   const std::string& stores, bool batch_first) {
  const py::array input = array_of(x, "x");
  const ForwardOptions options = {offset, training, seed, threads, parse_stores(stores)};
  py::object result = out;
  with_sequences(input, "x", [&]<class T>(T) {
    if (out.is_none()) {
      result = py::array(numpy_type(data_type_of<T>),
                         std::vector<py::ssize_t>(input.shape(), input.shape() + input.ndim()));
    }
    py::array output = array_of(result, "out");
    with_writable_sequences(output, "out", batch_first, [&]<class U>(const SequenceView<U>& to) {
      if constexpr (std::is_same_v<T, U>) {
        const auto from = view_of(input, batch_first, static_cast<const T*>(input.data()));
        const py::gil_scoped_release no_gil;
        layer.forward(from, to, options);
      } else {
        throw InvalidArgument("out.dtype is " + text(output.dtype()) +
                              "; allowed: that of x, which is " + text(input.dtype()));
      }
    });
  });
  return result;
}

py::object backward(const PositionalEncoding& layer, const py::object& gradient, std::uint64_t seed,
                    int threads, bool batch_first) {
  py::array array = array_of(gradient, "gradient");
  const ForwardOptions options = {.offset = 0, .training = true, .seed = seed, .threads = threads};
  with_writable_sequences(array, "gradient", batch_first, [&](const auto& view) {
    const py::gil_scoped_release no_gil;
    layer.backward(view, options);
  });
  return gradient;
}

py::object rotary_cache(const Rotary& rotary, const py::object& positions,
                        const std::string& layout, const py::object& out, const py::object& type,
                        int threads) {
  const RowRange rows = rows_of(positions);
  validate(rows);
  const RotaryLayout order = parse_rotary_layout("layout", layout);
  const py::object result =
      out.is_none() ? py::array(numpy_type(parse_type(type)),
                                std::vector<py::ssize_t>{rows.count, rotary.dimension()})
                    : out;
  py::array table = array_of(result, "out");
  with_table(table, "out", [&]<class T>(const MatrixView<T>& view) {
    if constexpr (std::is_same_v<T, double>) {
      throw InvalidArgument("dtype is float64; allowed: float32, float16, bfloat16");
    } else {
      const py::gil_scoped_release no_gil;
      rotary.cache(rows, order, view, threads);
    }
  });
  return result;
}

py::object rotary_apply(const Rotary& rotary, const py::object& x, std::int64_t first, int threads,
                        bool heads_first) {
  py::array array = array_of(x, "x");
  with_writable_sequences(array, "x", heads_first, [&](const auto& view) {
    const py::gil_scoped_release no_gil;
    rotary.apply(view, first, threads);
  });
  return x;
}

GridSpec grid_of(const std::string& convention, std::int64_t d_model, std::int64_t rows,
                 std::int64_t columns) {
  if (convention == "mae") return mae_grid(d_model);
  if (convention == "simple_vit") return simple_vit_grid(d_model);
  if (convention == "detr") return detr_grid(d_model, rows, columns);
  throw InvalidArgument("convention is '" + convention + "'; allowed: mae, simple_vit, detr");
}

py::object encode_grid_cells(std::int64_t rows, std::int64_t columns, std::int64_t d_model,
                             const std::string& convention, const py::object& type, int threads) {
  const GridSpec spec = grid_of(convention, d_model, rows, columns);
  if (rows < 0 || columns < 0 || (columns > 0 && rows > max_position / columns)) {
    throw InvalidArgument("grid is " + std::to_string(rows) + " x " + std::to_string(columns) +
                          "; allowed: sizes of at least 0, and at most 2**53 cells");
  }
  py::array table(numpy_type(parse_type(type)), std::vector<py::ssize_t>{rows * columns, d_model});
  with_table(table, "out", [&](const auto& view) {
    const py::gil_scoped_release no_gil;
    encode_grid(rows, columns, spec, view, threads);
  });
  return table;
}

py::dict preset_arguments(const std::string& name) {
  const EncodingSpec& spec = preset(name).spec;
  py::dict arguments;
  arguments["d_model"] = spec.d_model;
  arguments["base"] = spec.base;
  arguments["layout"] = std::string(to_string(spec.layout));
  arguments["spacing"] = std::string(to_string(spec.spacing));
  return arguments;
}

}  // namespace
}  // namespace posenc

PYBIND11_MODULE(_posenc, module) {
  using namespace posenc;
  using py::arg;
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const std::system_error& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    }
  });
  module.attr("__version__") = library_version();
  const py::str float32("float32");
  const EncodingSpec paper;

  py::class_<Accuracy>(module, "Accuracy", "The accuracy that a program asks for.")
      .def_static("correctly_rounded", &Accuracy::correctly_rounded,
                  "Every entry is the value nearest to the exact one: the default.")
      .def_static("within", &Accuracy::within, arg("error"),
                  "Every entry is within this absolute error.")
      .def_static("within_ulp", &Accuracy::within_ulp, arg("ulp"),
                  "Every entry is within this error in ulp.")
      .def("__repr__", [](const Accuracy& each) { return "Accuracy(" + to_string(each) + ")"; });

  py::class_<PyEncoder>(module, "Encoder", R"(A backend planned for one convention.

Without `backend`, the fastest one that promises `accuracy` for tables of `rows` rows is selected:
None means correctly rounded, a number is the largest absolute error. `frequencies`: d_model / 2
numbers in radians per position, or a rule such as posenc.YarnScaling. Immutable: any number of
threads may use one. Raises ValueError if an argument is not allowed.)")
      .def(py::init<std::int64_t, double, const std::string&, const std::string&, const py::object&,
                    const std::optional<std::string>&, const py::object&, std::int64_t,
                    const py::object&, int>(),
           arg("d_model"), py::kw_only(), arg("base") = paper.base, arg("layout") = "interleaved",
           arg("spacing") = "paper", arg("frequencies") = py::none(), arg("backend") = py::none(),
           arg("accuracy") = py::none(), arg("rows") = 4096, arg("dtype") = float32,
           arg("threads") = 1)
      .def("encode", &PyEncoder::encode, arg("positions"), arg("out") = py::none(),
           arg("dtype") = float32, arg("threads") = 1, arg("stores") = "automatic",
           R"(Returns the encodings of these positions: an array of shape (len(positions), d_model).

positions: range(first, last + 1), an array of int32 or int64, or a sequence of integers, each
from 0 to 2**53. A row has the same bits in every call.
out: the array to write, instead of a new one; a tensor of PyTorch, too. Its type is float32,
float64, float16 or bfloat16 (that of ml_dtypes, or 16-bit integers for its bits), and it is
contiguous in its last dimension. It is returned.
dtype: of a new array: "float32", "float64", "float16" or "bfloat16", or a NumPy type.

Raises ValueError, before anything is written, if an argument is not allowed.)")
      .def(
          "error_bound",
          [](const PyEncoder& each, const py::object& positions, const py::object& type) {
            const RowRange rows = rows_of(positions);
            validate(rows);
            return each.encoder().error_bound(rows, parse_type(type));
          },
          arg("positions"), arg("dtype") = float32,
          "A proven upper bound of |entry - exact value| over a range of positions.")
      .def(
          "is_correctly_rounded",
          [](const PyEncoder& each, const py::object& type) {
            return each.encoder().is_correctly_rounded(parse_type(type));
          },
          arg("dtype") = float32,
          "True if every entry is proven to be the value nearest to the exact one.")
      .def_property_readonly("backend", &PyEncoder::backend, "Name and ISA: 'rotation:avx2'.")
      .def_property_readonly("reason", &PyEncoder::reason, "Why this backend was selected.")
      .def_property_readonly("d_model",
                             [](const PyEncoder& each) { return each.encoder().spec().d_model; });

  py::class_<Cursor>(module, "Cursor", R"(Rows at consecutive positions, one at a time.

next(cursor) returns the float32 row at `position`, of shape (d_model,), and advances. A row costs
little more than in a table. Two threads must not use one cursor at once.)")
      .def(py::init([](const PyEncoder& encoder, std::int64_t first) {
             return std::make_unique<Cursor>(encoder.encoder(), first);
           }),
           arg("encoder"), arg("first") = 0, py::keep_alive<1, 2>())
      .def("seek", &Cursor::seek, arg("position"), "Moves to any position from 0 to 2**53.")
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__",
           [](Cursor& cursor) {
             const std::span<const float> row = cursor.next();
             return py::array_t<float>(static_cast<py::ssize_t>(row.size()), row.data());
           })
      .def_property_readonly("position", &Cursor::position);

  py::class_<PositionalEncoding>(module, "PositionalEncoding",
                                 R"(Adds encodings to sequences: y = dropout(x + PE).

max_rows: positions from 0 to max_rows - 1. frequencies, accuracy: as in Encoder. source: the source
of the encodings that are added, which does not change the bits: "fused" computes them while they
are added, "cached" keeps a table of max_rows rows, and "automatic" keeps one if it stays in the
last-level cache. Immutable.)")
      .def(py::init([](std::int64_t d_model, std::int64_t max_rows, double dropout, double base,
                       const std::string& layout, const std::string& spacing,
                       const py::object& frequencies, const py::object& accuracy,
                       const std::string& source) {
             const EncodingSpec spec = spec_of(d_model, base, layout, spacing, frequencies);
             const EncodingSource from = parse_source(source);
             const Accuracy asked = accuracy_of(accuracy);
             const py::gil_scoped_release no_gil;
             return std::make_unique<PositionalEncoding>(spec, max_rows, dropout, from, asked);
           }),
           arg("d_model"), arg("max_rows") = 5000, py::kw_only(), arg("dropout") = 0.0,
           arg("base") = paper.base, arg("layout") = "interleaved", arg("spacing") = "paper",
           arg("frequencies") = py::none(), arg("accuracy") = py::none(),
           arg("source") = "automatic")
      .def("forward", &forward, arg("x"), arg("out") = py::none(), py::kw_only(), arg("offset") = 0,
           arg("training") = false, arg("seed") = 0, arg("threads") = 1,
           arg("stores") = "automatic", arg("batch_first") = true,
           R"(Returns dropout(x + PE), where PE begins at position `offset`.

x: shape (batch, rows, d_model), or (rows, batch, d_model) if not batch_first, or (rows, d_model);
float32, or float16 or bfloat16, of which each result is computed in float32 and rounded once.
out: the array to write, of the same type, which may be x itself. Dropout is applied if `training`;
its mask is a function of `seed` and the element's index.

Raises ValueError, before anything is written, if an argument is not allowed.)")
      .def("backward", &backward, arg("gradient"), py::kw_only(), arg("seed"), arg("threads") = 1,
           arg("batch_first") = true,
           "Turns the gradient of the output of forward(training=True) into that of x, in place.")
      .def_property_readonly(
          "reason", [](const PositionalEncoding& each) { return each.selection().reason; });

  py::class_<Rotary>(module, "Rotary", R"(Rotary position embeddings from exact phases.

dimension: channels of a head that are turned. channels: "halves" turns k and k + dimension / 2
(GPT-NeoX, Llama), "interleaved" 2k and 2k + 1 (the paper, GPT-J). frequencies, accuracy: as in
Encoder. posenc.rotary_from_config() reads all from a model's config.json.)")
      .def(py::init([](std::int64_t dimension, double base, const std::string& channels,
                       const py::object& frequencies, const py::object& accuracy) {
             const RotaryLayout layout = parse_rotary_layout("channels", channels);
             const Accuracy asked = accuracy_of(accuracy);
             const FrequencyRule rule = rule_of(frequencies);
             const py::gil_scoped_release no_gil;
             return std::make_unique<Rotary>(dimension, base, layout, asked, rule);
           }),
           arg("dimension"), py::kw_only(), arg("base") = 10000.0, arg("channels") = "halves",
           arg("frequencies") = py::none(), arg("accuracy") = py::none())
      .def("cache", &rotary_cache, arg("positions"), arg("layout") = "halves", py::kw_only(),
           arg("out") = py::none(), arg("dtype") = float32, arg("threads") = 1,
           R"(Returns the cosines and sines of range(first, last + 1): shape (rows, dimension).

layout: "halves" is that of vLLM, cosines before sines; "interleaved" that of ggml, cosine before
sine. dtype: float32, float16 or bfloat16.)")
      .def("apply", &rotary_apply, arg("x"), arg("first") = 0, py::kw_only(), arg("threads") = 1,
           arg("heads_first") = false,
           R"(Turns x in place and returns it. Row r is at position first + r.

x: shape (rows, heads, head_dim), or (heads, rows, head_dim) if heads_first, or (rows, head_dim);
float32, or float16 or bfloat16, of which each result is computed in float32 and rounded once.)")
      .def_property_readonly("dimension", &Rotary::dimension)
      .def_property_readonly("attention_factor", &Rotary::attention_factor,
                             "Cosines and sines are multiplied by it.")
      .def_property_readonly("reason", [](const Rotary& each) { return each.selection().reason; });

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
  module.def("encode_grid", &encode_grid_cells, arg("rows"), arg("columns"), arg("d_model"),
             arg("convention") = "mae", py::kw_only(), arg("dtype") = float32, arg("threads") = 1,
             R"(Returns the encodings of a grid's cells: shape (rows * columns, d_model).

The cell of a row and a column is row `row * columns + column`, correctly rounded. convention:
"mae", "simple_vit", or "detr" (PositionEmbeddingSine, normalised, without padding).)");
  module.def(
      "cpu", [] { return cpu().model; }, "The CPU's name, as profiles and benchmarks have it.");
  module.def(
      "dynamic_ntk_factor",
      [](double factor, std::int64_t trained_rows, std::int64_t rows) {
        return dynamic_ntk_scaling(factor, trained_rows, rows).factor;
      },
      arg("factor"), arg("trained_rows"), arg("rows"),
      "The factor of dynamic_ntk_scaling() for a sequence of `rows` rows.");
  module.def("preset", &preset_arguments, arg("name"),
             "The convention of a real system, as arguments: Encoder(**preset('whisper')).");
  module.def(
      "presets",
      [] {
        py::dict all;
        for (const Preset& each : presets()) {
          all[py::str(std::string(each.name))] = std::string(each.description);
        }
        return all;
      },
      "The names of the presets, and what each describes.");
  module.def("accuracy", &measured_accuracy, arg("encoder"), arg("positions"),
             arg("dtype") = float32, arg("threads") = 1,
             "Compares a table with the reference: a dictionary of errors.");
  const PickOptions usual;
  module.def("pick", &pick_backends, py::kw_only(), arg("accuracy") = py::none(),
             arg("shapes") = py::tuple(), arg("dtype") = float32, arg("threads") = usual.threads,
             arg("processes") = usual.processes, arg("samples") = usual.samples,
             arg("seconds_per_sample") = usual.seconds_per_sample, arg("save") = py::none(),
             R"(Measures which backend is the fastest within an error on this CPU, in minutes.

accuracy: a largest absolute error, or an Accuracy; None means half an ulp of 1, and 1 %.
shapes: pairs (rows, d_model) to time; if there are none, tables of all sizes.
save: a file for the measurements, which selection then uses if $POSENC_PROFILE names it.

Returns a dictionary. "classes" holds, for each class of table sizes, the "pick" (None if no backend
is within the error) and the "others", the fastest first, each with its speed, the ratio of its
time to that of the pick, and its error. "disturbed" says why the times are not reliable, or is
empty; nothing is saved if they are not. `posenc pick` measures in several processes and is more
reliable. Raises OSError if the file cannot be written.)");
}
