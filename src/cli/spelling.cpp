#include "cli/spelling.h"

#include "posenc/presets.h"
#include "posenc/registry.h"

#include <algorithm>

namespace posenc::cli {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Of the first i characters of a from the first j of b.
  std::vector distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& now = distance[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      const std::size_t replaced = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, replaced});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) now = std::min(now, distance[i - 2][j - 2] + 1);
    }
  }
  return distance.back().back();
}

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
