// The frequency rules of configurations. Internal: not installed.
#pragma once

#include "posenc/frequency_rule.h"
#include "posenc/model/internal/config_keys.h"
#include "posenc/model/rotary.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace posenc::detail {

/// A rule without its attention factor, and the factor.
struct RotaryRule {
  FrequencyRule rule = {};
  double attention_factor = 1;
  double base_ratio = 1;  ///< factor of the base
  model::QueryScaling queries = {};
};

/// Reads a rule. Each function marks every key that it uses as read.
struct RuleReader {
  const ConfigKeys& keys;    ///< keys of the rule
  const ConfigKeys& config;  ///< keys of the text model
  std::int64_t dimension;
  std::optional<std::int64_t> rows;  ///< length of the longest sequence, if given

  RotaryRule none() const;
  RotaryRule alpha() const;
  RotaryRule alpha_or_dynamic() const;
  RotaryRule dynamic() const;
  RotaryRule linear() const;
  RotaryRule llama3() const;
  RotaryRule longrope() const;
  RotaryRule longrope_of_phi3() const;
  RotaryRule longrope_of_phimoe() const;
  RotaryRule ntk() const;
  RotaryRule proportional() const;
  RotaryRule rope_ratio() const;
  RotaryRule steps() const;
  RotaryRule unsettled() const;
  RotaryRule yarn() const;
  RotaryRule yarn_with_factor_1() const;
  RotaryRule yarn_with_scaled_queries() const;

  /// The factor of the softmax's scale in models with latent attention: the square of YaRN's
  /// logarithm, 0.1 mscale_all_dim ln(factor) + 1. The source is DeepSeek's modeling_deepseek.py.
  double softmax_factor() const;

 private:
  double needed_real(std::string_view key) const;
  std::optional<double> nonzero(std::string_view key) const;
  std::optional<std::int64_t> most_rows() const;
  std::optional<std::int64_t> trained_rows() const;
  RotaryRule yarn_with(double factor_of_attention) const;
  double yarn_logarithm(double scale) const;
  bool is_long() const;
};

}  // namespace posenc::detail
