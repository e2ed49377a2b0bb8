// Which of the known names a mistyped one was meant to be.
#pragma once

#include "posenc/spec.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::cli {

/// Letters to insert, drop, replace, or swap with their neighbours to make one word of the other
/// (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// "; did you mean 'rotation'?" of the nearest name, or nothing if none is near, or the given one
/// is known.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

/// The names that the library knows: "rotation" and "rotation:avx2"; those of the presets, and of
/// the shapes of benchmarks.
std::vector<std::string> known_backends();
std::vector<std::string> known_presets();
std::vector<std::string> known_benchmark_shapes();

/// What `find` returns. If it refuses the name, the error says which name was meant.
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
