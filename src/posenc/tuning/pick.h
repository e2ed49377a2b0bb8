// Measuring every backend on a CPU, and saying which is the fastest within an error budget.
#pragma once

#include "posenc/data_type.h"
#include "posenc/export.h"
#include "posenc/presets.h"
#include "posenc/profile.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace POSENC_API posenc {

/// What is accepted of a backend: absolute, of the error that it promises; in ulp, of the error
/// that is measured.
struct ErrorBudget {
  enum class Measure { absolute, ulp };
  double most = 0;  ///< the largest error that is accepted, finite and > 0
  Measure measure = Measure::absolute;

  bool operator==(const ErrorBudget&) const = default;
};

/// Throws InvalidArgument unless the largest error is finite and above 0.
void validate(const ErrorBudget& budget);

/// Half an ulp of 1 of the type, and 1 % of that: what is correctly rounded is within it, and so is
/// what is computed in a wider type and rounded once.
ErrorBudget default_budget(DataType type) noexcept;

/// A table that is timed.
struct PickShape {
  std::string name;
  EncodingSpec spec;
  RowRange rows;
};

/// Tables from the first-level cache to memory, in the layouts that real systems use, named by
/// their shape.
std::vector<PickShape> default_pick_shapes(DataType type);

/// What one process times: every candidate in turns, in random order.
struct TimingRequest {
  struct Candidate {
    std::string backend;  ///< full name: "rotation:avx2"
    int samples = 1;
  };
  struct Shape {
    EncodingSpec spec;
    RowRange rows;
    std::vector<Candidate> candidates;
    std::size_t repeated = 0;  ///< the candidate that is timed as if it were two (A/A)
  };
  DataType type = DataType::float32;
  int threads = 1;
  double seconds_per_sample = 0.005;
  std::uint64_t seed = 0;  ///< of the order
  std::vector<Shape> shapes;
};

struct TimingResult {
  struct Shape {
    std::vector<double> seconds;  ///< a table, by candidate: the median of its samples
    double repeated_seconds = 0;  ///< the same of the repeated one's second part
  };
  std::vector<Shape> shapes;
  double timed_seconds = 0;  ///< wall time of all samples
  double lost_seconds = 0;   ///< of them, without a processor: other work had it, or the hypervisor
};

/// Times in this process. Throws InvalidArgument on a bad request.
TimingResult time_candidates(const TimingRequest& request);

struct PickOptions {
  std::optional<ErrorBudget> budget;  ///< that of the type if not given
  std::vector<PickShape> shapes;      ///< default_pick_shapes() if empty
  DataType type = DataType::float32;  ///< of the tables
  int threads = 1;
  int processes = 7;  ///< twice as many while a backend differs from itself by more than 3 %
  int samples = 9;    ///< of every candidate in a process
  double seconds_per_sample = 0.005;
  /// Times in one more process: addresses differ from one to the next, and times with them. Empty:
  /// in this one, with new memory every time.
  std::function<TimingResult(const TimingRequest&)> time_in_process;
  std::function<void(double share, std::string_view doing)> progress;
};

/// What one backend did on one shape.
struct PickMeasurement {
  std::string backend;  ///< "rotation"
  Isa isa = Isa::scalar;
  bool is_peer = false;  ///< registered for comparison only: it wins nothing
  std::string name;      ///< of the shape
  EncodingSpec spec;
  RowRange rows;
  ShapeClass shape = ShapeClass::memory;
  double max_abs = 0;           ///< measured over rows of the shape
  double max_ulp = 0;           ///< over the same rows
  double error_bound = 0;       ///< |error| that the backend promises over them
  std::vector<double> seconds;  ///< a table: one median a process; empty if not timed
  /// A/A: one backend is timed twice in every process, as if it were two; its one median over its
  /// other, one a process.
  std::vector<double> self_ratios;
  bool within_budget = false;  ///< this and what follows is decided
  bool picked = false;
  bool tied = false;  ///< with the fastest

  std::string full_name() const;  ///< "rotation:avx2"
  bool is_timed() const noexcept { return !seconds.empty(); }
  bool keeps_its_bound() const noexcept { return max_abs <= error_bound; }  ///< false for a NaN too
};

double median_seconds(const PickMeasurement& timed);
/// Half the interquartile range of the processes over their median.
double relative_iqr(const PickMeasurement& timed);
double gfloats_per_second(const PickMeasurement& timed);

/// One backend over all shapes of a class, held against the pick.
struct ComparedCandidate {
  std::string backend;  ///< full name
  /// Its time over the pick's, paired by process, and the 95 % interval.
  double ratio = 0;
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool is_peer = false;      ///< for comparison only
  bool compared = false;     ///< within the budget and timed on every shape; else no ratio
  bool tied = false;         ///< with the fastest
  bool over_budget = false;  ///< on one shape at least
  bool keeps_its_bound = true;
  double max_abs = 0;  ///< on its worst shape
  double max_ulp = 0;
  double error_bound = 0;
};

/// The pick for one shape class, with the figures that decided it.
struct ClassPick {
  std::string backend;  ///< "rotation"
  Isa isa = Isa::scalar;
  std::vector<std::string> ties;  ///< full names of the backends that tie with it
  double gfloats_per_second = 0;  ///< geometric mean over the shapes timed
  double relative_iqr = 0;        ///< of the worst shape
  std::optional<ComparedCandidate>
      next;                         ///< the fastest other; it may be faster than a simpler pick
  double max_abs = 0;               ///< worst measured error
  double max_ulp = 0;               ///< the same in ulp
  std::vector<std::string> shapes;  ///< names of what was timed

  std::string full_name() const;  ///< "rotation:avx2"
};

/// What was decided for one shape class, and what it was decided by.
struct ShapeDecision {
  ShapeClass shape = ShapeClass::memory;
  double noise_floor = 0;         ///< how far from 1 the time of one backend over its own was
  std::optional<ClassPick> pick;  ///< none if all are over the budget
  std::vector<ComparedCandidate>
      rivals;  ///< all others: the fastest first, last what is over the budget
};

/// Decides from measurements of one CPU, element type and thread count, wherever they were made
/// (backends in order of registration, the simplest method first), and marks in them what is picked
/// and what is tied. Two backends tie unless the 95 % interval of their ratio, paired by process,
/// excludes 1 and the ratio is further from 1 than 2 % and than the noise floor. Of those that tie
/// with the fastest the simplest method wins that costs little, at its best ISA. Throws
/// InvalidArgument on a bad budget.
std::vector<ShapeDecision> decide(std::vector<PickMeasurement>& measurements,
                                  const ErrorBudget& budget);

struct PickResult {
  ErrorBudget budget;
  int processes = 0;
  std::vector<PickMeasurement> measurements;
  std::vector<ShapeDecision> decisions;
  Profile profile;        ///< of this machine, with what was measured
  std::string disturbed;  ///< one line: why the figures are no good; empty if they are
};

/// Checks the errors, then times. What fails the budget is measured, reported, and cannot win; what
/// breaks its own bound is not timed. Registered backends that cannot be picked are measured at
/// their best ISA, for comparison. Throws InvalidArgument on bad options.
PickResult pick(const PickOptions& options = {});

}  // namespace posenc
