// Finds the fastest backend within an error budget on this CPU, by checking and timing all
// backends.
//
//   const posenc::PickResult result = posenc::pick({.budget = posenc::ErrorBudget{1e-6}});
//   posenc::save_profile(result.profile, posenc::default_profile_path());
#pragma once

#include "posenc/data_type.h"
#include "posenc/export.h"
#include "posenc/isa.h"
#include "posenc/profile.h"
#include "posenc/spec.h"
#include "posenc/tuning/timing.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace POSENC_API posenc {

/// The largest accepted error. An absolute budget limits the proven error bound, and a budget in
/// ulp the measured error.
struct ErrorBudget {
  enum class Measure { absolute, ulp };
  double most = 0;  ///< finite and > 0
  Measure measure = Measure::absolute;

  bool operator==(const ErrorBudget&) const = default;
};

/// Throws InvalidArgument unless the largest error is finite and above 0.
void validate(const ErrorBudget& budget);

/// Half an ulp of 1 of the type, plus 1 %. Every backend that computes in a wider type and rounds
/// once is within this budget.
ErrorBudget default_budget(DataType type) noexcept;

/// A table that is timed.
struct PickShape {
  std::string name;
  EncodingSpec spec;
  RowRange rows;
};

/// Tables of all sizes from the L1 cache to memory, in the layouts that real systems use.
std::vector<PickShape> default_pick_shapes(DataType type);

/// Sizes in bytes from 1 to 32 MiB, among which plain stores become slower than non-temporal ones.
std::vector<std::int64_t> default_store_sizes();

struct PickOptions {
  std::optional<ErrorBudget> budget;  ///< default_budget() if empty
  std::vector<PickShape> shapes;      ///< default_pick_shapes() if empty
  /// Bytes of tables whose plain and non-temporal stores are compared; usually none, or
  /// default_store_sizes(). Each is 4 KiB to 1 GiB. Others than none need float32 and one thread.
  std::vector<std::int64_t> store_sizes;
  DataType type = DataType::float32;  ///< of the tables
  int threads = 1;
  int processes = 7;  ///< up to twice this, while a backend differs from itself by over 3 %
  int samples = 9;    ///< of every candidate in each process
  double seconds_per_sample = 0.005;
  /// Times the candidates in another process. If empty, this process times them, each time with new
  /// memory.
  std::function<TimingResult(const TimingRequest&)> time_in_process;
  std::function<void(double share, std::string_view doing)> progress;
};

/// The measurements of one backend on one shape.
struct PickMeasurement {
  std::string backend;  ///< "rotation"
  Isa isa = Isa::scalar;
  bool is_peer = false;  ///< registered for comparison only, and never picked
  std::string name;      ///< of the shape
  EncodingSpec spec;
  RowRange rows;
  ShapeClass shape = ShapeClass::memory;
  double max_abs = 0;               ///< measured
  double max_ulp = 0;               ///< measured
  double error_bound = 0;           ///< proven bound of |error|
  std::vector<double> seconds;      ///< for one table: one median per process; empty if not timed
  std::vector<double> self_ratios;  ///< A/A: ratio of two halves of its samples, per process
  bool within_budget = false;       ///< decide() sets this and the next two
  bool picked = false;
  bool tied = false;  ///< with the fastest

  std::string full_name() const;  ///< "rotation:avx2"
  bool is_timed() const noexcept { return !seconds.empty(); }
  bool keeps_its_bound() const noexcept { return max_abs <= error_bound; }  ///< false for a NaN
};

double median_seconds(const PickMeasurement& timed);
/// Half the interquartile range over the median, of the processes.
double relative_iqr(const PickMeasurement& timed);
double gfloats_per_second(const PickMeasurement& timed);

/// One backend over all shapes of a class, compared with the pick.
struct ComparedCandidate {
  std::string backend;  ///< "rotation"
  Isa isa = Isa::scalar;
  bool is_peer = false;
  bool keeps_its_bound = true;  ///< on every shape
  bool within_budget = true;    ///< on every shape
  bool compared = false;        ///< timed on every shape, and within the budget
  double max_abs = 0;           ///< on its worst shape, like the next two
  double max_ulp = 0;
  double error_bound = 0;
  // Of a compared candidate:
  double gfloats_per_second = 0;  ///< geometric mean over the shapes
  double relative_iqr = 0;        ///< of the noisiest shape
  double ratio = 0;  ///< its time over that of the pick, paired by process; with 95 % interval
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool tied = false;  ///< with the fastest

  std::string full_name() const;  ///< "rotation:avx2"
};

/// The pick of one shape class, and the measurements behind it.
struct ClassDecision {
  ShapeClass shape = ShapeClass::memory;
  double noise_floor = 0;                 ///< largest relative difference of a backend from itself
  std::optional<ComparedCandidate> pick;  ///< none if no backend is within the budget
  std::vector<ComparedCandidate> others;  ///< the fastest first, and those not compared last
  std::vector<std::string> shapes;        ///< names of the shapes of the class

  /// The fastest other candidate that could have been picked. It may be faster than the pick, if
  /// the pick ties with it and is simpler. Null if there is none.
  const ComparedCandidate* next() const noexcept;
};

/// Decides from measurements of one CPU, element type and thread count, and marks the measurements
/// that are picked and tied. Backends are in order of registration, the simplest method first. Two
/// backends tie unless the 95 % interval of their ratio, paired by process, excludes 1, and the
/// ratio differs from 1 by more than 2 % and by more than the noise floor. Of the backends that tie
/// with the fastest and cost little more, the simplest method is picked, at its best ISA. Throws
/// InvalidArgument if the budget is not allowed.
std::vector<ClassDecision> decide(std::vector<PickMeasurement>& measurements,
                                  const ErrorBudget& budget);

struct PickResult {
  ErrorBudget budget;
  int processes = 0;
  std::vector<PickMeasurement> measurements;
  std::vector<ClassDecision> decisions;
  std::vector<MeasuredStores> stores;  ///< of every size in PickOptions::store_sizes
  Profile profile;                     ///< the measurements, with this machine's CPU and versions
  std::string disturbed;  ///< one line: why the times are not reliable; empty if they are
};

/// Measures the errors of all backends, times those that are within their own error bounds, and
/// decides. Peers are measured at their best ISA. Throws InvalidArgument if an option is not
/// allowed.
PickResult pick(const PickOptions& options = {});

}  // namespace posenc
