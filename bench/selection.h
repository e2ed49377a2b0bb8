// Which backends and presets a benchmark binary runs, from its command line.
#pragma once

#include "posenc/registry.h"
#include "posenc/spec.h"

#include <string>
#include <vector>

namespace posenc::bench {

/// Every backend that runs here, or those of the names asked for: "rotation" for each ISA that runs here, "rotation:avx2" for
/// one. Throws InvalidArgument where a name is unknown or does not run here.
std::vector<const Backend*> select_backends(const std::vector<std::string>& names);

/// Of each method, the backend of the best ISA.
std::vector<const Backend*> best_isa_only(const std::vector<const Backend*>& backends);

/// The presets of those names; throws InvalidArgument where one is unknown.
std::vector<Preset> select_presets(const std::vector<std::string>& names);

}  // namespace posenc::bench
