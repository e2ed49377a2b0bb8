// The cache of a rotary embedding as tensors of a file.
#pragma once

#include "cli/options.h"
#include "cli/table_file.h"

#include "posenc/model/rotary.h"

#include <memory>
#include <vector>

namespace posenc::cli {

/// One tensor of cosines and sines, or one of each. Throws InvalidArgument if --repeat is given
/// with one of both.
std::vector<Tensor> rotary_tensors(const std::shared_ptr<const Rotary>& rotary,
                                   const RotaryOptions& options, int threads);

}  // namespace posenc::cli
