#include "posenc/suite/parity.h"

#include "posenc/backend.h"
#include "posenc/exact/float32_functions.h"
#include "posenc/exact/float32_phases.h"
#include "posenc/simd/row_task.h"
#include "posenc/support/enum_names.h"
#include "posenc/support/format.h"
#include "posenc/support/frequency_parameters.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace posenc::suite {
namespace {

constexpr auto system_names = enum_names<System>("system", "tutorial", "transformers");
static_assert(system_names.names.size() == std::size(all_systems));

class ParityEncoder final : public Encoder {
 public:
  ParityEncoder(const EncodingSpec& spec, const Backend& backend, std::vector<float> frequencies)
      : Encoder(spec, backend),
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

 private:
  void encode_rows(const RowTask& task) const noexcept override {
    with_type(task.type, [&]<class T>(T) {
      for (std::int64_t row = 0; row < task.count; ++row) {
        T* const out = task.row<T>(row);
        const auto position = static_cast<float>(task.first + row);
        for (std::int64_t k = 0; k < std::ssize(frequencies_); ++k) {
          const float phase = position * frequencies_[static_cast<std::size_t>(k)];
          const ChannelPair channel = channels_of(spec(), k);
          out[channel.sine] = nearest<T>(to_double(nearest_sine(phase)));
          out[channel.cosine] = nearest<T>(to_double(nearest_cosine(phase)));
        }
      }
    });
  }

  std::vector<float> frequencies_;
  double error_per_position_;
};

class ParityBackend final : public Backend {
 public:
  /// `rules` are names of rules of frequencies.
  ParityBackend(System system, std::vector<std::string_view> rules,
                std::vector<float> (*frequencies_of)(const EncodingSpec& spec))
      : system_(system), rules_(std::move(rules)), frequencies_of_(frequencies_of) {}

  std::string_view name() const noexcept override { return to_string(system_); }
  std::string_view description() const noexcept override { return "phases as that system's"; }
  Isa isa() const noexcept override { return Isa::portable; }
  bool can_be_picked() const noexcept override { return false; }

 private:
  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    if (spec.spacing != Spacing::paper)
      throw_invalid("spacing is {}; allowed like {}: paper", to_string(spec.spacing), name());
    const std::string_view rule = rule_names[spec.frequencies.index()];
    if (std::ranges::count(rules_, rule) == 0)
      throw_invalid("frequencies is {}; allowed like {}: {}", rule, name(), join(rules_, ", "));
    return std::make_unique<ParityEncoder>(spec, *this, frequencies_of_(spec));
  }

  System system_;
  std::vector<std::string_view> rules_;
  std::vector<float> (*frequencies_of_)(const EncodingSpec& spec);
};

}  // namespace

std::string_view to_string(System system) noexcept { return system_names[system]; }

System parse_system(std::string_view name) { return system_names.parse(name); }

std::unique_ptr<const Encoder> plan_like(System system, const EncodingSpec& spec) {
  static const auto& backends =
      *new std::array<ParityBackend, 2>{{{System::tutorial, {"base"}, tutorial_frequencies},
                                         {System::transformers,
                                          {"base", "linear", "ntk", "yarn", "llama3"},
                                          transformers_frequencies}}};
  system_names.check(system);
  return backends[static_cast<std::size_t>(system)].plan(spec);
}

}  // namespace posenc::suite
