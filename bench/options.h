// Options that several benchmark binaries have, and what they select.
#pragma once

#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace posenc::bench {

/// Empty lists allow everything.
struct BackendChoice {
  std::vector<std::string> names;  ///< "rotation" for each ISA, "rotation:avx2" for one
  std::vector<std::string> isas;   ///< "avx2"
};

/// Refuses all other values of the option.
void allow_only(CLI::Option& option, const std::vector<std::string>& names);

/// The option --threads, which may be repeated.
void add_threads_option(CLI::App& app, std::vector<int>& threads, const std::string& by_default);

/// The options --backend and --isa, which may be repeated.
void add_backend_options(CLI::App& app, BackendChoice& choice);

/// The backends chosen, of those that run here. Throws InvalidArgument if a name or an ISA is
/// unknown or does not run here, or if no backend is left.
std::vector<const Backend*> select_backends(const BackendChoice& choice);

/// Of each method, the backend of the best ISA.
std::vector<const Backend*> best_isa_only(const std::vector<const Backend*>& backends);

/// The presets and benchmark shapes of those names; throws InvalidArgument if one is unknown.
std::vector<Preset> select_presets(const std::vector<std::string>& names);

}  // namespace posenc::bench
