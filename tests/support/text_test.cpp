// Text from files and arguments. parse_real() reads the same numbers in every locale; what a
// terminal shows is escaped.
#include "posenc/support/format.h"
#include "posenc/support/printable.h"

#include <gtest/gtest.h>

#include <limits>
#include <locale>

namespace posenc {
namespace {

/// A locale with a decimal comma and groups of thousands.
class Commas : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

class GlobalLocale {
 public:
  explicit GlobalLocale(const std::locale& locale) : before_(std::locale::global(locale)) {}
  ~GlobalLocale() { std::locale::global(before_); }

 private:
  std::locale before_;
};

void expect_numbers() {
  EXPECT_EQ(parse_real("1"), 1);
  EXPECT_EQ(parse_real("-2.5e-3"), -2.5e-3);
  EXPECT_EQ(parse_real("1e308"), 1e308);
  EXPECT_EQ(parse_real("0.1"), 0.1);
  EXPECT_EQ(parse_real("12345.678901234"), 12345.678901234);
  EXPECT_EQ(parse_real("2.2250738585072014e-308"), std::numeric_limits<double>::min());
}

TEST(ParseReal, ReadsNumbersInEveryLocale) {
  expect_numbers();
  const GlobalLocale german(std::locale(std::locale::classic(), new Commas));
  expect_numbers();
  EXPECT_FALSE(parse_real("1.000,5").has_value());
}

TEST(ParseReal, RefusesEverythingElse) {
  for (const char* text : {"", " 1", "1 ", "+1", "1e4x", "0x10", "1e", "1e309", "-", ".", "1,5",
                           "one", "1.5.2", "inf", "nan"})
    EXPECT_FALSE(parse_real(text).has_value()) << text;
}

TEST(Escape, KeepsPrintableText) {
  const std::string text = "Intel(R) Xeon(R), ± 1 %, µs, 深い, \U0001f600";
  EXPECT_EQ(escaped(text), text);
  EXPECT_EQ(escaped("a\n\x1b[31mb\n", "\n"), "a\n\\x1b[31mb\n") << "lines of pages";
}

TEST(Escape, EscapesControlCharactersAndInvalidUtf8) {
  EXPECT_EQ(escaped("a\nb\tc\rd"), "a\\nb\\x09c\\x0dd");
  EXPECT_EQ(escaped(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(escaped("\xc2\x9b"), "\\xc2\\x9b") << "the one-character control sequence introducer";
  EXPECT_EQ(escaped("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "the right-to-left override";
  EXPECT_EQ(escaped("\xff"), "\\xff");
  EXPECT_EQ(escaped("\xc2"), "\\xc2") << "truncated";
  EXPECT_EQ(escaped("\xc0\xaf"), "\\xc0\\xaf") << "an overlong encoding";
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
}

TEST(BoundText, IsABoundToo) {
  EXPECT_EQ(bound_text(0x1p-25), "2.99e-08");
  EXPECT_EQ(bound_text(2.98e-8), "2.98e-08");
  EXPECT_EQ(bound_text(9.991e-8), "1.00e-07");
  EXPECT_EQ(bound_text(0), "0");
  EXPECT_EQ(bound_text(1.0 / 0.0), "inf");
  for (double bound = 1e-30; bound < 1e6; bound *= 1.0123) {
    const double printed = std::stod(bound_text(bound));
    EXPECT_GE(printed, bound);
    EXPECT_LE(printed, bound * 1.0101);
  }
}

}  // namespace
}  // namespace posenc
