// Times the candidates of a pick in several processes. Internal: not installed.
#pragma once

#include "posenc/tuning/pick.h"

#include <functional>
#include <string_view>
#include <vector>

namespace posenc {

/// Adds the times of one process after another to the measurements, which are one list per shape,
/// until the noise is low or the largest number of processes is reached, and to the result's
/// comparisons of stores. Sets the measurements, the decisions and the number of processes of the
/// result, and whether other work disturbed them.
void time_and_decide(std::vector<std::vector<PickMeasurement>>& shapes, const PickOptions& options,
                     const std::function<void(double share, std::string_view doing)>& progress,
                     PickResult& result);

}  // namespace posenc
