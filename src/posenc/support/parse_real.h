// Parsing of a real number, independent of the locale. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace posenc::detail {

/// The whole text as a number. Empty if the text has any other character, a leading + or blanks, or
/// if the number is outside the range of double. Uses a stream, because libc++ before LLVM 20 has
/// std::from_chars for integers only.
inline std::optional<double> parse_real(std::string_view text) {
  constexpr std::string_view allowed = "0123456789+-.eE";
  if (text.find_first_not_of(allowed) != std::string_view::npos || text.starts_with('+')) return {};
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  stream.exceptions(std::ios::badbit);  // otherwise a lack of memory looks like a bad number
  double value = 0;
  if (!(stream >> value) || stream.peek() != std::istringstream::traits_type::eof()) return {};
  return value;
}

}  // namespace posenc::detail
