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
//   rotate/source:plain/..., source:ggml/...            the same without posenc: a plain loop over
//                                                       a float32 cache, and ggml's way
//   rotate_step/batch:64/heads:32/d:128/...             one row of each sequence, at positions of
//                                                       their own: a step of decoding
//   rotary_cache/layout:halves/rows:8192/d:128/...      cosines and sines of a range
//   rotary_gather/call:once/rows:100000/d:128/...       cosines and sines of random positions
//   rotary_gather/call:each/...                         the same with a call for each position
//   limit/scale/batch:1/...                             x *= 1: what the memory allows in place
//
// The label names the backend that the layer selected. Errors of `rotate` are of turned channels,
// of pairs of length 1.

#include "encoders.h"
#include "plain_rotary.h"
#include "program.h"
#include "tables.h"

#include "posenc/model/input_embedding.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/simd/dispatch.h"
#include "posenc/support/parallel_for.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace posenc::bench {
namespace {

struct Activations {
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t d_model;
  int threads = 1;

  std::int64_t elements() const { return batch * rows * d_model; }
  /// All rows, one behind the other.
  OutputView view(float* data) const { return {data, batch * rows, d_model, d_model}; }
};

void count(benchmark::State& state, std::int64_t elements, const Selection* selection = nullptr) {
  state.SetItemsProcessed(state.iterations() * elements);
  state.SetBytesProcessed(state.iterations() * elements * std::int64_t{sizeof(float)});
  if (selection != nullptr) state.SetLabel(selection->backend->full_name());
}

/// Every element that a sum or a scaling begins with.
constexpr float input = 0.5f;

float* filled_memory(std::int64_t elements) {
  float* const memory = warm_memory(elements * std::int64_t{sizeof(float)});
  std::fill_n(memory, elements, input);
  return memory;
}

template <class Function, class... Arguments>
void add_shape(std::string_view question, const Activations& shape, Function function,
               Arguments... arguments) {
  const std::string name = fmt::format("{}/batch:{}/rows:{}/d:{}/threads:{}", question, shape.batch,
                                       shape.rows, shape.d_model, shape.threads);
  add(name, function, shape, arguments...)->UseRealTime();
}

/// Kept for the repetitions; a table is shared by all benchmarks of its shape.
const PositionalEncoding& layer(const Activations& shape, EncodingSource source, double dropout) {
  using Key = std::tuple<std::int64_t, std::int64_t, EncodingSource, double>;
  static std::map<Key, PositionalEncoding> kept;
  const Key key = {shape.rows, shape.d_model, source, dropout};
  return kept.try_emplace(key, EncodingSpec{.d_model = shape.d_model}, shape.rows, dropout, source)
      .first->second;
}

/// One forward call.
struct Forward {
  EncodingSource source = EncodingSource::automatic;
  BatchOrder order = BatchOrder::batch_first;
  bool in_place = true;
  double dropout = 0;
  bool training = false;
};

void forward(benchmark::State& state, const Activations& shape, const Forward& call) {
  const PositionalEncoding& encoding = layer(shape, call.source, call.dropout);
  const bool is_batch_first = call.order == BatchOrder::batch_first;
  float* const memory = filled_memory((call.in_place ? 1 : 2) * shape.elements());
  const auto view = [&](float* data) {
    return is_batch_first ? batch_first(data, shape.batch, shape.rows, shape.d_model)
                          : sequence_first(data, shape.rows, shape.batch, shape.d_model);
  };
  float* const out = call.in_place ? memory : memory + shape.elements();
  const auto x = view(memory), y = view(out);
  const ForwardOptions options = {.training = call.training, .seed = 1, .threads = shape.threads};
  const double kept = call.training ? 1 - call.dropout : 1;
  const auto exact = [&](std::int64_t row, std::span<long double> values) {
    const std::vector<long double> written(values.begin(), values.end());
    exact_row(encoding.encoder().spec(), is_batch_first ? row % shape.rows : row / shape.batch,
              values);
    // A mask may clear elements, but not most of them.
    const auto zeros = std::ranges::count(written, 0.0L);
    const bool may_clear = call.training && 2 * zeros < std::ssize(written);
    for (std::size_t c = 0; c < values.size(); ++c)
      values[c] = may_clear && written[c] == 0 ? 0 : (input + values[c]) / kept;
  };
  // The sum, 1 / kept and their product are below 2, and rounded by at most 2^-24 each.
  const double of_encoding = encoding.encoder().error_bound({0, shape.rows});
  const double bound = (of_encoding + 0x1p-24) / kept + (call.training ? 3 * 0x1p-24 : 0);
  const bool is_right = timed(state, {exact, bound}, [&] {
    encoding.forward(x, y, options);
    return shape.view(out);
  });
  if (is_right) count(state, shape.elements(), &encoding.selection());
}

constexpr std::pair<const char*, EncodingSource> sources[] = {
    {"automatic", EncodingSource::automatic},
    {"fused", EncodingSource::fused},
    {"cached", EncodingSource::cached}};

/// When does computing encodings beat a table?
void add_sums(const Activations& shape) {
  for (const auto& [name, source] : sources) {
    add_shape(fmt::format("add/source:{}", name), shape, forward, Forward{source});
    add_shape(fmt::format("add_out_of_place/source:{}", name), shape, forward,
              Forward{.source = source, .in_place = false});
    if (shape.batch == 1) continue;
    add_shape(fmt::format("add_sequence_first/source:{}", name), shape, forward,
              Forward{.source = source, .order = BatchOrder::sequence_first});
  }
}

/// What does the mask cost?
void add_dropout(const Activations& shape) {
  for (const bool training : {false, true}) {
    add_shape(fmt::format("dropout/training:{:d}", training), shape, forward,
              Forward{.dropout = 0.1, .training = training});
  }
}

void scale(const Activations& shape, float* x, float factor = 1) {
  parallel_for(shape.elements(), least_elements, shape.threads,
               [=](std::int64_t begin, std::int64_t end, int) {
                 simd::best_kernels().combine({.x = x + begin,
                                               .encoding = nullptr,
                                               .out = x + begin,
                                               .count = end - begin,
                                               .scale = factor});
               });
}

void limit_scale(benchmark::State& state, const Activations& shape) {
  float* const x = filled_memory(shape.elements());
  const auto exact = [](auto, std::span<long double> values) { std::ranges::fill(values, input); };
  const bool is_right = timed(state, {exact, 0}, [&] {
    scale(shape, x);
    return shape.view(x);
  });
  if (is_right) count(state, shape.elements());
}

/// A vocabulary of GPT-2's size, and ids all over it.
struct Tokens {
  static constexpr std::int64_t vocabulary = 50257;
  InputEmbedding embedding;
  std::vector<std::int32_t> ids;

