// Benchmarks that others are compared with. Each is added to the group of those, and runs and is
// shown as any other.
//
//   limit/store/bytes:16384                what the memory system allows: plain stores
//   limit/non_temporal_store/bytes:16384   non-temporal stores
//   naive_row/bits:20/d:512                the formula as it is read: one row of `naive` a call, at
//                                          random positions below 2^20
#pragma once

#include "groups.h"

#include <cstdint>
#include <string>
#include <vector>

namespace posenc::bench {

/// Adds both store loops over so many bytes.
void add_store_limits(std::int64_t bytes);

/// Adds a copy of a table of so many bytes that is kept elsewhere.
void add_copy(const std::string& name, std::int64_t bytes, std::vector<Ratio> ratios = {});

/// The ratio "share_of_limit" of a benchmark that writes so many bytes: the time of the faster
/// store loop over as many bytes, which are added, over its own time.
Ratio share_of_limit(std::int64_t bytes);

/// The ratio "times_naive" of a benchmark that gives so many rows at positions below 2^bits: how
/// many times faster it is than naive_row, which is added, for each of them.
Ratio times_naive(std::int64_t d_model, int bits, std::int64_t rows);

/// The ratio "naive_rows": a benchmark's time in rows of naive_row, which is added.
Ratio in_naive_rows(std::int64_t d_model);

/// The same positions in every run, spread evenly over [0, 2^bits).
std::vector<std::int64_t> random_positions(std::int64_t count, int bits);

}  // namespace posenc::bench
