// The kernels of this library, in one word. Internal: not installed.
#pragma once

#include <string_view>

namespace posenc::detail {

/// A digest of the sources of the kernels. A profile is valid only for the kernels that it
/// measured. kernels_digest.cmake writes the definition at every build.
std::string_view kernels_digest() noexcept;

}  // namespace posenc::detail
