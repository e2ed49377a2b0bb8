// The rule of frequencies of a configuration. Internal: not installed.
#pragma once

#include "posenc/frequency_rule.h"
#include "posenc/model/internal/config_keys.h"
#include "posenc/model/internal/model_types.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace posenc::detail {

/// A rule without its attention factor, and the factor.
struct RotaryRule {
  FrequencyRule rule = {};
  double attention_factor = 1;
  double base_ratio = 1;  ///< what the base is multiplied by
  std::string note = {};  ///< what the model does beside
};

/// What a rule depends on beside its own keys.
struct RuleContext {
  const ConfigKeys& config;  ///< of the text model
  const ModelType& kind;
  std::int64_t dimension;
  std::optional<std::int64_t> rows;  ///< of the longest sequence, if given
};

/// The rule of that name. Every key that it has is marked as read.
RotaryRule read_rule(std::string_view name, const ConfigKeys& keys, const RuleContext& context);

}  // namespace posenc::detail
