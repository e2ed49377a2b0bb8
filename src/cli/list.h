// The parts of posenc list.
#pragma once

#include "cli/json.h"

#include <string>

namespace posenc::cli {

/// Which backend the library selects for programs that name none, and why.
std::string selection_text();

/// One member per kind of request: "used", "used_by_layers", ...
Json selection_json();

/// The conventions that have names.
std::string presets_table();
std::string presets_json();

}  // namespace posenc::cli
