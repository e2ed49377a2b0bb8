// The encoders that are timed. Each is compared with the reference before.
#pragma once

#include "tables.h"

#include "posenc/encoder.h"
#include "posenc/registry.h"

#include <benchmark/benchmark.h>

#include <vector>

namespace posenc::bench {

/// Every backend that runs here.
std::vector<const Backend*> running_backends();

/// Of each method, the backend of the best ISA.
std::vector<const Backend*> best_backends();

/// The best backends that write tables fastest: what a question about memory is asked of.
std::vector<const Backend*> fast_backends();

/// The backend's encoder for the table, planned and verified once a process. If it is wrong, the
/// benchmark is skipped with an error, and the result is null.
const Encoder* verified(benchmark::State& state, const Backend& backend, const Table& table);

/// Verifies an encoder that lives as long as the process, once. If it is wrong, the benchmark is
/// skipped with an error, and the result is false.
bool is_verified(benchmark::State& state, const Encoder& encoder, RowRange rows,
                 DataType type = DataType::float32);

/// Whether a wrong encoder was found.
bool is_any_encoder_wrong();

}  // namespace posenc::bench
