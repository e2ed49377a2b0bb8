// Reads a configuration, as its line in the table of model types says. Internal: not installed.
#pragma once

#include "posenc/model/internal/config_keys.h"
#include "posenc/model/rotary_config.h"

namespace posenc::detail {

/// Reads a configuration, or the one of the text model in it. Throws InvalidArgument, as
/// read_rotary_config() does.
RotaryReading read_model(const ConfigJson& config, const RotaryConfigOptions& options);

}  // namespace posenc::detail
