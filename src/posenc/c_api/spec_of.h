// Specs of the C interface, their rules of frequencies, and accuracies, as those of the library.
#pragma once

#include "posenc/c_api.h"
#include "posenc/c_api/call.h"
#include "posenc/frequency_rule.h"
#include "posenc/selection.h"
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

/// A rule of the library for C. Its lists are those of `rule`, which must outlive it.
inline posenc_frequencies frequencies_of(const FrequencyRule& rule) noexcept {
  posenc_frequencies to = {static_cast<std::int32_t>(rule.index()), 0, 1, 1, 0, 0, 0, nullptr, 0};
  const auto set_values = [&to](const std::vector<double>& values) {
    to.values = values.empty() ? nullptr : values.data();
    to.count = static_cast<std::int64_t>(values.size());
  };
  if (const auto* const own = std::get_if<OwnFrequencies>(&rule)) {
    set_values(own->values);
  } else if (const auto* const linear = std::get_if<LinearScaling>(&rule)) {
    to.factor = linear->factor;
  } else if (const auto* const ntk = std::get_if<NtkScaling>(&rule)) {
    to.factor = ntk->factor;
  } else if (const auto* const yarn = std::get_if<YarnScaling>(&rule)) {
    to.truncate = yarn->truncate;
    to.factor = yarn->factor;
    to.trained_rows = yarn->trained_rows;
    to.low = yarn->beta_slow;
    to.high = yarn->beta_fast;
    to.attention_factor = yarn->attention_factor;
  } else if (const auto* const llama3 = std::get_if<Llama3Scaling>(&rule)) {
    to.factor = llama3->factor;
    to.trained_rows = llama3->trained_rows;
    to.low = llama3->low_frequency_factor;
    to.high = llama3->high_frequency_factor;
  } else if (const auto* const longrope = std::get_if<LongRopeScaling>(&rule)) {
    to.attention_factor = longrope->attention_factor;
    set_values(longrope->factors);
  }
  return to;
}

/// With the defaults of the library.
inline posenc_frequencies default_frequencies(std::int32_t rule) noexcept {
  FrequencyRule with_defaults;
  if (rule == POSENC_YARN_SCALING) with_defaults = YarnScaling{};
  if (rule == POSENC_LLAMA3_SCALING) with_defaults = Llama3Scaling{};
  if (rule == POSENC_LONGROPE_SCALING) with_defaults = LongRopeScaling{};
  posenc_frequencies to = frequencies_of(with_defaults);
  to.rule = rule;
  return to;
}

inline Accuracy accuracy_of(const posenc_accuracy* accuracy) {
  if (accuracy == nullptr) return {};
  check_reserved(accuracy->reserved);
  switch (enumerator("measure", accuracy->measure, Accuracy::Measure::ulp)) {
    case Accuracy::Measure::absolute: return Accuracy::within(accuracy->most);
    case Accuracy::Measure::ulp: return Accuracy::within_ulp(accuracy->most);
    case Accuracy::Measure::correctly_rounded: break;
  }
  return {};
}

}  // namespace internal
}  // namespace posenc
