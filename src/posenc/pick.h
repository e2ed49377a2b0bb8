// Choosing the fastest backend for a CPU within an error budget.
#pragma once

#include "posenc/data_type.h"
#include "posenc/presets.h"
#include "posenc/profile.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc {

/// Throws InvalidArgument unless the largest error is finite and above 0.
void validate(const ErrorBudget& budget);

struct PickOptions {
  ErrorBudget budget;
  std::vector<Preset> presets;        ///< the shapes to time
  DataType type = DataType::float32;  ///< of the tables
  int threads = 1;
  int repetitions =
      15;  ///< interleaved: every candidate once, in random order, then again; three times as many in noise
  double seconds_per_sample = 0.01;
  std::function<void(double share, std::string_view doing)> progress;
};

/// What one backend did on one shape.
struct PickMeasurement {
  std::string backend;  ///< "rotation"
  Isa isa = Isa::scalar;
  bool is_peer = false;  ///< registered for comparison only: it wins nothing
  std::string preset;
  EncodingSpec spec;
  RowRange rows;
  ShapeClass shape = ShapeClass::memory;
  double max_abs = 0;           ///< measured over rows of the shape
  double max_ulp = 0;           ///< over the same rows
  double error_bound = 0;       ///< |error| that the backend promises over them
  std::vector<double> seconds;  ///< one sample per repetition: seconds per table; empty where not timed
  /// A/A: the fastest is timed twice in every repetition, as if it were two backends; the one time over the other.
  std::vector<double> self_ratios;
  bool within_budget = false;  ///< this and what follows is decided
  bool picked = false;
  bool tied = false;  ///< within the noise of the fastest

  std::string full_name() const;  ///< "rotation:avx2"
  bool is_timed() const noexcept { return !seconds.empty(); }
  bool keeps_its_bound() const noexcept { return max_abs <= error_bound; }  ///< false for a NaN too
};

double median_seconds(const PickMeasurement& timed);
double spread(const PickMeasurement& timed);  ///< half the interquartile range over the median
double gfloats_per_second(const PickMeasurement& timed);

/// One backend over all shapes of a class, held against the pick.
struct Rival {
  std::string backend;       ///< full name
  double slowdown = 0;       ///< its time over the pick's, median over repetitions
  double least = 0;          ///< the 95 % interval of that
  double most = 0;           ///< the 95 % interval of that
  bool is_peer = false;      ///< for comparison only
  bool compared = false;     ///< within the budget, and timed, on every shape of the class: else there is no slowdown
  bool tied = false;         ///< within the noise of the fastest
  bool over_budget = false;  ///< on one shape at least
  bool keeps_its_bound = true;
  double max_abs = 0;  ///< on its worst shape
  double max_ulp = 0;
  double error_bound = 0;
};

/// What was decided for one shape class, and what it was decided by.
struct ShapeDecision {
  ShapeClass shape = ShapeClass::memory;
  std::optional<ProfilePick> pick;  ///< none where all are over the budget
  std::vector<Rival> rivals;        ///< all others: the fastest first, last what is over the budget
};

/// Decides from measurements of one CPU, element type and thread count, wherever and in how many runs they were made
/// (backends in order of registration, the simplest method first), and marks in them what is picked and what is tied.
/// Among those that noise cannot tell from the fastest, the simplest method wins that costs little. Throws InvalidArgument
/// on a bad budget.
std::vector<ShapeDecision> decide(std::vector<PickMeasurement>& measurements, const ErrorBudget& budget, DataType type,
                                  int threads);

struct PickResult {
  std::vector<PickMeasurement> measurements;
  std::vector<ShapeDecision> decisions;
  Profile profile;  ///< of this machine, with a pick per shape class that was timed
};

/// The picks of those decisions.
std::vector<ProfilePick> picks_of(const std::vector<ShapeDecision>& decisions);

/// Accuracy first: what fails the budget is measured, reported, and cannot win. Registered backends that cannot be picked are
/// measured at their best ISA, for comparison. Throws InvalidArgument on bad options.
PickResult pick(const PickOptions& options);

}  // namespace posenc
