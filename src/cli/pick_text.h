// A pick as people read it: the tables, and in words why.
#pragma once

#include "cli/pick_run.h"

#include <string>
#include <vector>

namespace posenc::cli {

/// By shape class, then by size of the table; within a table the pick first, then by time, and last
/// what is over the budget.
std::vector<const PickMeasurement*> in_order(const PickRun& run);

std::string budget_text(const ErrorBudget& budget);  ///< "1e-06", "1 ulp"

/// All of a run: what it is of, what was measured, what was picked, and a warning where noise
/// decides.
std::string run_text(const PickRun& run);

/// In words, why that backend was picked: over whom, by how much, what tied, what was over the
/// budget, how noisy.
std::string reason_text(const ShapeDecision& decision);

/// The reasons of every shape class.
std::string explanation_text(const PickRun& run);

}  // namespace posenc::cli
