// posenc list --presets: the conventions that have names.
#pragma once

#include <string>

namespace posenc::cli {

std::string presets_table();
std::string presets_json();

}  // namespace posenc::cli
