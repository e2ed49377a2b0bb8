// posenc list: which backend the library selects for programs that name none, and why.
#pragma once

#include "cli/json.h"

#include <string>

namespace posenc::cli {

std::string selection_text();

/// One member per kind of request: "used", "used_by_layers", ...
Json selection_json();

}  // namespace posenc::cli
