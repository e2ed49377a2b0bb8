// Tables as other programs make them, right ones and wrong ones, each a line of a table: what the
// program computes, with its rounding, and what a check must say of it.
#include "check/tables.h"
#include "posenc/check/table.h"
#include "support.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::test {

using namespace check;
namespace {

struct Case {
  const char* what;
  const char* says;  ///< in the report: a cause, or what a good table is
  DataType type;
  int rows, columns;
  Entry entry;
  check::TableOptions claimed;
  bool is_good;
};

/// Makes cases that are good or wrong, of a float32 table of shape (500, 128) unless they say so.
template <bool is_good>
struct CaseOf {
  Case operator()(const char* what, const char* says, DataType type, int rows, int columns,
                  Entry entry, check::TableOptions claimed = {}) const {
    return {what, says, type, rows, columns, std::move(entry), std::move(claimed), is_good};
  }
  Case operator()(const char* what, const char* says, Entry entry,
                  check::TableOptions claimed = {}) const {
    return (*this)(what, says, DataType::float32, 500, 128, std::move(entry), std::move(claimed));
  }
};
constexpr CaseOf<false> wrong;
constexpr CaseOf<true> good;

check::TableReport report_of(const Case& each) {
  return with_type(each.type, [&]<class T>(T) {
    return check::table(table_of<T>(each.rows, each.columns, each.entry).view(), each.claimed);
  });
}

Phase exact(double h, double base = 1e4, double first = 0, double step = 1) {
  return [=](int k, int row) { return (first + step * row) * frequency(k, h, base); };
}

constexpr auto interleaved = Arrangement::interleaved, halves = Arrangement::halves,
               cos_first = Arrangement::halves_cos_first,
               turns = Arrangement::interleaved_cos_first,
               cosines_twice = Arrangement::cosines_twice, sines = Arrangement::sines;
constexpr DataType float32 = DataType::float32, float64 = DataType::float64,
                   bfloat16 = DataType::bfloat16;

check::TableOptions claimed(const EncodingSpec& spec, std::vector<Arrangement> arrangements,
                            std::optional<std::int64_t> first) {
  check::TableOptions options;
  options.spec = spec;
  options.spec->d_model = 0;
  options.arrangements = std::move(arrangements);
  options.first = first;
  return options;
}

double llama3_factor(int k, int h) {
  const double turns_in_rows = 8192 * frequency(k, h, 5e5) / 6.283185307179586;
  if (turns_in_rows >= 4) return 1;
  if (turns_in_rows <= 1) return 8;
  const double share = (turns_in_rows - 1) / 3;
  return 1 / (share + (1 - share) / 8);
}

/// ggml: multiplied from channel to channel, divided by the factors of a file.
double ggml_phase(int k, int row, int h) {
  double theta = row;
  const double step = f32(std::pow(5e5, -1.0 / h));
  for (int i = 0; i < k; ++i) theta = f32(theta * step);
  return f32(theta / f32(llama3_factor(k, h)));
}

double inverse_frequency(int k) { return f32(1 / f32(std::pow(1e4, k / 64.0))); }

double truncated_to_bfloat16(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>(bits & 0xffff0000U);
}

/// A sine of a fast library: up to two units in the last place away.
double fast(double value, int row, int column) {
  const auto noise = static_cast<std::uint32_t>(row * 92821 + column * 68917) * 2654435761U;
  return value + (static_cast<double>(noise >> 8) * 0x1p-23 - 1) * 2 * 0x1p-23 * std::fabs(value);
}

std::vector<Case> cases() {
  const Phase tutorial = exact(64);
  const auto with_zeros = [=](int row, int column) {
    return column == 128 ? 0 : arranged(halves, 128, tutorial)(row, column);
  };
  const auto in = [](Round r, int h, auto phase) {
    return [=](int k, int row) {
      return phase(r, static_cast<double>(k), static_cast<double>(h), row);
    };
  };
  const auto keras = [](Round r, double k, double h, int row) {
    return r(r(row) * r(std::pow(r(1e-4), r(r(2 * k) / r(2 * h)))));
  };
  const auto depthcharge = [](Round r, double k, double h, int row) {
    return r(r(row) / r(std::pow(r(1e4 / 6.283185307179586), r(r(k) / r(h - 1)))));
  };
  const auto diffusers = [](Round r, double k, double h, int row) {
    return r(row * r(std::exp(r(r(r(-std::log(1e4)) * k) / (h - 1)))));
  };
  const check::TableOptions rotary = claimed({}, {cos_first}, 0);
  const auto rotary_of = [](const Phase& phase) { return arranged(cos_first, 128, phase); };
  const Entry right = rotary_of(tutorial);
  return {
      wrong("float phases in bfloat16, at far positions", "phases in float32", bfloat16, 262144, 16,
            arranged(cos_first, 16,
                     [](int k, int row) { return f32(row * inverse_frequency(8 * k)); })),
      wrong("float phases before position 0",
            "positions -9000 .. -6953, base 10000, spacing paper\ncause: phases in float32",
            float32, 2048, 64,
            arranged(interleaved, 64,
                     [](int k, int row) { return f32((row - 9000) * inverse_frequency(2 * k)); }),
            claimed({}, {}, {})),
      wrong("all phases in bfloat16 (autocast)",
            "cause: positions, frequencies and phases in bfloat16:", bfloat16, 2048, 128,
            rotary_of([](int k, int row) { return bf16(bf16(row) * bf16(inverse_frequency(k))); })),
      wrong("ggml: theta *= theta_scale over channels", "cause: phases multiplied from channel",
            float32, 2048, 128, rotary_of([](int k, int row) {
              double theta = row;
              for (int i = 0; i < k; ++i) theta = f32(theta * f32(std::pow(1e4, -1.0 / 64)));
              return theta;
            })),
      wrong("halves exchanged", "cause: the halves are exchanged", arranged(halves, 128, tutorial),
            rotary),
      wrong("interleaved where halves were expected", "the table is interleaved, not halves_cos",
            arranged(interleaved, 128, tutorial), rotary),
      wrong("sines and cosines exchanged", "cause: sines and cosines are exchanged",
            arranged(turns, 128, tutorial), claimed({}, {interleaved}, 0)),
      wrong("first row at position 2", "cause: the first row is position 2, not 0",
            rotary_of(exact(64, 1e4, 2)), rotary),
      wrong("another base", "cause: the base is 500000, not 10000", rotary_of(exact(64, 5e5)),
            rotary),
      wrong("Llama 3.1's rule missing", "cause: the rule llama3", float32, 2048, 128,
            rotary_of(exact(64, 5e5)),
            claimed({.base = 5e5, .frequencies = Llama3Scaling{}}, {cos_first}, 0)),
      wrong("Llama 3.1's rule", "cause: the rule of frequencies is llama3", float32, 2048, 128,
            rotary_of(
                [](int k, int row) { return row * frequency(k, 64, 5e5) / llama3_factor(k, 64); }),
            claimed({.base = 5e5}, {cos_first}, 0)),
      wrong("positions over 4", "cause: the rule of frequencies is linear",
            rotary_of(exact(64, 1e4, 0, 0.25)), rotary),
      wrong("spacing inclusive", "cause: the spacing is inclusive, not paper",
            arranged(halves, 128, exact(63)), claimed({}, {halves}, 0)),
      wrong("attention factor", "cause: every entry is multiplied by 1.13863",
            [=](int row, int column) { return 1.1386294 * right(row, column); }),
      wrong("attention factor missing", "cause: the attention factor is 1, not 1.2", right,
            claimed({.frequencies = YarnScaling{.factor = 1, .attention_factor = 1.2}}, {cos_first},
                    0)),
      wrong("bfloat16 values, truncated",
            "cause: entries are bfloat16 values in a table of float32, truncated",
            [=](int row, int column) { return truncated_to_bfloat16(right(row, column)); }),
      wrong("sines negated", "cause: the sines are negated",
            [=](int row, int column) { return (column < 64 ? 1 : -1) * right(row, column); }),
      wrong("a NaN", "cause: row 7 has NaN", float32, 64, 128,
            [=](int row, int column) { return row == 7 ? std::nan("") : right(row, column); }),
      wrong("the last rows never written", "cause: rows 400 .. 499 are zero",
            [=](int row, int column) { return row < 400 ? right(row, column) : 0; }),
      wrong("the last cosines never written", "wrong: 0.781 % of the entries",
            [=](int row, int column) {
              return column == 127 ? 0 : arranged(interleaved, 128, tutorial)(row, column);
            }),
      wrong("other values", "cause: rows 490 .. 499 have other values",
            [=](int row, int column) {
              return row < 490     ? right(row, column)
                     : column < 64 ? 0.3
                                   : std::sin(column * 91.0 + row);
            }),
      good("cosines twice from position 5, of which nothing is claimed", "positions 5 .. 204",
           float32, 200, 128, arranged(cosines_twice, 128, exact(64, 1e4, 5))),
      wrong("sines repeated under the tutorial's claim",
            "the table is sines_repeated, not interleaved",
            arranged(Arrangement::sines_repeated, 128, tutorial), claimed({}, {interleaved}, 0)),
      wrong("diffusers' timesteps",
            "base 10000, spacing inclusive (preset diffusers)\ncause: phases in float32, of "
            "exp(-ln(base) * k / h), multiplied, then divided",
            float32, 1000, 320, arranged(halves, 320, in(f32, 160, diffusers))),
      wrong("KerasHub in bfloat16", "computed in bfloat16, and phases", bfloat16, 512, 128,
            arranged(interleaved, 128, in(bf16, 64, keras))),
      wrong("depthcharge in bfloat16", "computed in bfloat16, and phases", bfloat16, 200, 128,
            arranged(halves, 128, in(bf16, 64, depthcharge))),
      wrong("ggml with freq_factors",
            "base 500000, spacing paper, frequencies "
            "llama3:factor=8,trained_rows=8192,low_frequency_factor=1,high_frequency_factor="
            "4\ncause: phases multiplied",
            float32, 4096, 128,
            arranged(turns, 128, [](int k, int row) { return ggml_phase(k, row, 64); })),
      wrong("flux timesteps in bfloat16", "thousandths in bfloat16", float32, 1000, 256,
            arranged(cos_first, 256,
                     [](int k, int row) {
                       const double w = f32(std::exp(f32(f32(f32(-std::log(1e4)) * k) / 128)));
                       return f32(bf16(bf16(row / 1000.0) * 1000) * w);
                     })),
      wrong("fast sines", "off by up to 3.94 ulp",
            [=](int row, int column) {
              return fast(arranged(interleaved, 128, tutorial)(row, column), row, column);
            }),
      good("relative positions", "positions 63 .. -63", float32, 127, 64,
           arranged(interleaved, 64, exact(32, 1e4, 63, -1))),
      good("packed positions", "positions 0 .. 299, 0 .. 199",
           arranged(interleaved, 128, [=](int k, int row) { return tutorial(k, row % 300); })),
      good("positions 0, 3, ..", "positions 0, 3 .. 1497",
           arranged(interleaved, 128, exact(64, 1e4, 0, 3))),
      good("positions 0, 0, 1, 1 ..", "positions 0, 0, 1, 1, 2, 2 and 494 others",
           arranged(interleaved, 128, [=](int k, int row) { return tutorial(k, row / 2); })),
      wrong("positions in int16", "positions that wrap at 16 bits, with phases in double", float32,
            40000, 64,
            arranged(cos_first, 64,
                     [](int k, int row) {
                       return static_cast<std::int16_t>(static_cast<std::uint16_t>(row)) *
                              frequency(k, 32);
                     })),
      good("times 2 pi", "base 10000", arranged(halves, 128, exact(64, 1e4, 0, 6.283185307179586))),
      good("degrees", "base 10000", float64, 500, 128,
           arranged(halves, 128, exact(64, 1e4, 0, 0.017453292519943295))),
      wrong("column j of 1e4^(2j/d)", "the table is alternating, not interleaved",
            arranged(Arrangement::alternating, 128, exact(64))),
      wrong("a missing minus", "minus of the exponent is missing", float64, 500, 128,
            arranged(interleaved, 128, [](int k, int row) { return row / frequency(k, 64); })),
      wrong("sines in even rows, cosines in odd ones", "sines and cosines alternate by row",
            [=](int row, int column) {
              const double phase = tutorial(column / 2, row);
              return row % 2 == 0 ? std::sin(phase) : std::cos(phase);
            }),
      wrong("transposed", "transposed", float32, 128, 500,
            [=](int row, int column) { return arranged(interleaved, 128, tutorial)(column, row); }),
      good("a column of zeros at the end", "the last column is zeros", float32, 300, 129,
           with_zeros),
      good("a claimed table with zeros at the end", "the last column is zeros", float32, 300, 129,
           with_zeros, claimed({}, {halves}, 0)),
  };
}

TEST(CheckMistakes, EachIsNamed) {
  for (const Case& each : cases()) {
    // What larger tables add, phases and frequencies in fewer bits, CheckWays has as well.
    if (sanitized && each.rows * each.columns > 500 * 128) continue;
    const check::TableReport report = report_of(each);
    EXPECT_EQ(report.is_good, each.is_good) << each.what << "\n" << to_string(report);
    EXPECT_THAT(to_string(report), HasSubstr(each.says)) << each.what;
    EXPECT_THAT(to_string(report), Not(HasSubstr("as likely"))) << each.what;
  }
}

/// A float32 function whose error is up to 2.5 ulp, as PyTorch's have since they are SLEEF's u35.
/// The same one for the same value.
double with_function_error(double value) {
  const auto bits = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 13);
  const double share = static_cast<double>(bits * 2654435761U) * 0x1p-31 - 1;  // -1 .. 1
  const double ulp = std::exp2(std::floor(std::log2(std::fabs(value))) - 23);
  return value == 0 || value == 1 ? value : std::clamp(value + 2 * share * ulp, -1.0, 1.0);
}

