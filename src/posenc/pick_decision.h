// What measuring and deciding share. Internal: not installed.
#pragma once

#include "posenc/pick.h"

namespace posenc {

/// Keeps its own bound, and that is within the budget.
bool is_within(const ErrorBudget& budget, const PickMeasurement& measured) noexcept;

}  // namespace posenc
