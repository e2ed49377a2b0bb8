#include "posenc/tuning/internal/float32_ways.h"

#include "posenc/data_type.h"
#include "posenc/exact/float32_functions.h"
#include "posenc/exact/float32_phases.h"
#include "posenc/exact/frequency.h"
#include "posenc/tuning/internal/identify.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <variant>

namespace posenc {
namespace {

float adjusted_float(float value, int adjusted) noexcept {
  if (adjusted == 0) return value;
  return std::nextafter(value, adjusted > 0 ? std::numeric_limits<float>::infinity() : 0.0F);
}

/// float32(base^(k / denominator))
std::vector<float> powers_of_base(const EncodingSpec& spec) {
  const auto denominator = static_cast<float>(exponent_denominator(spec));
  std::vector<float> powers;
  for (std::int64_t k = 0; k < spec.d_model / 2; ++k) {
    powers.push_back(
        nearest_power(static_cast<float>(spec.base), static_cast<float>(k) / denominator));
  }
  return powers;
}

}  // namespace

double Float32Way::phase(std::int64_t k, std::int64_t position, int adjusted) const noexcept {
  const float operand = adjusted_float(operands[static_cast<std::size_t>(k)], adjusted);
  const auto float_position = static_cast<float>(position);
  return to_double(divides ? float_position / operand : float_position * operand);
}

std::vector<Float32Way> float32_ways(const EncodingSpec& spec) {
  std::vector<Float32Way> all;
  if (is_base(spec.frequencies)) {
    all.push_back({.text = spec.spacing == Spacing::paper
                               ? "phases in float32, as PyTorch's tutorial computes them"
                               : "phases in float32, as tensor2tensor and fairseq compute them",
                   .operands = Float32Phases::tutorial(spec).frequencies(),
                   .adjusted_text = "exp"});
  }
  if (has_transformers_rule(spec)) {
    all.push_back({.text = "phases in float32, as Transformers and vLLM compute them",
                   .operands = Float32Phases::transformers(spec).frequencies(),
                   .adjusted_text = "pow"});
  }
  all.push_back({.text = "phases in float32, of frequencies that are rounded once",
                 .operands = once_rounded_frequencies(spec),
                 .adjusted_text = {}});
  if (is_base(spec.frequencies)) {
    all.push_back({.text = "phases in float32: the position divided by a power of the base",
                   .operands = powers_of_base(spec),
                   .divides = true,
                   .adjusted_text = "pow"});
  }
  return all;
}

bool has_transformers_rule(const EncodingSpec& spec) {
  return spec.spacing == Spacing::paper &&
         !std::holds_alternative<OwnFrequencies>(spec.frequencies) &&
         !std::holds_alternative<LongRopeScaling>(spec.frequencies);
}

std::vector<float> once_rounded_frequencies(const EncodingSpec& spec) {
  std::vector<float> all;
  for (const double each : frequencies_of(spec)) all.push_back(static_cast<float>(each));
  return all;
}

}  // namespace posenc
