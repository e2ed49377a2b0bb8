// parse_real() reads the same numbers with and without the standard library's from_chars, and in
// every locale.
#include "posenc/support/parse_real.h"

#include <gtest/gtest.h>

#include <limits>

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

constexpr std::optional<double> (*parsers[])(std::string_view) = {parse_real, parse_real_by_stream};

void expect_numbers() {
  for (const auto parse : parsers) {
    EXPECT_EQ(parse("1"), 1);
    EXPECT_EQ(parse("-2.5e-3"), -2.5e-3);
    EXPECT_EQ(parse("1e308"), 1e308);
    EXPECT_EQ(parse("0.1"), 0.1);
    EXPECT_EQ(parse("12345.678901234"), 12345.678901234);
    EXPECT_EQ(parse("2.2250738585072014e-308"), std::numeric_limits<double>::min());
  }
}

TEST(ParseReal, ReadsNumbers) { expect_numbers(); }

TEST(ParseReal, ReadsThemInEveryLocale) {
  const GlobalLocale german(std::locale(std::locale::classic(), new Commas));
  expect_numbers();
  for (const auto parse : parsers) EXPECT_FALSE(parse("1.000,5").has_value());
}

TEST(ParseReal, RefusesEverythingElse) {
  for (const auto parse : parsers) {
    for (const char* text :
         {"", " 1", "1 ", "+1", "1e4x", "0x10", "1e", "1e309", "-", ".", "1,5", "one", "1.5.2"}) {
      EXPECT_FALSE(parse(text).has_value()) << text;
    }
  }
}

}  // namespace
}  // namespace posenc
