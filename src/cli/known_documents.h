// The documents of docs/measured, built into the program so that it needs no other file.
#pragma once

#include "posenc/suite/measurement.h"

#include <vector>

namespace posenc::cli {

/// All documents, in the order of their files.
const std::vector<suite::Measurements>& known_documents();

}  // namespace posenc::cli
