// Other libraries behind the Backend interface, so that they appear in every table
// beside the library's own backends. They are not part of posenc and are never picked.
#pragma once

namespace posenc::peers {

/// Adds every peer of this build to the registry. Further calls do nothing.
void register_peers();

}  // namespace posenc::peers
