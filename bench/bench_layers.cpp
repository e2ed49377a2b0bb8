// What does the input side of a Transformer cost, and when does computing encodings beat a table in
// memory? Wall time.
//
//   add/source:fused/batch:1/rows:512/d:512/threads:1   x += PE. automatic is what the layer does
//                                                       by itself, fused computes PE, cached keeps
//                                                       a table
//   add_out_of_place/...                                y = x + PE
//   add_sequence_first/...                              x += PE, shape (rows, batch, d_model)
//   dropout/training:1/batch:1/...                      x = dropout(x + PE)
//   embed/one_pass/batch:1/...                          y = sqrt(d_model) E[id] + PE
//   embed/in_turn/batch:1/...                           lookup, scaling, adding a table, in turn
//   rotate/source:fused/rows:8192/heads:32/d:128/...    queries or keys, angles computed
//   rotate/source:cached/...                            the same from a cache of sines and cosines
//   rotate/source:plain/...                             the same without posenc: a plain loop over
//                                                       a float32 cache
//   rotate_step/batch:64/heads:32/d:128/...             one row of each sequence, at positions of
//                                                       their own: a step of decoding
//   rotary_cache/layout:halves/rows:8192/d:128/...      cosines and sines of a range
//   limit/scale/batch:1/...                             x *= 1: what the memory allows in place
//
// The label names the backend that the layer selected. Errors of `rotate` are of turned channels,
// of pairs of length 1.

#include "bench.h"

#include "posenc/model/input_embedding.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/simd/dispatch.h"
#include "posenc/support/parallel_for.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::bench {
namespace {

struct Activations {
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t d_model;
  int threads;

  std::int64_t elements() const { return batch * rows * d_model; }
  /// All rows, one behind the other.
  OutputView view(float* data) const { return {data, batch * rows, d_model, d_model}; }
};

/// Every element that a sum or a scaling begins with.
constexpr float input = 0.5f;

float* filled_memory(std::int64_t elements) {
  float* const memory = warm_memory(4 * elements);
  std::fill_n(memory, elements, input);
  return memory;
}

/// The label names the selected backend.
Work labelled(Work work, const Selection& selection) {
  work.label = selection.backend->full_name();
  return work;
}

template <class Make>
void add_shape(std::string_view question, const Activations& shape, Make make) {
  add(fmt::format("{}/batch:{}/rows:{}/d:{}/threads:{}", question, shape.batch, shape.rows,
                  shape.d_model, shape.threads),
      [=] { return make(shape); })
      ->UseRealTime();
}

/// One forward call.
struct Forward {
  EncodingSource source = EncodingSource::automatic;
  BatchOrder order = BatchOrder::batch_first;
  bool in_place = true;
  double dropout = 0;
};

std::shared_ptr<const PositionalEncoding> layer(const Activations& shape, EncodingSource source,
                                                double dropout = 0) {
  return std::make_shared<PositionalEncoding>(EncodingSpec{.d_model = shape.d_model}, shape.rows,
                                              dropout, source);
}

Work forward(const Activations& shape, const Forward& how) {
  const auto encoding = layer(shape, how.source, how.dropout);
  const bool is_batch_first = how.order == BatchOrder::batch_first, drops = how.dropout > 0;
  float* const memory = filled_memory((how.in_place ? 1 : 2) * shape.elements());
  float* const out = how.in_place ? memory : memory + shape.elements();
  const auto view = [&](float* data) {
    return is_batch_first ? batch_first(data, shape.batch, shape.rows, shape.d_model)
                          : sequence_first(data, shape.rows, shape.batch, shape.d_model);
  };
  const ForwardOptions options = {.training = drops, .seed = 1, .threads = shape.threads};
  const double kept = 1 - how.dropout;
  const auto exact = [=](std::int64_t row, std::span<long double> values) {
    const std::vector<long double> written(values.begin(), values.end());
    exact_row(encoding->spec(), is_batch_first ? row % shape.rows : row / shape.batch, values);
    // A mask may clear elements, but not most of them.
    const bool may_clear = drops && 2 * std::ranges::count(written, 0.0L) < std::ssize(written);
    for (std::size_t c = 0; c < values.size(); ++c)
      values[c] = may_clear && written[c] == 0 ? 0 : (input + values[c]) / kept;
  };
  // The sum, 1 / kept and their product are below 2, and rounded by at most 2^-24 each.
  const double of_encoding = encoding->encoder().error_bound({0, shape.rows});
  const double bound = (of_encoding + 0x1p-24) / kept + (drops ? 3 * 0x1p-24 : 0);
  return labelled({shape.elements(),
                   {exact, bound},
                   [=, x = view(memory), y = view(out)] {
                     encoding->forward(x, y, options);
                     return shape.view(out);
                   }},
                  encoding->selection());
}

/// When does computing encodings beat a table, and what does the mask of dropout cost?
void add_sums(const Activations& shape) {
  const auto add_sum = [&](const std::string& question, const Forward& how) {
    add_shape(question, shape, [how](const Activations& of) { return forward(of, how); });
  };
  for (const auto& [name, source] : {std::pair{"automatic", EncodingSource::automatic},
                                     {"fused", EncodingSource::fused},
                                     {"cached", EncodingSource::cached}}) {
    const std::string from = fmt::format("/source:{}", name);
    add_sum("add" + from, {source});
    add_sum("add_out_of_place" + from, {.source = source, .in_place = false});
    if (shape.batch > 1) add_sum("add_sequence_first" + from, {source, BatchOrder::sequence_first});
  }
  add_sum("dropout/training:1", {.dropout = 0.1});
}

void scale(const Activations& shape, float* x, float factor) {
  parallel_for(shape.elements(), least_elements, shape.threads,
               [=](std::int64_t begin, std::int64_t end, int) {
                 simd::best_kernels().combine({.x = x + begin,
                                               .encoding = nullptr,
                                               .out = x + begin,
                                               .count = end - begin,
                                               .scale = factor});
               });
}

Work limit_scale(const Activations& shape) {
  float* const x = filled_memory(shape.elements());
  const auto exact = [](auto, std::span<long double> values) { std::ranges::fill(values, input); };
  return {shape.elements(), {exact, 0}, [=, factor = 1.0f] {
            scale(shape, x, factor);
            return shape.view(x);
          }};
}

/// A vocabulary of GPT-2's size, and ids all over it.
struct Tokens {
  static constexpr std::int64_t vocabulary = 50257;
  Matrix weights;
  InputEmbedding embedding;
  std::vector<std::int32_t> ids;