/// div_term of PyTorch's tutorial in float32, for h = d / 2; of tensor2tensor for h = d / 2 - 1.
double div_term(int k, double h, double base) {
  return f32(std::exp(f32(k * f32(-std::log(base) / h))));
}

/// Where one convention's frequencies are nearly another's, the usual one is named, and whose
/// phases they are: 10000^(383/384) is 9763.0009, so that base 9763 with inclusive spacing is an
/// alias of a tutorial table of 768 channels.
TEST(CheckMistakes, AliasesOfUsualConventionsAreNotNamed) {
  struct Family {
    double (*frequency)(int k, double h, double base);
    Arrangement arrangement;
    Spacing spacing;
    const char* text;
  };
  const Family families[] = {
      {div_term, interleaved, Spacing::paper, "PyTorch's tutorial"},
      {[](int k, double h, double base) { return div_term(k, h - 1, base); }, halves,
       Spacing::inclusive, "tensor2tensor"},
      {[](int k, double h, double base) { return f32(1 / f32(std::pow(base, f32(k / h)))); },
       cos_first, Spacing::paper, "Transformers"},
  };
  constexpr std::pair<int, int> sizes[] = {{5000, 32}, {512, 64}, {64, 768}, {512, 768}};
  bool has_function_errors = false;
  for (const Family& family : families) {
    for (const auto& [rows, d] : sizes) {
      has_function_errors = !has_function_errors;
      for (const double base : {1e4, 5e5}) {
        has_function_errors = !has_function_errors;
        const Entry entry = arranged(family.arrangement, d, [&, d = d](int k, int row) {
          return f32(row * family.frequency(k, d / 2, base));
        });
        const check::TableReport report =
            report_of(wrong("", "", float32, rows, d, [&](int row, int column) {
              const double value = f32(entry(row, column));
              return has_function_errors ? with_function_error(value) : value;
            }));
        EXPECT_EQ(report.identity.spec.base, base) << to_string(report);
        EXPECT_EQ(report.identity.spec.spacing, family.spacing) << to_string(report);
        ASSERT_FALSE(report.causes.empty()) << to_string(report);
        EXPECT_EQ(report.causes.front().kind, CauseKind::float32_phases) << to_string(report);
        EXPECT_THAT(report.causes.front().text, HasSubstr(family.text)) << to_string(report);
      }
    }
  }
}

