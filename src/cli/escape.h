// Text from outside, such as the content or the name of a file, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace posenc::cli {

/// One line in which control characters, directional overrides and bytes that are not UTF-8 are
/// replaced by escapes such as "\n" and "\x1b".
std::string escaped(std::string_view text);

/// Length of the printable UTF-8 character at the start of the text; 0 if there is none.
std::size_t printable_bytes(std::string_view text);

/// The escape of one byte.
std::string escape_of(char byte);

}  // namespace posenc::cli
