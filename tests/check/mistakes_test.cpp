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
#include <string>
#include <utility>
#include <vector>

namespace posenc::test {

using namespace check;
namespace {

struct Shape {
  DataType type = DataType::float32;
  int rows = 500, columns = 128;
};

struct Case {
  const char* what;
  const char* says;  ///< in the report: a cause, or what a good table is
  Entry entry;
  check::TableOptions claimed;
  Shape shape;
  bool is_good;
};

Case wrong(const char* what, const char* says, Entry entry, check::TableOptions claimed = {},
           Shape shape = {}) {
  return {what, says, std::move(entry), std::move(claimed), shape, false};
}

Case good(const char* what, const char* says, Entry entry, check::TableOptions claimed = {},
          Shape shape = {}) {
  return {what, says, std::move(entry), std::move(claimed), shape, true};
}

check::TableReport report_of(const Shape& shape, const Entry& entry,
                             const check::TableOptions& claimed = {}) {
  return with_type(shape.type, [&]<class T>(T) {
    return check::table(table_of<T>(shape.rows, shape.columns, entry).view(), claimed);
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
double ggml_phase(int k, int row, double base, double factor) {
  double theta = row;
  const double step = f32(std::pow(base, -1.0 / 64));
  for (int i = 0; i < k; ++i) theta = f32(theta * step);
  return f32(theta / f32(factor));
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

double tutorial(int k, int row) { return row * frequency(k, 64); }

Entry rotary_of(const Phase& phase) { return arranged(cos_first, 128, phase); }

double rotary_entry(int row, int column) { return rotary_of(tutorial)(row, column); }

double interleaved_entry(int row, int column) {
  return arranged(interleaved, 128, tutorial)(row, column);
}

Entry in_steps(double step) {
  return [=](int row, int column) { return std::round(rotary_entry(row, column) / step) * step; };
}

double diffusers_phase(int k, int row) {
  return f32(row * f32(std::exp(f32(f32(f32(-std::log(1e4)) * k) / 159))));
}

double depthcharge_phase(int k, int row) {
  const double base = bf16(1e4 / 6.283185307179586), exponent = bf16(bf16(k) / bf16(63));
  return bf16(bf16(row) / bf16(std::pow(base, exponent)));
}

double flux_phase(int k, int row) {
  const double w = f32(std::exp(f32(f32(f32(-std::log(1e4)) * k) / 128)));
  return f32(bf16(bf16(row / 1000.0) * 1000) * w);
}

std::vector<Case> cases() {
  const Entry with_zeros = [](int row, int column) {
    return column == 128 ? 0 : arranged(halves, 128, tutorial)(row, column);
  };
  const check::TableOptions rotary = claimed({}, {cos_first}, 0);
  check::TableOptions beyond_int32 = claimed({}, {cos_first}, {});
  beyond_int32.positions = {0, 1, 40, 2048, 65536, 1048576, std::int64_t{1} << 31};
  return {
      wrong("float phases in bfloat16, at far positions", "phases in float32",
            arranged(cos_first, 16,
                     [](int k, int row) { return f32(row * inverse_frequency(8 * k)); }),
            {}, {bfloat16, 262144, 16}),
      wrong("float phases before position 0",
            "positions -9000 .. -6953, base 10000, spacing paper\ncause: phases in float32",
            arranged(interleaved, 64,
                     [](int k, int row) { return f32((row - 9000) * inverse_frequency(2 * k)); }),
            claimed({}, {}, {}), {float32, 2048, 64}),
      wrong("all phases in bfloat16 (autocast)",
            "cause: positions, frequencies and phases in bfloat16:",
            rotary_of([](int k, int row) { return bf16(bf16(row) * bf16(inverse_frequency(k))); }),
            {}, {bfloat16, 2048, 128}),
      wrong("ggml: theta *= theta_scale over channels", "cause: phases multiplied from channel",
            rotary_of([](int k, int row) { return ggml_phase(k, row, 1e4, 1); }), {},
            {float32, 2048, 128}),
      wrong("ggml with freq_factors",
            "base 500000, spacing paper, frequencies llama3:factor=8,trained_rows=8192,"
            "low_frequency_factor=1,high_frequency_factor=4\ncause: phases multiplied",
            arranged(turns, 128,
                     [](int k, int row) { return ggml_phase(k, row, 5e5, llama3_factor(k, 64)); }),
            {}, {float32, 4096, 128}),
      wrong("halves exchanged", "cause: the halves are exchanged", arranged(halves, 128, tutorial),
            rotary),
      wrong("interleaved where halves were expected", "the table is interleaved, not halves_cos",
            interleaved_entry, rotary),
      wrong("sines and cosines exchanged", "cause: sines and cosines are exchanged",
            arranged(turns, 128, tutorial), claimed({}, {interleaved}, 0)),
      wrong("first row at position 2", "cause: the first row is position 2, not 0",
            rotary_of(exact(64, 1e4, 2)), rotary),
      wrong("another base", "cause: the base is 500000, not 10000", rotary_of(exact(64, 5e5)),
            rotary),
      wrong("Llama 3.1's rule missing", "cause: the rule llama3", rotary_of(exact(64, 5e5)),
            claimed({.base = 5e5, .frequencies = Llama3Scaling{}}, {cos_first}, 0),
            {float32, 2048, 128}),
      wrong("Llama 3.1's rule", "cause: the rule of frequencies is llama3",
            rotary_of(
                [](int k, int row) { return row * frequency(k, 64, 5e5) / llama3_factor(k, 64); }),
            claimed({.base = 5e5}, {cos_first}, 0), {float32, 2048, 128}),
      wrong("positions over 4", "cause: the rule of frequencies is linear",
            rotary_of(exact(64, 1e4, 0, 0.25)), rotary),
      wrong("spacing inclusive", "cause: the spacing is inclusive, not paper",
            arranged(halves, 128, exact(63)), claimed({}, {halves}, 0)),
      wrong("attention factor", "cause: every entry is multiplied by 1.13863",
            [](int row, int column) { return 1.1386294 * rotary_entry(row, column); }),
      wrong("attention factor missing", "cause: the attention factor is 1, not 1.2", rotary_entry,
            claimed({.frequencies = YarnScaling{.factor = 1, .attention_factor = 1.2}}, {cos_first},
                    0)),
      wrong("bfloat16 values, truncated",
            "cause: entries are bfloat16 values in a table of float32, truncated",
            [](int row, int column) { return truncated_to_bfloat16(rotary_entry(row, column)); }),
      wrong("int8", "cause: entries are multiples of 1/127", in_steps(1.0 / 127)),
      wrong("Q15", "cause: entries are multiples of 1/32768", in_steps(1.0 / 32768)),
      wrong("four decimals", "cause: entries are multiples of 1/10000", in_steps(1e-4)),
      wrong("bits of frequencies cut", "cause: frequencies truncated to bfloat16",
            rotary_of([](int k, int row) { return row * truncated_to_bfloat16(frequency(k, 64)); }),
            {}, {float32, 1024, 128}),
      wrong("sines negated", "cause: the sines are negated",
            [](int row, int column) { return (column < 64 ? 1 : -1) * rotary_entry(row, column); }),
      wrong("NaN and infinity", "cause: rows 7, 9 have NaN or infinity",
            [](int row, int column) {
              return row == 7 && column == 3   ? std::nan("")
                     : row == 9 && column == 4 ? HUGE_VAL
                                               : rotary_entry(row, column);
            }),
      wrong("the last rows never written", "cause: rows 400 .. 499 are zero",
            [](int row, int column) { return row < 400 ? rotary_entry(row, column) : 0; }),
      wrong("the last cosines never written", "wrong: 0.781 % of the entries",
            [](int row, int column) { return column == 127 ? 0 : interleaved_entry(row, column); }),
      wrong("other values", "cause: rows 490 .. 499 have other values",
            [](int row, int column) {
              return row < 490     ? rotary_entry(row, column)
                     : column < 64 ? 0.3
                                   : std::sin(column * 91.0 + row);
            }),
      wrong("diffusers' timesteps",
            "base 10000, spacing inclusive (preset diffusers)\ncause: phases in float32, of "
            "exp(-ln(base) * k / h), multiplied, then divided",
            arranged(halves, 320, diffusers_phase), {}, {float32, 1000, 320}),
      wrong("depthcharge in bfloat16", "computed in bfloat16, and phases",
            arranged(halves, 128, depthcharge_phase), {}, {bfloat16, 200, 128}),
      wrong("flux timesteps in bfloat16", "thousandths in bfloat16",
            arranged(cos_first, 256, flux_phase), {}, {float32, 1000, 256}),
      wrong("fast sines", "off by up to 3.94 ulp",
            [](int row, int column) { return fast(interleaved_entry(row, column), row, column); }),
      wrong("positions in int16", "positions that wrap at 16 bits, with phases in double",
            arranged(
                cos_first, 64,
                [](int k, int row) { return static_cast<std::int16_t>(row) * frequency(k, 32); }),
            {}, {float32, 40000, 64}),
      wrong("positions in int32", "cause: positions that wrap at 32 bits",
            rotary_of([=](int k, int row) {
              const std::int64_t asked = beyond_int32.positions[static_cast<std::size_t>(row)];
              return static_cast<std::int32_t>(asked) * frequency(k, 64);
            }),
            beyond_int32, {float32, 7, 128}),
      wrong("column j of 1e4^(2j/d)", "the table is alternating, not interleaved",
            arranged(Arrangement::alternating, 128, exact(64))),
      wrong("a missing minus", "minus of the exponent is missing",
            arranged(interleaved, 128, [](int k, int row) { return row / frequency(k, 64); }), {},
            {float64, 500, 128}),
      wrong("sines in even rows, cosines in odd ones", "sines and cosines alternate by row",
            [](int row, int column) {
              const double phase = tutorial(column / 2, row);
              return row % 2 == 0 ? std::sin(phase) : std::cos(phase);
            }),
      wrong("transposed", "transposed",
            [](int row, int column) { return interleaved_entry(column, row); }, {},
            {float32, 128, 500}),
      good("one function from position 5", "positions 5 .. 204",
           arranged(cosines_twice, 128, exact(64, 1e4, 5)), {}, {float32, 200, 128}),
      good("relative positions", "positions 63 .. -63",
           arranged(interleaved, 64, exact(32, 1e4, 63, -1)), {}, {float32, 127, 64}),
      good("packed positions", "positions 0 .. 299, 0 .. 199",
           [](int row, int column) { return interleaved_entry(row % 300, column); }),
      good("positions 0, 3, ..", "positions 0, 3 .. 1497",
           arranged(interleaved, 128, exact(64, 1e4, 0, 3))),
      good("positions 0, 0, 1, 1 ..", "positions 0, 0, 1, 1, 2, 2 and 494 others",
           [](int row, int column) { return interleaved_entry(row / 2, column); }),
      good("times 2 pi", "base 10000", arranged(halves, 128, exact(64, 1e4, 0, 6.283185307179586))),
      good("degrees", "base 10000", arranged(halves, 128, exact(64, 1e4, 0, 0.017453292519943295)),
           {}, {float64, 500, 128}),
      good("a column of zeros at the end", "the last column is zeros", with_zeros, {},
           {float32, 300, 129}),
      good("a claimed table with zeros at the end", "the last column is zeros", with_zeros,
           claimed({}, {halves}, 0), {float32, 300, 129}),
  };
}

TEST(CheckMistakes, EachIsNamed) {
  for (const Case& each : cases()) {
    // What larger tables add, phases and frequencies in fewer bits, CheckWays has as well.
    if (sanitized && each.shape.rows * each.shape.columns > 500 * 128) continue;
    const check::TableReport report = report_of(each.shape, each.entry, each.claimed);
    EXPECT_EQ(report.is_good, each.is_good) << each.what << "\n" << to_string(report);
    EXPECT_THAT(to_string(report), AllOf(HasSubstr(each.says), Not(HasSubstr("as likely"))))
        << each.what;
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
        const check::TableReport report = report_of({float32, rows, d}, [&](int row, int column) {
          const double value = f32(entry(row, column));
          return has_function_errors ? with_function_error(value) : value;
        });
        EXPECT_EQ(report.identity.spec.base, base) << to_string(report);
        EXPECT_EQ(report.identity.spec.spacing, family.spacing) << to_string(report);
        EXPECT_THAT(
            to_string(report),
            testing::ContainsRegex(std::string("cause: phases in float32.*") + family.text));
      }
    }
  }
}

/// An unusual base is still named if the entries tell it from the usual one.
TEST(CheckMistakes, UnusualBasesWithFloat32PhasesAreNamed) {
  for (const double base : {9763.0, 9990.0, 10010.0, 500100.0}) {
    const check::TableReport report =
        report_of({float32, 2048, 768}, arranged(interleaved, 768, [=](int k, int row) {
                    return f32(row * div_term(k, 384, base));
                  }));
    EXPECT_EQ(report.identity.spec.base, base) << to_string(report);
    EXPECT_EQ(report.identity.spec.spacing, Spacing::paper) << to_string(report);
  }
}

/// Expects that the cause names this factor of a table of sines or cosines alone, with the errors
/// of float32 phases, or no factor if it is 1.
void expect_factor(int rows, int count, Arrangement arrangement, double factor,
                   double scaling = 1) {
  const Entry entry = arranged(arrangement, count, [=](int k, int row) {
    return f32(row * f32(frequency(k, count) / scaling));
  });
  const check::TableReport report = report_of({float32, rows, count}, [&](int row, int column) {
    return factor * with_function_error(f32(entry(row, column)));
  });
  EXPECT_EQ(report.identity.factor, 1);  // what it was judged by
  EXPECT_TRUE(scaling != 1 || report.identity.spec.base == 1e4) << to_string(report);
  const std::string text = cause_text(report);
  EXPECT_EQ(text.find("multiplied by 1.13863,") != text.npos, factor != 1) << text;
  EXPECT_TRUE(factor != 1 || text.find("multiplied by") == text.npos) << text;
}

/// The largest of few sines is no factor: of positions 0 .. 7, it is 0.9589. Of slow frequencies,
/// few rows show the product of the factor and the frequency alone.
TEST(CheckMistakes, FewRowsOfOneFunctionHaveTheirOwnFactor) {
  for (const int rows : {2, 3, 4, 8, 20, 64}) {
    for (const int count : {16, 256}) {
      for (const Arrangement each : {Arrangement::cosines, sines}) {
        expect_factor(rows, count, each, 1);
        if (rows >= 3) expect_factor(rows, count, each, 1.138629);  // position 1 alone tells none
      }
    }
  }
  for (const int rows : {8, 64, 100}) expect_factor(rows, 32, sines, 1, 1000);
}

}  // namespace
}  // namespace posenc::test
