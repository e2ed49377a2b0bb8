// Reading and writing JSON. Every document begins with the version of its format.
#pragma once

#include "posenc/suite/accuracy_report.h"
#include "posenc/suite/checking/check.h"
#include "posenc/suite/measuring/measurement_json.h"

#include <string>
#include <vector>

namespace posenc::cli {

using namespace suite;

/// A document with "version", "library_version", "compiler" and "machine".
Json new_document();

/// A document of measurements without times, whose rows also have a "report".
std::string accuracy_json(const std::vector<AccuracyReport>& reports);

/// A document with what a table is, its errors and their causes.
std::string check_json(const CheckReport& report);

}  // namespace posenc::cli
