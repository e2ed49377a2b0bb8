// Reads the configuration of a text model of a known family. Internal: not installed.
#pragma once

#include "posenc/layers/internal/config_keys.h"
#include "posenc/layers/internal/rotary_families.h"
#include "posenc/layers/rotary_config.h"

#include <string>
#include <string_view>
#include <vector>

namespace posenc {

/// The part of `text` that is that of the family. Appends to its warnings if the options are not
/// strict. Throws InvalidArgument, as read_rotary_config() does.
RotaryReading read_family(const ConfigKeys& config, std::string_view model_type,
                          const RotaryFamily& family, const RotaryConfigOptions& options);

/// The rope-like keys that were not read: an exception, or a warning for each if not strict.
void check_all_read(const ConfigKeys& keys, std::span<const std::string_view> left_out,
                    bool is_strict, std::vector<std::string>& warnings);

}  // namespace posenc
