// Which backends and presets a benchmark binary runs, from its command line.
#pragma once

#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace posenc::bench {

struct BackendChoice {
  std::vector<std::string> names;  ///< "rotation" for each ISA, "rotation:avx2" for one; none: every backend
  std::vector<std::string> isas;   ///< none: every ISA
};

/// The options --backend and --isa, which may be repeated.
void add_backend_options(CLI::App& app, BackendChoice& choice);

/// The backends chosen, of those that run here. Throws InvalidArgument where a name or an ISA is unknown or does not run here, or where
/// no backend is left.
std::vector<const Backend*> select_backends(const BackendChoice& choice);

/// Of each method, the backend of the best ISA.
std::vector<const Backend*> best_isa_only(const std::vector<const Backend*>& backends);

/// The presets and benchmark shapes of those names; throws InvalidArgument where one is unknown.
std::vector<Preset> select_presets(const std::vector<std::string>& names);

}  // namespace posenc::bench
