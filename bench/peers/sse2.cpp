#include "posenc/simd/isa/isa_sse2-inl.h"

#define POSENC_PEER_SLEEF_FLOAT(accuracy) Sleef_sincosf4##accuracy##sse2
#define POSENC_PEER_SLEEF_DOUBLE Sleef_sincosd2_u35sse2
#define POSENC_PEER_LIBMVEC_FLOAT(function) _ZGVbN4v_##function
#define POSENC_PEER_LIBMVEC_DOUBLE(function) _ZGVbN2v_##function
#include "isa-inl.h"
