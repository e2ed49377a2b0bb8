// What measuring and deciding share. Internal: not installed.
#pragma once

#include "posenc/pick.h"

namespace posenc {

/// Keeps its own bound, and that is within the budget.
bool is_within(const ErrorBudget& budget, const PickMeasurement& measured) noexcept;

/// How far from 1 the interval of the median of A/A ratios reaches; not empty.
double self_noise(const std::vector<double>& self_ratios);

}  // namespace posenc
