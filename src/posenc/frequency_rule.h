/// @file
/// Which frequencies an encoding has, if not those of its base alone: given ones, or the base's,
/// changed as models with a long context change them.
///
///     const posenc::EncodingSpec llama_3_1 = {
///         .d_model = 128, .base = 5e5, .frequencies = posenc::Llama3Scaling{}};
///
/// Below, w_k is the frequency of the base (see Spacing), and s the factor. Every rule gives the
/// real number that its formula says, of which nothing is rounded: encoders that are correctly
/// rounded stay so, at every position.
#pragma once

#include "posenc/cxx20.h"

#include <cstdint>
#include <variant>
#include <vector>

namespace posenc {

/// w_k.
struct BaseFrequencies {
  bool operator==(const BaseFrequencies&) const = default;
};

/// Given frequencies, in radians per position, each exactly the double that is given. Base and
/// spacing have no effect.
struct OwnFrequencies {
  /// d_model / 2 of them, each 0 or of magnitude 2^-100 to 2^32.
  std::vector<double> values = {};

  bool operator==(const OwnFrequencies&) const = default;
};

/// w_k / s: "position interpolation" (Chen et al., 2023). Position p of a spec with factor s is the
/// real position p / s: with factor 4, positions 0, 1, 2 are 0, 1/4, 1/2 (real_positions.h).
struct LinearScaling {
  double factor = 1;  ///< 2^-10 to 2^64

  bool operator==(const LinearScaling&) const = default;
};

/// The base becomes base s^(d / (d - 2)), d = d_model: "NTK-aware" scaling, which divides the
/// lowest frequency by s and keeps the highest. Spacing::paper only.
struct NtkScaling {
  double factor = 1;  ///< 1 to 2^20

  bool operator==(const NtkScaling&) const = default;
};

/// "Dynamic NTK": the factor for a sequence of `rows` rows, s rows / trained_rows - (s - 1), or 1
/// if rows <= trained_rows. Throws InvalidArgument if factor (1 to 2^20) or a number of rows (at
/// least 1) is not allowed.
NtkScaling dynamic_ntk_scaling(double factor, std::int64_t trained_rows, std::int64_t rows);

/// YaRN (Peng et al., 2023, "NTK-by-parts"), as Transformers computes it:
///
///     w_k (1 - r) + (w_k / s) r,    r = (k - low) / (high - low), limited to [0, 1]
///
/// low and high are the k of the frequencies that turn beta_fast and beta_slow times in
/// trained_rows rows, rounded down and up if `truncate`. Spacing::paper only.
struct YarnScaling {
  double factor = 1;                 ///< 1 to 2^20
  std::int64_t trained_rows = 4096;  ///< 1 to 2^53
  double beta_fast = 32;             ///< turns: beta_slow to 2^20
  double beta_slow = 1;              ///< turns: 2^-20 to beta_fast
  bool truncate = true;              ///< low and high are integers
  double attention_factor = 0;       ///< up to 2^20, see attention_factor(); if 0, 0.1 ln s + 1

  bool operator==(const YarnScaling&) const = default;
};

/// Llama 3.1's: with t_k = trained_rows w_k / (2 pi) turns,
///
///     w_k                        if t_k >= high_frequency_factor
///     w_k / s                    if t_k <= low_frequency_factor
///     w_k r + (w_k / s) (1 - r)    between, r = (t_k - low) / (high - low)
struct Llama3Scaling {
  double factor = 8;                 ///< 1 to 2^20
  std::int64_t trained_rows = 8192;  ///< 1 to 2^53
  double low_frequency_factor = 1;   ///< turns: 2^-20 to high_frequency_factor
  double high_frequency_factor = 4;  ///< turns: low_frequency_factor to 2^20

  bool operator==(const Llama3Scaling&) const = default;
};

/// w_k / factors[k]: LongRoPE (Ding et al., 2024), with the long or the short factors of a model.
struct LongRopeScaling {
  /// d_model / 2 of them, each 2^-10 to 2^20.
  std::vector<double> factors = {};
  /// Up to 2^20, see attention_factor(). For a model that was extended by s, it is
  /// sqrt(1 + ln s / ln trained_rows). 0 means not given, which Rotary refuses.
  double attention_factor = 0;

  bool operator==(const LongRopeScaling&) const = default;
};

/// w_k / s for the first `turned` frequencies, and 0 for the others: channels that do not turn.
/// Gemma 4's "proportional" rule.
struct ProportionalScaling {
  double factor = 1;        ///< 2^-10 to 2^64
  std::int64_t turned = 0;  ///< 0 to d_model / 2

  bool operator==(const ProportionalScaling&) const = default;
};

/// Frequencies in turns, each exactly a rational number: frequency k is numerators[k] /
/// denominators[k] of a turn per position. Sines and cosines that are 0, 1/2 or 1 then are exactly
/// that. Base and spacing have no effect.
///
///     pi 2^j per position (NeRF, Fourier features): 2^j / 2;    2 pi j / n (roots of unity): j / n
struct TurnFrequencies {
  std::vector<std::int64_t> numerators = {};    ///< d_model / 2, of magnitudes up to 2^53
  std::vector<std::int64_t> denominators = {};  ///< d_model / 2, each 1 to 2^53

  bool operator==(const TurnFrequencies&) const = default;
};

/// The frequencies of the base in turns instead of radians, times numerator / denominator: w_k
/// numerator / denominator turns per position. DINOv3's and LTX's.
struct BaseTurns {
  std::int64_t numerator = 1;    ///< 1 to 2^53
  std::int64_t denominator = 1;  ///< 1 to 2^53

  bool operator==(const BaseTurns&) const = default;
};

/// Any of the rules.
using FrequencyRule =
    std::variant<BaseFrequencies, OwnFrequencies, LinearScaling, NtkScaling, YarnScaling,
                 Llama3Scaling, LongRopeScaling, ProportionalScaling, TurnFrequencies, BaseTurns>;

/// True if the frequencies are those of the base.
inline bool is_base(const FrequencyRule& rule) noexcept {
  return std::holds_alternative<BaseFrequencies>(rule);
}

/// What Rotary multiplies cosines and sines by: 1, unless the rule says otherwise, and 0 if the
/// rule has to be given one. Encodings apply no factor: Backend::plan() refuses any but 1.
double attention_factor(const FrequencyRule& rule) noexcept;

/// The frequencies of the rule alone: its attention factor is 1.
FrequencyRule without_attention_factor(FrequencyRule rule);

/// True if the rule is defined for Spacing::paper only.
bool is_for_paper_only(const FrequencyRule& rule) noexcept;

}  // namespace posenc
