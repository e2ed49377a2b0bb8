// From the layers' options to what the kernels take. Internal: not installed.
#pragma once

#include "posenc/layers/dropout.h"
#include "posenc/simd/dispatch.h"

#include <cstdint>
#include <optional>

namespace posenc {

/// Nothing if nothing is dropped: identity then, and no cost.
std::optional<simd::DropoutRule> dropout_rule(const Dropout& dropout, bool training,
                                              std::uint64_t seed) noexcept;

}  // namespace posenc
