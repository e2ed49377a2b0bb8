// Converts the layers' options to the kernels' dropout rule. Internal: not installed.
#pragma once

#include "posenc/model/dropout.h"
#include "posenc/simd/dispatch.h"

#include <cstdint>
#include <optional>

namespace posenc {

/// Empty if nothing is dropped: dropout is then the identity, at no cost.
std::optional<simd::DropoutRule> dropout_rule(const Dropout& dropout, bool training,
                                              std::uint64_t seed) noexcept;

}  // namespace posenc
