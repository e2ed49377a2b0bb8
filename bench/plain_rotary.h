// Rotary embeddings as programs write them without this library: what `rotate` in bench_layers.cpp
// compares with. Heads are of shape (rows, heads, dimension); channel k turns with k + dimension/2.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace posenc::bench {

class PlainRotary {
 public:
  /// With a cache of all rows, as Transformers fills it: frequency, phase and values in float32.
  /// Without one, as ggml does: cosines and sines of a row are computed when it is turned, for all
  /// its heads, each phase in float32 from that of the channel before.
  PlainRotary(std::int64_t rows, std::int64_t heads, std::int64_t dimension, bool has_cache)
      : rows_(rows), heads_(heads), d_(dimension), has_cache_(has_cache) {
    angles_.resize(static_cast<std::size_t>((has_cache ? rows : 1) * dimension));
    for (std::int64_t row = 0; has_cache && row < rows; ++row) {
      for (std::int64_t k = 0; k < d_ / 2; ++k) {
        const float exponent = static_cast<float>(2 * k) / static_cast<float>(d_);
        set(angles_.data() + row * d_, k, static_cast<float>(row) * (1 / std::pow(base, exponent)));
      }
    }
  }

  void turn(float* x) {
    const std::int64_t pairs = d_ / 2;
    const float scale = std::pow(base, -2.0f / static_cast<float>(d_));
    for (std::int64_t row = 0; row < rows_; ++row) {
      float* const angles = angles_.data() + (has_cache_ ? row * d_ : 0);
      float theta = static_cast<float>(row);
      for (std::int64_t k = 0; !has_cache_ && k < pairs; ++k, theta *= scale) set(angles, k, theta);
      for (std::int64_t head = 0; head < heads_; ++head, x += d_) {
        for (std::int64_t k = 0; k < pairs; ++k) {
          const float a = x[k], b = x[pairs + k], cosine = angles[k], sine = angles[pairs + k];
          x[k] = a * cosine - b * sine;
          x[pairs + k] = b * cosine + a * sine;
        }
      }
    }
  }

 private:
  static constexpr float base = 10000;

  /// Cosines, then sines.
  void set(float* angles, std::int64_t k, float phase) const {
    angles[k] = std::cos(phase);
    angles[d_ / 2 + k] = std::sin(phase);
  }

  std::int64_t rows_, heads_, d_;
  bool has_cache_;
  std::vector<float> angles_;
};

}  // namespace posenc::bench