/// An unusual base is still named if the entries tell it from the usual one.
TEST(CheckMistakes, UnusualBasesWithFloat32PhasesAreNamed) {
  for (const double base : {9763.0, 9990.0, 10010.0, 500100.0}) {
    const check::TableReport report =
        report_of(wrong("", "", float32, 2048, 768, arranged(interleaved, 768, [=](int k, int row) {
                          return f32(row * div_term(k, 384, base));
                        })));
    EXPECT_EQ(report.identity.spec.base, base) << to_string(report);
    EXPECT_EQ(report.identity.spec.spacing, Spacing::paper) << to_string(report);
  }
}

/// The factor that is named of sines or cosines alone, with the errors of float32 phases.
double named_factor(int rows, int count, Arrangement arrangement, double factor,
                    double scaling = 1) {
  const Entry entry = arranged(arrangement, count, [=](int k, int row) {
    return f32(row * f32(frequency(k, count) / scaling));
  });
  const check::TableReport report =
      report_of(wrong("", "", float32, rows, count, [&](int row, int column) {
        return factor * with_function_error(f32(entry(row, column)));
      }));
  EXPECT_EQ(report.identity.factor, 1);  // what it was judged by
  EXPECT_TRUE(scaling != 1 || report.identity.spec.base == 1e4) << to_string(report);
  for (const Cause& each : report.causes) {
    const std::string_view before = "multiplied by ";
    const auto place = each.text.find(before);
    if (each.kind == CauseKind::attention_factor && place != std::string::npos)
      return std::stod(each.text.substr(place + before.size()));
  }
  return 1;
}

/// The largest of few sines is no factor: of positions 0 .. 7, it is 0.9589. Of slow frequencies,
/// few rows show the product of the factor and the frequency alone.
TEST(CheckMistakes, FewRowsOfOneFunctionHaveTheirOwnFactor) {
  for (const int rows : {2, 3, 4, 8, 20, 64}) {
    for (const int count : {16, 256}) {
      for (const Arrangement each : {Arrangement::cosines, sines}) {
        EXPECT_NEAR(named_factor(rows, count, each, 1), 1, 2e-6) << rows << " rows";
        if (rows < 3) continue;  // the sine of position 1 alone tells none
        EXPECT_NEAR(named_factor(rows, count, each, 1.138629), 1.138629, 2e-6) << rows << " rows";
      }
    }
  }
  for (const int rows : {8, 64, 100}) EXPECT_EQ(named_factor(rows, 32, sines, 1, 1000), 1);
}

}  // namespace
}  // namespace posenc::test
