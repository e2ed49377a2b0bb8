// The result of a pick as tables, and its reasons in words.
#pragma once

#include "cli/pick_run.h"

#include <string>
#include <vector>

namespace posenc::cli {

/// Full names of the backends that tie with the pick.
std::vector<std::string> tied_with_pick(const ClassDecision& decision);

std::string budget_text(const ErrorBudget& budget);  ///< "1e-06", "1 ulp"

/// The whole run: its conditions, the measurements, the picks, and a warning if the times cannot be
/// trusted.
std::string run_text(const PickRun& run);

/// Why that backend was picked: what is slower and by how much, what ties, what is over the budget,
/// and the noise.
std::string reason_text(const ClassDecision& decision);

/// The reasons of every shape class.
std::string explanation_text(const PickRun& run);

}  // namespace posenc::cli
