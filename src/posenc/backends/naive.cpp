// naive: the formula as it is written, the baseline that other backends are compared with.
//
// Method  std::pow, std::sin and std::cos in double for every element, rounded once
// Error   half an ulp of 1, and 4 * 2^-53 times the position (with a rule: 16 * 2^-53 times)
// Range   every position; the error grows with it
// Cost    std::pow and a division for each frequency and row, and std::sin and std::cos
//
// The error is that of the rounded phase. With a rule of frequencies, the frequency in double,
// modulo 2 pi, replaces std::pow. Source: "Attention Is All You Need", section 3.5.
#include "posenc/backends/backends.h"
#include "posenc/exact/frequency.h"
#include "posenc/simd/row_task.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>
#include <vector>

namespace posenc {
namespace {

class NaiveEncoder final : public Encoder {
 public:
  NaiveEncoder(const EncodingSpec& spec, const Backend& backend) : Encoder(spec, backend) {
    if (std::holds_alternative<BaseFrequencies>(spec.frequencies)) return;
    const Frequencies exact(spec);
    for (std::int64_t k = 0; k < exact.count(); ++k) frequencies_.push_back(to_radians(exact[k]));
  }

  /// Half an ulp of 1 for the rounding, 2^-52 for the sine, and the error of the phase. The
  /// relative errors of pow and of the quotient are 2^-52 and 2^-53, and the rounding of the
  /// exponent x adds 2^-53 x ln base. The largest w |ln w| over all frequencies w is 1 / e, so that
  /// the error of the phase is below pos * 4 * 2^-53. With a rule, a frequency is at most pi, and
  /// it and the product have relative errors of 4 * 2^-53 and 2^-53.
  double error_bound(RowRange rows, DataType type) const noexcept override {
    const double last = static_cast<double>(rows.farthest());
    const double of_phase = last * (frequencies_.empty() ? 4 : 16) * 0x1p-53;
    return std::min(2.0, half_ulp_of_one(type) + 0x1p-52 + of_phase);
  }

 private:
  void encode_rows(const RowTask& task) const noexcept override {
    with_type(task.type, [&]<class T>(T) { write_rows<T>(task); });
  }

  template <class T>
  void write_rows(const RowTask& task) const noexcept {
    const std::int64_t frequencies = spec().d_model / 2;
    for (std::int64_t row = 0; row < task.count; ++row) {
      T* const out = task.row<T>(row);
      const auto position = static_cast<double>(task.first + row);
      for (std::int64_t k = 0; k < frequencies; ++k) {
        const double phase = phase_of(position, k);
        const ChannelPair channel = channels_of(spec(), k);
        out[channel.sine] = nearest<T>(std::sin(phase));
        out[channel.cosine] = nearest<T>(std::cos(phase));
      }
    }
  }

  double phase_of(double position, std::int64_t k) const noexcept {
    if (!frequencies_.empty()) return position * frequencies_[static_cast<std::size_t>(k)];
    const auto denominator = static_cast<double>(exponent_denominator(spec()));
    return position / std::pow(spec().base, static_cast<double>(k) / denominator);
  }

  std::vector<double> frequencies_;  ///< empty if they are the base's
};

class NaiveBackend final : public Backend {
 public:
  std::string_view name() const noexcept override { return "naive"; }
  std::string_view description() const noexcept override {
    return "std::pow, std::sin, std::cos in double, rounded once";
  }
  std::string_view phases() const noexcept override { return "double"; }
  Isa isa() const noexcept override { return Isa::scalar; }

 private:
  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    return std::make_unique<NaiveEncoder>(spec, *this);
  }
};

}  // namespace

void add_naive(BackendList& all) { all.push_back(std::make_unique<NaiveBackend>()); }

}  // namespace posenc
