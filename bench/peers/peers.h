// Other libraries behind the Backend interface, so that they appear in every table
// beside the library's own backends. They are not part of posenc and are never picked.
#pragma once

#include <string_view>

namespace posenc::peers {

/// Adds every peer of this build to the registry. Further calls do nothing.
void register_peers();

/// Peers that this build lacks, and where they come from: "libmvec_f32 (a part of glibc)". Empty if
/// no peer is missing.
std::string_view missing_peers();

}  // namespace posenc::peers
