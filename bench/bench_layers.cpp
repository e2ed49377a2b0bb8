// What do sums and rotary embeddings cost beside a plain loop over a kept table? Wall time.
//
//   add/source:fused/batch:1/rows:512/d:512/threads:1   x += PE
//   rotate/source:fused/rows:8192/heads:32/d:128/...    queries or keys
//
// Sources: automatic (what the layer does by itself), fused (PE is computed), cached (a table is
// kept) and plain: without posenc, on one thread, a loop over a float32 table, compiled for the
// compiler's ISA, which converts float16 by calls on x86-64. `rotate` has fused and plain. Types
// but float32 follow as /dtype:float16. Errors of `rotate` are of turned channels, of pairs of
// length 0.98.

#include "bench.h"

#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {
namespace {

// Elements of plain loops, as programs widen and round them.
float widened(float value) { return value; }
float widened(BFloat16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }

template <class T>
T rounded(float value) {
  return value;
}
template <>
BFloat16 rounded<BFloat16>(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

#ifdef POSENC_HAS_NATIVE_FLOAT16
float widened(Float16 value) { return static_cast<float>(std::bit_cast<_Float16>(value)); }
template <>
Float16 rounded<Float16>(float value) {
  return std::bit_cast<Float16>(static_cast<_Float16>(value));
}
#else
float widened(Float16 value) { return static_cast<float>(to_double(value)); }
template <>
Float16 rounded<Float16>(float value) {
  return nearest<Float16>(static_cast<double>(value));
}
#endif

/// How far a result below `limit`, a power of two, is off, rounded to float32 and to the type.
template <class T>
constexpr double rounding_below(double limit) {
  const double of_float32 = 0x1p-25, of_type = half_ulp_of_one(data_type_of<T>);
  return limit * (data_type_of<T> == DataType::float32 ? of_float32 : of_float32 + of_type);
}

struct Shape {
  std::int64_t batch, rows, d_model;
};

/// When does computing encodings beat a table?
template <class T>
Work sum(std::string_view source, const Shape& shape, int threads) {
  const auto [batch, rows, d_model] = shape;
  const EncodingSpec spec = {.d_model = d_model};
  const OutputView out = warm_view(table_of(batch * rows, d_model, data_type_of<T>));
  T* const x = static_cast<T*>(out.data);
  constexpr float input = 0.5f;
  std::fill_n(x, batch * rows * d_model, rounded<T>(input));
  const auto layer =
      std::make_shared<PositionalEncoding>(spec, rows, 0,
                                           source == "fused"    ? EncodingSource::fused
                                           : source == "cached" ? EncodingSource::cached
                                                                : EncodingSource::automatic);
  const auto exact = [=, count = rows](std::int64_t row, std::span<long double> values) {
    exact_row(spec, row % count, values);
    for (long double& value : values) value += input;
  };
  const Expected expected = {exact, layer->encoder().error_bound({0, rows}) + rounding_below<T>(2)};
  if (source != "plain") {
    return {batch * rows * d_model, expected,
            [=, sequences = batch_first(x, batch, rows, d_model)] {
              layer->forward(sequences, {.threads = threads});
              return out;
            }};
  }
  const auto table = std::make_shared<Matrix>(rows, d_model);
  layer->encoder().encode(RowRange{0, rows}, table->view());
  return {batch * rows * d_model, expected, [=, sequences = batch, count = rows * d_model] {
            const float* const encoding = table->data();
            for (std::int64_t sequence = 0; sequence < sequences; ++sequence) {
              T* const of_sequence = x + sequence * count;
              for (std::int64_t i = 0; i < count; ++i)
                of_sequence[i] = rounded<T>(widened(of_sequence[i]) + encoding[i]);
            }
            return out;
          }};
}

/// Llama's heads.
constexpr std::int64_t heads = 32, dimension = 128, pairs = dimension / 2;
constexpr std::int64_t columns = heads * dimension;

/// Every pair of channels before it is turned, the same in all types.
constexpr float pair_a = 0.625f, pair_b = 0.75f;

/// A row of turned heads. Each channel is two products and a sum.
void exact_heads(std::int64_t position, std::span<long double> values) {
  std::array<long double, dimension> angles;  // cosines, then sines
  exact_row({.d_model = dimension, .layout = Layout::halves_cos_first}, position, angles);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const long double cosine = angles[i % pairs], sine = angles[pairs + i % pairs];
    values[i] =
        i % dimension < pairs ? pair_a * cosine - pair_b * sine : pair_b * cosine + pair_a * sine;
  }
}

/// Of each row cosines, then sines. Transformers computes frequency, phase and values in float32.
std::vector<float> plain_cache(std::int64_t rows) {
  std::vector<float> angles(static_cast<std::size_t>(rows * dimension));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t k = 0; k < pairs; ++k) {
      const float exponent = static_cast<float>(2 * k) / float{dimension};
      const float phase = static_cast<float>(row) * (1 / std::pow(10000.0F, exponent));
      float* const angle = angles.data() + row * dimension + k;
      angle[0] = std::cos(phase);
      angle[pairs] = std::sin(phase);
    }
  }
  return angles;
}

