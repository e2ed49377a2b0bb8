// Makes text from outside, such as the content or the name of a file, safe for a terminal.
// Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace posenc::detail {

/// The text as one line. Control characters, directional overrides and bytes that are not UTF-8 are
/// replaced by escapes such as "\n" and "\x1b". Characters in `kept` stay.
std::string escaped(std::string_view text, std::string_view kept = "");

/// The text if it has at most `most` bytes. Otherwise its beginning and its end, with "..." between
/// them.
std::string shortened(std::string text, std::size_t most);

}  // namespace posenc::detail
