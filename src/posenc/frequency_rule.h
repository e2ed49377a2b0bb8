/// @file
/// The frequencies of an encoding, if they are not simply the frequencies of its base. They are
/// either given, or derived from the base by the rules of long-context models.
///
///     const posenc::EncodingSpec llama_3_1 = {
///         .d_model = 128, .base = 5e5, .frequencies = posenc::Llama3Scaling{}};
///
/// Below, w_k is the frequency of the base (see Spacing), and s is the factor. Every rule yields
/// exactly the real number that its formula states. Only the range of YaRN's indices and the factor
/// of dynamic_ntk_scaling() are rounded to double, and these doubles count as exact. Correctly
/// rounded encoders therefore stay correctly rounded at every position.
#pragma once

#include "posenc/cxx20.h"

#include <cstdint>
#include <variant>
#include <vector>

namespace posenc {

/// The frequencies w_k of the base.
struct BaseFrequencies {
  bool operator==(const BaseFrequencies&) const = default;
};

/// Given frequencies, in radians per position. Each is exactly the double that is given. Base and
/// spacing have no effect.
struct OwnFrequencies {
  /// d_model / 2 values, each 0 or of magnitude 2^-100 to 2^32.
  std::vector<double> values = {};

  bool operator==(const OwnFrequencies&) const = default;
};

/// w_k / s: "position interpolation" (Chen et al., 2023). Position p of a spec with factor s is the
/// real position p / s. With factor 4, for example, positions 0, 1, 2 are the real positions 0,
/// 1/4, 1/2 (see real_positions.h).
struct LinearScaling {
  double factor = 1;  ///< 2^-10 to 2^64

  bool operator==(const LinearScaling&) const = default;
};

/// "NTK-aware" scaling. The base is multiplied by s^(d / (d - 2)), where d = d_model. This divides
/// the lowest frequency by s and keeps the highest. Requires Spacing::paper.
struct NtkScaling {
  double factor = 1;  ///< 1 to 2^20

  bool operator==(const NtkScaling&) const = default;
};

/// "Dynamic NTK": the scaling for a sequence of `rows` rows. The factor is
/// s rows / trained_rows - (s - 1), or 1 if rows <= trained_rows. Throws InvalidArgument unless
/// `factor` is 1 to 2^20 and both numbers of rows are at least 1.
NtkScaling dynamic_ntk_scaling(double factor, std::int64_t trained_rows, std::int64_t rows);

/// YaRN (Peng et al., 2023, "NTK-by-parts"), as Transformers computes it:
///
///     w_k (1 - r) + (w_k / s) r,    r = (k - low) / (high - low), limited to [0, 1]
///
/// low and high are the indices k of the frequencies that make beta_fast and beta_slow turns in
/// trained_rows rows. If `truncate`, low is rounded down and high is rounded up. Requires
/// Spacing::paper.
struct YarnScaling {
  double factor = 1;                 ///< 1 to 2^20
  std::int64_t trained_rows = 4096;  ///< 1 to 2^53
  double beta_fast = 32;             ///< turns, beta_slow to 2^20
  double beta_slow = 1;              ///< turns, 2^-20 to beta_fast
  bool truncate = true;              ///< round low and high to integers
  double attention_factor = 0;       ///< up to 2^20, see attention_factor(); if 0, 0.1 ln s + 1

  bool operator==(const YarnScaling&) const = default;
};

/// The rule of Llama 3.1. With t_k = trained_rows w_k / (2 pi) turns, frequency k is
///
///     w_k                        if t_k >= high_frequency_factor
///     w_k / s                    if t_k <= low_frequency_factor
///     w_k r + (w_k / s) (1 - r)    between, r = (t_k - low) / (high - low)
struct Llama3Scaling {
  double factor = 8;                 ///< 1 to 2^20
  std::int64_t trained_rows = 8192;  ///< 1 to 2^53
  double low_frequency_factor = 1;   ///< turns, 2^-20 to high_frequency_factor
  double high_frequency_factor = 4;  ///< turns, low_frequency_factor to 2^20

  bool operator==(const Llama3Scaling&) const = default;
};

/// w_k / factors[k]: LongRoPE (Ding et al., 2024), with the long or the short factors of a model.
struct LongRopeScaling {
  /// d_model / 2 values, each 2^-10 to 2^20.
  std::vector<double> factors = {};
  /// Up to 2^20, see attention_factor(). For a model that was extended by s, it is
  /// sqrt(1 + ln s / ln trained_rows). 0 means not given, which Rotary refuses.
  double attention_factor = 0;

  bool operator==(const LongRopeScaling&) const = default;
};

/// w_k / s for the first `turned` frequencies, and 0 for the others, whose channels are not
/// rotated. This is the "proportional" rule of Gemma 4.
struct ProportionalScaling {
  double factor = 1;        ///< 2^-10 to 2^64
  std::int64_t turned = 0;  ///< 0 to d_model / 2

  bool operator==(const ProportionalScaling&) const = default;
};

/// Frequencies in turns, each exactly a rational number: frequency k is numerators[k] /
/// denominators[k] of a turn per position. A sine or cosine that equals 0, 1/2 or 1 in magnitude is
/// then exact. Base and spacing have no effect.
///
///     pi 2^j per position (NeRF, Fourier features): 2^j / 2;    2 pi j / n (roots of unity): j / n
struct TurnFrequencies {
  std::vector<std::int64_t> numerators = {};    ///< d_model / 2 values of magnitude up to 2^53
  std::vector<std::int64_t> denominators = {};  ///< d_model / 2 values, each 1 to 2^53

  bool operator==(const TurnFrequencies&) const = default;
};

/// The frequencies of the base, in turns instead of radians, times a rational number: frequency k
/// is w_k numerator / denominator turns per position. DINOv3 and LTX use this rule.
struct BaseTurns {
  std::int64_t numerator = 1;    ///< 1 to 2^53
  std::int64_t denominator = 1;  ///< 1 to 2^53

  bool operator==(const BaseTurns&) const = default;
};

/// Any of the rules.
using FrequencyRule =
    std::variant<BaseFrequencies, OwnFrequencies, LinearScaling, NtkScaling, YarnScaling,
                 Llama3Scaling, LongRopeScaling, ProportionalScaling, TurnFrequencies, BaseTurns>;

/// True if the rule is BaseFrequencies.
inline bool is_base(const FrequencyRule& rule) noexcept {
  return std::holds_alternative<BaseFrequencies>(rule);
}

/// The factor by which Rotary multiplies cosines and sines: 1 unless the rule says otherwise, and 0
/// if the rule requires a factor that has not been given. Encodings apply no factor:
/// Backend::plan() refuses any factor other than 1.
double attention_factor(const FrequencyRule& rule) noexcept;

/// The same rule with an attention factor of 1.
FrequencyRule without_attention_factor(FrequencyRule rule);

}  // namespace posenc
