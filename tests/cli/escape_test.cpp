// Text from outside, as a terminal may be shown it.
#include "cli/escape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posenc::cli {
namespace {

TEST(Escape, KeepsPrintableText) {
  const std::string text = "Intel(R) Xeon(R), ± 1 %, µs, 深い, \U0001f600";
  EXPECT_EQ(escaped(text), text);
}

TEST(Escape, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(escaped("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(escaped("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(escaped(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(escaped("\xc2\x9b"), "\\xc2\\x9b") << "a control sequence in one character";
  EXPECT_EQ(escaped("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "from right to left";
}

TEST(Escape, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(escaped("\xff"), "\\xff");
  EXPECT_EQ(escaped("\xc2"), "\\xc2") << "cut";
  EXPECT_EQ(escaped("\xc0\xaf"), "\\xc0\\xaf") << "longer than need be";
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
}

}  // namespace
}  // namespace posenc::cli
