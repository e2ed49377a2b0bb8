// A real number as text, whatever the locale. Internal: not installed.
#pragma once

#include <charconv>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <version>

namespace posenc {

/// By the standard library's streams: slower, and for a library that lacks from_chars of double.
/// Takes no infinity and no NaN.
inline std::optional<double> parse_real_by_stream(std::string_view text) {
  constexpr std::string_view allowed = "0123456789+-.eE";
  if (text.find_first_not_of(allowed) != std::string_view::npos || text.starts_with('+')) return {};
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double value = 0;
  if (!(stream >> value) || stream.peek() != std::istringstream::traits_type::eof()) return {};
  return value;
}

/// The whole text as a number: no rest, no sign +, no blanks; nothing beyond the range of double.
inline std::optional<double> parse_real(std::string_view text) {
#ifdef __cpp_lib_to_chars
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
#else  // libc++ before LLVM 20 has it of integers alone
  return parse_real_by_stream(text);
#endif
}

}  // namespace posenc
