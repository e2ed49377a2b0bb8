// What does the input side of a Transformer cost, and when does generating encodings beat a table
// in memory? Wall time, shapes as in in_place/batch:1/rows:8192/d:4096/threads:1.
//
//   in_place/...         x += PE, as the layer does it by itself
//   in_place_fused/...   computed while it is added, whatever the layer would do, from an encoder
//                        that is planned for these rows (up to 2^26 elements)
//   out_of_place/...     y = x + PE
//   sequence_first/...   in place, shape (rows, batch, d_model)
//   dropout/...          in place, in training
//   embed/...            y = sqrt(d_model) E[id] + PE, in one pass
//
// What they are compared with, in the same group:
//
//   in_place_table/..., out_of_place_table/..., sequence_first_table/...
//                        the same from a table that was computed before
//   scaling/...          a loop that scales x: what the memory allows for a pass in place
//   no_dropout/...       the call of dropout/, not in training
//   in_turn/...          lookup, scaling, and adding a table, one after the other

#include "checked_encoder.h"
#include "options.h"
#include "program.h"
#include "warm_memory.h"

#include "posenc/layers/input_embedding.h"
#include "posenc/layers/positional_encoding.h"
#include "posenc/selection.h"
#include "posenc/simd/dispatch.h"
#include "posenc/support/parallel_for.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
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
  std::string name(std::string_view question) const {
    return fmt::format("{}/batch:{}/rows:{}/d:{}/threads:{}", question, batch, rows, d_model,
                       threads);
  }
};

/// Layers are kept for the repetitions, and a table is shared by all benchmarks of its shape.
const PositionalEncoding& layer(const Activations& shape, EncodingSource source,
                                double dropout = 0) {
  using Key = std::tuple<std::int64_t, std::int64_t, EncodingSource, double>;
  static std::map<Key, PositionalEncoding> kept;
  const Key key = {shape.rows, shape.d_model, source, dropout};
  const auto found = kept.find(key);
  if (found != kept.end()) return found->second;
  return kept.try_emplace(key, EncodingSpec{.d_model = shape.d_model}, shape.rows, dropout, source)
      .first->second;
}

using Work = std::function<void()>;

/// Times the work that `prepare` gives. Returns the benchmark's name.
std::string add_work(std::string_view question, const Activations& shape,
                     std::function<Work()> prepare, std::vector<Ratio> ratios = {}) {
  const std::string name = shape.name(question);
  const TableShape table = shape_of(shape.rows, shape.d_model);
  const Backend& backend = *select_backend(table.spec, table.rows).backend;
  const auto body = [=](benchmark::State& state, const Encoder&) {
    const Work work = prepare();
    work();
    for (auto _ : state) {
      work();
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * shape.elements());
  };
  add_checked(name, backend, table, body, std::move(ratios), Clock::wall);
  return name;
}

