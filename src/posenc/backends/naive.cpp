// naive: the formula as a competent person writes it. It is the baseline of every comparison.
//
// Method  frequencies once by std::pow; std::sin and std::cos of each phase in double, rounded once
// Error   half an ulp of 1, and 4 * 2^-53 times the position (with a rule: 16 * 2^-53 times)
// Range   every position; the error grows with it
// Cost    a product, std::sin and std::cos for each pair of entries
//
// The rounded phase decides the error. With a rule, frequencies are computed exactly, and rounded
// to double modulo 2 pi with a relative error of 4 * 2^-53.
//
// Source: "Attention Is All You Need", section 3.5.
#include "posenc/backends/backends.h"
#include "posenc/exact/frequency.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace posenc::detail {
namespace {

class NaiveWriter final : public RowWriter {
 public:
  NaiveWriter(const EncodingSpec& spec, const std::shared_ptr<const Frequencies>& given)
      : layout_(spec), has_rule_(!is_base(spec.frequencies)), frequencies_(spec.d_model / 2) {
    if (has_rule_) {
      const auto exact = given != nullptr ? given : shared_frequencies(spec);
      for (std::int64_t k = 0; k < exact->count(); ++k) frequencies_[k] = to_radians((*exact)[k]);
    } else {
      const auto denominator = static_cast<double>(exponent_denominator(spec));
      for (std::int64_t k = 0; k < spec.d_model / 2; ++k)
        frequencies_[k] = std::pow(spec.base, -static_cast<double>(k) / denominator);
    }
  }

  /// Half an ulp of 1 for the rounding, 2^-52 for the sine, and the error of the phase. The
  /// relative errors of pow and of the product are 2^-52 and 2^-53, and the rounding of the
  /// exponent adds 2^-53 |ln w|. For w <= 1, w (3 + |ln w|) is at most 3. With a rule, a frequency
  /// is at most pi, and it and the product have relative errors of 4 * 2^-53 and 2^-53.
  double error_bound(RowRange rows, DataType type) const noexcept override {
    const double last = static_cast<double>(rows.farthest());
    const double of_phase = last * (has_rule_ ? 16 : 4) * 0x1p-53;
    return std::min(2.0, half_ulp_of_one(type) + 0x1p-52 + of_phase);
  }

  void write(const OutputRows& rows) const noexcept override {
    with_type(rows.type, [&]<class T>(T) { write_rows<T>(rows); });
  }

 private:
  template <class T>
  void write_rows(const OutputRows& task) const noexcept {
    for (std::int64_t row = 0; row < task.count; ++row) {
      T* const out = task.row<T>(row);
      const auto position = static_cast<double>(task.first + row);
      for (std::int64_t k = 0; k < layout_.frequencies(); ++k) {
        const double phase = position * frequencies_[k];
        const ChannelPair channel = channels_of(layout_, k);
        out[channel.sine] = nearest<T>(std::sin(phase));
        out[channel.cosine] = nearest<T>(std::cos(phase));
      }
    }
  }

  RowLayout layout_;
  bool has_rule_;
  std::vector<double> frequencies_;
};

}  // namespace

void add_naive(BackendList& all) {
  add_portable_method<NaiveWriter>(all,
                                   {.name = "naive",
                                    .description = "std::sin and std::cos in double, rounded once",
                                    .phases = "double"});
}

}  // namespace posenc::detail
