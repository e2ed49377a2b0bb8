/// @file
/// Measurements: the errors and the times of backends on tables, as one document in JSON.
///
/// `posenc measure` writes such a document, and pick, compare and report read it. A profile is a
/// document that a program loads. The limits of the memory system (store loops, copies) and other
/// libraries are ordinary rows.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/backend.h"
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

/// The number of rows and channels: "5000x512".
std::string size_name(const EncodingSpec& spec, RowRange rows);

/// A table, and how it is encoded.
struct MeasuredTable {
  std::string name;                             ///< size_name(), or the name of a preset
  EncodingSpec spec;                            ///< parameters of the encoding
  RowRange rows;                                ///< positions of the rows
  DataType type = DataType::float32;            ///< type of the elements
  std::int64_t stride = 0;                      ///< elements from one row to the next
  int threads = 1;                              ///< number of threads, at least 1
  StorePolicy stores = StorePolicy::automatic;  ///< how the table is stored

  double entries() const noexcept;  ///< rows times channels
  std::int64_t bytes() const;       ///< size without padding between rows
  /// The name, and everything that differs from the paper's float32 table encoded by one thread:
  /// "777x768, halves, bfloat16, 2 threads". The name of a preset stands for its convention.
  std::string text() const;
  bool operator==(const MeasuredTable&) const = default;
};

/// The kind of a row of a document.
enum class Role {
  backend,  ///< a backend of the library, or one that a program registers; may be picked
  peer,     ///< another library or method; compared, but never picked
  limit,    ///< a limit of the memory system: a store loop or a copy
};

/// Errors against exact values. An ulp is the spacing of the table's type at the exact value. It is
/// tiny near the zeros of sine, and max_ulp is then misleading.
struct ErrorSummary {
  double max_abs = 0;  ///< largest |entry - exact value|
  double max_ulp = 0;  ///< largest |entry - exact value| in ulp
  double rms = 0;      ///< root mean square of the absolute errors
  /// Mean of entry minus exact value: the bias. NaN if a document does not record it.
  double mean = 0;

  bool operator==(const ErrorSummary&) const = default;
};

/// Errors of the entries that were compared with the reference.
struct MeasuredError : ErrorSummary {
  double correctly_rounded = 1;  ///< share of entries nearest to their exact values
  /// Share of the table's entries that were compared: 1 if all. 0 means that the document does not
  /// say how many.
  double checked = 1;

  bool operator==(const MeasuredError&) const = default;
};

/// A backend in a document.
struct MeasuredBackend {
  /// "rotation", for example. A limit is "store", "non_temporal_store" or "copy".
  std::string backend;
  std::string isa;            ///< "avx2"; empty if there is none
  Role role = Role::backend;  ///< kind of the row

  std::string full_name() const;  ///< "rotation:avx2"
};

/// One backend on one table.
struct Measured : MeasuredBackend {
  MeasuredTable table;      ///< the table that was encoded or stored
  std::string phases = {};  ///< Backend::phases(); empty for a limit, or if not recorded
};

/// A backend on a table that is not measured yet.
Measured row_of(const Backend& backend, const MeasuredTable& table);

/// A row of a document: times and errors.
struct Measurement : Measured {
  /// Seconds for one table: one median per process. The order of processes is the same for all
  /// measurements of a document. Empty if the row was not timed.
  std::vector<double> seconds = {};
  /// A/A: the ratio of two timings of the row in each process. Empty unless the row was timed
  /// twice.
  std::vector<double> self_ratios = {};
  std::optional<MeasuredError> error = {};  ///< none for a limit
  std::optional<Promise> promise = {};  ///< none for a limit, or for a peer that promises nothing
  /// One line: why the backend cannot compute the table. It then has no errors and no times. Empty
  /// if it can.
  std::string not_available = {};

  bool is_timed() const noexcept { return !seconds.empty(); }  ///< true if it has times
  /// 10^9 entries per second in the median process; needs times.
  double gfloats_per_second() const;
  /// False if the error exceeds the promise or is NaN.
  bool keeps_its_promise() const noexcept;
};

/// The document: measurements of one machine by one build of the library.
struct Measurements {
  static constexpr int format_version = 4;  ///< version of the JSON format

  Cpu machine;                  ///< the machine that was measured
  std::string compiler;         ///< compiler of the library that measured
  std::string library_version;  ///< version of this library
  std::string kernels;          ///< kernels_digest() of the library that measured
  std::string measured_at;      ///< UTC: "2017-06-12T17:57:34Z"
  std::string disturbed = {};   ///< one line: why the times are not reliable; empty if they are
  /// One line: why all times are from one process, so that they do not show how much times differ
  /// from one process to the next. Empty if each time is from its own process.
  std::string one_process = {};
  /// One line: the tables that were not measured, and why. Empty if there are none.
  std::string left_out = {};
  std::vector<Measurement> all = {};  ///< measurements, by table and then by backend
};

/// A dense table that is stored as the library decides. Its name is "5000x512", for example. Throws
/// InvalidArgument if an argument is not allowed, or if there are no rows.
MeasuredTable table_of(const EncodingSpec& spec, RowRange rows, DataType type = DataType::float32,
                       int threads = 1);

/// Tables of all sizes, from the L1 cache to memory, in layouts that real systems use. The first
/// eleven, up to 8192 x 4096, are the same on all machines. If the largest of them fits in the
/// caches, a larger twelfth table follows.
std::vector<MeasuredTable> default_tables(DataType type = DataType::float32, int threads = 1);

/// The backends that run here, for one ISA or for all. For all ISAs, each peer appears only once,
/// at its best ISA.
std::vector<const Backend*> backends_here(std::optional<Isa> isa = {});

/// Removes the tables that need more than `most_bytes` of memory together with a copy. By default
/// (0), that is half of the memory of the machine. Returns a line that names the removed tables and
/// the reason; empty if all fit. Throws InvalidArgument with this line if no table is left.
std::string leave_out_large(std::vector<MeasuredTable>& tables, std::int64_t most_bytes = 0);

/// "backend", "peer" or "limit".
std::string_view to_string(Role role) noexcept;
/// Parses the name of a role. Throws InvalidArgument, which lists the allowed names.
Role parse_role(std::string_view name);

}  // namespace posenc::suite
