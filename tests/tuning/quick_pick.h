// Options for picks that are short enough for tests.
#pragma once

#include "posenc/tuning/pick.h"

#include <utility>
#include <vector>

namespace posenc::test {

inline const PickShape small = {"small", {.d_model = 64}, {0, 40}};
/// Positions at which float32 phases are too inaccurate for the budget.
inline const PickShape long_one = {"long_one", {.d_model = 16}, {100'000, 2000}};

/// A short pick, for tests that do not depend on the measured times.
inline PickOptions quick(std::vector<PickShape> shapes) {
  PickOptions options;
  options.budget = ErrorBudget{1e-6, ErrorBudget::Measure::absolute};
  options.shapes = std::move(shapes);
  options.processes = 3;
  options.samples = 2;
  options.seconds_per_sample = 1e-4;
  return options;
}

}  // namespace posenc::test
