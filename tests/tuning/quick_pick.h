// Picks that are short enough for tests.
#pragma once

#include "posenc/tuning/pick.h"

#include <utility>
#include <vector>

namespace posenc::test {

inline const PickShape small = {"small", {.d_model = 64}, {0, 40}};
/// Positions at which float32 phases fail.
inline const PickShape long_one = {"long_one", {.d_model = 16}, {100'000, 2000}};

/// A short pick: the choice is tested, and not the clock.
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
