#include "posenc/check/columns.h"

#include "posenc/exact/frequency.h"

#include <cmath>
#include <utility>
#include <variant>

namespace posenc::check {
inline namespace internals {

using namespace model;
using namespace suite;

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

std::optional<EncodingSpec> spec_for(const EncodingSpec& wanted, Arrangement arrangement,
                                     std::int64_t columns) {
  const std::int64_t d_model = 2 * frequencies_in(arrangement, columns);
  EncodingSpec spec = wanted;
  if (spec.d_model == 0 && has_half_a_pair(arrangement, columns))
    spec = of_odd_width(spec, columns);
  else if (spec.d_model == 0)
    spec.d_model = d_model;
  return d_model > 0 && spec.d_model == d_model ? std::optional(spec) : std::nullopt;
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

FrequencyRule divided(const EncodingSpec& spec, double denominator) {
  if (denominator == 1) return spec.frequencies;
  if (is_base(spec.frequencies)) return LinearScaling{denominator};
  if (const auto* const linear = std::get_if<LinearScaling>(&spec.frequencies))
    return LinearScaling{linear->factor * denominator};
  std::vector<double> values = frequencies_of(spec);
  for (double& each : values) each /= denominator;
  return OwnFrequencies{std::move(values)};
}

std::vector<TablePair> pairs_of_table(const TableIdentity& is, std::int64_t columns) {
  std::vector<TablePair> all;
  if (!is.axes) {
    const std::vector<double> frequencies = frequencies_of(is.spec);
    for (std::int64_t k = 0; k < frequencies_in(is.arrangement, columns); ++k)
      all.push_back({0, 0, k, k, frequencies[static_cast<std::size_t>(k)],
                     pair_columns(is.arrangement, columns, k)});
    return all;
  }
  const AxesSpec& spec = is.axes->spec;
  std::vector<std::vector<double>> frequencies;  // of each part
  for (const AxisPairs& part : spec.parts) frequencies.push_back(frequencies_of(part.spec));
  for (const AxisPair& pair : pairs_of(spec)) {
    const PairColumns of_part = {{pair.channels.sine, pair.channels.cosine}, {false, true}};
    all.push_back(
        {pair.part, spec.parts[pair.part].axis, pair.k, pair.place,
         frequencies[pair.part][static_cast<std::size_t>(pair.k)],
         spec.parts_have_layouts ? of_part : pair_columns(is.arrangement, columns, pair.place)});
  }
  return all;
}

double allowed_error(DataType type, double factor, double phase) noexcept {
  const double ulp = 2 * half_ulp_of_one(type) * std::exp2(std::ceil(std::log2(factor)));
  return ulp + factor * std::min(16 * 0x1p-53 * (std::fabs(phase) + 1), 0x1p-10);
}

}  // namespace internals
}  // namespace posenc::check
