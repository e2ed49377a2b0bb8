// Colours, as escape sequences in the text, which are removed again unless a terminal shows it.
#pragma once

#include <string>
#include <string_view>

namespace posenc::cli {

enum class Colour { none, red, green, faint };

/// The text in that colour.
std::string painted(std::string_view text, Colour colour);

std::string without_colours(std::string_view text);

/// A page with its colours and ends of lines, and all other control characters escaped: a string
/// from a file can send nothing else to the terminal.
std::string with_controls_escaped(std::string_view page);

/// True if standard output is a terminal that shows colours, and NO_COLOR (https://no-color.org) is
/// not set.
bool shows_colours();

}  // namespace posenc::cli
