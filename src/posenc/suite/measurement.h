/// @file
/// Measurements: the errors and the times of backends on tables, as one document in JSON.
///
/// `posenc measure` writes such a document; the profile is one, and pick, compare and report read
/// them. What the memory system allows (store loops, copies) and other libraries are ordinary rows.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/cpu.h"
#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::suite {

/// "5000x512"
std::string size_name(const EncodingSpec& spec, RowRange rows);

/// A table that is encoded, and how.
struct MeasuredTable {
  std::string name;                             ///< size_name(), or the name of a preset
  EncodingSpec spec;                            ///< what is encoded
  RowRange rows;                                ///< its positions
  DataType type = DataType::float32;            ///< of its elements
  std::int64_t stride = 0;                      ///< elements from row to row
  int threads = 1;                              ///< at least 1
  StorePolicy stores = StorePolicy::automatic;  ///< how it is stored

  double entries() const noexcept;  ///< rows times channels
  std::int64_t bytes() const;       ///< without padding between rows
  /// The name and what differs from the paper's float32 table encoded by one thread:
  /// "777x768, halves, bfloat16, 2 threads". The name of a preset stands for its convention.
  std::string text() const;
  bool operator==(const MeasuredTable&) const = default;
};

/// What a row of a document is about.
enum class Role {
  backend,  ///< of the library, or registered by a program; may be picked
  peer,     ///< another library or method: compared, and never picked
  limit,    ///< what the memory system allows: a store loop or a copy
};

/// Errors against exact values. An ulp is the spacing of the table's type at the exact value. Near
/// the zeros of sine it is tiny, and max_ulp is misleading.
struct ErrorSummary {
  double max_abs = 0;  ///< largest |entry - exact value|
  double max_ulp = 0;  ///< the same in ulp
  double rms = 0;      ///< root of the mean squared absolute error
  /// Mean of entry minus exact value: the bias. NaN if a document does not record it.
  double mean = 0;

  bool operator==(const ErrorSummary&) const = default;
};

/// Errors of the entries that were compared with the reference.
struct MeasuredError : ErrorSummary {
  double correctly_rounded = 1;  ///< share of entries nearest to their exact values
  /// Share of the table's entries that were compared: 1 if all. 0: some; the document does not say.
  double checked = 1;

  bool operator==(const MeasuredError&) const = default;
};

/// A backend in a document.
struct MeasuredBackend {
  std::string backend;        ///< "rotation"; a limit: "store", "non_temporal_store", "copy"
  std::string isa;            ///< "avx2"; empty if there is none
  Role role = Role::backend;  ///< what it is

  std::string full_name() const;  ///< "rotation:avx2"
};

/// What is measured: one backend on one table.
struct Measured : MeasuredBackend {
  MeasuredTable table;      ///< that was encoded, or stored
  std::string phases = {};  ///< Backend::phases(); empty: a limit, or not said
};

/// A row of a document: times and errors.
struct Measurement : Measured {
  /// Seconds for one table: one median per process, in the same order of processes for all
  /// measurements of a document. Empty if it was not timed.
  std::vector<double> seconds;
  /// A/A: the ratio of two halves of the samples of each process. Empty but for some backends.
  std::vector<double> self_ratios;
  std::optional<MeasuredError> error;  ///< none: a limit
  std::optional<Promise> promise;      ///< none: a limit, or a peer that promises nothing
  /// One line: why the backend cannot compute the table. It has no errors and no times then.
  std::string not_available = {};

  bool is_timed() const noexcept { return !seconds.empty(); }  ///< has times
  double gfloats_per_second() const;  ///< 10^9 entries a second, of the median; it has times
  /// False for an error above the promise, and for a NaN.
  bool keeps_its_promise() const noexcept;
};

/// The document: measurements of one machine by one build of the library.
struct Measurements {
  static constexpr int format_version = 4;  ///< of the JSON

  Cpu machine;                  ///< that was measured
  std::string compiler;         ///< of the library that measured
  std::string library_version;  ///< of it
  std::string kernels;          ///< kernels_digest() of the library that measured
  std::string measured_at;      ///< UTC: "2017-06-12T17:57:34Z"
  std::string disturbed = {};   ///< one line: why the times are not reliable; empty if they are
  /// One line: why all times are of one process, so that they do not show how much times differ
  /// from one process to the next. Empty if each time is of a process of its own.
  std::string one_process = {};
  std::string left_out = {};  ///< one line: the tables that were not measured, and why; or empty
  std::vector<Measurement> all = {};  ///< by table, and then by backend
};

/// "backend", "peer" or "limit".
std::string_view to_string(Role role) noexcept;
/// Throws InvalidArgument, listing the allowed names.
Role parse_role(std::string_view name);

}  // namespace posenc::suite
