// Phases in float32, rounded as widely used systems round them: what the backend div_term and
// encodings like those systems' (parity.h) start from, and what a check of a table recognises.
//
// Every operation is one of IEEE's float32, in the order of the system's source. A C library's
// expf or powf may be off by an ulp, and each library by another one; here they are correctly
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

/// Transformers' rotary embeddings: 1 / base^(2k / d), changed by the spec's rule. The rule is not
/// OwnFrequencies or LongRopeScaling, the spacing is paper.
std::vector<float> transformers_frequencies(const EncodingSpec& spec);

/// A bound of |phase - exact phase| / position, at every position, of float32 phases: the product
/// of the position, rounded to float32, and such a frequency.
double error_per_position(const std::vector<float>& frequencies, const EncodingSpec& spec);

}  // namespace posenc::detail
