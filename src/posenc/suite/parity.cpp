#include "posenc/suite/parity.h"

#include "posenc/backend.h"
#include "posenc/exact/float32_functions.h"
#include "posenc/exact/float32_phases.h"
#include "posenc/support/enum_names.h"
#include "posenc/support/format.h"
#include "posenc/support/frequency_parameters.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace posenc::suite {
namespace {

constexpr auto system_names = enum_names<System>("system", "tutorial", "transformers");
static_assert(system_names.names.size() == std::size(all_systems));

class ParityWriter final : public RowWriter {
 public:
  ParityWriter(const EncodingSpec& spec, std::vector<float> frequencies)
      : layout_(spec),
        frequencies_(std::move(frequencies)),
        error_per_position_(error_per_position(frequencies_, spec)) {}

  /// The sum of three errors: rounding to float32, rounding from there to a narrower type, and the
  /// error of the phase.
  double error_bound(RowRange rows, DataType type) const noexcept override {
    const double narrowing = size_of(type) == 2 ? half_ulp_of_one(type) : 0;
    const double last = static_cast<double>(rows.farthest());
    return std::min(2.0,
                    narrowing + half_ulp_of_one(DataType::float32) + last * error_per_position_);
  }

  void write(const OutputRows& rows) const noexcept override {
    with_type(rows.type, [&]<class T>(T) {
      for (std::int64_t row = 0; row < rows.count; ++row) {
        T* const out = rows.row<T>(row);
        const auto position = static_cast<float>(rows.first + row);
        for (std::int64_t k = 0; k < std::ssize(frequencies_); ++k) {
          const float phase = position * frequencies_[static_cast<std::size_t>(k)];
          const ChannelPair channel = channels_of(layout_, k);
          out[channel.sine] = nearest<T>(to_double(nearest_sine(phase)));
          out[channel.cosine] = nearest<T>(to_double(nearest_cosine(phase)));
        }
      }
    });
  }

 private:
  RowLayout layout_;
  std::vector<float> frequencies_;
  double error_per_position_;
};

/// The backend of a system, which has these rules of frequencies.
Backend* parity_backend(System system, std::vector<std::string_view> rules,
                        std::vector<float> (*frequencies_of)(const EncodingSpec& spec)) {
  const std::string_view name = to_string(system);
  return new Backend({.name = std::string(name),
                      .description = "phases as in that system",
                      .can_be_picked = false,
                      .make_writer = [=](const EncodingSpec& spec) {
                        if (spec.spacing != Spacing::paper)
                          throw_invalid("spacing is {}; allowed for system {}: paper",
                                        to_string(spec.spacing), name);
                        const std::string_view rule = rule_names[spec.frequencies.index()];
                        if (std::ranges::count(rules, rule) == 0)
                          throw_invalid("frequencies is {}; allowed for system {}: {}", rule, name,
                                        join(rules, ", "));
                        return std::make_unique<const ParityWriter>(spec, frequencies_of(spec));
                      }});
}

}  // namespace

std::string_view to_string(System system) noexcept { return system_names[system]; }

System parse_system(std::string_view name) { return system_names.parse(name); }

std::unique_ptr<const Encoder> plan_like(System system, const EncodingSpec& spec) {
  // Never destroyed: programs may encode while they exit.
  static const Backend* const backends[] = {
      parity_backend(System::tutorial, {"base"}, tutorial_frequencies),
      parity_backend(System::transformers, {"base", "linear", "ntk", "yarn", "llama3"},
                     transformers_frequencies)};
  system_names.check(system);
  return backends[static_cast<std::size_t>(system)]->plan(spec);
}

}  // namespace posenc::suite
