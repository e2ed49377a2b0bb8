// Accuracy reports as JSON.
#pragma once

#include "posenc/tuning/accuracy.h"

#include <string>
#include <vector>

namespace posenc::cli {

/// One document with all reports.
std::string accuracy_json(const std::vector<AccuracyReport>& reports);

}  // namespace posenc::cli
