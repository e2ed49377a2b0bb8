// The measurements of a shape class, by backend. Internal: not installed.
#pragma once

#include "posenc/support/ties.h"
#include "posenc/tuning/pick.h"

#include <cstddef>
#include <vector>

namespace posenc {

/// True if a measurement is within the backend's error bound, and the backend within the budget.
bool is_within(const ErrorBudget& budget, const PickMeasurement& measured) noexcept;

/// One backend over all shapes of a class.
struct ClassCandidate {
  std::vector<const PickMeasurement*> measurements;  ///< one per shape
  std::size_t method = 0;                 ///< place of its method in the order of registration
  std::vector<double> seconds_per_entry;  ///< per process: geometric mean over the shapes; empty if
                                          ///< a shape was not timed
  bool may_be_picked = false;             ///< timed and within the budget on every shape; no peer

  const PickMeasurement& any() const { return *measurements.front(); }
  bool within_budget() const;
  TimedCandidate timed() const { return {method, any().isa, seconds_per_entry}; }
};

/// The candidates of a class, in order of registration.
std::vector<ClassCandidate> candidates_of(ShapeClass shape,
                                          const std::vector<PickMeasurement>& measurements);

/// The noise floor: A/A within every process, and between successive processes, for each backend
/// that was timed twice.
double noise_floor_of(const std::vector<ClassCandidate>& candidates);

/// The measurements for a profile: every backend of the library that was timed on all shapes of a
/// class.
std::vector<MeasuredClass> measured_classes(const std::vector<PickMeasurement>& measurements,
                                            const std::vector<ClassDecision>& decisions,
                                            DataType type, int threads);

}  // namespace posenc
