// The encoders that are timed, and the tables that they should write.
#pragma once

#include "program.h"
#include "tables.h"

#include "posenc/encoder.h"
#include "posenc/registry.h"

#include <vector>

namespace posenc::bench {

/// Every backend that runs here.
std::vector<const Backend*> running_backends();

/// Of each method, the backend of the best ISA.
std::vector<const Backend*> best_backends();

/// The best backends that write tables fastest: what a question about memory is asked of.
std::vector<const Backend*> fast_backends();

/// The backend's encoder for the spec, planned once a process.
const Encoder& planned(const Backend& backend, const EncodingSpec& spec);

/// What the encoder should write for the rows: exact values, within its bound.
Expected expected_of(const Encoder& encoder, RowRange rows, DataType type = DataType::float32);

}  // namespace posenc::bench
