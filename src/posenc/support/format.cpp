#include "posenc/support/format.h"

#include <cmath>
#include <locale>
#include <sstream>

namespace posenc::detail {

std::string digits_text(double value, int digits, std::chars_format format) {
  char text[400];  // the largest double has 309 digits before the point
  return {text, std::to_chars(text, text + sizeof(text), value, format, digits).ptr};
}

std::string bound_text(double bound) {
  constexpr int digits = 2;
  const std::string nearest = digits_text(bound, digits, std::chars_format::scientific);
  if (bound == 0) return "0";
  const std::optional<double> printed = parse_real(nearest);
  if (!std::isfinite(bound) || !printed || *printed >= bound) return nearest;
  // Adds half a unit of the last digit, so that the nearest number of that length is above the
  // bound.
  const int exponent = std::stoi(nearest.substr(nearest.find('e') + 1)) - digits;
  return digits_text(bound + 0.5 * std::pow(10.0, exponent), digits, std::chars_format::scientific);
}

std::string number_text(double value) {
  const double magnitude = std::fabs(value);
  const bool is_plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  char text[32];
  const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  return {text, std::to_chars(text, text + sizeof(text), value, format).ptr};
}

// Uses a stream, because libc++ before LLVM 20 has std::from_chars for integers only.
std::optional<double> parse_real(std::string_view text) {
  constexpr std::string_view allowed = "0123456789+-.eE";
  if (text.find_first_not_of(allowed) != std::string_view::npos || text.starts_with('+')) return {};
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  stream.exceptions(std::ios::badbit);  // otherwise a lack of memory looks like a bad number
  double value = 0;
  if (!(stream >> value) || stream.peek() != std::istringstream::traits_type::eof()) return {};
  return value;
}

std::string format_internal::filled(std::string_view pattern,
                                    std::initializer_list<std::string> values) {
  std::string text;
  for (const std::string& value : values) {
    const std::size_t field = pattern.find("{}");
    text.append(pattern.substr(0, field)).append(value);
    pattern.remove_prefix(field == pattern.npos ? pattern.size() : field + 2);
  }
  return text.append(pattern);
}

}  // namespace posenc::detail
