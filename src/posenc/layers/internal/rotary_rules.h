// The rule of frequencies of a configuration. Internal: not installed.
#pragma once

#include "posenc/frequency_rule.h"
#include "posenc/layers/internal/config_keys.h"
#include "posenc/layers/internal/rotary_families.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc {

/// A rule without its attention factor, and the factor.
struct RotaryRule {
  FrequencyRule rule = {};
  double attention_factor = 1;
  double base_ratio = 1;  ///< what the base is multiplied by
};

/// What a rule depends on beside its own keys.
struct RuleContext {
  const ConfigKeys& config;  ///< of the text model
  std::string_view model_type;
  const RotaryFamily& family;
  std::int64_t dimension;
  std::optional<std::int64_t> rows;  ///< of the longest sequence, if given
};

/// The bit of a name in RuleSet; 0 if it is not one.
unsigned rule_bit(std::string_view name);
/// "default, dynamic".
std::string rule_names_of(unsigned rules);

/// The rule of that bit. Every key that it has is marked as read.
RotaryRule read_rule(unsigned kind, const ConfigKeys& keys, const RuleContext& context);

}  // namespace posenc
