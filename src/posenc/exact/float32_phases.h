// Phases in float32, rounded exactly as widely used systems round them. The backend div_term and
// the encodings of parity.h start from these phases, and a check of a table recognises them.
//
// Every operation is an IEEE float32 operation, in the order of the system's source. The expf or
// powf of a C library may be off by an ulp, and libraries differ; here both functions are correctly
// rounded (float32_functions.h).
#pragma once

#include "posenc/exact/frequency.h"
#include "posenc/spec.h"
#include "posenc/support/detail.h"

#include <vector>

namespace posenc::detail {

/// Exact frequencies modulo 2 pi, each rounded to float32.
std::vector<float> nearest_floats(const Frequencies& exact);

/// PyTorch's Transformer tutorial: exp(2k * (-ln base / d)). An inclusive spacing has
/// tensor2tensor's exponent, k * (-ln base / (d / 2 - 1)); with a rule of frequencies,
/// nearest_floats() of them.
std::vector<float> tutorial_frequencies(const EncodingSpec& spec);

/// The frequencies of Transformers' rotary embeddings: 1 / base^(2k / d), changed by the spec's
/// rule. The rule must not be OwnFrequencies or LongRopeScaling, and the spacing must be paper.
std::vector<float> transformers_frequencies(const EncodingSpec& spec);

/// A bound of |phase - exact phase| / position that holds at every position. `phase` is the float32
/// product of the position, rounded to float32, and one of these frequencies.
double error_per_position(const std::vector<float>& frequencies, const EncodingSpec& spec);

}  // namespace posenc::detail
