// Colour for people: written into the text as escape sequences, and taken out again where no
// terminal shows it.
#pragma once

#include <string>
#include <string_view>

namespace posenc::cli {

enum class Colour { none, red, green, faint };

/// The text between the sequences that begin and end the colour.
std::string painted(std::string_view text, Colour colour);

std::string without_colours(std::string_view text);

/// A page whose colours and ends of lines are kept, and whose other control characters are escaped:
/// whatever a string from a file holds, the terminal is told nothing but colours.
std::string with_controls_escaped(std::string_view page);

/// Whether standard output is a terminal that may show colours: not where NO_COLOR is set
/// (https://no-color.org), and not on a dumb one.
bool shows_colours();

}  // namespace posenc::cli
