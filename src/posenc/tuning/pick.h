// Finding the fastest backend within an error budget on this CPU, by checking and timing all.
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

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace POSENC_API posenc {

/// The largest error that is accepted: absolute, of the promised bound, or in ulp, of what was
/// measured.
struct ErrorBudget {
  enum class Measure { absolute, ulp };
  double most = 0;  ///< finite and > 0
  Measure measure = Measure::absolute;

  bool operator==(const ErrorBudget&) const = default;
};

/// Throws InvalidArgument unless the largest error is finite and above 0.
void validate(const ErrorBudget& budget);

/// Half an ulp of 1 of the type, and 1 % of that: any backend that computes in a wider type and
/// rounds once is within it.
ErrorBudget default_budget(DataType type) noexcept;

/// A table that is timed.
struct PickShape {
  std::string name;
  EncodingSpec spec;
  RowRange rows;
};

/// Tables of all sizes from the L1 cache to memory, in the layouts that real systems use.
std::vector<PickShape> default_pick_shapes(DataType type);

struct PickOptions {
  std::optional<ErrorBudget> budget;  ///< default_budget() if not given
  std::vector<PickShape> shapes;      ///< default_pick_shapes() if empty
  DataType type = DataType::float32;  ///< of the tables
  int threads = 1;
  int processes = 7;  ///< up to twice as many while a backend differs from itself by over 3 %
  int samples = 9;    ///< of every candidate in a process
  double seconds_per_sample = 0.005;
  /// Times in a further process. Empty: in this one, with new memory every time.
  std::function<TimingResult(const TimingRequest&)> time_in_process;
  std::function<void(double share, std::string_view doing)> progress;
};

/// The measurements of one backend on one shape.
struct PickMeasurement {
  std::string backend;  ///< "rotation"
  Isa isa = Isa::scalar;
  bool is_peer = false;  ///< registered for comparison only: cannot be picked
  std::string name;      ///< of the shape
  EncodingSpec spec;
  RowRange rows;
  ShapeClass shape = ShapeClass::memory;
  double max_abs = 0;               ///< measured
  double max_ulp = 0;               ///< measured
  double error_bound = 0;           ///< |error| that the backend promises
  std::vector<double> seconds;      ///< per table: one median per process; empty if not timed
  std::vector<double> self_ratios;  ///< A/A: one half of its samples over the other, per process
  bool within_budget = false;       ///< set, as the next two, by decide()
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
  bool compared = false;        ///< timed on every shape and within the budget
  double max_abs = 0;           ///< on its worst shape, as the next two
  double max_ulp = 0;
  double error_bound = 0;
  // Of a compared candidate:
  double gfloats_per_second = 0;  ///< geometric mean over the shapes
  double relative_iqr = 0;        ///< of the noisiest shape
  double ratio = 0;  ///< its time over the pick's, paired by process, with the 95 % interval
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool tied = false;  ///< with the fastest

  std::string full_name() const;  ///< "rotation:avx2"
};

/// The choice for one shape class, and what it rests on.
struct ClassDecision {
  ShapeClass shape = ShapeClass::memory;
  double noise_floor = 0;                 ///< largest relative difference of a backend from itself
  std::optional<ComparedCandidate> pick;  ///< none if no backend is within the budget
  std::vector<ComparedCandidate> others;  ///< the fastest first; those not compared last
  std::vector<std::string> shapes;        ///< names of the shapes of the class

  /// The fastest other that could have been picked: at least as fast as the pick if that is simpler
  /// and ties with it. Null if there is none.
  const ComparedCandidate* next() const noexcept;
};

/// Decides from measurements of one CPU, element type and thread count, and sets in them what is
/// picked and tied. Backends are in order of registration, the simplest method first. Two tie
/// unless the 95 % interval of their ratio, paired by process, excludes 1, and the ratio differs
/// from 1 by more than 2 % and the noise floor. Of those that tie with the fastest and take little
/// longer, the simplest method is picked, at its best ISA. Throws InvalidArgument on a bad budget.
std::vector<ClassDecision> decide(std::vector<PickMeasurement>& measurements,
                                  const ErrorBudget& budget);

struct PickResult {
  ErrorBudget budget;
  int processes = 0;
  std::vector<PickMeasurement> measurements;
  std::vector<ClassDecision> decisions;
  Profile profile;        ///< of this machine, with the measurements
  std::string disturbed;  ///< one line: why the times cannot be trusted; empty if they can
};

/// Measures the errors of all backends, times those that keep their own bounds, and decides. Peers
/// are measured at their best ISA. Throws InvalidArgument on bad options.
PickResult pick(const PickOptions& options = {});

}  // namespace posenc
