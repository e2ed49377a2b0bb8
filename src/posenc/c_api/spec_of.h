// Specs of the C interface and their rules of frequencies, as those of the library.
#pragma once

#include "posenc/c_api.h"
#include "posenc/c_api/call.h"
#include "posenc/frequency_rule.h"
#include "posenc/spec.h"

#include <cstddef>
#include <vector>

namespace POSENC_API posenc {
namespace internal {

inline std::vector<double> values_of(const posenc_frequencies& from) {
  if (from.count < 0 || from.count > max_d_model) {
    throw InvalidArgument(
        format_text("frequencies.count is {}; allowed: 0 to {}", from.count, max_d_model));
  }
  if (from.count == 0) return {};
  const double* const first = &checked(from.values, "frequencies.values");
  return {first, first + from.count};
}

inline FrequencyRule rule_of(const posenc_frequencies* frequencies) {
  if (frequencies == nullptr) return {};
  const posenc_frequencies& from = *frequencies;
  switch (from.rule) {
    case POSENC_BASE_FREQUENCIES: return {};
    case POSENC_OWN_FREQUENCIES: return OwnFrequencies{values_of(from)};
    case POSENC_LINEAR_SCALING: return LinearScaling{from.factor};
    case POSENC_NTK_SCALING: return NtkScaling{from.factor};
    case POSENC_YARN_SCALING:
      return YarnScaling{from.factor, from.trained_rows,  from.high,
                         from.low,    from.truncate != 0, from.attention_factor};
    case POSENC_LLAMA3_SCALING:
      return Llama3Scaling{from.factor, from.trained_rows, from.low, from.high};
    case POSENC_LONGROPE_SCALING: return LongRopeScaling{values_of(from), from.attention_factor};
    default: break;
  }
  throw InvalidArgument(format_text("frequencies.rule is {}; allowed: 0 to {}", from.rule,
                                    static_cast<int>(POSENC_LONGROPE_SCALING)));
}

inline EncodingSpec spec_of(const posenc_spec* spec) {
  const posenc_spec& from = checked(spec, "spec");
  return {from.d_model, from.base, static_cast<Layout>(from.layout),
          static_cast<Spacing>(from.spacing), rule_of(from.frequencies)};
}

/// With the defaults of the library.
inline posenc_frequencies default_frequencies(std::int32_t rule) noexcept {
  const YarnScaling yarn;
  const Llama3Scaling llama3;
  const LongRopeScaling longrope;
  switch (rule) {
    case POSENC_YARN_SCALING:
      return {rule,
              yarn.truncate,
              yarn.factor,
              yarn.trained_rows,
              yarn.beta_slow,
              yarn.beta_fast,
              yarn.attention_factor,
              nullptr,
              0};
    case POSENC_LLAMA3_SCALING:
      return {rule,
              0,
              llama3.factor,
              llama3.trained_rows,
              llama3.low_frequency_factor,
              llama3.high_frequency_factor,
              0,
              nullptr,
              0};
    case POSENC_LONGROPE_SCALING:
      return {rule, 0, 1, 1, 0, 0, longrope.attention_factor, nullptr, 0};
    default: return {rule, 0, 1, 1, 0, 0, 0, nullptr, 0};
  }
}

}  // namespace internal
}  // namespace posenc
