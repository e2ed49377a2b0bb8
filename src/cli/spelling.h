// Suggestions for mistyped names.
#pragma once

#include "posenc/support/edit_distance.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::cli {

using Names = std::vector<std::string>;

template <class Range, class NameOf>
Names names_of(const Range& all, NameOf name_of) {
  Names names;
  for (const auto& each : all) names.emplace_back(std::invoke(name_of, each));
  return names;
}

/// "; did you mean 'rotation'?" for the nearest known name; empty if none is near or the given one
/// is known.
inline std::string did_you_mean(std::string_view given, const Names& known) {
  // One edit per three letters, and at most two: two edits turn a short name into nearly any other.
  const std::size_t most_edits = std::min<std::size_t>(2, given.size() / 3);
  const auto distance = [given](const std::string& name) { return edit_distance(given, name); };
  const auto nearest = std::ranges::min_element(known, {}, distance);
  if (nearest == known.end() || *nearest == given || distance(*nearest) > most_edits) return "";
  return "; did you mean '" + *nearest + "'?";
}

}  // namespace posenc::cli
