// Timing the candidates of a pick in several processes. Internal: not installed.
#pragma once

#include "posenc/tuning/pick.h"

#include <functional>
#include <string_view>
#include <vector>

namespace posenc {

/// Adds the times of one process after another to the measurements (one list per shape) until every
/// backend is close enough to itself or there are too many processes. Sets the measurements, the
/// decisions, the number of processes, and whether other work disturbed them.
void time_and_decide(std::vector<std::vector<PickMeasurement>>& shapes, const PickOptions& options,
                     const std::function<void(double share, std::string_view doing)>& progress,
                     PickResult& result);

}  // namespace posenc
