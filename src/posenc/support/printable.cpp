#include "posenc/support/printable.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace posenc::detail {
namespace {

/// False for controls, surrogates, and characters that change the direction of text.
bool is_printable(std::uint32_t code) {
  constexpr std::uint32_t unprintable[][2] = {
      {0, 0x1f},        {0x7f, 0x9f},     {0x200e, 0x200f}, {0x2028, 0x202e},
      {0x2066, 0x2069}, {0xd800, 0xdfff}, {0xfffe, 0xffff}, {0x110000, 0xffffffff}};
  return std::ranges::none_of(
      unprintable, [=](const auto& range) { return range[0] <= code && code <= range[1]; });
}

/// Length of the printable UTF-8 character at the start of the text; 0 if there is none.
std::size_t printable_bytes(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const int ones = std::countl_one(byte(0));  // 0 for ASCII, 1 for a byte within a character
  const std::size_t bytes = ones == 0 ? 1 : static_cast<std::size_t>(ones);
  if (ones == 1 || ones > 4 || text.size() < bytes) return 0;
  std::uint32_t code = byte(0) & (0x7fU >> ones);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};  // below: a shorter form exists
  return code >= least[ones] && is_printable(code) ? bytes : 0;
}

std::string escape_of(char byte) {
  if (byte == '\n') return "\\n";
  constexpr std::string_view digits = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  return {'\\', 'x', digits[value / 16], digits[value % 16]};
}

}  // namespace

std::string escaped(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    const bool is_kept = kept.find(text.front()) != std::string_view::npos;
    const std::size_t bytes = is_kept ? 1 : printable_bytes(text);
    result += bytes == 0 ? escape_of(text.front()) : std::string(text.substr(0, bytes));
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result;
}

std::string shortened(std::string text, std::size_t most) {
  constexpr std::string_view gap = "...";
  if (text.size() <= most) return text;
  const auto is_within = [&](std::size_t at) {  // within a character of several bytes
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  std::size_t first = (most - gap.size()) / 2, last = text.size() - first;
  while (first > 0 && is_within(first)) --first;
  while (is_within(last)) ++last;
  return text.replace(first, last - first, gap);
}

}  // namespace posenc::detail
