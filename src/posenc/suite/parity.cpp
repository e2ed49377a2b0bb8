#include "posenc/suite/parity.h"

#include "posenc/backend.h"
#include "posenc/encoder.h"
#include "posenc/exact/float32_functions.h"
#include "posenc/exact/float32_phases.h"
#include "posenc/simd/row_task.h"
#include "posenc/support/enum_names.h"
#include "posenc/support/format.h"
#include "posenc/support/frequency_parameters.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace posenc::suite {
namespace {

constexpr auto system_names =
    enum_names<System>("system", "tutorial", "transformers", "vllm_bfloat16", "ggml");
static_assert(system_names.names.size() == std::size(all_systems));

/// Of a system, in the order of System.
struct Convention {
  std::vector<std::string_view> rules;  ///< of frequencies, by their names
  Float32Phases (*phases)(const EncodingSpec& spec);
};

const Convention& convention_of(System system) {
  static const Convention all[] = {
      {{"base"}, Float32Phases::tutorial},
      {{"base", "linear", "ntk", "yarn", "llama3"}, Float32Phases::transformers},
      {{"base", "llama3"}, Float32Phases::transformers},
      {{"base", "linear"}, Float32Phases::ggml},
  };
  return all[static_cast<std::size_t>(system)];
}

void check_spec(System system, const EncodingSpec& spec) {
  if (spec.spacing != Spacing::paper) {
    throw InvalidArgument(format_text("spacing is {}; allowed like {}: paper",
                                      to_string(spec.spacing), to_string(system)));
  }
  const std::string_view rule = rule_names[spec.frequencies.index()];
  const std::vector<std::string_view>& allowed = convention_of(system).rules;
  if (std::ranges::count(allowed, rule) > 0) return;
  throw InvalidArgument(format_text("frequencies is {}; allowed like {}: {}", rule,
                                    to_string(system), join(allowed, ", ")));
}

class ParityEncoder final : public Encoder {
 public:
  ParityEncoder(System system, const EncodingSpec& spec, const Backend& backend)
      : Encoder(spec, backend),
        phases_(convention_of(system).phases(spec)),
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
  explicit ParityBackend(System system) : system_(system) {}

  std::string_view name() const noexcept override { return to_string(system_); }
  std::string_view description() const noexcept override { return "phases as that system's"; }
  Isa isa() const noexcept override { return Isa::scalar; }
  bool supports(DataType type) const noexcept override {
    return system_ != System::vllm_bfloat16 || type == DataType::bfloat16;
  }
  bool can_be_picked() const noexcept override { return false; }

 private:
  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    check_spec(system_, spec);
    return std::make_unique<ParityEncoder>(system_, spec, *this);
  }

  System system_;
};

}  // namespace

std::string_view to_string(System system) noexcept { return system_names[system]; }

System parse_system(std::string_view name) { return system_names.parse(name); }

std::unique_ptr<const Encoder> plan_like(System system, const EncodingSpec& spec) {
  static const std::array<ParityBackend, std::size(all_systems)> backends = {
      ParityBackend(System::tutorial), ParityBackend(System::transformers),
      ParityBackend(System::vllm_bfloat16), ParityBackend(System::ggml)};
  system_names.check(system);
  return backends[static_cast<std::size_t>(system)].plan(spec);
}

}  // namespace posenc::suite
