// SLEEF's vectorised sincos, by the names of one ISA. For ISA files only.
#pragma once

#include "vectors-inl.h"

#include <sleef.h>

#define POSENC_PEER_PASTE(name, width, accuracy, suffix) name##width##accuracy##suffix
#define POSENC_PEER_SLEEF_NAME(name, width, accuracy, suffix) \
  POSENC_PEER_PASTE(name, width, accuracy, suffix)
#define POSENC_PEER_SLEEF_FLOAT(accuracy) \
  POSENC_PEER_SLEEF_NAME(Sleef_sincosf, POSENC_PEER_FLOATS, accuracy, POSENC_PEER_SLEEF_SUFFIX)
#define POSENC_PEER_SLEEF_DOUBLE(accuracy) \
  POSENC_PEER_SLEEF_NAME(Sleef_sincosd, POSENC_PEER_DOUBLES, accuracy, POSENC_PEER_SLEEF_SUFFIX)
#define POSENC_PEER_SLEEF_FIXED                                                    \
  POSENC_PEER_SLEEF_NAME(POSENC_PEER_SLEEF_FIXED_PREFIX, POSENC_PEER_FLOATS, _u10, \
                         POSENC_PEER_SLEEF_SUFFIX)

namespace posenc::peers {
namespace {

inline SineAndCosine sleef_u10(const float* radians, float position) {
  const auto both = POSENC_PEER_SLEEF_FLOAT(_u10)(load<F32>(radians) * position);
  return {both.x, both.y};
}

/// The functions that SLEEF promises to give the same values on every platform: `cinz_` without
/// fused operations, `finz_` with them.
inline SineAndCosine sleef_deterministic(const float* radians, float position) {
  const auto both = POSENC_PEER_SLEEF_FIXED(load<F32>(radians) * position);
  return {both.x, both.y};
}

inline SineAndCosine sleef_u35(const float* radians, float position) {
  const auto both = POSENC_PEER_SLEEF_FLOAT(_u35)(load<F32>(radians) * position);
  return {both.x, both.y};
}

/// The variant of 3.5 ulp, which is faster; its error is far below an ulp of float32.
struct SleefDouble {
  struct Both {
    F64 sine;
    F64 cosine;
  };
  static Both sincos(F64 phases) {
    const auto both = POSENC_PEER_SLEEF_DOUBLE(_u35)(phases);
    return {both.x, both.y};
  }
};

}  // namespace
}  // namespace posenc::peers
