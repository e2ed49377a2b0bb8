// The documents of measurements that come with posenc: those of docs/measured, as a part of the
// program, so that one file is all that another machine needs.
#pragma once

#include "posenc/suite/measuring/measurement.h"

#include <vector>

namespace posenc::cli {

/// Of each CPU all documents, in the order of their files.
const std::vector<suite::Measurements>& known_documents();

}  // namespace posenc::cli
