// Benchmarks of encoders, which are compared with the reference before they are timed.
#pragma once

#include "groups.h"
#include "table_shape.h"

#include "posenc/encoder.h"
#include "posenc/registry.h"

#include <functional>
#include <string>
#include <vector>

namespace posenc::bench {

using EncoderBody = std::function<void(benchmark::State&, const Encoder&)>;

/// What an encoder is planned for: any rows, or the shape's rows again and again.
enum class PlannedRows { any, repeated };

/// Adds a benchmark of the backend's encoder for the shape. The encoder is planned and checked
/// before the first repetition, and kept for the others. If it is wrong, the benchmark has an error
/// instead of figures.
void add_checked(const std::string& name, const Backend& backend, const TableShape& shape,
                 EncoderBody body, std::vector<Ratio> ratios = {}, Clock clock = Clock::thread,
                 PlannedRows rows = PlannedRows::any);

/// Whether a wrong encoder was found.
bool is_any_encoder_wrong();

}  // namespace posenc::bench
