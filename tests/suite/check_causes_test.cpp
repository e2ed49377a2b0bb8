// Tables that known mistakes make, and good ones. Every table is computed here by plain loops, as
// the system at fault would, and not by the simulations that a check compares with.
#include "posenc/data_type.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/suite/checking/check.h"

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

float bfloat16(double value) { return static_cast<float>(to_double(nearest<BFloat16>(value))); }
float float16(double value) { return static_cast<float>(to_double(nearest<Float16>(value))); }

PairAt exact(int d, double base = 1e4) {
  return [=](int k, double position) { return sincos(position * frequency(k, d, base)); };
}

/// inv_freq of Transformers, in float.
float inverse_frequency(int k, int d, float base = 1e4F) {
  const float e = static_cast<float>(2 * k) / static_cast<float>(d);
  return 1.0F / std::pow(base, e);
}

/// The state of a rotation that goes from row to row.
Matrix rotated_rows(const Shape& shape) {
  Matrix table(shape.rows, shape.d);
  const EncodingSpec spec = {.d_model = shape.d, .layout = shape.layout};
  for (int k = 0; k < shape.d / 2; ++k) {
    const auto w = static_cast<float>(frequency(k, shape.d));
    const float step_s = std::sin(w), step_c = std::cos(w);
    float s = 0, c = 1;
    for (int row = 0; row < shape.rows; ++row) {
      table(row, channels_of(spec, k).sine) = s;
      table(row, channels_of(spec, k).cosine) = c;
      const float next_s = s * step_c + c * step_s;
      c = c * step_c - s * step_s;
      s = next_s;
    }
  }
  return table;
}

float truncated_to_bfloat16(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>(bits & 0xffff0000U);
}

Sincos scaled(double factor, Sincos pair) { return {factor * pair.first, factor * pair.second}; }

double llama3_frequency(int k, int d) {
  const double w = frequency(k, d, 5e5), turns = 8192 * w / 6.283185307179586;
  if (turns >= 4) return w;
  if (turns <= 1) return w / 8;
  const double r = (turns - 1) / 3;
  return w * r + w / 8 * (1 - r);
}

struct Corrupted {
  const char* what;
  CauseKind cause;
  CheckOptions expected;
  std::function<CheckReport(const CheckOptions&)> checked;
};

template <class T>
std::function<CheckReport(const CheckOptions&)> check_of(const Shape& shape, const PairAt& pair) {
  return [=](const CheckOptions& options) {
    const BasicMatrix<T> table = filled<T>(shape, pair);
    return check(table.view(), options);
  };
}

CheckOptions asked_for(const EncodingSpec& spec, Arrangement arrangement, std::int64_t first = 0) {
  CheckOptions options;
  options.spec = spec;
  options.spec->d_model = 0;
  options.arrangements = {arrangement};
  options.first = first;
  return options;
}