  explicit Tokens(const Activations& shape) : embedding(vocabulary, shape.d_model) {
    const MatrixView<float> weights = embedding.own_weights();
    for (std::int64_t i = 0; i < vocabulary * shape.d_model; ++i)
      weights.data[i] = static_cast<float>(i % 17 - 8) / 256;
    for (std::int64_t i = 0; i < shape.batch * shape.rows; ++i)
      ids.push_back(static_cast<std::int32_t>(i * 7919 % vocabulary));
  }

  /// Writes the embeddings of all ids to y.
  void look_up(float* y, int threads) const {
    const MatrixView<const float> weights = embedding.weights();
    const auto all = static_cast<std::int64_t>(ids.size());
    parallel_for(all, rows_per_piece(weights.columns), threads,
                 [&](std::int64_t begin, std::int64_t end, int) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     std::copy_n(weights.data + ids[static_cast<std::size_t>(i)] * weights.stride,
                                 weights.columns, y + i * weights.columns);
                   }
                 });
  }
};

/// Kept for the repetitions, whatever the number of threads.
const Tokens& tokens(const Activations& shape) {
  static std::map<std::pair<std::int64_t, std::int64_t>, Tokens> kept;
  return kept.try_emplace({shape.batch * shape.rows, shape.d_model}, shape).first->second;
}

