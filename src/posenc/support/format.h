// Formatting of text. The rest of the library includes this file instead of {fmt}, whose
// header-only form makes every file that includes it ten seconds slower to compile.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace posenc {

/// One value of a text. Holds references to strings, not copies.
class FormatArgument {
 public:
  template <std::signed_integral T>
  FormatArgument(T value) : value_(std::int64_t{value}) {}  // NOLINT: implicit
  template <std::unsigned_integral T>
  FormatArgument(T value) : value_(std::uint64_t{value}) {}  // NOLINT: implicit
  FormatArgument(double value) : value_(value) {}            // NOLINT: implicit
  template <std::convertible_to<std::string_view> T>
  FormatArgument(const T& value) : value_(std::string_view(value)) {}  // NOLINT: implicit

  const auto& value() const noexcept { return value_; }

 private:
  std::variant<std::int64_t, std::uint64_t, double, std::string_view> value_;
};

/// The pattern, whose fields ("{}" or "{:.3g}", in the syntax of {fmt}) are replaced by the
/// arguments.
std::string format_arguments(std::string_view pattern,
                             std::initializer_list<FormatArgument> arguments);

template <class... Arguments>
std::string format_text(std::string_view pattern, const Arguments&... arguments) {
  return format_arguments(pattern, {FormatArgument(arguments)...});
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

}  // namespace posenc
