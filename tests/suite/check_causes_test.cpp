// Tables that are good, and what is told of frequencies, factors and float32 phases. Tables are
// computed by plain loops, and not by the simulations that a check compares with.
#include "posenc/data_type.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/suite/checking/check.h"

#include "support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace posenc::suite {
namespace {

using Sincos = std::pair<double, double>;  // sine, cosine
/// The pair of frequency k at a position.
using PairAt = std::function<Sincos(int k, double position)>;

struct Shape {
  int rows = 2048;
  int d = 128;
  int first = 0;
  Layout layout = Layout::halves_cos_first;
};

double exponent(int k, int d) { return 2.0 * k / d; }

/// A convention's frequency in double.
double frequency(int k, int d, double base = 1e4) { return std::pow(base, -exponent(k, d)); }

Sincos sincos(double phase) { return {std::sin(phase), std::cos(phase)}; }
Sincos sincos_of_float(float phase) { return {std::sin(phase), std::cos(phase)}; }

template <class T = float>
BasicMatrix<T> filled(const Shape& shape, const PairAt& pair_at) {
  BasicMatrix<T> table(shape.rows, shape.d);
  const EncodingSpec spec = {.d_model = shape.d, .layout = shape.layout};
  for (int row = 0; row < shape.rows; ++row) {
    for (int k = 0; k < shape.d / 2; ++k) {
      const auto [sine, cosine] = pair_at(k, shape.first + row);
      const ChannelPair channel = channels_of(spec, k);
      table(row, channel.sine) = nearest<T>(sine);
      table(row, channel.cosine) = nearest<T>(cosine);
    }
  }
  return table;
}

/// inv_freq of Transformers, in float.
float inverse_frequency(int k, int d, float base = 1e4F) {
  const float e = static_cast<float>(2 * k) / static_cast<float>(d);
  return 1.0F / std::pow(base, e);
}

double llama3_frequency(int k, int d) {
  const double w = frequency(k, d, 5e5), turns = 8192 * w / 6.283185307179586;
  if (turns >= 4) return w;
  if (turns <= 1) return w / 8;
  const double r = (turns - 1) / 3;
  return w * r + w / 8 * (1 - r);
}

/// Fifty tables: ten presets in four types and of a double computation.
TEST(CheckCauses, GoodTablesRaiseNoAlarm) {
  const char* const names[] = {"tutorial", "fairseq", "whisper",   "musicgen", "hf_marian",
                               "xlm",      "dit",     "llama_3_1", "roformer", "vllm"};
  const auto judge = [](const CheckReport& report, const char* name) {
    EXPECT_TRUE(report.is_good) << name << "\n" << to_string(report);
  };
  for (const char* const name : names) {
    const Preset& from = preset(name);
    constexpr std::int64_t most_rows = test::sanitized ? 300 : 3000;
    const RowRange rows = {from.rows.first, std::min(from.rows.count, most_rows)};
    const auto encoder = backend("rotation").plan(from.spec);
    for (const DataType type : all_data_types) {
      with_type(type, [&]<class T>(T) {
        BasicMatrix<T> table(rows.count, from.spec.d_model);
        encoder->encode(rows, table.view());
        judge(check(table.view()), name);
      });
    }
    // A careful computation in double, rounded once, or kept in double.
    const int d = static_cast<int>(from.spec.d_model);
    const bool paper = from.spec.spacing == Spacing::paper;
    const PairAt in_double = [&](int k, double position) {
      if (!is_base(from.spec.frequencies)) return sincos(position * llama3_frequency(k, d));
      const double denominator = paper ? d / 2.0 : d / 2.0 - 1;
      return sincos(position * std::exp(-k * (std::log(from.spec.base) / denominator)));
    };
    const Shape shape = {static_cast<int>(rows.count), d, static_cast<int>(rows.first),
                         from.spec.layout};
    judge(paper ? check(filled<double>(shape, in_double).view())
                : check(filled<float>(shape, in_double).view()),
          name);
  }
}

/// Bases that no list has, far first positions, and tables of few rows, in types that show little.
TEST(CheckCauses, GoodTablesOfUnusualConventionsAreIdentified) {
  struct Unusual {
    EncodingSpec spec;
    RowRange rows;
    DataType type;
  };
  const Unusual all[] = {
      {{.d_model = 80, .base = 20000, .layout = Layout::halves_cos_first},
       {1000, 3000},
       DataType::bfloat16},
      {{.d_model = 80, .base = 87, .layout = Layout::halves, .spacing = Spacing::inclusive},
       {7, 3000},
       DataType::float32},
      {{.d_model = 512, .base = 3e7, .layout = Layout::halves, .spacing = Spacing::inclusive},
       {0, 3000},
       DataType::bfloat16},
      {{.d_model = 1280, .layout = Layout::halves, .spacing = Spacing::inclusive},
       {0, 1000},
       DataType::bfloat16},
      {{.d_model = 128}, {50'000, 100}, DataType::bfloat16},
      {{.d_model = 80, .base = 5e5, .layout = Layout::halves},
       {1'000'000, 1000},
       DataType::bfloat16},
      {{.d_model = 64, .base = 256, .layout = Layout::halves_cos_first},
       {1'000'000, 3000},
       DataType::float32},
      {{.d_model = 512}, {3, 1}, DataType::float32},
      {{.d_model = 64, .base = 5e5}, {1000, 2}, DataType::float16},
      {{.d_model = 8, .base = 256, .layout = Layout::halves_cos_first},
       {50'000, 100},
       DataType::float32},
  };
  for (const auto& [spec, rows, type] : all) {
    const auto encoder = backend("rotation").plan(spec);
    with_type(type, [&, &spec = spec, &rows = rows]<class T>(T) {
      BasicMatrix<T> table(rows.count, spec.d_model);
      encoder->encode(rows, table.view());
      const CheckReport report = check(table.view());
      EXPECT_TRUE(report.is_good) << to_string(report);
      EXPECT_EQ(report.identity.spec.base, spec.base) << to_string(report);
      EXPECT_EQ(report.identity.first, rows.first) << to_string(report);
      EXPECT_EQ(report.identity.spec.spacing, spec.spacing) << to_string(report);
    });
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

Sincos with_function_errors(Sincos pair) {
  return {with_function_error(pair.first), with_function_error(pair.second)};
}

/// div_term of PyTorch's tutorial, in float.
float div_term(int k, int d, double base) {
  return std::exp(static_cast<float>(2 * k) * static_cast<float>(-std::log(base) / d));
}

/// tensor2tensor's inverse timescale, in float.
float inverse_timescale(int k, int d, double base) {
  return std::exp(static_cast<float>(k) * static_cast<float>(-std::log(base) / (d / 2 - 1)));
}

/// Where one convention's frequencies are nearly another's, the usual one is named, and whose
/// phases they are: 10000^(383/384) is 9763.0009, so that base 9763 with inclusive spacing is an
/// alias of a tutorial table of 768 channels.
TEST(CheckCauses, AliasesOfUsualConventionsAreNotNamed) {
  struct Family {
    float (*frequency)(int k, int d, double base);
    Layout layout;
    Spacing spacing;
    const char* text;
  };
  const Family families[] = {
      {div_term, Layout::interleaved, Spacing::paper, "PyTorch's tutorial"},
      {inverse_timescale, Layout::halves, Spacing::inclusive, "tensor2tensor"},
      {[](int k, int d, double base) { return inverse_frequency(k, d, static_cast<float>(base)); },
       Layout::halves_cos_first, Spacing::paper, "Transformers"},
  };
  struct Size {
    int rows, d;
  };
  constexpr Size sizes[] = {{5000, 32}, {512, 64}, {64, 768}, {512, 768}};
  for (const Family& family : families) {
    for (const auto& [rows, d] : sizes) {
      if (test::sanitized && rows * d > 200'000) continue;
      for (const double base : {1e4, 5e5, 1e6}) {
        for (const bool has_function_errors : {false, true}) {
          const auto table = filled<float>(
              {.rows = rows, .d = d, .layout = family.layout}, [&, d = d](int k, double position) {
                const float w = family.frequency(k, d, base);
                const Sincos pair = sincos_of_float(static_cast<float>(position) * w);
                return has_function_errors ? with_function_errors(pair) : pair;
              });
          const CheckReport report = check(table.view());
          EXPECT_EQ(report.identity.spec.base, base) << to_string(report);
          EXPECT_EQ(report.identity.spec.spacing, family.spacing) << to_string(report);
          ASSERT_FALSE(report.causes.empty()) << to_string(report);
          EXPECT_EQ(report.causes.front().kind, CauseKind::float32_phases) << to_string(report);
          EXPECT_NE(report.causes.front().text.find(family.text), std::string::npos)
              << to_string(report);
        }
      }
    }
  }
}

/// An unusual base is still named if the entries tell it from the usual one.
TEST(CheckCauses, UnusualBasesWithFloat32PhasesAreNamed) {
  for (const double base : {9763.0, 9990.0, 10010.0, 500100.0}) {
    const auto table =
        filled<float>({.d = 768, .layout = Layout::interleaved}, [&](int k, double position) {
          return sincos_of_float(static_cast<float>(position) * div_term(k, 768, base));
        });
    const CheckReport report = check(table.view());
    EXPECT_EQ(report.identity.spec.base, base) << to_string(report);
    EXPECT_EQ(report.identity.spec.spacing, Spacing::paper) << to_string(report);
  }
}

/// Sines or cosines alone, times a factor, which rows of float32 phases have errors of.
Matrix one_function(int rows, int count, bool is_cosine, double factor, double scaling = 1) {
  Matrix table(rows, count);
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < count; ++k) {
      const auto w = static_cast<float>(frequency(k, 2 * count) / scaling);
      const Sincos pair = sincos_of_float(static_cast<float>(row) * w);
      const double value = with_function_error(is_cosine ? pair.second : pair.first);
      table(row, k) = static_cast<float>(factor * value);
    }
  }
  return table;
}

double named_factor(const CheckReport& report) {
  for (const Cause& each : report.causes) {
    const char before[] = "multiplied by ";
    const auto place = each.text.find(before);
    if (each.kind == CauseKind::attention_factor && place != std::string::npos)
      return std::stod(each.text.substr(place + sizeof before - 1));
  }
  return 1;
}

/// The largest of few sines is no factor: of positions 0 .. 7, it is 0.9589.
TEST(CheckCauses, FewRowsOfOneFunctionHaveTheirOwnFactor) {
  for (const int rows : {2, 3, 4, 5, 8, 12, 20, 64}) {
    for (const int count : {16, 32, 256}) {
      for (const bool is_cosine : {false, true}) {
        for (const double factor : {1.0, 1.138629}) {
          if (rows < 3 && factor != 1) continue;  // the sine of position 1 alone tells none
          const Matrix table = one_function(rows, count, is_cosine, factor);
          const CheckReport report = check(table.view());
          EXPECT_EQ(report.identity.spec.base, 1e4) << rows << " rows\n" << to_string(report);
          EXPECT_EQ(report.identity.factor, 1);  // what it was judged by
          EXPECT_NEAR(named_factor(report), factor, 2e-6) << rows << " rows\n" << to_string(report);
        }
      }
    }
  }
}

/// Of slow frequencies, few rows show the product of the factor and the frequency alone.
TEST(CheckCauses, FactorsThatRowsDoNotShowAreNotNamed) {
  for (const int rows : {8, 64, 100}) {
    const CheckReport report = check(one_function(rows, 32, false, 1, 1000).view());
    EXPECT_EQ(named_factor(report), 1) << to_string(report);
  }
}

}  // namespace
}  // namespace posenc::suite
