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
  EncodingSpec spec;             ///< what it encodes
  RowRange rows;                 ///< of its usual table; the first position is a part of it
};

/// All of them, in the order of lists.
std::span<const Preset> presets() noexcept;

/// The preset of that name. Throws InvalidArgument, listing the known names, if there is none.
const Preset& preset(std::string_view name);

}  // namespace posenc
