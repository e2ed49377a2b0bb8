#include "posenc/exact/float32_phases.h"

#include "posenc/data_type.h"
#include "posenc/exact/float32_functions.h"
#include "posenc/exact/frequency.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace posenc::detail {
namespace {

constexpr double two_pi = 6.283185307179586;

/// The frequencies of Transformers' modeling_rope_utils.py. Where a Python scalar meets a tensor,
/// the scalar becomes a float32. `scalar / tensor` is computed as the scalar times the reciprocal
/// of the tensor.
///
/// frequency.cpp has these formulas, too, but the code cannot be shared. Here the operations are
/// the operations of that source, in the same order, on wavelengths. There they work on turns,
/// scaled to be below 1.
class TransformersRules {
 public:
  explicit TransformersRules(const EncodingSpec& spec) : spec_(spec) {}

  std::vector<float> operator()(const BaseFrequencies&) const {
    return reciprocals(powers(spec_.base));
  }

  std::vector<float> operator()(const LinearScaling& linear) const {
    std::vector<float> all = (*this)(BaseFrequencies{});
    for (float& each : all) each /= static_cast<float>(linear.factor);
    return all;
  }

  std::vector<float> operator()(const NtkScaling& ntk) const {
    if (spec_.d_model == 2) return {1.0F};  // base^0
    const auto dimension = static_cast<double>(spec_.d_model);
    return reciprocals(powers(spec_.base * std::pow(ntk.factor, dimension / (dimension - 2))));
  }

  std::vector<float> operator()(const YarnScaling& yarn) const {
    std::vector<float> all = powers(spec_.base);
    const auto [low, high] = yarn_range(spec_, yarn);
    const auto factor = static_cast<float>(yarn.factor), first = static_cast<float>(low),
               width = static_cast<float>(high - low);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const float ramp = std::clamp((static_cast<float>(k) - first) / width, 0.0F, 1.0F);
      const float share = 1 - ramp;
      all[k] = 1 / (factor * all[k]) * (1 - share) + 1 / all[k] * share;
    }
    return all;
  }

  std::vector<float> operator()(const Llama3Scaling& llama3) const {
    const auto rows = static_cast<double>(llama3.trained_rows);
    const auto longest = static_cast<float>(rows / llama3.low_frequency_factor),
               shortest = static_cast<float>(rows / llama3.high_frequency_factor);
    const auto factor = static_cast<float>(llama3.factor),
               low = static_cast<float>(llama3.low_frequency_factor),
               width =
                   static_cast<float>(llama3.high_frequency_factor - llama3.low_frequency_factor);
    std::vector<float> all = (*this)(BaseFrequencies{});
    for (float& each : all) {
      const float wavelength = 1 / each * static_cast<float>(two_pi);
      if (wavelength > longest) {
        each /= factor;
      } else if (!(wavelength < shortest)) {
        const float smooth = (1 / wavelength * static_cast<float>(rows) - low) / width;
        each = (1 - smooth) * each / factor + smooth * each;
      }
    }
    return all;
  }

  /// Rules that the caller refuses.
  template <class Rule>
  std::vector<float> operator()(const Rule&) const {
    return {};
  }

 private:
  /// base^(2k / d)
  std::vector<float> powers(double base) const {
    const auto dimension = static_cast<float>(spec_.d_model);
    std::vector<float> all;
    for (std::int64_t k = 0; k < spec_.d_model / 2; ++k)
      all.push_back(nearest_power(static_cast<float>(base), static_cast<float>(2 * k) / dimension));
    return all;
  }

  static std::vector<float> reciprocals(std::vector<float> all) {
    for (float& each : all) each = 1 / each;
    return all;
  }

  const EncodingSpec& spec_;
};

}  // namespace

std::vector<float> nearest_floats(const Frequencies& exact) {
  std::vector<float> frequencies;
  for (std::int64_t k = 0; k < exact.count(); ++k)
    frequencies.push_back(static_cast<float>(to_radians(exact[k])));
  return frequencies;
}

std::vector<float> tutorial_frequencies(const EncodingSpec& spec) {
  if (!is_base(spec.frequencies)) return nearest_floats(Frequencies(spec));
  std::vector<float> frequencies;
  // PyTorch computes the scalar in double and rounds it to float32 before it multiplies a float32
  // tensor by it.
  const bool paper = spec.spacing == Spacing::paper;
  const double denominator = static_cast<double>(paper ? spec.d_model : exponent_denominator(spec));
  const auto step = static_cast<float>(-std::log(spec.base) / denominator);
  for (std::int64_t k = 0; k < spec.d_model / 2; ++k)
    frequencies.push_back(nearest_exp(static_cast<float>(paper ? 2 * k : k) * step));
  return frequencies;
}

std::vector<float> transformers_frequencies(const EncodingSpec& spec) {
  return std::visit(TransformersRules(spec), spec.frequencies);
}

double error_per_position(const std::vector<float>& frequencies, const EncodingSpec& spec) {
  const Frequencies exact(spec);
  double largest = 0;
  for (std::int64_t k = 0; k < exact.count(); ++k) {
    const double frequency = to_double(frequencies[static_cast<std::size_t>(k)]);
    // Both the position and the product are rounded.
    const double of_roundings = frequency * std::expm1(2 * 0x1p-24);
    const double error = std::remainder(frequency - to_radians(exact[k]), two_pi);
    largest = std::max(largest, std::fabs(error) + of_roundings);
  }
  return 1.001 * largest;  // covers the roundings of this computation
}

}  // namespace posenc::detail
