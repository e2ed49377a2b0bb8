// The documents of docs/measured, which are a part of the program: another machine needs one file.
#pragma once

#include "posenc/suite/measurement.h"

#include <vector>

namespace posenc::cli {

/// All documents, in the order of their files.
const std::vector<suite::Measurements>& known_documents();

}  // namespace posenc::cli
