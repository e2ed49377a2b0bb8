// Other libraries and methods behind the Backend interface, so that they appear in every table
// beside the library's own backends. They are not part of posenc and are never picked.
#pragma once

#include <span>
#include <string_view>

namespace posenc::peers {

/// Adds every peer of this build to the registry, once: further calls do nothing.
void register_peers();

/// Peers that this build is without.
struct MissingPeers {
  std::string_view names;   ///< "sleef_u10, sleef_u35, sleef_f64"
  std::string_view reason;  ///< "SLEEF was not found when this was built (Debian: libsleef-dev)"
};

std::span<const MissingPeers> missing_peers();

}  // namespace posenc::peers