enum class Embed { in_one_pass, in_turn };

void embed(benchmark::State& state, const Activations& shape, Embed way) {
  const bool is_in_turn = way == Embed::in_turn;
  const EncodingSource source = is_in_turn ? EncodingSource::cached : EncodingSource::automatic;
  const PositionalEncoding& encoding = layer(shape, source, 0);
  const Tokens& all = tokens(shape);
  float* const memory = filled_memory(shape.elements());
  const auto y = batch_first(memory, shape.batch, shape.rows, shape.d_model);
  const ForwardOptions options = {.threads = shape.threads};
  const auto exact = [&](std::int64_t row, std::span<long double> values) {
    exact_row(encoding.encoder().spec(), row % shape.rows, values);
    const MatrixView<const float> weights = all.embedding.weights();
    const float* const weight =
        weights.data + all.ids[static_cast<std::size_t>(row)] * weights.stride;
    for (std::size_t c = 0; c < values.size(); ++c)
      values[c] += std::sqrt(static_cast<long double>(shape.d_model)) * weight[c];
  };
  // The root, the product and the sum are rounded; the last is below 2.
  const double bound = encoding.encoder().error_bound({0, shape.rows}) + 3 * 0x1p-24;
  const bool is_right = timed(state, {exact, bound}, [&] {
    if (is_in_turn) {
      all.look_up(memory, shape.threads);
      scale(shape, memory, std::sqrt(static_cast<float>(shape.d_model)));
      encoding.forward(y, options);
    } else {
      all.embedding.forward(all.ids, encoding, y, options);
    }
    return shape.view(memory);
  });
  if (is_right) count(state, shape.elements(), &encoding.selection());
}

/// How heads are turned: with angles that posenc computes or keeps, or without posenc.
enum class AnglesFrom { fused, cached, plain, ggml };

/// Llama's heads at some consecutive positions.
struct Heads {
  std::int64_t rows;
  int threads;
  AnglesFrom source;
  static constexpr std::int64_t heads = 32, dimension = 128;
};

/// Every pair of channels, of length 1, before it is turned.
constexpr float pair_a = 0.6f, pair_b = 0.8f;

float* unturned_heads(std::int64_t count) {
  constexpr std::int64_t pairs = Heads::dimension / 2;
  float* const x = warm_memory(4 * count * Heads::dimension);
  for (float* half = x; half < x + count * Heads::dimension; half += Heads::dimension)
    std::fill_n(std::fill_n(half, pairs, pair_a), pairs, pair_b);
  return x;
}

/// Cosines, then sines, of row r at position(r).
template <class Position>
auto exact_angles(const Position& position) {
  return [=](std::int64_t row, std::span<long double> values) {
    exact_row({.d_model = Heads::dimension, .layout = Layout::halves_cos_first}, position(row),
              values);
  };
}

/// A row of turned heads. Each channel is two products and a sum, of cosines and sines that are
/// correctly rounded or off by more than that.
template <class Position>
Expected expected_heads(const Position& position, double error_of_phases = 0) {
  return {[=](std::int64_t row, std::span<long double> values) {
            constexpr std::size_t d = Heads::dimension, pairs = d / 2;
            std::array<long double, d> angles;
            exact_angles(position)(row, angles);
            for (std::size_t i = 0; i < values.size(); ++i) {
              const long double cosine = angles[i % pairs], sine = angles[pairs + i % pairs];
              values[i] =
                  i % d < pairs ? pair_a * cosine - pair_b * sine : pair_b * cosine + pair_a * sine;
            }
          },
          5 * 0x1p-25 + error_of_phases};
}