/// How programs turn heads without this library: channel k with k + dimension / 2.
template <class T>
void turn_plainly(T* x, std::int64_t rows, const float* angles) {
  for (std::int64_t row = 0; row < rows; ++row, angles += dimension) {
    for (std::int64_t head = 0; head < heads; ++head, x += dimension) {
      for (std::int64_t k = 0; k < pairs; ++k) {
        const float a = widened(x[k]), b = widened(x[pairs + k]);
        const float cosine = angles[k], sine = angles[pairs + k];
        x[k] = rounded<T>(a * cosine - b * sine);
        x[pairs + k] = rounded<T>(b * cosine + a * sine);
      }
    }
  }
}

/// What do programs get that turn by a cache of cosines and sines themselves?
template <class T>
Work rotate(std::string_view source, std::int64_t rows, int threads) {
  static const Rotary rotary(dimension);
  const OutputView out = warm_view(table_of(rows, columns, data_type_of<T>));
  T* const x = static_cast<T*>(out.data);
  for (std::int64_t i = 0; i < rows * columns; ++i)
    x[i] = rounded<T>(i % dimension < pairs ? pair_a : pair_b);
  // Products and sum are rounded, of cosines and sines that are, too.
  Expected expected = {exact_heads, 4 * 0x1p-25 + rounding_below<T>(1)};
  if (source == "plain") {
    // Phases and frequencies carry three roundings of 2^-24, of pairs of 1.4.
    expected.bound += 5 * 0x1p-24 * static_cast<double>(rows);
    return {rows * columns, expected, [=, angles = plain_cache(rows)] {
              turn_plainly(x, rows, angles.data());
              return out;
            }};
  }
  return {rows * columns, expected, [=, view = rows_first(x, 1, rows, heads, dimension)] {
            rotary.apply(view, 0, {.threads = threads});
            return out;
          }};
}

/// Tables and batches in the caches of one core, in the shared one, and beyond it.
template <class T>
void register_type() {
  constexpr DataType type = data_type_of<T>;
  const auto add_one = [&](std::string name, int threads, auto make) {
    name += fmt::format("/threads:{}", threads);
    if (type != DataType::float32) name += fmt::format("/dtype:{}", to_string(type));
    add(name, make)->UseRealTime();
  };
  for (const int threads : {1, 2}) {
    for (const std::string_view source : {"automatic", "fused", "cached", "plain"}) {
      if (threads > 1 && source == "plain") continue;
      for (const Shape& shape : {Shape{1, 64, 64},
                                 {1, 512, 512},
                                 {1, 2048, 1024},
                                 {1, 131072, 128},
                                 {1, 8192, 4096},
                                 {8, 512, 512},
                                 {8, 4096, 1024}}) {
        add_one(fmt::format("add/source:{}/batch:{}/rows:{}/d:{}", source, shape.batch, shape.rows,
                            shape.d_model),
                threads, [=] { return sum<T>(source, shape, threads); });
      }
      for (const std::int64_t rows : {1, 128, 8192}) {
        if (source == "automatic" || source == "cached") continue;
        add_one(
            fmt::format("rotate/source:{}/rows:{}/heads:{}/d:{}", source, rows, heads, dimension),
            threads, [=] { return rotate<T>(source, rows, threads); });
      }
    }
  }
}

void register_benchmarks() {
  register_type<float>();
  register_type<Float16>();
  register_type<BFloat16>();
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  return posenc::bench::run(argc, argv, posenc::bench::register_benchmarks);
}
