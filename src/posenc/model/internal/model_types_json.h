// The text of model_types.json, which the build compiles into the library. Internal: not installed.
#pragma once

#include <string_view>

namespace posenc::detail {

extern const std::string_view known_model_types_json;

}  // namespace posenc::detail
