// The conventions of real systems by name, with the shapes of their usual tables.
//
//   auto encoder = posenc::backend("rotation").plan(posenc::preset("whisper").spec);
#pragma once

#include "posenc/export.h"
#include "posenc/spec.h"

#include <span>
#include <string_view>

namespace POSENC_API posenc {

/// A convention under the name of the system that uses it, with the shape of its usual table.
struct Preset {
  std::string_view name;
  std::string_view description;
  EncodingSpec spec;
  RowRange rows;
};

std::span<const Preset> presets() noexcept;

/// The preset of that name; throws InvalidArgument, listing the known ones, where there is none.
const Preset& preset(std::string_view name);

/// Shapes that are timed beside the presets because no preset has their size. All are of the
/// paper's convention, and no system's: they are no presets.
std::span<const Preset> benchmark_shapes() noexcept;

/// The preset or the benchmark shape of that name; throws InvalidArgument, listing both, where
/// there is none.
const Preset& preset_or_benchmark_shape(std::string_view name);

}  // namespace posenc
