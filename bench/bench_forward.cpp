// What does the input side of a Transformer cost, and when does generating encodings beat a table
// in memory?
//
//   in_place/batch:1/rows:8192/d:4096/threads:1        x += PE, as the layer does it by itself
//   in_place_fused/...                                 ... computed where it is added, whatever the
//                                                      layer would pick
//   out_of_place/...                                   y = x + PE
//   sequence_first/...                                 in place, shape (rows, batch, d_model)
//   embed/batch:1/rows:65536/d:512/threads:1           y = sqrt(d_model) E[id] + PE, in one pass
//   dropout/...                                        in place, in training, against the same call
//                                                      without it

#include "selection.h"
#include "shape.h"
#include "support.h"
#include "yardstick.h"

#include "posenc/cpu.h"
#include "posenc/layers/input_embedding.h"
#include "posenc/layers/positional_encoding.h"
#include "posenc/selection.h"
#include "posenc/simd/dispatch.h"
#include "posenc/support/parallel_for.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace posenc::bench {
namespace {

struct Case {
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t d_model;
  int threads = 1;

  EncodingSpec spec() const { return {.d_model = d_model}; }
  std::int64_t elements() const { return batch * rows * d_model; }
  std::int64_t bytes() const { return elements() * std::int64_t{sizeof(float)}; }
  std::string name() const {
    return fmt::format("batch:{}/rows:{}/d:{}/threads:{}", batch, rows, d_model, threads);
  }
};

/// Layers are kept for the repetitions, and a table is shared by all benchmarks of its shape.
const PositionalEncoding& layer(const Case& shape, EncodingSource source, double dropout = 0) {
  using Key = std::tuple<std::int64_t, std::int64_t, EncodingSource, double>;
  static std::map<Key, PositionalEncoding> kept;
  const Key key = {shape.rows, shape.d_model, source, dropout};
  const auto found = kept.find(key);
  if (found != kept.end()) return found->second;
  return kept.try_emplace(key, shape.spec(), shape.rows, dropout, source).first->second;
}

using Work = std::function<void()>;

/// A loop over x that only scales it: what the memory allows for a pass in place.
Work scaling(const Case& shape, float* x) {
  return [=] {
    parallel_for(shape.elements(), shape.threads, [=](std::int64_t begin, std::int64_t end) {
      simd::best_kernels().combine({.x = x + begin,
                                    .encoding = nullptr,
                                    .out = x + begin,
                                    .count = end - begin,
                                    .scale = 1.0f,
                                    .dropout = nullptr,
                                    .first_element = 0,
                                    .non_temporal = false});
    });
  };
}

/// What a benchmark is compared with: a counter and the work.
struct Comparison {
  std::string counter;
  Work work;
  benchmark::Counter::Flags flags =
      benchmark::Counter::kIsIterationInvariantRate;  ///< how many times faster this is
};

struct Prepared {
  Work work;
  std::vector<Comparison> compared;
};

/// Times the work that `prepare` gives, and what it is compared with between the repetitions.
void add_forward(std::string_view question, const Case& shape, std::function<Prepared()> prepare) {
  const auto checked =
      std::make_shared<CheckedEncoder>(*select_backend(shape.spec(), {0, shape.rows}).backend,
                                       shape.spec(), RowRange{0, shape.rows});
  const auto yardsticks = std::make_shared<std::map<std::string, Yardstick>>();
  add(
      fmt::format("{}/{}", question, shape.name()),
      [=](benchmark::State& state) {
        if (checked->get(state) == nullptr) return;
        const Prepared prepared = prepare();
        for (const Comparison& each : prepared.compared) {
          Yardstick& yardstick =
              yardsticks->try_emplace(each.counter, wall_seconds, 0.05).first->second;
          state.counters[each.counter] =
              benchmark::Counter(yardstick.seconds(each.work), each.flags);
        }
        prepared.work();
        for (auto _ : state) {
          prepared.work();
          benchmark::ClobberMemory();
        }
        state.SetItemsProcessed(state.iterations() * shape.elements());
      },
      Clock::wall);
}

Work forward(const PositionalEncoding& encoding, SequenceView<const float> x, SequenceView<float> y,
             ForwardOptions options) {
  return [=, &encoding] { encoding.forward(x, y, options); };
}

/// In place, in either order; compared with a table and with scaling.
void add_in_place(std::string_view question, const Case& shape, EncodingSource source,
                  BatchOrder order) {
  add_forward(question, shape, [=] {
    float* const memory = warm_memory(shape.bytes());
    const auto x = order == BatchOrder::batch_first
                       ? batch_first(memory, shape.batch, shape.rows, shape.d_model)
                       : sequence_first(memory, shape.rows, shape.batch, shape.d_model);
    const ForwardOptions options = {.threads = shape.threads};
    return Prepared{forward(layer(shape, source), x, x, options),
                    {{"over_table", forward(layer(shape, EncodingSource::cached), x, x, options)},
                     {"over_scaling", scaling(shape, memory)}}};
  });
}

void add_out_of_place(const Case& shape) {
  add_forward("out_of_place", shape, [=] {
    float* const memory = warm_memory(2 * shape.bytes());
    const auto x = batch_first(memory, shape.batch, shape.rows, shape.d_model);
    const auto y = batch_first(memory + shape.elements(), shape.batch, shape.rows, shape.d_model);
    const ForwardOptions options = {.threads = shape.threads};
    return Prepared{forward(layer(shape, EncodingSource::automatic), x, y, options),
                    {{"over_table", forward(layer(shape, EncodingSource::cached), x, y, options)}}};
  });
}

void add_dropout(const Case& shape) {
  add_forward("dropout", shape, [=] {
    float* const memory = warm_memory(shape.bytes());
    const auto x = batch_first(memory, shape.batch, shape.rows, shape.d_model);
    const PositionalEncoding& dropping = layer(shape, EncodingSource::automatic, 0.1);
    const auto inverse = static_cast<benchmark::Counter::Flags>(
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    return Prepared{
        forward(dropping, x, x, {.training = true, .seed = 1, .threads = shape.threads}),
        {{"over_undropped", forward(dropping, x, x, {.training = false, .threads = shape.threads}),
          inverse}}};
  });
}

/// A vocabulary as GPT-2's, and ids all over it.
struct Tokens {
  static constexpr std::int64_t vocabulary = 50257;
  InputEmbedding embedding;
  std::vector<std::int32_t> ids;

  explicit Tokens(const Case& shape) : embedding(vocabulary, shape.d_model) {
    for (std::int64_t i = 0; i < shape.batch * shape.rows; ++i) {
      ids.push_back(static_cast<std::int32_t>(i * 7919 % vocabulary));
    }
  }
};

void add_embedding(const Case& shape) {
  const auto kept = std::make_shared<std::unique_ptr<Tokens>>();
  add_forward("embed", shape, [=] {
    if (!*kept) *kept = std::make_unique<Tokens>(shape);
    const Tokens& tokens = **kept;
    float* const memory = warm_memory(shape.bytes());
    const auto y = batch_first(memory, shape.batch, shape.rows, shape.d_model);
    const ForwardOptions options = {.threads = shape.threads};
    const PositionalEncoding& encoding = layer(shape, EncodingSource::automatic);
    const Work gather = [=, &tokens] {
      parallel_for(shape.batch * shape.rows, shape.threads,
                   [=, &tokens](std::int64_t begin, std::int64_t end) {
                     const MatrixView<const float> weights = tokens.embedding.weights();
                     for (std::int64_t i = begin; i < end; ++i) {
                       std::copy_n(
                           weights.data + tokens.ids[static_cast<std::size_t>(i)] * weights.stride,
                           shape.d_model, memory + i * shape.d_model);
                     }
                   });
    };
    const Work scale = scaling(shape, memory);
    const Work add_table = forward(layer(shape, EncodingSource::cached), y, y, options);
    return Prepared{
        [=, &tokens, &encoding] { tokens.embedding.forward(tokens.ids, encoding, y, options); },
        {{"over_in_turn", [=] {
            gather();
            scale();
            add_table();
          }}}};
  });
}

/// Tables and batches in the caches of one core, in the shared one, and four times beyond it.
void register_all(const std::vector<int>& threads) {
  for (const int count : threads) {
    for (const auto& [rows, d_model] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {64, 64}, {512, 512}, {2048, 1024}, {131072, 128}, {32768, 1024}, {8192, 4096}}) {
      begin_group();
      const Case one = {1, rows, d_model, count};
      add_in_place("in_place", one, EncodingSource::automatic, BatchOrder::batch_first);
      add_in_place("in_place_fused", one, EncodingSource::fused, BatchOrder::batch_first);
      add_out_of_place(one);
      add_dropout(one);
    }
    for (const auto& [rows, d_model] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{512, 512}, {4096, 1024}}) {
      begin_group();
      const Case eight = {8, rows, d_model, count};
      add_in_place("in_place", eight, EncodingSource::automatic, BatchOrder::batch_first);
      add_in_place("sequence_first", eight, EncodingSource::automatic, BatchOrder::sequence_first);
      add_dropout(eight);
    }
    begin_group();
    add_embedding({1, 512, 512, count});
    add_embedding({1, 65536, 512, count});
    add_embedding({8, 4096, 1024, count});
  }
}

constexpr std::string_view notes =
    "wall time; each comparison is with other work on the same memory, measured in this run "
    "between the repetitions:\n"
    "  x table      how many times faster than adding a table that was computed before\n"
    "  x scaling    how many times faster than a loop that scales x in place\n"
    "  x in turn    how many times faster than lookup, scaling and adding a table, one after the "
    "other\n"
    "  x undropped  how many times the time of the same call without dropout\n";

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  std::vector<int> threads;
  const posenc::bench::Program program = {
      "bench_forward",
      "Times adding positional encodings to activations and embedding tokens, against a table in "
      "memory, a loop that "
      "scales, and the same done in turn.",
      posenc::bench::notes};
  const auto add_options = [&](CLI::App& app) {
    posenc::bench::add_threads_option(app, threads, "1 and 2");
  };
  return posenc::bench::run(argc, argv, program, add_options, [&] {
    posenc::bench::register_all(threads.empty() ? std::vector{1, 2} : threads);
  });
}
