// Reads the configuration of a text model, as its line in the table of model types says. Internal:
// not installed.
#pragma once

#include "posenc/model/internal/config_keys.h"
#include "posenc/model/internal/model_types.h"
#include "posenc/model/rotary_config.h"

#include <string>
#include <string_view>
#include <vector>

namespace posenc {

/// Appends to the warnings of the result if the options are not strict. Throws InvalidArgument, as
/// read_rotary_config() does.
RotaryReading read_model(const ConfigKeys& config, std::string_view model_type,
                         const ModelType& type, const RotaryConfigOptions& options);

/// The rope-like keys that were not read: an exception, or a warning for each if not strict.
void check_all_read(const ConfigKeys& keys, bool leaves_parts_out, bool is_strict,
                    std::vector<std::string>& warnings);

}  // namespace posenc