Work scaling(const Activations& shape, float* x) {
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

/// Adds the encodings to activations in warm memory.
struct Forward {
  BatchOrder order = BatchOrder::batch_first;
  bool in_place = true;
  double dropout = 0;
  bool training = false;

  Work prepare(const Activations& shape, EncodingSource source) const {
    float* const memory = warm_memory(in_place ? shape.bytes() : 2 * shape.bytes());
    const auto view = [&](float* data) {
      return order == BatchOrder::batch_first
                 ? batch_first(data, shape.batch, shape.rows, shape.d_model)
                 : sequence_first(data, shape.rows, shape.batch, shape.d_model);
    };
    const ForwardOptions options = {.training = training, .seed = 1, .threads = shape.threads};
    return [&encoding = layer(shape, source, dropout), x = view(memory),
            y = view(in_place ? memory : memory + shape.elements()),
            options] { encoding.forward(x, y, options); };
  }
};

std::string add_forward(std::string_view question, const Activations& shape, const Forward& forward,
                        EncodingSource source, std::vector<Ratio> ratios = {}) {
  return add_work(
      question, shape, [=] { return forward.prepare(shape, source); }, std::move(ratios));
}

Ratio speed_over_table(const std::string& question, const Activations& shape,
                       const Forward& forward) {
  return {"speed_over_table",
          {add_forward(question + "_table", shape, forward, EncodingSource::cached)}};
}

Ratio speed_over_scaling(const Activations& shape) {
  const auto prepare = [=] { return scaling(shape, warm_memory(shape.bytes())); };
  return {"speed_over_scaling", {add_work("scaling", shape, prepare)}};
}

void add_in_place(const Activations& shape) {
  const std::vector<Ratio> ratios = {speed_over_table("in_place", shape, {}),
                                     speed_over_scaling(shape)};
  add_forward("in_place", shape, {}, EncodingSource::automatic, ratios);
  if (shape.batch == 1) add_forward("in_place_fused", shape, {}, EncodingSource::fused, ratios);
}

void add_out_of_place(const Activations& shape) {
  const Forward forward = {.in_place = false};
  add_forward("out_of_place", shape, forward, EncodingSource::automatic,
              {speed_over_table("out_of_place", shape, forward)});
}

void add_sequence_first(const Activations& shape) {
  const Forward forward = {.order = BatchOrder::sequence_first};
  add_forward("sequence_first", shape, forward, EncodingSource::automatic,
              {speed_over_table("sequence_first", shape, forward), speed_over_scaling(shape)});
}

void add_dropout(const Activations& shape) {
  const auto source = EncodingSource::automatic;
  const std::string without = add_forward("no_dropout", shape, {.dropout = 0.1}, source);
  add_forward("dropout", shape, {.dropout = 0.1, .training = true}, source,
              {{"time_over_undropped", {without}, 1, Quantity::time}});
}

/// A vocabulary of GPT-2's size, and ids all over it.
struct Tokens {
  static constexpr std::int64_t vocabulary = 50257;
  InputEmbedding embedding;
  std::vector<std::int32_t> ids;

  explicit Tokens(const Activations& shape) : embedding(vocabulary, shape.d_model) {
    for (std::int64_t i = 0; i < shape.batch * shape.rows; ++i) {
      ids.push_back(static_cast<std::int32_t>(i * 7919 % vocabulary));
    }
  }

  /// Writes the embeddings of all ids to y.
  void look_up(float* y, int threads) const {
    const MatrixView<const float> weights = embedding.weights();
    const auto count = static_cast<std::int64_t>(ids.size());
    parallel_for(count, threads, [&](std::int64_t begin, std::int64_t end) {
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

void add_embedding(const Activations& shape) {
  const auto in_turn = [=]() -> Work {
    float* const y = warm_memory(shape.bytes());
    return [=, &all = tokens(shape), scale = scaling(shape, y),
            &encoding = layer(shape, EncodingSource::cached)] {
      all.look_up(y, shape.threads);
      scale();
      encoding.forward(batch_first(y, shape.batch, shape.rows, shape.d_model),
                       {.threads = shape.threads});
    };
  };
  const auto in_one_pass = [=]() -> Work {
    float* const y = warm_memory(shape.bytes());
    return [=, &all = tokens(shape), &encoding = layer(shape, EncodingSource::automatic)] {
      all.embedding.forward(all.ids, encoding,
                            batch_first(y, shape.batch, shape.rows, shape.d_model),
                            {.threads = shape.threads});
    };
  };
  add_work("embed", shape, in_one_pass,
           {{"speed_over_in_turn", {add_work("in_turn", shape, in_turn)}}});
}

/// Tables and batches in the caches of one core, in the shared one, and four times beyond it.
void register_all(const std::vector<int>& thread_counts) {
  for (const int threads : thread_counts) {
    for (const Activations& shape : std::vector<Activations>{{1, 64, 64, threads},
                                                             {1, 512, 512, threads},
                                                             {1, 2048, 1024, threads},
                                                             {1, 131072, 128, threads},
                                                             {1, 65536, 512, threads},
                                                             {1, 32768, 1024, threads},
                                                             {1, 8192, 4096, threads}}) {
      begin_group();
      add_in_place(shape);
      add_out_of_place(shape);
      add_dropout(shape);
    }
    for (const Activations& shape :
         std::vector<Activations>{{8, 512, 512, threads}, {8, 4096, 1024, threads}}) {
      begin_group();
      add_in_place(shape);
      add_sequence_first(shape);
      add_dropout(shape);
    }
    for (const Activations& shape : std::vector<Activations>{
             {1, 512, 512, threads}, {1, 65536, 512, threads}, {8, 4096, 1024, threads}}) {
      begin_group();
      add_embedding(shape);
    }
  }
}

constexpr std::string_view notes =
    "wall time; each comparison is with other work on the same memory, timed in the same group:\n"
    "  x table         the speed over that of adding a table that was computed before\n"
    "  x scaling       the speed over that of a loop that scales x in place\n"
    "  x in turn       the speed over that of lookup, scaling and adding a table in turn\n"
    "  time/undropped  the time over that of the same call without dropout\n";

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  using namespace posenc::bench;
  std::vector<int> threads;
  return run(argc, argv,
             {.name = "bench_forward",
              .description = "Times adding positional encodings to activations and embedding "
                             "tokens, against a table in memory, a loop that scales, and the same "
                             "done in turn.",
              .notes = notes,
              .add_options = [&](CLI::App& app) { add_threads_option(app, threads, "1 and 2"); },
              .register_benchmarks =
                  [&] {
                    register_all(threads.empty() ? std::vector{1, 2} : threads);
                  }});
}
