// What this library is: its version, and what built it.
#pragma once

#include "posenc/export.h"

#include <string>

namespace POSENC_API posenc {

/// Incremented with every change of a kernel's speed or error, which invalidates profiles. Versions
/// of the library with the same revision share a profile.
inline constexpr int kernels_revision = 1;

std::string library_version();  ///< "0.1.0"
std::string compiler();         ///< "g++ 12.2.0"
std::string compiler_flags();   ///< build type and flags of the library
std::string xsimd_version();    ///< "8.1.0"

}  // namespace posenc
