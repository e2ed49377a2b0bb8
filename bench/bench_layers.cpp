// Times sums and rotary embeddings beside a plain loop over a kept table, by wall time.
//
//   add/source:fused/batch:1/rows:512/d:512/threads:1   x += PE
//   rotate/source:fused/rows:8192/heads:32/d:128/...    queries or keys
//
// Sources: automatic (the layer chooses), fused (PE is computed), cached (a table is kept) and
// plain. The plain source is a loop over a float32 table without posenc, on one thread. It is
// compiled for the compiler's default ISA, and on x86-64 converts float16 by calls. `rotate` has
// only fused and plain. Types other than float32 are named at the end, as in /dtype:float16. Errors
// of `rotate` are errors of rotated channels, in pairs of length 0.98.

#include "bench.h"

#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {

using namespace model;
namespace {

// Widening and rounding of elements in the plain loops, as programs do it.
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

/// The error of a result below `limit`, a power of two, after rounding to float32 and to the type.
template <class T>
constexpr double rounding_below(double limit) {
  const double of_float32 = 0x1p-25, of_type = half_ulp_of_one(data_type_of<T>);
  return limit * (data_type_of<T> == DataType::float32 ? of_float32 : of_float32 + of_type);
}

struct Shape {
  std::int64_t batch, rows, d_model;
};

/// Adds encodings to x. The sources show when computing encodings beats a table.
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
    return {expected, [=, sequences = batch_first(x, batch, rows, d_model)] {
              layer->forward(sequences, {.threads = threads});
              return out;
            }};
  }
  const auto table = std::make_shared<Matrix>(rows, d_model);
  layer->encoder().encode(RowRange{0, rows}, table->view());
  return {expected, [=, sequences = batch, count = rows * d_model] {
            const float* const encoding = table->data();
            for (std::int64_t sequence = 0; sequence < sequences; ++sequence) {
              T* const of_sequence = x + sequence * count;
              for (std::int64_t i = 0; i < count; ++i)
                of_sequence[i] = rounded<T>(widened(of_sequence[i]) + encoding[i]);
            }
            return out;
          }};
}

struct Heads {
  std::int64_t count, dimension;

  std::int64_t pairs() const { return dimension / 2; }
  std::int64_t columns() const { return count * dimension; }
};

/// Llama's heads.
constexpr Heads usual_heads = {32, 128};

/// The values of every pair of channels before the rotation. They are the same in all types.
constexpr float pair_a = 0.625f, pair_b = 0.75f;

/// The cosines, then the sines, of the angles of a head.
EncodingSpec spec_of_angles(std::int64_t dimension) {
  return {.d_model = dimension, .layout = Layout::halves_cos_first};
}

/// A row of rotated heads. Each channel is the sum of two products.
void exact_heads(const Heads& heads, std::int64_t position, std::span<long double> values) {
  const auto dimension = static_cast<std::size_t>(heads.dimension), pairs = dimension / 2;
  std::vector<long double> angles(dimension);
  exact_row(spec_of_angles(heads.dimension), position, angles);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const long double cosine = angles[i % pairs], sine = angles[pairs + i % pairs];
    values[i] =
        i % dimension < pairs ? pair_a * cosine - pair_b * sine : pair_b * cosine + pair_a * sine;
  }
}

/// Rotates heads as programs do without this library: channel k with channel k + dimension / 2.
/// Each row of the table has cosines, then sines.
template <class T>
void turn_plainly(T* x, const Heads& heads, const Matrix& table) {
  const std::int64_t dimension = heads.dimension, pairs = heads.pairs();
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const float* const angles = table.row(row).data();
    for (std::int64_t head = 0; head < heads.count; ++head, x += dimension) {
      for (std::int64_t k = 0; k < pairs; ++k) {
        const float a = widened(x[k]), b = widened(x[pairs + k]);
        const float cosine = angles[k], sine = angles[pairs + k];
        x[k] = rounded<T>(a * cosine - b * sine);
        x[pairs + k] = rounded<T>(b * cosine + a * sine);
      }
    }
  }
}

