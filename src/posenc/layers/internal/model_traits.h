// What a model type has that the other fields of its family do not say. Internal: not installed.
#pragma once

#include "posenc/frequency_rule.h"
#include "posenc/layers/internal/config_keys.h"
#include "posenc/layers/internal/rotary_families.h"
#include "posenc/layers/rotary_config.h"

#include <optional>
#include <string>
#include <vector>

namespace posenc {

/// Parts of a family, which keys of the configuration may have changed.
struct ModelTraits {
  RotaryLayout channels;
  std::vector<LayerKind> kinds;
  std::string unturned;
  double base_ratio = 1;                   ///< what the base is multiplied by
  std::optional<FrequencyRule> rule = {};  ///< instead of that of the configuration
};

ModelTraits read_traits(const RotaryFamily& family, const ConfigKeys& config,
                        const RotaryConfigOptions& options);

}  // namespace posenc
