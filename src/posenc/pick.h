// Choosing the fastest backend for this CPU within an error budget.
#pragma once

#include "posenc/data_type.h"
#include "posenc/profile.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posenc {

struct PickOptions {
  double max_error = 1e-6;            ///< error budget: largest absolute error that is accepted, > 0
  std::vector<Preset> presets;        ///< the shapes to time
  DataType type = DataType::float32;  ///< of the tables
  int threads = 1;
  int repetitions = 9;  ///< interleaved: every candidate once, in random order, then again
  double seconds_per_sample = 0.01;
  std::function<void(double share, std::string_view doing)> progress;
};

/// What one backend did on one shape.
struct PickMeasurement {
  const Backend* backend = nullptr;
  Preset preset;
  ShapeClass shape = ShapeClass::memory;
  double max_abs = 0;           ///< measured over rows of the shape
  double error_bound = 0;       ///< what the backend promises over them
  bool within_budget = false;   ///< both are within the budget
  std::vector<double> seconds;  ///< one sample per repetition: seconds per table; empty where not timed
  double median_seconds = 0;
  double spread = 0;  ///< half the interquartile range over the median
  bool picked = false;
  bool tied = false;  ///< within the noise of the fastest
};

struct PickResult {
  std::vector<PickMeasurement> measurements;
  Profile profile;  ///< of this machine, with a pick per shape class that was timed
};

/// Accuracy first: what fails the budget is measured, reported, and cannot win. Registered backends that cannot be picked are measured at
/// their best ISA, for comparison. Throws InvalidArgument on bad options.
PickResult pick(const PickOptions& options);

}  // namespace posenc
