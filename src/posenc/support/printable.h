// Text from outside, such as the content or the name of a file, made safe for a terminal. Internal:
// not installed.
#pragma once

#include "posenc/support/detail.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace posenc::detail {

/// One line in which control characters, directional overrides and bytes that are not UTF-8 are
/// replaced by escapes such as "\n" and "\x1b". The characters `kept` stay.
std::string escaped(std::string_view text, std::string_view kept = "");

/// The text if it has at most so many bytes; else its beginning and its end, with "..." between.
std::string shortened(std::string text, std::size_t most);

}  // namespace posenc::detail
