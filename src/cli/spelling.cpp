#include "cli/spelling.h"

#include "posenc/presets.h"
#include "posenc/registry.h"

#include <algorithm>

namespace posenc::cli {

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  // One edit per three letters, and at most two: two edits turn a short name into nearly any other.
  const std::size_t most_edits = std::min<std::size_t>(2, given.size() / 3);
  const auto distance = [given](const std::string& name) { return edit_distance(given, name); };
  const auto nearest = std::ranges::min_element(known, {}, distance);
  if (nearest == known.end() || *nearest == given || distance(*nearest) > most_edits) return "";
  return "; did you mean '" + *nearest + "'?";
}

std::vector<std::string> known_backends() {
  std::vector<std::string> names;
  for (const Backend* each : backends()) {
    if (std::ranges::count(names, each->name()) == 0) names.emplace_back(each->name());
    names.push_back(each->full_name());
  }
  return names;
}

std::vector<std::string> known_presets() { return names_of(presets(), &Preset::name); }
std::vector<std::string> known_benchmark_shapes() {
  return names_of(benchmark_shapes(), &Preset::name);
}

}  // namespace posenc::cli
