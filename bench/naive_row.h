// What a row costs by the formula as it is read, for those that plan or encode a few rows to be
// compared with.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

namespace posenc::bench {

/// The same positions in every run, spread evenly over [0, 2^bits).
std::vector<std::int64_t> random_positions(std::int64_t count, int bits);

/// Median seconds of `naive` for one row of that width at random positions below 2^bits, measured
/// in this run (see yardstick.h).
double naive_row_seconds(std::int64_t d_model, int bits = 20);

/// Counter "times_naive": how many times faster an iteration is than `naive`, which takes so many
/// seconds for the same.
void count_times_naive(benchmark::State& state, double naive_seconds);

/// Counter "naive_rows": an iteration's time in units of one row of `naive`, which takes so many
/// seconds.
void count_naive_rows(benchmark::State& state, double naive_row_seconds);

}  // namespace posenc::bench
