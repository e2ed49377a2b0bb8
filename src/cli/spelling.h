// Suggestions for mistyped names.
#pragma once

#include "posenc/spec.h"
#include "posenc/support/edit_distance.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::cli {

/// "; did you mean 'rotation'?" for the nearest known name; empty if none is near or the given one
/// is known.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

template <class Range, class NameOf>
std::vector<std::string> names_of(const Range& all, NameOf name_of) {
  std::vector<std::string> names;
  for (const auto& each : all) names.emplace_back(std::invoke(name_of, each));
  return names;
}

/// Names that the library knows; backends as "rotation" and as "rotation:avx2".
std::vector<std::string> known_backends();
std::vector<std::string> known_presets();
std::vector<std::string> known_benchmark_shapes();

/// Calls `find`, and adds a suggestion to its error.
template <class Find>
decltype(auto) with_suggestion(const Find& find, std::string_view name,
                               const std::vector<std::string>& known) {
  try {
    return find();
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(error.what() + did_you_mean(name, known));
  }
}

}  // namespace posenc::cli
