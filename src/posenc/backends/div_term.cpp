// div_term: the float32 formula of PyTorch's Transformer tutorial, value for value.
//
// Method  div_term = exp(arange(0, d, 2) * (-log(base) / d)); sin and cos(position * div_term)
// Error   2.4e-7 times the position, or 6e-7 times with a rule of frequencies, at most 2
// Range   every position; the error makes entries useless at large ones
// Cost    std::sin and std::cos of float for each pair of entries
//
// The roundings of frequency, position and product to float32 decide the error. If the spacing is
// inclusive, the formula is the same with tensor2tensor's log_timescale_increment. With a rule of
// frequencies, div_term is the frequency modulo 2 pi, rounded to float32.
//
// Source: PyTorch's Transformer tutorial; tensor2tensor's get_timing_signal_1d.
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

class DivTermEncoder final : public Encoder {
 public:
  DivTermEncoder(const EncodingSpec& spec, const Backend& backend) : Encoder(spec, backend) {
    const std::int64_t frequencies = spec.d_model / 2;
    div_term_.reserve(static_cast<std::size_t>(frequencies));
    if (has_rule()) {
      const Frequencies exact(spec);
      for (std::int64_t k = 0; k < frequencies; ++k) {
        div_term_.push_back(static_cast<float>(to_radians(exact[k])));
      }
      return;
    }
    // As PyTorch multiplies a float32 tensor by a Python float: the scalar is computed in double
    // and rounded to float32 before the product.
    const bool paper = spec.spacing == Spacing::paper;
    const double denominator =
        static_cast<double>(paper ? spec.d_model : exponent_denominator(spec));
    const auto step = static_cast<float>(-std::log(spec.base) / denominator);
    for (std::int64_t k = 0; k < frequencies; ++k) {
      div_term_.push_back(std::exp(static_cast<float>(paper ? 2 * k : k) * step));
    }
  }

  /// The sum of three errors. The last rounding adds half an ulp of 1 of a type narrower than
  /// float32. The sine adds one float32 ulp below 1, 2^-24: half of it for its rounding, half for
  /// its method. The phase has the rest: position and product have a relative error of 2^-24 each,
  /// and the frequency w has one of 2 * 2^-24 for std::exp and of 2 * 2^-24 |ln w| for its rounded
  /// exponent. For w <= 1, w (4 + 2 |ln w|) is at most 4, at w = 1. With a rule of frequencies, w
  /// is rounded once and at most pi, and 3 w is below 10.
  double error_bound(RowRange rows, DataType type) const noexcept override {
    const double last = static_cast<double>(rows.farthest());
    const double narrowing = size_of(type) == 2 ? half_ulp_of_one(type) : 0;
    return narrowing + 0x1p-24 + std::min(2.0, last * (has_rule() ? 10 : 4) * 0x1p-24);
  }

 private:
  bool has_rule() const noexcept {
    return !std::holds_alternative<BaseFrequencies>(spec().frequencies);
  }

  void encode_rows(const RowTask& task) const noexcept override {
    with_type(task.type, [&]<class T>(T) { write_rows<T>(task); });
  }

  /// Other types hold the converted float32 values, as PyTorch's `.to(dtype)` gives them.
  template <class T>
  void write_rows(const RowTask& task) const noexcept {
    for (std::int64_t row = 0; row < task.count; ++row) {
      T* const out = task.row<T>(row);
      const auto position = static_cast<float>(task.first + row);
      for (std::int64_t k = 0; k < static_cast<std::int64_t>(div_term_.size()); ++k) {
        const float phase = position * div_term_[static_cast<std::size_t>(k)];
        const ChannelPair channel = channels_of(spec(), k);
        out[channel.sine] = nearest<T>(to_double(std::sin(phase)));
        out[channel.cosine] = nearest<T>(to_double(std::cos(phase)));
      }
    }
  }

  std::vector<float> div_term_;
};

class DivTermBackend final : public Backend {
 public:
  std::string_view name() const noexcept override { return "div_term"; }
  std::string_view description() const noexcept override {
    return "the tutorial's exp/log formula, all in float32";
  }
  Isa isa() const noexcept override { return Isa::scalar; }

 private:
  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    return std::make_unique<DivTermEncoder>(spec, *this);
  }
};

}  // namespace

void add_div_term(BackendList& all) { all.push_back(std::make_unique<DivTermBackend>()); }

}  // namespace posenc
