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
// The label names the backend that the layer selected. The counter max_error of `rotate` is the
// largest error of a turned channel, of pairs of length 1.

#include "encoders.h"
#include "plain_rotary.h"
#include "program.h"
#include "tables.h"

#include "posenc/layers/input_embedding.h"
#include "posenc/layers/positional_encoding.h"
#include "posenc/layers/rotary.h"
#include "posenc/simd/dispatch.h"
#include "posenc/support/parallel_for.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <random>
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
  std::int64_t bytes() const { return elements() * std::int64_t{sizeof(float)}; }
};

void count(benchmark::State& state, std::int64_t elements, const Selection& selection) {
  state.SetItemsProcessed(state.iterations() * elements);
  state.SetBytesProcessed(state.iterations() * elements * std::int64_t{sizeof(float)});
  state.SetLabel(selection.backend->full_name());
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
  const auto found = kept.find(key);
  if (found != kept.end()) return found->second;
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
  if (!is_verified(state, encoding.encoder(), {0, shape.rows})) return;
  float* const memory = warm_memory(call.in_place ? shape.bytes() : 2 * shape.bytes());
  const auto view = [&](float* data) {
    return call.order == BatchOrder::batch_first
               ? batch_first(data, shape.batch, shape.rows, shape.d_model)
               : sequence_first(data, shape.rows, shape.batch, shape.d_model);
  };
  const auto x = view(memory), y = view(call.in_place ? memory : memory + shape.elements());
  const ForwardOptions options = {.training = call.training, .seed = 1, .threads = shape.threads};
  for (auto _ : state) {
    encoding.forward(x, y, options);
    benchmark::ClobberMemory();
  }
  count(state, shape.elements(), encoding.selection());
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

void scale(const Activations& shape, float* x) {
  parallel_for(shape.elements(), least_elements, shape.threads,
               [=](std::int64_t begin, std::int64_t end, int) {
                 simd::best_kernels().combine({.x = x + begin,
                                               .encoding = nullptr,
                                               .out = x + begin,
                                               .count = end - begin,
                                               .scale = 1.0f,
                                               .dropout = nullptr,
                                               .first_element = 0,
                                               .non_temporal = false});
               });
}

void limit_scale(benchmark::State& state, const Activations& shape) {
  float* const x = warm_memory(shape.bytes());
  for (auto _ : state) {
    scale(shape, x);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * shape.elements());
  state.SetBytesProcessed(state.iterations() * shape.bytes());
}

/// A vocabulary of GPT-2's size, and ids all over it.
struct Tokens {
  static constexpr std::int64_t vocabulary = 50257;
  InputEmbedding embedding;
  std::vector<std::int32_t> ids;

  explicit Tokens(const Activations& shape) : embedding(vocabulary, shape.d_model) {
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

void embed(benchmark::State& state, const Activations& shape) {
  const PositionalEncoding& encoding = layer(shape, EncodingSource::automatic, 0);
  if (!is_verified(state, encoding.encoder(), {0, shape.rows})) return;
  const Tokens& all = tokens(shape);
  const auto y = batch_first(warm_memory(shape.bytes()), shape.batch, shape.rows, shape.d_model);
  for (auto _ : state) {
    all.embedding.forward(all.ids, encoding, y, {.threads = shape.threads});
    benchmark::ClobberMemory();
  }
  count(state, shape.elements(), encoding.selection());
}

void embed_in_turn(benchmark::State& state, const Activations& shape) {
  const PositionalEncoding& encoding = layer(shape, EncodingSource::cached, 0);
  if (!is_verified(state, encoding.encoder(), {0, shape.rows})) return;
  const Tokens& all = tokens(shape);
  float* const y = warm_memory(shape.bytes());
  for (auto _ : state) {
    all.look_up(y, shape.threads);
    scale(shape, y);
    encoding.forward(batch_first(y, shape.batch, shape.rows, shape.d_model),
                     {.threads = shape.threads});
    benchmark::ClobberMemory();
  }
  count(state, shape.elements(), encoding.selection());
}

/// How heads are turned: with angles that posenc computes or keeps, or without posenc.
enum class AnglesFrom { fused, cached, plain, ggml };

/// Llama's heads at some consecutive positions.
struct Heads {
  std::int64_t rows;
  int threads;
  AnglesFrom source;
  static constexpr std::int64_t heads = 32, dimension = 128;
  static constexpr double base = 10000;
};

using Turn = std::function<void(float*)>;

/// What turns `heads` heads of each row in place.
Turn turn_of(const Heads& call, std::int64_t heads, const Rotary& rotary) {
  const HeadsShape shape = {call.rows, heads, Heads::dimension};
  const auto view = [=](float* x) {
    return sequence_first(x, shape.rows, shape.heads, shape.dimension);
  };
  const RotateOptions options = {.threads = call.threads};
  const auto base = static_cast<float>(Heads::base);
  switch (call.source) {
    case AnglesFrom::fused:
      return [&rotary, view, options](float* x) { rotary.apply(view(x), 0, options); };
    case AnglesFrom::cached: {
      const auto cache = std::make_shared<Matrix>(shape.rows, shape.dimension);
      rotary.cache(RowRange{0, shape.rows}, RotaryLayout::halves, cache->view());
      return [&rotary, view, options, cache](float* x) {
        rotary.apply_cache({cache->view(), RotaryLayout::halves}, view(x), 0, options);
      };
    }
    case AnglesFrom::plain:
      return [plain = std::make_shared<PlainRotary>(shape, base)](float* x) { plain->turn(x); };
    case AnglesFrom::ggml:
      return [ggml = std::make_shared<GgmlRotary>(shape, base)](float* x) { ggml->turn(x); };
  }
  return {};
}

/// The largest error of a channel, of pairs of length 1 at every row.
double largest_error(const Heads& call, const Rotary& rotary) {
  constexpr std::int64_t d = Heads::dimension, pairs = d / 2;
  constexpr float a = 0.6f, b = 0.8f;
  Matrix x(call.rows, d);
  for (std::int64_t r = 0; r < call.rows; ++r) {
    std::fill_n(x.row(r).begin(), pairs, a);
    std::fill_n(x.row(r).begin() + pairs, pairs, b);
  }
  turn_of(call, 1, rotary)(x.row(0).data());
  BasicMatrix<double> cache(call.rows, d);
  rotary.cache(RowRange{0, call.rows}, RotaryLayout::halves, cache.view());
  double largest = 0;
  for (std::int64_t r = 0; r < call.rows; ++r) {
    for (std::int64_t k = 0; k < pairs; ++k) {
      const auto place = static_cast<std::size_t>(k), other = static_cast<std::size_t>(pairs + k);
      const double cosine = cache.row(r)[place], sine = cache.row(r)[other];
      largest = std::max({largest, std::fabs(to_double(x.row(r)[place]) - (a * cosine - b * sine)),
                          std::fabs(to_double(x.row(r)[other]) - (b * cosine + a * sine))});
    }
  }
  return largest;
}

/// Is a cache of cosines and sines faster than computing them again, and what do programs get that
/// do it themselves?
void rotate(benchmark::State& state, const Heads& call) {
  static const Rotary rotary(Heads::dimension, Heads::base);
  Table angles = table_of(call.rows, Heads::dimension);
  angles.spec.layout = Layout::halves_cos_first;
  if (verified(state, *rotary.selection().backend, angles) == nullptr) return;
  const std::int64_t elements = call.rows * Heads::heads * Heads::dimension;
  float* const x = warm_memory(4 * elements);
  const Turn turn = turn_of(call, Heads::heads, rotary);
  for (auto _ : state) {
    turn(x);
    benchmark::ClobberMemory();
  }
  count(state, elements, rotary.selection());
  if (call.source == AnglesFrom::plain || call.source == AnglesFrom::ggml) state.SetLabel("");
  state.counters["max_error"] = largest_error(call, rotary);
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
  std::vector<std::int64_t> positions(static_cast<std::size_t>(batch));
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = static_cast<std::int64_t>(i * 7919 % 100'003);
  const std::int64_t elements = batch * Heads::heads * Heads::dimension;
  const HeadsView x =
      rows_first(warm_memory(4 * elements), batch, 1, Heads::heads, Heads::dimension);
  for (auto _ : state) {
    rotary.apply(x, positions, {.threads = threads});
    benchmark::ClobberMemory();
  }
  count(state, elements, rotary.selection());
}

enum class CacheLayout { halves, interleaved, apart, repeated };

/// What do the layouts of caches cost?
void fill_cache(benchmark::State& state, CacheLayout layout, std::int64_t rows, int threads) {
  constexpr std::int64_t d = Heads::dimension, half = d / 2;
  static const Rotary rotary(d);
  float* const memory = warm_memory(2 * 4 * rows * d);
  const RowRange range = {0, rows};
  for (auto _ : state) {
    switch (layout) {
      case CacheLayout::halves:
      case CacheLayout::interleaved:
        rotary.cache(
            range, layout == CacheLayout::halves ? RotaryLayout::halves : RotaryLayout::interleaved,
            {memory, rows, d, d}, threads);
        break;
      case CacheLayout::apart:
        rotary.cosines_and_sines(range, Repeat::once, {memory, rows, half, half},
                                 {memory + rows * half, rows, half, half}, threads);
        break;
      case CacheLayout::repeated:
        rotary.cosines_and_sines(range, Repeat::interleaved, {memory, rows, d, d},
                                 {memory + rows * d, rows, d, d}, threads);
        break;
    }
    benchmark::ClobberMemory();
  }
  count(state, rows * d, rotary.selection());
}

/// Is one call for many positions faster than a call for each?
void gather(benchmark::State& state, bool is_one_call, std::int64_t rows, int threads) {
  constexpr std::int64_t d = Heads::dimension;
  static const Rotary rotary(d);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(rows));
  std::mt19937_64 random(1);
  for (std::int64_t& each : positions) each = static_cast<std::int64_t>(random() % 1'000'000);
  float* const memory = warm_memory(4 * rows * d);
  for (auto _ : state) {
    if (is_one_call) {
      rotary.cache(positions, RotaryLayout::halves, {memory, rows, d, d}, threads);
    } else {
      for (std::int64_t r = 0; r < rows; ++r) {
        rotary.cache(RowRange{positions[static_cast<std::size_t>(r)], 1}, RotaryLayout::halves,
                     {memory + r * d, 1, d, d}, threads);
      }
    }
    benchmark::ClobberMemory();
  }
  count(state, rows * d, rotary.selection());
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
      add_shape("embed/one_pass", shape, embed);
      add_shape("embed/in_turn", shape, embed_in_turn);
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
