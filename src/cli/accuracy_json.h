// Accuracy reports as programs read them.
#pragma once

#include "posenc/tuning/accuracy.h"

#include <string>
#include <vector>

namespace posenc::cli {

/// One document of all.
std::string accuracy_json(const std::vector<AccuracyReport>& reports);

}  // namespace posenc::cli
