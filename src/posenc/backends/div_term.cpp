// div_term: the float32 formula of PyTorch's Transformer tutorial, value for value.
//
// Method  div_term = exp(arange(0, d, 2) * (-log(base) / d)); sin and cos(position * div_term)
// Error   2.4e-7 times the position, or 6e-7 times with a rule of frequencies, at most 2
// Range   every position; the error makes entries useless at large ones
// Cost    std::sin and std::cos of float for each pair of entries
//
// Frequency, position and product are each rounded to float32, which decides the error. Phases are
// computed by exact/float32_phases.h. suite/parity.h has correctly rounded sines of these phases.
//
// Source: PyTorch's Transformer tutorial; tensor2tensor's get_timing_signal_1d.
#include "posenc/backends/backends.h"
#include "posenc/exact/float32_phases.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace posenc::detail {
namespace {

class DivTermWriter final : public RowWriter {
 public:
  DivTermWriter(const EncodingSpec& spec, const std::shared_ptr<const Frequencies>& given)
      : layout_(spec),
        has_rule_(!is_base(spec.frequencies)),
        frequencies_(given != nullptr ? nearest_floats(*given) : tutorial_frequencies(spec)) {}

  /// The sum of three errors. The last rounding adds half an ulp of 1 of a type narrower than
  /// float32. The sine adds one float32 ulp below 1, 2^-24: half for its rounding, half for its
  /// method. The rest comes from the phase. Position and product each have a relative error of
  /// 2^-24. The frequency w has a relative error of 2^-24 from its rounding and of 2 * 2^-24 |ln w|
  /// from its rounded exponent. For w <= 1, w (3 + 2 |ln w|) is below 4. With a rule of
  /// frequencies, w is rounded once and is at most pi, so that 3 w is below 10.
  double error_bound(RowRange rows, DataType type) const noexcept override {
    const double last = static_cast<double>(rows.farthest());
    const double narrowing = size_of(type) == 2 ? half_ulp_of_one(type) : 0;
    return narrowing + 0x1p-24 + std::min(2.0, last * (has_rule_ ? 10 : 4) * 0x1p-24);
  }

  void write(const OutputRows& rows) const noexcept override {
    with_type(rows.type, [&]<class T>(T) { write_rows<T>(rows); });
  }

 private:
  /// Other types hold the converted float32 values, as PyTorch's `.to(dtype)` gives them.
  template <class T>
  void write_rows(const OutputRows& task) const noexcept {
    for (std::int64_t row = 0; row < task.count; ++row) {
      T* const out = task.row<T>(row);
      const auto position = static_cast<float>(task.first + row);
      for (std::int64_t k = 0; k < std::ssize(frequencies_); ++k) {
        const float phase = position * frequencies_[static_cast<std::size_t>(k)];
        const ChannelPair channel = channels_of(layout_, k);
        out[channel.sine] = nearest<T>(to_double(std::sin(phase)));
        out[channel.cosine] = nearest<T>(to_double(std::cos(phase)));
      }
    }
  }

  RowLayout layout_;
  bool has_rule_;
  std::vector<float> frequencies_;
};

}  // namespace

void add_div_term(BackendList& all) {
  add_portable_method<DivTermWriter>(
      all, {.name = "div_term",
            .description = "the tutorial's exp/log formula, all in float32",
            .phases = "float32"});
}

}  // namespace posenc::detail
