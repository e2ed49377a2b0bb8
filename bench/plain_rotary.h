// Rotary embeddings as programs write them without this library: what `rotate` in bench_layers.cpp
// compares with. Heads are of shape (rows, heads, dimension); channel k turns with k + dimension/2.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace posenc::bench {

struct HeadsShape {
  std::int64_t rows, heads, dimension;

  std::int64_t pairs() const { return dimension / 2; }
};

/// Turns one head by the cosines and sines of its row.
inline void turn_head(float* head, const float* cosines, const float* sines, std::int64_t pairs) {
  for (std::int64_t k = 0; k < pairs; ++k) {
    const float a = head[k], b = head[pairs + k];
    head[k] = a * cosines[k] - b * sines[k];
    head[pairs + k] = b * cosines[k] + a * sines[k];
  }
}

/// A cache of all rows and a plain loop. The cache is that of Transformers: frequency, phase and
/// values in float32.
class PlainRotary {
 public:
  PlainRotary(const HeadsShape& shape, float base) : shape_(shape) {
    const auto entries = static_cast<std::size_t>(shape.rows * shape.pairs());
    cosines_.reserve(entries);
    sines_.reserve(entries);
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t k = 0; k < shape.pairs(); ++k) {
        const float exponent = static_cast<float>(2 * k) / static_cast<float>(shape.dimension);
        const float phase = static_cast<float>(row) * (1 / std::pow(base, exponent));
        cosines_.push_back(std::cos(phase));
        sines_.push_back(std::sin(phase));
      }
    }
  }

  void turn(float* x) const {
    const std::int64_t pairs = shape_.pairs();
    for (std::int64_t row = 0; row < shape_.rows; ++row) {
      for (std::int64_t head = 0; head < shape_.heads; ++head, x += shape_.dimension)
        turn_head(x, cosines_.data() + row * pairs, sines_.data() + row * pairs, pairs);
    }
  }

 private:
  HeadsShape shape_;
  std::vector<float> cosines_, sines_;
};

/// As ggml does: cosines and sines of a row are computed when it is turned, for all its heads, each
/// phase in float32 from that of the channel before.
class GgmlRotary {
 public:
  GgmlRotary(const HeadsShape& shape, float base)
      : shape_(shape),
        scale_(std::pow(base, -2.0f / static_cast<float>(shape.dimension))),
        cosines_(static_cast<std::size_t>(shape.pairs())),
        sines_(cosines_.size()) {}

  void turn(float* x) {
    for (std::int64_t row = 0; row < shape_.rows; ++row) {
      float theta = static_cast<float>(row);
      for (std::size_t k = 0; k < cosines_.size(); ++k, theta *= scale_) {
        cosines_[k] = std::cos(theta);
        sines_[k] = std::sin(theta);
      }
      for (std::int64_t head = 0; head < shape_.heads; ++head, x += shape_.dimension)
        turn_head(x, cosines_.data(), sines_.data(), shape_.pairs());
    }
  }

 private:
  HeadsShape shape_;
  float scale_;
  std::vector<float> cosines_, sines_;
};

}  // namespace posenc::bench
