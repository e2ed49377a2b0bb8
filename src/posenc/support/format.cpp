#include "posenc/support/format.h"

#include <cmath>

namespace posenc::detail {

std::string digits_text(double value, int digits, std::chars_format format) {
  char text[400];  // the largest double has 309 digits before the point
  return {text, std::to_chars(text, text + sizeof(text), value, format, digits).ptr};
}

std::string bound_text(double bound) {
  constexpr int digits = 2;
  std::string nearest = digits_text(bound, digits, std::chars_format::scientific);
  double printed = 0;
  std::from_chars(nearest.data(), nearest.data() + nearest.size(), printed);
  if (bound == 0) return "0";
  if (!std::isfinite(bound) || printed >= bound) return nearest;
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
