// Reading and writing JSON. Every document begins with the version of its format.
#pragma once

#include "posenc/measuring/measurement_json.h"
#include "posenc/tuning/accuracy_report.h"

#include <string>
#include <vector>

namespace posenc::cli {

/// A document with "version", "library_version", "compiler" and "machine".
Json new_document();

/// A document of measurements without times, whose rows also have a "report".
std::string accuracy_json(const std::vector<AccuracyReport>& reports);

}  // namespace posenc::cli
