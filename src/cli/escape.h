// Text from outside, such as a file's content or its name, as a terminal may be shown it.
#pragma once

#include <string>
#include <string_view>

namespace posenc::cli {

/// One line without control characters: they, directional overrides and bytes that are not UTF-8
/// become "\n", "\x1b" ... A terminal would obey them.
std::string escaped(std::string_view text);

/// Bytes of the printable character of UTF-8 that the text begins with; 0 if it begins with none.
std::size_t printable_bytes(std::string_view text);

/// The escape of one byte.
std::string escape_of(char byte);

}  // namespace posenc::cli
