// Text from files and arguments is escaped before a terminal shows it.
#include "posenc/support/printable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posenc {
namespace {

TEST(Escape, KeepsPrintableText) {
  const std::string text = "Intel(R) Xeon(R), ± 1 %, µs, 深い, \U0001f600";
  EXPECT_EQ(escaped(text), text);
}

TEST(Escape, EscapesControlCharacters) {
  EXPECT_EQ(escaped("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(escaped("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(escaped(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(escaped("\xc2\x9b"), "\\xc2\\x9b") << "the one-character control sequence introducer";
  EXPECT_EQ(escaped("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "the right-to-left override";
}

TEST(Escape, KeepsLinesOfPages) { EXPECT_EQ(escaped_lines("a\n\x1b[31mb\n"), "a\n\\x1b[31mb\n"); }

TEST(Escape, EscapesInvalidUtf8) {
  EXPECT_EQ(escaped("\xff"), "\\xff");
  EXPECT_EQ(escaped("\xc2"), "\\xc2") << "truncated";
  EXPECT_EQ(escaped("\xc0\xaf"), "\\xc0\\xaf") << "an overlong encoding";
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
}

}  // namespace
}  // namespace posenc