  explicit Tokens(const Activations& shape)
      : weights(vocabulary, shape.d_model), embedding(weights.view()) {
    for (std::int64_t i = 0; i < vocabulary * shape.d_model; ++i)
      weights.data()[i] = static_cast<float>(i % 17 - 8) / 256;
    for (std::int64_t i = 0; i < shape.batch * shape.rows; ++i)
      ids.push_back(static_cast<std::int32_t>(i * 7919 % vocabulary));
  }

  const float* row(std::int64_t i) const {
    return embedding.weights().data + ids[static_cast<std::size_t>(i)] * embedding.weights().stride;
  }
};

Work embed(const Activations& shape, bool is_in_turn) {
  const auto encoding =
      layer(shape, is_in_turn ? EncodingSource::cached : EncodingSource::automatic);
  const auto tokens = std::make_shared<const Tokens>(shape);
  float* const memory = filled_memory(shape.elements());
  const auto y = batch_first(memory, shape.batch, shape.rows, shape.d_model);
  const ForwardOptions options = {.threads = shape.threads};
  const auto exact = [=](std::int64_t row, std::span<long double> values) {
    exact_row(encoding->spec(), row % shape.rows, values);
    for (std::size_t c = 0; c < values.size(); ++c)
      values[c] += std::sqrt(static_cast<long double>(shape.d_model)) * tokens->row(row)[c];
  };
  const auto call = [=] {
    if (is_in_turn) {
      parallel_for(shape.batch * shape.rows, rows_per_piece(shape.d_model), shape.threads,
                   [&](std::int64_t begin, std::int64_t end, int) {
                     for (std::int64_t i = begin; i < end; ++i)
                       std::copy_n(tokens->row(i), shape.d_model, memory + i * shape.d_model);
                   });
      scale(shape, memory, std::sqrt(static_cast<float>(shape.d_model)));
      encoding->forward(y, options);
    } else {
      tokens->embedding.forward(tokens->ids, y, shape.threads);
      encoding->forward(y, options);
    }
    return shape.view(memory);
  };
  // The root, the product and the sum are rounded; the last is below 2.
  const double bound = encoding->encoder().error_bound({0, shape.rows}) + 3 * 0x1p-24;
  return labelled({shape.elements(), {exact, bound}, call}, encoding->selection());
}

/// Llama's heads.
constexpr std::int64_t heads = 32, dimension = 128, columns = heads * dimension;

const Rotary& rotary() {
  static const Rotary all(dimension);
  return all;
}

/// Every pair of channels, of length 1, before it is turned.
constexpr float pair_a = 0.6f, pair_b = 0.8f;

float* unturned_heads(std::int64_t rows) {
  float* const x = warm_memory(4 * rows * columns);
  for (std::int64_t i = 0; i < rows * columns; ++i)
    x[i] = i % dimension < dimension / 2 ? pair_a : pair_b;
  return x;
}

using Angles = std::array<long double, dimension>;
using Position = std::function<std::int64_t(std::int64_t row)>;

/// Cosines, then sines.
Angles angles_at(std::int64_t position) {
  Angles angles;
  exact_row({.d_model = dimension, .layout = Layout::halves_cos_first}, position, angles);
  return angles;
}

/// A row of turned heads. Each channel is two products and a sum, of cosines and sines that are
/// correctly rounded or off by more than that.
Expected expected_heads(const Position& position, double error_of_phases = 0) {
  return {[=](std::int64_t row, std::span<long double> values) {
            constexpr std::size_t pairs = dimension / 2;
            const Angles angles = angles_at(position(row));
            for (std::size_t i = 0; i < values.size(); ++i) {
              const long double cosine = angles[i % pairs], sine = angles[pairs + i % pairs];
              values[i] = i % dimension < pairs ? pair_a * cosine - pair_b * sine
                                                : pair_b * cosine + pair_a * sine;
            }
          },
          5 * 0x1p-25 + error_of_phases};
}

/// How programs turn heads without this library: channel k with k + dimension / 2, by a cache of
/// all rows, which Transformers fills with frequency, phase and values in float32.
class PlainRotary {
 public:
  explicit PlainRotary(std::int64_t rows) : rows_(rows), angles_(rows * dimension) {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 0; k < pairs; ++k) {
        const float exponent = static_cast<float>(2 * k) / float{dimension};
        const float phase = static_cast<float>(row) * (1 / std::pow(10000.0F, exponent));
        angles_[row * dimension + k] = std::cos(phase);
        angles_[row * dimension + pairs + k] = std::sin(phase);
      }
    }
  }

  void turn(float* x) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      const float* const angles = angles_.data() + row * dimension;
      for (std::int64_t head = 0; head < heads; ++head, x += dimension) {
        for (std::int64_t k = 0; k < pairs; ++k) {
          const float a = x[k], b = x[pairs + k], cosine = angles[k], sine = angles[pairs + k];
          x[k] = a * cosine - b * sine;
          x[pairs + k] = b * cosine + a * sine;
        }
      }
    }
  }

 private:
  static constexpr std::int64_t pairs = dimension / 2;

  std::int64_t rows_;
  std::vector<float> angles_;  ///< of each row cosines, then sines
};

