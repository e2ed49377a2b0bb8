// Parsing of a real number, independent of the locale. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <charconv>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <version>

namespace posenc::detail {

/// Parses by a stream, which is slower, for standard libraries without std::from_chars of double.
/// Does not accept infinity and NaN.
inline std::optional<double> parse_real_by_stream(std::string_view text) {
  constexpr std::string_view allowed = "0123456789+-.eE";
  if (text.find_first_not_of(allowed) != std::string_view::npos || text.starts_with('+')) return {};
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double value = 0;
  if (!(stream >> value) || stream.peek() != std::istringstream::traits_type::eof()) return {};
  return value;
}

/// The whole text as a number. Empty if the text has any other character, a sign + or blanks, or if
/// the number is outside the range of double.
inline std::optional<double> parse_real(std::string_view text) {
#ifdef __cpp_lib_to_chars
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
#else  // libc++ before LLVM 20 has std::from_chars of integers only
  return parse_real_by_stream(text);
#endif
}

}  // namespace posenc::detail
