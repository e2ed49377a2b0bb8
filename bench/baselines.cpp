#include "baselines.h"

#include "checked_encoder.h"
#include "posenc/tuning/internal/memory_loops.h"
#include "provenance.h"
#include "warm_memory.h"

#include "posenc/registry.h"

#include <fmt/format.h>

#include <cstddef>
#include <random>
#include <string_view>
#include <utility>

namespace posenc::bench {
namespace {

using StoreLoop = void (*)(void* destination, std::int64_t bytes) noexcept;

std::string store_name(std::string_view kind, std::int64_t bytes) {
  return fmt::format("limit/{}/bytes:{}", kind, bytes);
}

void count_floats(benchmark::State& state, std::int64_t bytes) {
  state.SetItemsProcessed(state.iterations() * bytes / std::int64_t{sizeof(float)});
  state.SetBytesProcessed(state.iterations() * bytes);
}

void add_store(const std::string& name, std::int64_t bytes, StoreLoop loop) {
  add(name, [=](benchmark::State& state) {
    float* destination = warm_memory(bytes);
    for (auto _ : state) {
      loop(destination, bytes);
      benchmark::DoNotOptimize(destination);
      benchmark::ClobberMemory();
    }
    count_floats(state, bytes);
  });
}

std::string add_naive_row(std::int64_t d_model, int bits) {
  const std::string name = fmt::format("naive_row/bits:{}/d:{}", bits, d_model);
  const TableShape checked = {{}, {.d_model = d_model}, {0, std::int64_t{1} << bits}};
  add_checked(name, backend("naive"), checked, [=](benchmark::State& state, const Encoder& naive) {
    MatrixView<float> row = {warm_memory(4 * d_model), 1, d_model, d_model};
    const std::vector<std::int64_t> positions = random_positions(1024, bits);
    std::size_t next = 0;
    for (auto _ : state) {
      next = (next + 1) % positions.size();
      naive.encode({.first = positions[next], .count = 1}, row);
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * d_model);
  });
  return name;
}

}  // namespace

void add_store_limits(std::int64_t bytes) {
  add_store(store_name("store", bytes), bytes, store_loop);
  add_store(store_name("non_temporal_store", bytes), bytes, non_temporal_store_loop);
}

void add_copy(const std::string& name, std::int64_t bytes, std::vector<Ratio> ratios) {
  const auto body = [bytes](benchmark::State& state) {
    // Both halves of the warm memory, so that the copied table is as warm as a kept one would be.
    const std::int64_t aligned_bytes = (bytes + 63) / 64 * 64;
    float* destination = warm_memory(2 * aligned_bytes);
    const float* const source = destination + aligned_bytes / 4;
    for (auto _ : state) {
      copy_loop(destination, source, bytes);
      benchmark::DoNotOptimize(destination);
      benchmark::ClobberMemory();
    }
    count_floats(state, bytes);
  };
  add(name, body, std::move(ratios));
}

Ratio share_of_limit(std::int64_t bytes) {
  add_header_line("limit",
                  "the faster of a plain and a non-temporal store loop over the same bytes, timed "
                  "in the same group");
  add_store_limits(bytes);
  return {"share_of_limit", {store_name("store", bytes), store_name("non_temporal_store", bytes)}};
}

Ratio times_naive(std::int64_t d_model, int bits, std::int64_t rows) {
  return {"times_naive", {add_naive_row(d_model, bits)}, static_cast<double>(rows)};
}

Ratio in_naive_rows(std::int64_t d_model) {
  return {"naive_rows", {add_naive_row(d_model, 20)}, 1, Quantity::time};
}

std::vector<std::int64_t> random_positions(std::int64_t count, int bits) {
  std::mt19937_64 random;  // the default seed
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  for (std::int64_t& position : positions)
    position = static_cast<std::int64_t>(random() >> (64 - bits));
  return positions;
}

}  // namespace posenc::bench
