// Text from outside, such as the content or the name of a file, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace posenc::cli {

/// One line in which control characters, directional overrides and bytes that are not UTF-8 are
/// replaced by escapes such as "\n" and "\x1b".
std::string escaped(std::string_view text);

/// The same, keeping the ends of lines.
std::string escaped_lines(std::string_view text);

}  // namespace posenc::cli
