#include "posenc/version.h"

#include "posenc/support/format.h"
#include "posenc/version_config.h"

#if __has_include(<xsimd/config/xsimd_config.hpp>)
#include <xsimd/config/xsimd_config.hpp>
#endif

namespace posenc {

const char* library_version_text() noexcept { return POSENC_VERSION; }

std::string library_version() { return POSENC_VERSION; }

std::string compiler() {
  const std::string_view id = POSENC_COMPILER_ID;
  const std::string_view name = id == "GNU" ? "g++" : id == "Clang" ? "clang++" : id;
  return format_text("{} {}", name, POSENC_COMPILER_VERSION);
}

std::string xsimd_version() {
#ifdef XSIMD_VERSION_MAJOR
  return format_text("{}.{}.{}", XSIMD_VERSION_MAJOR, XSIMD_VERSION_MINOR, XSIMD_VERSION_PATCH);
#else
  return "none";
#endif
}

}  // namespace posenc
