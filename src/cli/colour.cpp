#include "cli/colour.h"

#include "cli/escape.h"

#include <algorithm>
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

/// Length of the colour or printable character at the start of the page; 0 if it must be escaped.
std::size_t kept_bytes(std::string_view page) {
  if (page.front() == '\n') return 1;
  for (const Colour colour : {Colour::none, Colour::red, Colour::green, Colour::faint}) {
    if (const std::string known = sequence(colour); page.starts_with(known)) return known.size();
  }
  return printable_bytes(page);
}

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

std::string with_controls_escaped(std::string_view page) {
  std::string result;
  while (!page.empty()) {
    const std::size_t bytes = kept_bytes(page);
    result += bytes == 0 ? escape_of(page.front()) : std::string(page.substr(0, bytes));
    page.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result;
}

bool shows_colours() {
  const char* none = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool is_refused = none != nullptr && *none != '\0';
  const bool is_able = terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
  return !is_refused && is_able && ::isatty(STDOUT_FILENO) == 1;
}

}  // namespace posenc::cli
