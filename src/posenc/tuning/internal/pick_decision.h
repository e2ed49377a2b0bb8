// What measuring and deciding share. Internal: not installed.
#pragma once

#include "posenc/tuning/pick.h"

namespace posenc {

/// Keeps its own bound, and that is within the budget.
bool is_within(const ErrorBudget& budget, const PickMeasurement& measured) noexcept;

/// What a profile keeps of them: every backend of the library's that was timed on all shapes of a
/// class.
std::vector<MeasuredClass> measured_classes(const std::vector<PickMeasurement>& measurements,
                                            const std::vector<ShapeDecision>& decisions,
                                            DataType type, int threads);

}  // namespace posenc
