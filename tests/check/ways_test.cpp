// The list of ways to compute phases that a check knows: every form of frequencies and every
// rounding of a phase is named, by tables of plain formulas.
#include "check/tables.h"
#include "posenc/check/identify.h"
#include "posenc/check/report.h"
#include "posenc/check/table.h"
#include "support.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace posenc::test {

using namespace check;
namespace {

double none(double value) { return value; }
double int8(double value) { return static_cast<std::int8_t>(static_cast<std::int64_t>(value)); }
double int16(double value) { return static_cast<std::int16_t>(static_cast<std::int64_t>(value)); }

constexpr double base = 5e5;
constexpr int frequencies = 48;
constexpr double h = frequencies;  // k / h is not exact

using Pairs = std::function<std::complex<double>(std::int64_t position, int k)>;

/// What a check says of an interleaved table of those cosines and sines.
template <class T>
std::string said_of(RowRange rows, int count, const Pairs& pair_at,
                    const check::TableOptions& options = {}) {
  const auto table = table_of<T>(rows.count, 2 * count, [&](int row, int column) {
    const std::complex<double> pair = pair_at(rows.first + row, column / 2);
    return column % 2 == 0 ? pair.imag() : pair.real();
  });
  return to_string(check::table(table.view(), options));
}

std::complex<double> at(double phase) { return {std::cos(phase), std::sin(phase)}; }

TEST(CheckWays, EveryFormOfFrequenciesIsNamed) {
  const double log_base = std::log(base);
  const struct {
    const char* says;
    std::function<double(int k)> operand;
    bool divides = false;
  } forms[] = {
      {"rounded once", [](int k) { return f32(std::pow(base, -k / h)); }},
      {"PyTorch's tutorial", [=](int k) { return f32(std::exp(f32(k * f32(-log_base / h)))); }},
      {"Transformers", [](int k) { return f32(1 / f32(std::pow(base, f32(k / h)))); }},
      {"divided by a power", [](int k) { return f32(std::pow(base, f32(k / h))); }, true},
      {"multiplied, then divided",
       [=](int k) { return f32(std::exp(f32(f32(f32(-log_base) * k) / h))); }},
      {"of base ** (-k / h)", [](int k) { return f32(std::pow(base, f32(-k / h))); }},
      {"of exp(-k / h * ln(base))",
       [=](int k) { return f32(std::exp(f32(f32(-k / h) * f32(log_base)))); }},
      {"of exp2(-k / h * log2(base))",
       [](int k) { return f32(std::exp2(f32(f32(-k / h) * f32(std::log2(base))))); }},
      {"KerasHub", [](int k) { return f32(std::pow(f32(1 / base), f32(k / h))); }},
      {"of 1 / exp(k * ln(base) / h)",
       [=](int k) { return f32(1 / f32(std::exp(f32(k * f32(log_base / h))))); }},
      {"divided by exp", [=](int k) { return f32(std::exp(f32(k * f32(log_base / h)))); }, true},
      {"of 10 ** (-k / h * log10(base))",
       [](int k) { return f32(std::pow(10, f32(k * f32(-std::log10(base) / h)))); }},
      {"multiplied from channel to channel",
       [](int k) {
         double w = 1;
         for (int i = 0; i < k; ++i) w = f32(w * f32(std::pow(base, f32(-1.0 / h))));
         return w;
       }},
  };
  for (const auto& form : forms) {
    const std::string text =
        said_of<float>({0, 1000}, frequencies, [&](std::int64_t position, int k) {
          const auto p = static_cast<double>(position);
          return at(f32(form.divides ? p / form.operand(k) : p * form.operand(k)));
        });
    EXPECT_THAT(text, HasSubstr("base 500000, spacing paper"));
    EXPECT_THAT(text, AllOf(HasSubstr("phases in float32"), HasSubstr(form.says)));
    EXPECT_THAT(text, HasSubstr(": 100 % of the entries agree bit for bit"));
  }
}

TEST(CheckWays, EveryRoundingIsNamed) {
  struct Rounding {
    std::string says;
    Round arithmetic, frequency, position, product;
    RowRange rows = {0, 500};
  };
  std::vector<Rounding> roundings = {
      {"frequencies in float32", f32, f32, none, none},
      {"positions that wrap at 8 bits", f32, f32, int8, f32},
      {"positions that wrap at 16 bits", f32, f32, int16, f32, {32700, 500}},
      {"positions that wrap at 8 bits, with phases in double", none, none, int8, none},
  };
  for (const auto& [r, in] :
       {std::pair<Round, std::string>(bf16, "in bfloat16"), {f16, "in float16"}}) {
    constexpr RowRange far = {4000, 500};  // where float16 has not every position
    roundings.insert(roundings.end(),
                     {{"frequencies " + in, f32, r, f32, f32},
                      {"positions " + in, f32, f32, r, f32, far},
                      {"phases " + in, f32, f32, f32, r},
                      {"positions and frequencies " + in, f32, r, r, f32, far},
                      {"positions, frequencies and phases " + in, f32, r, r, r, far},
                      {"frequencies computed " + in, r, r, f32, f32},
                      {"frequencies computed " + in + ", and phases", r, r, r, r}});
  }
  for (const Rounding& each : roundings) {
    const Round r = each.arithmetic;
    const auto pair_at = [&](std::int64_t position, int k) {
      const double power = r(std::pow(r(1e4), r(k / h)));
      return at(each.product(each.position(static_cast<double>(position)) *
                             each.frequency(r(1 / power))));
    };
    const std::string text = said_of<double>(
        each.rows, frequencies, pair_at,
        {.spec = EncodingSpec{.d_model = 2 * frequencies}, .first = each.rows.first});
    EXPECT_THAT(text, HasSubstr("cause: " + each.says + ": "));
  }
}

TEST(CheckWays, EveryRecurrenceOfRowsIsNamed) {
  using Pair = std::complex<float>;
  const std::pair<const char*, Pair (*)(Pair now, Pair before, Pair step)> recurrences[] = {
      {"rows rotated from row to row in float32, never",
       [](Pair now, Pair, Pair step) { return now * step; }},
      {"rows rotated from row to row in float32 with fused operations",
       [](Pair now, Pair, Pair step) {
         return Pair(std::fma(now.real(), step.real(), -(now.imag() * step.imag())),
                     std::fma(now.imag(), step.real(), now.real() * step.imag()));
       }},
      {"rows from the two before",
       [](Pair now, Pair before, Pair step) { return 2 * step.real() * now - before; }},
  };
  for (const auto& [says, next] : recurrences) {
    std::vector<std::vector<Pair>> columns(frequencies);
    for (int k = 0; k < frequencies; ++k) {
      const std::complex<double> step = at(f32(std::pow(1e4, -k / h)));
      Pair now = 1, before(std::conj(step));
      for (int row = 0; row < 500; ++row) {
        columns[static_cast<std::size_t>(k)].push_back(now);
        before = std::exchange(now, next(now, before, Pair(step)));
      }
    }
    const std::string text = said_of<float>({0, 500}, frequencies, [&](std::int64_t row, int k) {
      return std::complex<double>(
          columns[static_cast<std::size_t>(k)][static_cast<std::size_t>(row)]);
    });
    EXPECT_THAT(text, HasSubstr(std::string("cause: ") + says)) << says;
  }
}

TEST(CheckWays, SamplesAreAsManyAsAskedAndHaveTheEnds) {
  for (const std::int64_t count : {1, 2, 4, 5, 6, 7, 64, 65, 1000, 10007}) {
    for (const std::int64_t most : {1, 4, 5, 6, 64, 500}) {
      std::vector<std::int64_t> all = scattered(count, most);
      ASSERT_EQ(std::ssize(all), std::min(count, most)) << count;
      std::ranges::sort(all);
      EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << count;
      EXPECT_EQ(all.front(), 0) << count;
      EXPECT_LT(all.back(), count);
      EXPECT_TRUE(most <= 4 || all.back() == count - 1) << count;
    }
  }
}

/// Of frequency 1 alone, a position is the phase.
TEST(CheckWays, RivalsAreNamedTogether) {
  const std::string text = said_of<float>(
      {0, 1000}, 1, [](std::int64_t p, int) { return at(bf16(static_cast<double>(p))); },
      {.spec = EncodingSpec{.d_model = 2}, .first = 0});
  EXPECT_THAT(text,
              HasSubstr("cause: positions in bfloat16: 100 % of the entries agree bit for bit; "
                        "or, as likely: phases in bfloat16: 100 % of the entries"));
}

}  // namespace
}  // namespace posenc::test
