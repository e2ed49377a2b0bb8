#include "selection.h"

#include <algorithm>

namespace posenc::bench {

std::vector<const Backend*> select_backends(const std::vector<std::string>& names) {
  std::vector<const Backend*> selected;
  for (const std::string& name : names) (void)backend(name);  // throws where it cannot be used
  for (const Backend* candidate : backends()) {
    const auto is_asked_for = [candidate](const std::string& name) {
      return name == candidate->name() || name == candidate->full_name();
    };
    if (candidate->runs_here() && (names.empty() || std::ranges::any_of(names, is_asked_for)))
      selected.push_back(candidate);
  }
  return selected;
}

std::vector<const Backend*> best_isa_only(const std::vector<const Backend*>& backends) {
  std::vector<const Backend*> best;
  for (const Backend* candidate : backends) {
    const auto known = std::ranges::find(best, candidate->name(), &Backend::name);
    if (known == best.end()) {
      best.push_back(candidate);
    } else if (candidate->isa() > (*known)->isa()) {
      *known = candidate;
    }
  }
  return best;
}

std::vector<Preset> select_presets(const std::vector<std::string>& names) {
  std::vector<Preset> selected;
  for (const std::string& name : names) selected.push_back(preset(name));
  return selected;
}

}  // namespace posenc::bench