/// Is a cache of cosines and sines faster than computing them again, and what do programs get that
/// do it themselves?
Work rotate(std::string_view source, std::int64_t rows, int threads) {
  float* const x = unturned_heads(rows);
  const HeadsView view = sequence_first(x, rows, heads, dimension);
  const OutputView out(x, rows, columns, columns);
  const auto position = [](std::int64_t row) { return row; };
  const RotateOptions options = {.threads = threads};
  if (source == "plain") {
    // Phases and frequencies carry three roundings of 2^-24, of pairs of 1.4.
    return {rows * columns, expected_heads(position, 5 * 0x1p-24 * static_cast<double>(rows)),
            [=, plain = PlainRotary(rows)] {
              plain.turn(x);
              return out;
            }};
  }
  std::shared_ptr<Matrix> cache;
  if (source == "cached") {
    cache = std::make_shared<Matrix>(rows, dimension);
    rotary().cache(RowRange{0, rows}, RotaryLayout::halves, cache->view());
  }
  return labelled(
      {rows * columns, expected_heads(position),
       [=] {
         if (cache == nullptr) {
           rotary().apply(view, 0, options);
         } else {
           rotary().apply_cache({cache->view(), RotaryLayout::halves}, view, 0, options);
         }
         return out;
       }},
      rotary().selection());
}

