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

constexpr auto system_names =
    enum_names<System>("system", "tutorial", "transformers", "vllm_bfloat16", "ggml");
static_assert(system_names.names.size() == std::size(all_systems));

class ParityEncoder final : public Encoder {
 public:
  ParityEncoder(const EncodingSpec& spec, const Backend& backend, Float32Phases phases)
      : Encoder(spec, backend),
        phases_(std::move(phases)),
        error_per_position_(phases_.error_per_position(spec)) {}

  /// The roundings of the entry to float32, and from there to a narrower type, and the error of the
  /// phase.
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
        phases_.for_each(task.first + row, [&](std::int64_t k, float phase) {
          const ChannelPair channel = channels_of(spec(), k);
          out[channel.sine] = nearest<T>(to_double(nearest_sine(phase)));
          out[channel.cosine] = nearest<T>(to_double(nearest_cosine(phase)));
        });
      }
    });
  }

  Float32Phases phases_;
  double error_per_position_;
};

class ParityBackend final : public Backend {
 public:
  /// `rules` are names of rules of frequencies.
  ParityBackend(System system, std::vector<std::string_view> rules,
                Float32Phases (*phases_of)(const EncodingSpec& spec))
      : system_(system), rules_(std::move(rules)), phases_of_(phases_of) {}

  std::string_view name() const noexcept override { return to_string(system_); }
  std::string_view description() const noexcept override { return "phases as that system's"; }
  Isa isa() const noexcept override { return Isa::portable; }
  bool supports(DataType type) const noexcept override {
    return system_ != System::vllm_bfloat16 || type == DataType::bfloat16;
  }
  bool can_be_picked() const noexcept override { return false; }

 private:
  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    if (spec.spacing != Spacing::paper)
      throw_invalid("spacing is {}; allowed like {}: paper", to_string(spec.spacing), name());
    const std::string_view rule = rule_names[spec.frequencies.index()];
    if (std::ranges::count(rules_, rule) == 0)
      throw_invalid("frequencies is {}; allowed like {}: {}", rule, name(), join(rules_, ", "));
    return std::make_unique<ParityEncoder>(spec, *this, phases_of_(spec));
  }

  System system_;
  std::vector<std::string_view> rules_;
  Float32Phases (*phases_of_)(const EncodingSpec& spec);
};

}  // namespace

std::string_view to_string(System system) noexcept { return system_names[system]; }

System parse_system(std::string_view name) { return system_names.parse(name); }

std::unique_ptr<const Encoder> plan_like(System system, const EncodingSpec& spec) {
  static const ParityBackend backends[] = {
      {System::tutorial, {"base"}, Float32Phases::tutorial},
      {System::transformers,
       {"base", "linear", "ntk", "yarn", "llama3"},
       Float32Phases::transformers},
      {System::vllm_bfloat16, {"base", "llama3"}, Float32Phases::transformers},
      {System::ggml, {"base", "linear"}, Float32Phases::ggml}};
  system_names.check(system);
  return backends[static_cast<std::size_t>(system)].plan(spec);
}

}  // namespace posenc::suite
