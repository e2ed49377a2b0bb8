#include "cli/colour.h"

#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace posenc::cli {
namespace {

constexpr std::string_view start = "\033[";
constexpr char end = 'm';

std::string_view code_of(Colour colour) {
  switch (colour) {
    case Colour::red: return "31";
    case Colour::green: return "32";
    case Colour::faint: return "2";
    case Colour::none: break;
  }
  return "0";
}

std::string sequence(Colour colour) { return std::string(start).append(code_of(colour)) + end; }

}  // namespace

std::string painted(std::string_view text, Colour colour) {
  if (colour == Colour::none || text.empty()) return std::string(text);
  return sequence(colour).append(text) + sequence(Colour::none);
}

std::string without_colours(std::string_view text) {
  std::string plain;
  while (true) {
    const std::size_t found = text.find(start);
    plain += text.substr(0, found);
    if (found == std::string_view::npos) return plain;
    const std::size_t last = text.find(end, found);
    if (last == std::string_view::npos) return plain;
    text.remove_prefix(last + 1);
  }
}

bool shows_colours() {
  const char* none = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool is_refused = none != nullptr && *none != '\0';
  const bool is_able = terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
  return !is_refused && is_able && ::isatty(STDOUT_FILENO) == 1;
}

}  // namespace posenc::cli
