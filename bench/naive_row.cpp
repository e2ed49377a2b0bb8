#include "naive_row.h"

#include "yardstick.h"

#include "posenc/registry.h"

#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <utility>

namespace posenc::bench {

std::vector<std::int64_t> random_positions(std::int64_t count, int bits) {
  std::mt19937_64 random;  // the default seed
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  for (std::int64_t& position : positions)
    position = static_cast<std::int64_t>(random() >> (64 - bits));
  return positions;
}

double naive_row_seconds(std::int64_t d_model, int bits) {
  struct Rows {
    Yardstick yardstick;
    std::unique_ptr<const Encoder> encoder;
    Matrix row;
    std::vector<std::int64_t> positions;
    std::size_t next = 0;
  };
  static std::map<std::pair<std::int64_t, int>, Rows> of_width;
  Rows& rows = of_width[{d_model, bits}];
  if (!rows.encoder) {
    rows.encoder = backend("naive").plan({.d_model = d_model});
    rows.row = Matrix(1, d_model);
    rows.positions = random_positions(1024, bits);
  }
  return rows.yardstick.seconds([&rows] {
    rows.next = (rows.next + 1) % rows.positions.size();
    rows.encoder->encode({.first = rows.positions[rows.next], .count = 1}, rows.row.view());
  });
}

void count_times_naive(benchmark::State& state, double naive_seconds) {
  state.counters["times_naive"] =
      benchmark::Counter(naive_seconds, benchmark::Counter::kIsIterationInvariantRate);
}

void count_naive_rows(benchmark::State& state, double naive_row_seconds) {
  using benchmark::Counter;
  state.counters["naive_rows"] =
      Counter(naive_row_seconds, Counter::kIsIterationInvariantRate | Counter::kInvert);
}

}  // namespace posenc::bench
