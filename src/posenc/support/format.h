// Formats the text of messages, and parses numbers, without a library, because the core depends on
// none. Independent of the locale. Internal: not installed.
#pragma once

#include "posenc/error.h"
#include "posenc/support/detail.h"

#include <charconv>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace posenc::detail {

/// The value with `digits` significant digits, or with `digits` decimals if the format is `fixed`
/// or `scientific`.
std::string digits_text(double value, int digits,
                        std::chars_format format = std::chars_format::general);

/// A bound with three digits, rounded up: "2.99e-08" for 2.9803e-8, and "0" for 0. The printed
/// number is a bound, too, and can be typed back in.
std::string bound_text(double bound);

/// The shortest text that reads back as the same value. It has no exponent for magnitudes from 1e-4
/// to 1e16.
std::string number_text(double value);
inline std::string number_text(std::integral auto value) { return std::to_string(value); }

/// The whole text as a number. Empty if the text has any other character, a leading + or blanks, or
/// if the number is outside the range of double.
std::optional<double> parse_real(std::string_view text);

namespace format_internal {
inline std::string text_of(std::string_view text) { return std::string(text); }
inline std::string text_of(std::floating_point auto value) { return number_text(double{value}); }
inline std::string text_of(std::integral auto value) { return number_text(value); }
std::string filled(std::string_view pattern, std::initializer_list<std::string> values);
}  // namespace format_internal

/// The pattern with each "{}" replaced by the next value.
template <class... Values>
std::string format_text(std::string_view pattern, const Values&... values) {
  return format_internal::filled(pattern, {format_internal::text_of(values)...});
}

/// Throws InvalidArgument with the formatted text.
template <class... Values>
[[noreturn]] void throw_invalid(std::string_view pattern, const Values&... values) {
  throw InvalidArgument(format_text(pattern, values...));
}

/// Returns the result of `call`. If the call throws InvalidArgument, the message is prefixed with
/// the place.
template <class Call>
auto in_place(std::string_view place, const Call& call) {
  try {
    return call();
  } catch (const InvalidArgument& error) {
    throw_invalid("{}: {}", place, error.what());
  }
}

/// Concatenates the strings of a range, with the separator between them.
template <class Strings>
std::string join(const Strings& strings, std::string_view separator) {
  std::string joined;
  bool is_first = true;
  for (const std::string_view each : strings) {
    if (!is_first) joined += separator;
    joined += each;
    is_first = false;
  }
  return joined;
}

}  // namespace posenc::detail
