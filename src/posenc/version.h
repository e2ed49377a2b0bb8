/// @file
/// The version of this library, its compiler and its vector library.
#pragma once

#include "posenc/cxx20.h"

#include <string>
#include <string_view>

/// The version of these headers, for the preprocessor: 10000 major + 100 minor + patch.
#define POSENC_VERSION_NUMBER 200

namespace posenc {

std::string library_version();                ///< "0.2.0"
const char* library_version_text() noexcept;  ///< the same text in static memory
std::string compiler();                       ///< "g++ 12.2.0"
std::string xsimd_version();                  ///< "8.1.0"

}  // namespace posenc