/// What does a step of decoding cost, in which every sequence has a position of its own?
Work rotate_step(std::int64_t batch, int threads) {
  const auto position = [](std::int64_t row) { return row * 7919 % 100'003; };
  std::vector<std::int64_t> positions;
  for (std::int64_t row = 0; row < batch; ++row) positions.push_back(position(row));
  float* const memory = unturned_heads(batch);
  return labelled({batch * columns, expected_heads(position),
                   [=] {
                     rotary().apply(rows_first(memory, batch, 1, heads, dimension), positions,
                                    {.threads = threads});
                     return OutputView(memory, batch, columns, columns);
                   }},
                  rotary().selection());
}

/// What do the layouts of caches cost?
Work fill_cache(RotaryLayout layout, std::int64_t rows, int threads) {
  const auto exact = [=](std::int64_t row, std::span<long double> values) {
    const Angles angles = angles_at(row);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = angles[layout == RotaryLayout::halves ? i : i % 2 * dimension / 2 + i / 2];
  };
  const OutputView out(warm_memory(4 * rows * dimension), rows, dimension, dimension);
  return labelled({rows * dimension,
                   {exact, 0x1p-25},
                   [=] {
                     rotary().cache(RowRange{0, rows}, layout, out, threads);
                     return out;
                   }},
                  rotary().selection());
}

void add_rotary(int threads) {
  const auto add_one = [&](const std::string& name, auto make) {
    add(fmt::format("{}/d:{}/threads:{}", name, dimension, threads), make)->UseRealTime();
  };
  for (const std::int64_t rows : {1, 128, 8192}) {
    for (const std::string_view source : {"fused", "cached", "plain"}) {
      if (threads > 1 && source == "plain") continue;
      add_one(fmt::format("rotate/source:{}/rows:{}/heads:{}", source, rows, heads),
              [=] { return rotate(source, rows, threads); });
    }
  }
  add_one("rotary_cache/layout:halves/rows:8192",
          [=] { return fill_cache(RotaryLayout::halves, 8192, threads); });
  add_one("rotary_cache/layout:interleaved/rows:8192",
          [=] { return fill_cache(RotaryLayout::interleaved, 8192, threads); });
  for (const std::int64_t batch : {1, 64})
    add_one(fmt::format("rotate_step/batch:{}/heads:{}", batch, heads),
            [=] { return rotate_step(batch, threads); });
}

/// Tables and batches in the caches of one core, in the shared one, and beyond it.
void register_benchmarks() {
  for (const int threads : {1, 2}) {
    for (const Activations& shape : std::vector<Activations>{{1, 64, 64, threads},
                                                             {1, 512, 512, threads},
                                                             {1, 2048, 1024, threads},
                                                             {1, 131072, 128, threads},
                                                             {1, 8192, 4096, threads},
                                                             {8, 512, 512, threads},
                                                             {8, 4096, 1024, threads}}) {
      add_sums(shape);
      add_shape("limit/scale", shape, limit_scale);
    }
    for (const Activations& shape : std::vector<Activations>{
             {1, 512, 512, threads}, {1, 65536, 512, threads}, {8, 4096, 1024, threads}}) {
      add_shape("embed/one_pass", shape, [](const auto& of) { return embed(of, false); });
      add_shape("embed/in_turn", shape, [](const auto& of) { return embed(of, true); });
    }
    add_rotary(threads);
  }
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  return posenc::bench::run(argc, argv, posenc::bench::register_benchmarks);
}
