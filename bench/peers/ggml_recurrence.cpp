// ggml_recurrence: as ggml fills its cache for rotary embeddings. The phase of each channel comes
// from that of the channel before,
//
//   theta = position;  cosf(theta), sinf(theta);  theta *= base^(-2 / d)
//
// all in float32, so that every channel inherits the roundings of those before it. With a rule of
// frequencies, ggml divides each phase by a factor of its channel, theta / factor.
#include "peer.h"

namespace posenc::peers {
namespace {

class GgmlRecurrence final : public Encoder {
 public:
  GgmlRecurrence(const EncodingSpec& spec, const Backend& backend)
      : Encoder(spec, backend),
        scale_(static_cast<float>(
            std::pow(spec.base, -1 / static_cast<double>(exponent_denominator(spec))))) {
    EncodingSpec of_base = spec;
    of_base.frequencies = BaseFrequencies{};
    const std::vector<double> w = radians<double>(spec), w_of_base = radians<double>(of_base);
    for (std::int64_t k = 0; k < spec.d_model / 2; ++k) {
      const auto place = static_cast<std::size_t>(k);
      factors_.push_back(static_cast<float>(w_of_base[place] / w[place]));
      const double roundings = 3 + 2 * static_cast<double>(k);
      worst_ = std::max(worst_, std::fabs(w[place]) * roundings);
    }
    if (is_base(spec.frequencies)) factors_.clear();
  }

  /// An ulp of the sine, and 2^-24 of the phase for each rounding: of the position, the factor and
  /// the quotient, and of the scale and the product in each of the k channels before. For the worst
  /// k; a tenth more for what the products of those errors add.
  double error_bound(RowRange rows, DataType) const noexcept override {
    const auto last = static_cast<double>(rows.farthest());
    return std::min(any_error, 0x1p-24 * (1 + 1.1 * last * worst_));
  }

 private:
  void encode_rows(const RowTask& task) const noexcept override {
    for (std::int64_t row = 0; row < task.count; ++row) {
      float* const out = task.row<float>(row);
      float theta = static_cast<float>(task.first + row);
      for (std::int64_t k = 0; k < spec().d_model / 2; ++k) {
        const ChannelPair channel = channels_of(spec(), k);
        const float phase =
            factors_.empty() ? theta : theta / factors_[static_cast<std::size_t>(k)];
        out[channel.sine] = std::sin(phase);
        out[channel.cosine] = std::cos(phase);
        theta *= scale_;
      }
    }
  }

  float scale_;
  std::vector<float> factors_;  ///< empty if the frequencies are the base's
  double worst_ = 0;            ///< of a frequency times its number of roundings
};

}  // namespace

void register_ggml_recurrence() {
  register_peer({"ggml_recurrence", Isa::scalar, "float32, channel from channel",
                 "ggml's rope cache: each phase from the channel before, sinf, cosf",
                 maker<GgmlRecurrence>()});
}

}  // namespace posenc::peers
