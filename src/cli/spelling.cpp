#include "cli/spelling.h"

#include "posenc/presets.h"
#include "posenc/registry.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace posenc::cli {
namespace {

/// One edit per three letters, and at most two: two edits turn a short name into nearly any other.
std::size_t most_edits(std::string_view given) {
  return std::min<std::size_t>(2, given.size() / 3);
}

std::vector<std::string> names_of(std::span<const Preset> named) {
  std::vector<std::string> names;
  for (const Preset& each : named) names.emplace_back(each.name);
  return names;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // The last three rows of the matrix of distances between prefixes.
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(now.begin(), now.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, now);
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) now[j] = std::min(now[j], before_last[j - 2] + 1);
    }
  }
  return now[b.size()];
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  const auto distance = [given](const std::string& name) { return edit_distance(given, name); };
  const auto nearest = std::ranges::min_element(known, {}, distance);
  if (nearest == known.end() || *nearest == given || distance(*nearest) > most_edits(given)) {
    return "";
  }
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

std::vector<std::string> known_presets() { return names_of(presets()); }
std::vector<std::string> known_benchmark_shapes() { return names_of(benchmark_shapes()); }

}  // namespace posenc::cli
