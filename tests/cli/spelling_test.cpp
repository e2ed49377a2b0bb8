// What the command says of names that are mistyped, and of text that a terminal would obey.
#include "cli/spelling.h"
#include "cli/escape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posenc::cli {
namespace {

using testing::IsEmpty;

TEST(Spelling, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("preset", "preset"), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("preste", "preset"), 1U) << "neighbours swapped";
  EXPECT_EQ(edit_distance("ca", "abc"), 3U) << "no letter is edited twice";
}

TEST(Spelling, SuggestsWhatIsNear) {
  const std::vector<std::string> known = {"naive", "rotation", "rotation32", "xsimd"};
  EXPECT_EQ(did_you_mean("rotaton", known), "; did you mean 'rotation'?");
  EXPECT_EQ(did_you_mean("niave", known), "; did you mean 'naive'?");
  EXPECT_THAT(did_you_mean("rotation", known), IsEmpty()) << "it is known: something else is wrong";
  EXPECT_THAT(did_you_mean("fastest", known), IsEmpty());
  EXPECT_THAT(did_you_mean("x", known), IsEmpty());
  EXPECT_THAT(did_you_mean("", {}), IsEmpty());
}

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
