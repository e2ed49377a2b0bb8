// Phases in float32, rounded as widely used systems round them: what the backend div_term and
// encodings like those systems' (parity.h) start from, and what a check of a table recognises.
//
// Every operation is one of IEEE's float32, in the order of the system's source. A C library's
// expf or powf may be off by an ulp, and each library by another one; here they are correctly
// rounded (float32_functions.h).
#pragma once

#include "posenc/spec.h"
#include "posenc/support/detail.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace posenc::detail {

/// The phases of one spec, as one system computes them.
class Float32Phases {
 public:
  /// PyTorch's Transformer tutorial: exp(2k * (-ln base / d)), times the position. An inclusive
  /// spacing has tensor2tensor's exponent, k * (-ln base / (d / 2 - 1)); with a rule of
  /// frequencies, the frequency is the exact one modulo 2 pi, rounded.
  static Float32Phases tutorial(const EncodingSpec& spec);

  /// Transformers' rotary embeddings: 1 / base^(2k / d), changed by the spec's rule, times the
  /// position. The rule is not OwnFrequencies or LongRopeScaling, the spacing is paper.
  static Float32Phases transformers(const EncodingSpec& spec);

  /// ggml's rope cache: position * theta_scale^k by repeated products, theta_scale = base^(-2 / d),
  /// times 1 / factor of linear scaling. No other rule; the spacing is paper.
  static Float32Phases ggml(const EncodingSpec& spec);

  /// Calls use(k, phase) for every frequency, in ascending order.
  template <class Use>
  void for_each(std::int64_t position, const Use& use) const {
    float theta = static_cast<float>(position);
    for (std::int64_t k = 0; k < count_; ++k) {
      if (!step_) {
        use(k, theta * frequencies_[static_cast<std::size_t>(k)]);
        continue;
      }
      use(k, scale_ * theta);
      theta *= *step_;
    }
  }

  /// One of them. Takes k steps of a recurrence.
  float at(std::int64_t k, std::int64_t position) const noexcept {
    float theta = static_cast<float>(position);
    if (!step_) return theta * frequencies_[static_cast<std::size_t>(k)];
    for (; k > 0; --k) theta *= *step_;
    return scale_ * theta;
  }

  std::int64_t count() const noexcept { return count_; }
  /// Those of phases that are products; empty for a recurrence.
  const std::vector<float>& frequencies() const noexcept { return frequencies_; }

  /// A bound of |phase - exact phase| / position, at every position.
  double error_per_position(const EncodingSpec& spec) const;

 private:
  explicit Float32Phases(std::vector<float> frequencies);
  Float32Phases(std::int64_t count, float step, float scale);

  std::int64_t count_;
  std::vector<float> frequencies_;  ///< empty if the phases are those of a recurrence
  std::optional<float> step_;
  float scale_ = 1;
};

}  // namespace posenc::detail
