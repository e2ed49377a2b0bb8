#include "posenc/check/spec_frequencies.h"

#include "posenc/exact/frequency.h"

#include <cmath>
#include <variant>

namespace posenc::check {

double frequency_of(const EncodingSpec& spec, std::int64_t k) noexcept {
  const auto* const linear = std::get_if<LinearScaling>(&spec.frequencies);
  const auto denominator = static_cast<double>(exponent_denominator(spec));
  return std::pow(spec.base, -static_cast<double>(k) / denominator) /
         (linear != nullptr ? linear->factor : 1);
}

EncodingSpec of_odd_width(EncodingSpec spec, std::int64_t width) {
  spec.d_model = width + 1;
  if (spec.spacing == Spacing::paper)
    spec.base = std::pow(spec.base, static_cast<double>(width + 1) / static_cast<double>(width));
  return spec;
}

std::vector<double> frequencies_of(const EncodingSpec& spec) {
  std::vector<double> all;
  if (is_base(spec.frequencies) || std::holds_alternative<LinearScaling>(spec.frequencies)) {
    for (std::int64_t k = 0; k < spec.d_model / 2; ++k) all.push_back(frequency_of(spec, k));
    return all;
  }
  if (const auto* const own = std::get_if<OwnFrequencies>(&spec.frequencies)) return own->values;
  const Frequencies exact(spec);
  for (std::int64_t k = 0; k < exact.count(); ++k) all.push_back(to_radians(exact[k]));
  return all;
}

}  // namespace posenc::check
