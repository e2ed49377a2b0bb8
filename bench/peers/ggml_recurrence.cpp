// ggml_recurrence: as ggml fills its cache for rotary embeddings. The phase of each channel comes
// from that of the channel before,
//
//   theta = position;  cosf(theta), sinf(theta);  theta *= base^(-2 / d)
//
// all in float32, so that every channel inherits the roundings of those before it.
#include "peer.h"

namespace posenc::peers {
namespace {

class GgmlRecurrence final : public Encoder {
 public:
  GgmlRecurrence(const EncodingSpec& spec, const Backend& backend)
      : Encoder(spec, backend),
        scale_(static_cast<float>(
            std::pow(spec.base, -1 / static_cast<double>(exponent_denominator(spec))))) {
    for (std::int64_t k = 0; k < spec.d_model / 2; ++k) {
      const double frequency = std::pow(static_cast<double>(scale_), static_cast<double>(k));
      worst_growth_ = std::max(worst_growth_, frequency * static_cast<double>(k));
    }
  }

  /// An ulp of the sine; the position's rounding; and 2^-24 of the scale's rounding and of the
  /// product's for each of the k channels before: position w_k k 2^-23, for the worst k. A
  /// tenth more for what the products of those errors add.
  double error_bound(RowRange rows, DataType) const noexcept override {
    const double last = static_cast<double>(rows.first + rows.count);
    return std::min(any_error, 0x1p-24 + 1.1 * last * 0x1p-24 * (1 + 2 * worst_growth_));
  }

 private:
  void encode_rows(const RowTask& task) const noexcept override {
    for (std::int64_t row = 0; row < task.count; ++row) {
      float* const out = task.row<float>(row);
      float theta = static_cast<float>(task.first + row);
      for (std::int64_t k = 0; k < spec().d_model / 2; ++k) {
        const ChannelPair channel = channels_of(spec(), k);
        out[channel.sine] = std::sin(theta);
        out[channel.cosine] = std::cos(theta);
        theta *= scale_;
      }
    }
  }

  float scale_;
  double worst_growth_ = 0;  ///< of w_k k over all k
};

}  // namespace

void add_ggml_recurrence(Peers& peers) {
  peers.push_back(std::make_unique<PeerBackend>(
      "ggml_recurrence", Isa::scalar,
      "ggml's rope cache: each phase from the channel before, sinf, cosf",
      [](const EncodingSpec& spec, const Backend& backend) {
        return std::make_unique<GgmlRecurrence>(spec, backend);
      }));
}

}  // namespace posenc::peers