/// Is a cache of cosines and sines faster than computing them again, and what do programs get that
/// do it themselves?
void rotate(benchmark::State& state, const Heads& call) {
  constexpr std::int64_t d = Heads::dimension, columns = Heads::heads * d;
  static const Rotary rotary(d);
  const RotateOptions options = {.threads = call.threads};
  float* const x = unturned_heads(call.rows * Heads::heads);
  const HeadsView heads = sequence_first(x, call.rows, Heads::heads, d);
  Matrix cache(call.rows, d);
  rotary.cache(RowRange{0, call.rows}, RotaryLayout::halves, cache.view());
  PlainRotary plain(call.rows, Heads::heads, d, call.source == AnglesFrom::plain);
  const bool is_own = call.source == AnglesFrom::fused || call.source == AnglesFrom::cached;
  // ggml's phases: the largest w_k (3 + 2 k) is 6.3, each rounding 2^-24, of pairs of 1.4.
  const double of_phases = is_own ? 0 : 10 * 0x1p-24 * static_cast<double>(call.rows);
  const auto expected = expected_heads([](std::int64_t row) { return row; }, of_phases);
  const bool is_right = timed(state, expected, [&] {
    switch (call.source) {
      case AnglesFrom::fused: rotary.apply(heads, 0, options); break;
      case AnglesFrom::cached:
        rotary.apply_cache({cache.view(), RotaryLayout::halves}, heads, 0, options);
        break;
      case AnglesFrom::plain:
      case AnglesFrom::ggml: plain.turn(x);
    }
    return OutputView(x, call.rows, columns, columns);
  });
  if (is_right) count(state, call.rows * columns, is_own ? &rotary.selection() : nullptr);
}

constexpr std::pair<const char*, AnglesFrom> angle_sources[] = {{"fused", AnglesFrom::fused},
                                                                {"cached", AnglesFrom::cached},
                                                                {"plain", AnglesFrom::plain},
                                                                {"ggml", AnglesFrom::ggml}};

void add_rotary(std::int64_t rows, int threads) {
  for (const auto& [name, source] : angle_sources) {
    const bool has_threads = source == AnglesFrom::fused || source == AnglesFrom::cached;
    if (threads > 1 && !has_threads) continue;
    add(fmt::format("rotate/source:{}/rows:{}/heads:{}/d:{}/threads:{}", name, rows, Heads::heads,
                    Heads::dimension, threads),
        rotate, Heads{rows, threads, source})
        ->UseRealTime();
  }
}

/// What does a step of decoding cost, in which every sequence has a position of its own?
void rotate_step(benchmark::State& state, std::int64_t batch, int threads) {
  static const Rotary rotary(Heads::dimension);
  constexpr std::int64_t columns = Heads::heads * Heads::dimension;
  const auto position = [](std::int64_t row) { return row * 7919 % 100'003; };
  std::vector<std::int64_t> positions;
  for (std::int64_t row = 0; row < batch; ++row) positions.push_back(position(row));
  float* const memory = unturned_heads(batch * Heads::heads);
  const HeadsView x = rows_first(memory, batch, 1, Heads::heads, Heads::dimension);
  const bool is_right = timed(state, expected_heads(position), [&] {
    rotary.apply(x, positions, {.threads = threads});
    return OutputView(memory, batch, columns, columns);
  });
  if (is_right) count(state, batch * columns, &rotary.selection());
}

enum class CacheLayout { halves, interleaved, apart, repeated };

/// What do the layouts of caches cost?
void fill_cache(benchmark::State& state, CacheLayout layout, std::int64_t rows, int threads) {
  constexpr std::int64_t d = Heads::dimension, half = d / 2;
  static const Rotary rotary(d);
  float* const memory = warm_memory(2 * 4 * rows * d);
  const RowRange range = {0, rows};
  const bool is_apart = layout == CacheLayout::apart || layout == CacheLayout::repeated;
  const std::int64_t columns = layout == CacheLayout::apart ? half : d;
  // Sines that are apart are behind all cosines.
  const auto exact = [=](std::int64_t row, std::span<long double> values) {
    std::array<long double, d> angles;
    exact_angles([=](std::int64_t r) { return r % rows; })(row, angles);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t sine = is_apart ? row >= rows : i % 2;
      values[i] = layout == CacheLayout::halves  ? angles[i]
                  : layout == CacheLayout::apart ? angles[sine * half + i]
                                                 : angles[sine * half + i / 2];
    }
  };
  const bool is_right = timed(state, {exact, 0x1p-25}, [&] {
    if (is_apart) {
      const Repeat repeat = layout == CacheLayout::apart ? Repeat::once : Repeat::interleaved;
      rotary.cosines_and_sines(range, repeat, {memory, rows, columns, columns},
                               {memory + rows * columns, rows, columns, columns}, threads);
    } else {
      const bool is_halves = layout == CacheLayout::halves;
      rotary.cache(range, is_halves ? RotaryLayout::halves : RotaryLayout::interleaved,
                   {memory, rows, d, d}, threads);
    }
    return OutputView(memory, (is_apart ? 2 : 1) * rows, columns, columns);
  });
  if (is_right) count(state, rows * d, &rotary.selection());
}

