/// @file
/// Named conventions of real systems, with the shapes of their usual tables.
///
///     auto encoder = posenc::backend("rotation").plan(posenc::preset("whisper").spec);
#pragma once

#include "posenc/spec.h"

#include <span>
#include <string_view>

namespace posenc {

/// The convention of one system.
struct Preset {
  std::string_view name;         ///< "whisper"
  std::string_view description;  ///< one line, for lists
  EncodingSpec spec;             ///< the spec of its tables
  /// The rows of its usual table. The first position belongs to the convention.
  RowRange rows;
};

/// All presets, in the order in which lists show them.
std::span<const Preset> presets() noexcept;

/// The preset of that name. Throws InvalidArgument, listing the known names, if there is none.
const Preset& preset(std::string_view name);

}  // namespace posenc