/// Rotates heads. The plain source shows the speed of programs that apply a cache of cosines and
/// sines themselves.
template <class T>
Work rotate(std::string_view source, const Heads& heads, std::int64_t rows, int threads) {
  const std::int64_t dimension = heads.dimension, columns = heads.columns();
  const auto rotary = std::make_shared<const Rotary>(dimension);
  const OutputView out = warm_view(table_of(rows, columns, data_type_of<T>));
  T* const x = static_cast<T*>(out.data);
  for (std::int64_t i = 0; i < rows * columns; ++i)
    x[i] = rounded<T>(i % dimension < heads.pairs() ? pair_a : pair_b);
  // The products and the sum are rounded, and so are the cosines and sines.
  const Expected expected = {[heads](std::int64_t position, std::span<long double> values) {
                               exact_heads(heads, position, values);
                             },
                             4 * 0x1p-25 + rounding_below<T>(1)};
  if (source == "plain") {
    const auto table = std::make_shared<Matrix>(rows, dimension);
    backend("rotation").plan(spec_of_angles(dimension))->encode(RowRange{0, rows}, table->view());
    return {expected, [=] {
              turn_plainly(x, heads, *table);
              return out;
            }};
  }
  return {expected, [=, view = rows_first(x, 1, rows, heads.count, dimension)] {
            rotary->apply(view, 0, {.threads = threads});
            return out;
          }};
}

/// Adds a benchmark by wall time. `make` makes the work of an element type.
template <class Make>
void add_layer(std::string name, DataType type, int threads, Make make) {
  name += fmt::format("/threads:{}", threads);
  if (type != DataType::float32) name += fmt::format("/dtype:{}", to_string(type));
  constexpr bool by_wall_time = true;
  add(
      name,
      [=] {
        return type == DataType::float16    ? make(Float16())
               : type == DataType::bfloat16 ? make(BFloat16())
                                            : make(float());
      },
      by_wall_time);
}

void add_sums(const Shape& shape, DataType type, int threads) {
  for (const std::string_view source : {"automatic", "fused", "cached", "plain"}) {
    if (threads > 1 && source == "plain") continue;
    add_layer(fmt::format("add/source:{}/batch:{}/rows:{}/d:{}", source, shape.batch, shape.rows,
                          shape.d_model),
              type, threads, [=]<class T>(T) { return sum<T>(source, shape, threads); });
  }
}

void add_rotations(const Heads& heads, std::int64_t rows, DataType type, int threads) {
  for (const std::string_view source : {"fused", "plain"}) {
    if (threads > 1 && source == "plain") continue;
    add_layer(fmt::format("rotate/source:{}/rows:{}/heads:{}/d:{}", source, rows, heads.count,
                          heads.dimension),
              type, threads, [=]<class T>(T) { return rotate<T>(source, heads, rows, threads); });
  }
}

/// Adds benchmarks for the rows of one sequence. A row has heads of Llama's dimension, or a single
/// head if this dimension does not divide the channels.
void add_shape(const Table& table, const std::vector<const Backend*>&) {
  const std::int64_t rows = table.rows.count, d_model = table.spec.d_model;
  add_sums({1, rows, d_model}, table.type, table.threads);
  const bool divides = d_model % usual_heads.dimension == 0;
  const std::int64_t dimension = divides ? usual_heads.dimension : d_model;
  add_rotations({d_model / dimension, dimension}, rows, table.type, table.threads);
}

/// Tables and batches in the caches of one core, in the shared cache, and beyond the caches.
void add_usual_sums() {
  for (const int threads : {1, 2}) {
    for (const Shape& shape : {Shape{1, 64, 64},
                               {1, 512, 512},
                               {1, 2048, 1024},
                               {1, 131072, 128},
                               {1, 8192, 4096},
                               {8, 512, 512},
                               {8, 4096, 1024}})
      add_sums(shape, DataType::float32, threads);
  }
}

void add_usual_rotations() {
  for (const int threads : {1, 2}) {
    for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16}) {
      for (const std::int64_t rows : {1, 128, 8192})
        add_rotations(usual_heads, rows, type, threads);
    }
  }
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  using posenc::DataType;
  using namespace posenc::bench;
  return run(argc, argv,
             {.name = "bench_layers",
              .description = "What do sums and rotary embeddings cost beside a plain loop over a "
                             "kept table?",
              .questions = {{"sums", "what adding an encoding to float32 costs", add_usual_sums},
                            {"rotations", "what turning Llama's heads costs, in three types",
                             add_usual_rotations}},
              .types = {DataType::float32, DataType::float16, DataType::bfloat16},
              .example = "bench_layers --shape 2048x4096 --dtype bfloat16 --threads 1,2",
              .add = add_shape});
}