/// Is one call for many positions faster than a call for each?
void gather(benchmark::State& state, bool is_one_call, std::int64_t rows, int threads) {
  constexpr std::int64_t d = Heads::dimension;
  static const Rotary rotary(d);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(rows));
  std::mt19937_64 random(1);
  for (std::int64_t& each : positions) each = static_cast<std::int64_t>(random() % 1'000'000);
  const auto position = [&](std::int64_t row) { return positions[static_cast<std::size_t>(row)]; };
  const OutputView out(warm_memory(4 * rows * d), rows, d, d);
  const bool is_right = timed(state, {exact_angles(position), 0x1p-25}, [&] {
    if (is_one_call) {
      rotary.cache(positions, RotaryLayout::halves, out, threads);
    } else {
      for (std::int64_t r = 0; r < rows; ++r) {
        rotary.cache(RowRange{position(r), 1}, RotaryLayout::halves,
                     {static_cast<float*>(out.data) + r * d, 1, d, d}, threads);
      }
    }
    return out;
  });
  if (is_right) count(state, rows * d, &rotary.selection());
}

void add_caches(int threads) {
  constexpr std::int64_t rows = 8192, gathered = 100'000, d = Heads::dimension;
  constexpr std::pair<const char*, CacheLayout> layouts[] = {
      {"halves", CacheLayout::halves},
      {"interleaved", CacheLayout::interleaved},
      {"apart", CacheLayout::apart},
      {"repeated", CacheLayout::repeated}};
  for (const auto& [name, layout] : layouts) {
    add(fmt::format("rotary_cache/layout:{}/rows:{}/d:{}/threads:{}", name, rows, d, threads),
        fill_cache, layout, rows, threads)
        ->UseRealTime();
  }
  for (const bool is_one_call : {true, false}) {
    add(fmt::format("rotary_gather/call:{}/rows:{}/d:{}/threads:{}", is_one_call ? "once" : "each",
                    gathered, d, threads),
        gather, is_one_call, gathered, threads)
        ->UseRealTime();
  }
  for (const std::int64_t batch : {1, 64}) {
    add(fmt::format("rotate_step/batch:{}/heads:{}/d:{}/threads:{}", batch, Heads::heads, d,
                    threads),
        rotate_step, batch, threads)
        ->UseRealTime();
  }
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
      add_dropout(shape);
      add_shape("limit/scale", shape, limit_scale);
    }
    for (const Activations& shape : std::vector<Activations>{
             {1, 512, 512, threads}, {1, 65536, 512, threads}, {8, 4096, 1024, threads}}) {
      add_shape("embed/one_pass", shape, embed, Embed::in_one_pass);
      add_shape("embed/in_turn", shape, embed, Embed::in_turn);
    }
    for (const std::int64_t rows : {1, 128, 8192}) add_rotary(rows, threads);
    add_caches(threads);
  }
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  return posenc::bench::run(argc, argv, posenc::bench::register_benchmarks);
}