std::vector<Corrupted> corrupted_tables() {
  const Shape usual, small = {.rows = 512};
  const int d = usual.d;
  const auto rotary = asked_for({}, Arrangement::halves_cos_first);
  std::vector<Corrupted> all;
  const auto add = [&](const char* what, CauseKind cause, const CheckOptions& expected,
                       std::function<CheckReport(const CheckOptions&)> checked) {
    all.push_back({what, cause, expected, std::move(checked)});
  };
  add("tutorial: exp(2k * (-ln 10000 / d)) in float", CauseKind::float32_phases, {},
      check_of<float>({.rows = 5000, .d = 512, .layout = Layout::interleaved},
                      [](int k, double position) {
                        const auto step = static_cast<float>(-std::log(10000.0) / 512);
                        const float div_term = std::exp(static_cast<float>(2 * k) * step);
                        return sincos_of_float(static_cast<float>(position) * div_term);
                      }));
  add("Transformers: 1 / base**(2k / d) in float, base 500000", CauseKind::float32_phases, {},
      check_of<float>(usual, [=](int k, double position) {
        return sincos_of_float(static_cast<float>(position) * inverse_frequency(k, d, 5e5F));
      }));
  add("vLLM: float phases, then bfloat16, at far positions", CauseKind::float32_phases, {},
      check_of<BFloat16>({.rows = 262144, .d = 64}, [](int k, double position) {
        return sincos_of_float(static_cast<float>(position) * inverse_frequency(k, 64));
      }));
  add("inv_freq cast to bfloat16", CauseKind::narrow_frequencies, {},
      check_of<float>(usual, [=](int k, double position) {
        return sincos_of_float(static_cast<float>(position) * bfloat16(inverse_frequency(k, d)));
      }));
  add("inv_freq cast to float16", CauseKind::narrow_frequencies, rotary,
      check_of<Float16>(usual, [=](int k, double position) {
        return sincos_of_float(static_cast<float>(position) * float16(inverse_frequency(k, d)));
      }));
  add("positions cast to bfloat16", CauseKind::narrow_positions, {},
      check_of<float>(usual, [=](int k, double position) {
        return sincos_of_float(bfloat16(position) * inverse_frequency(k, d));
      }));
  add("all phases in bfloat16 (autocast)", CauseKind::narrow_phases, {},
      check_of<BFloat16>(usual, [=](int k, double position) {
        return sincos_of_float(bfloat16(bfloat16(position) * bfloat16(inverse_frequency(k, d))));
      }));
  add("all phases in float16", CauseKind::narrow_phases, rotary,
      check_of<Float16>(usual, [=](int k, double position) {
        return sincos_of_float(float16(float16(position) * float16(inverse_frequency(k, d))));
      }));
  add("ggml: theta *= theta_scale over channels", CauseKind::channel_recurrence, {},
      check_of<float>(usual, [=](int k, double position) {
        const float theta_scale = std::pow(10000.0F, -2.0F / static_cast<float>(d));
        auto theta = static_cast<float>(position);
        for (int i = 0; i < k; ++i) theta *= theta_scale;
        return sincos_of_float(theta);
      }));
  add("rotation over rows in float, never re-anchored", CauseKind::row_recurrence, {},
      [=](const CheckOptions& options) { return check(rotated_rows(usual).view(), options); });
  add("halves exchanged", CauseKind::exchanged_halves, rotary,
      check_of<float>({.layout = Layout::halves}, exact(d)));
  add("interleaved where halves were expected", CauseKind::other_arrangement, rotary,
      check_of<float>({.layout = Layout::interleaved}, exact(d)));
  add("sines and cosines exchanged", CauseKind::exchanged_functions,
      asked_for({}, Arrangement::interleaved),
      check_of<float>({.layout = Layout::interleaved}, [=](int k, double position) {
        const auto [sine, cosine] = exact(d)(k, position);
        return Sincos(cosine, sine);
      }));
  add("first row at position 2", CauseKind::shifted_rows, rotary,
      check_of<float>({.first = 2}, exact(d)));
  add("base 500000, not 10000", CauseKind::other_base, rotary,
      check_of<float>(usual, exact(d, 5e5)));
  add("Llama 3.1's rule missing", CauseKind::other_rule,
      asked_for({.base = 5e5, .frequencies = Llama3Scaling{}}, Arrangement::halves_cos_first),
      check_of<float>(usual, exact(d, 5e5)));
  add("spacing inclusive, not paper", CauseKind::other_spacing, asked_for({}, Arrangement::halves),
      check_of<float>({.layout = Layout::halves}, [=](int k, double position) {
        return sincos(position * std::pow(1e4, -k / (d / 2 - 1.0)));
      }));
  add("attention factor applied", CauseKind::attention_factor, {},
      check_of<float>(usual, [=](int k, double position) {
        return scaled(0.1 * std::log(4.0) + 1, exact(d)(k, position));
      }));
  add("bfloat16 values in float32, truncated", CauseKind::narrow_entries, {},
      check_of<float>(usual, [=](int k, double position) {
        const auto [sine, cosine] = exact(d)(k, position);
        return Sincos(truncated_to_bfloat16(sine), truncated_to_bfloat16(cosine));
      }));
  add("the last rows never written", CauseKind::unset_rows, {},
      check_of<float>(small, [=](int k, double position) {
        return position < 400 ? exact(d)(k, position) : Sincos(0, 0);
      }));
  add("sines negated", CauseKind::negated_sines, {},
      check_of<float>(usual, [=](int k, double position) {
        const auto [sine, cosine] = exact(d)(k, position);
        return Sincos(-sine, cosine);
      }));
  add("a NaN", CauseKind::unset_rows, {},
      check_of<float>({.rows = 64}, [=](int k, double position) {
        return position == 7 ? Sincos(NAN, 1) : exact(d)(k, position);
      }));
  add("the last rows hold values that no sine has", CauseKind::unset_rows, {},
      check_of<float>({.rows = 300}, [=](int k, double position) {
        return position >= 290 ? Sincos(1e30, -3e-40) : exact(d)(k, position);
      }));
  add("the last rows hold other values", CauseKind::unset_rows, {},
      check_of<float>({.rows = 300}, [=](int k, double position) {
        return position >= 290 ? Sincos(std::sin(k * 91.0 + position), 0.3) : exact(d)(k, position);
      }));
  add("halves where interleaved were expected", CauseKind::other_arrangement,
      asked_for({}, Arrangement::interleaved),
      check_of<float>({.layout = Layout::halves}, exact(d)));
  add("Llama 3.1's rule", CauseKind::other_rule,
      asked_for({.base = 5e5}, Arrangement::halves_cos_first),
      check_of<float>(usual, [=](int k, double position) {
        return sincos(position * llama3_frequency(k, d));
      }));
  add("attention factor missing", CauseKind::attention_factor,
      asked_for({.frequencies = YarnScaling{.factor = 1, .attention_factor = 1.2}},
                Arrangement::halves_cos_first),
      check_of<float>(usual, exact(d)));
  add("positions over 4", CauseKind::other_rule, rotary,
      check_of<float>(
          usual, [=](int k, double position) { return sincos(position / 4 * frequency(k, d)); }));
  return all;
}

TEST(CheckCauses, KnownMistakesAreNamed) {
  for (const Corrupted& each : corrupted_tables()) {
    const CheckReport report = each.checked(each.expected);
    EXPECT_FALSE(report.is_good) << each.what;
    ASSERT_FALSE(report.causes.empty()) << each.what << "\n" << to_string(report);
    EXPECT_EQ(to_string(report.causes.front().kind), to_string(each.cause)) << each.what << "\n"
                                                                            << to_string(report);
    EXPECT_FALSE(report.causes.front().is_rival) << each.what << "\n" << to_string(report);
  }
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
    const RowRange rows = {from.rows.first, std::min<std::int64_t>(from.rows.count, 3000)};
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
