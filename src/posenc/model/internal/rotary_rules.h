// The frequency rules of configurations. Internal: not installed.
#pragma once

#include "posenc/frequency_rule.h"
#include "posenc/model/internal/config_keys.h"
#include "posenc/model/rotary.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace posenc::detail {

/// A rule without its attention factor, and the factor.
struct RotaryRule {
  FrequencyRule rule = {};
  double attention_factor = 1;
  double base_ratio = 1;  ///< factor of the base
  /// The factor of the softmax's scale in models with latent attention: the square of YaRN's
  /// logarithm, 0.1 mscale_all_dim ln(factor) + 1. The source is DeepSeek's modeling_deepseek.py.
  double softmax_factor = 1;
  model::QueryScaling queries = {};
};

/// The keys that a rule is read from.
struct RuleKeys {
  const ConfigKeys& keys;    ///< keys of the rule
  const ConfigKeys& config;  ///< keys of the text model
  std::int64_t dimension;
  std::optional<std::int64_t> rows;  ///< length of the longest sequence, if given
};

/// The names of the readers of rules.
std::vector<std::string_view> rule_readers();

/// Reads a rule with one of rule_readers(). Marks every key that it uses as read.
RotaryRule read_rule(std::string_view reader, const RuleKeys& from);

}  // namespace posenc::detail
