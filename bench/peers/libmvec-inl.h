// glibc's libmvec, called by the names of the x86 vector ABI. For ISA files only.
//
// A compiler calls these by itself only under -ffast-math, which would change everything else in
// the file too; declared here, they need no flag but the ISA's. sin and cos are called apart: the
// vector ABI's sincos scatters its results through a pointer a lane.
#pragma once

#include "vectors-inl.h"

#define POSENC_PEER_PASTE_ABI(letter, width, function) _ZGV##letter##N##width##v_##function
#define POSENC_PEER_ABI_NAME(letter, width, function) POSENC_PEER_PASTE_ABI(letter, width, function)
#define POSENC_PEER_LIBMVEC_FLOAT(function) \
  POSENC_PEER_ABI_NAME(POSENC_PEER_ABI_LETTER, POSENC_PEER_FLOATS, function)
#define POSENC_PEER_LIBMVEC_DOUBLE(function) \
  POSENC_PEER_ABI_NAME(POSENC_PEER_ABI_LETTER, POSENC_PEER_DOUBLES, function)

namespace posenc::peers {
namespace {

extern "C" F32 POSENC_PEER_LIBMVEC_FLOAT(sinf)(F32);
extern "C" F32 POSENC_PEER_LIBMVEC_FLOAT(cosf)(F32);
extern "C" F64 POSENC_PEER_LIBMVEC_DOUBLE(sin)(F64);
extern "C" F64 POSENC_PEER_LIBMVEC_DOUBLE(cos)(F64);

inline SineAndCosine libmvec_float(const float* radians, float position) {
  const F32 phases = load<F32>(radians) * position;
  return {POSENC_PEER_LIBMVEC_FLOAT(sinf)(phases), POSENC_PEER_LIBMVEC_FLOAT(cosf)(phases)};
}

struct LibmvecDouble {
  struct Both {
    F64 sine;
    F64 cosine;
  };
  static Both sincos(F64 phases) {
    return {POSENC_PEER_LIBMVEC_DOUBLE(sin)(phases), POSENC_PEER_LIBMVEC_DOUBLE(cos)(phases)};
  }
};

}  // namespace
}  // namespace posenc::peers
