// Which axis each pair of channels belongs to, in models with positions on several axes. Internal:
// not installed.
#pragma once

#include "posenc/axes.h"
#include "posenc/layers/internal/config_keys.h"
#include "posenc/layers/internal/rotary_families.h"
#include "posenc/spec.h"

namespace posenc {

/// The angles of the spec on the axes that the rule's sections say; on one axis if the family has
/// none.
AxesSpec read_axes(const EncodingSpec& spec, const RotaryFamily& family, const ConfigKeys& config,
                   const ConfigKeys& rule);

}  // namespace posenc
