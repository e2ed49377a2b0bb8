// The version of this library, its compiler and its vector library.
#pragma once

#include "posenc/export.h"

#include <string>

namespace POSENC_API posenc {

/// Incremented whenever the speed or the error of a kernel changes, because a profile is valid only
/// for the kernels that it measured. Library versions with the same kernels share a profile.
inline constexpr int kernels_revision = 4;

std::string library_version();  ///< "0.1.0"
std::string compiler();         ///< "g++ 12.2.0"
std::string compiler_flags();   ///< build type and flags of the library
std::string xsimd_version();    ///< "8.1.0"

}  // namespace posenc
