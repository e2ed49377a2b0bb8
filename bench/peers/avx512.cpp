#include "posenc/simd/isa/isa_avx512-inl.h"

#define POSENC_PEER_SLEEF_FLOAT(accuracy) Sleef_sincosf16##accuracy##avx512f
#define POSENC_PEER_SLEEF_DOUBLE Sleef_sincosd8_u35avx512f
#define POSENC_PEER_LIBMVEC_FLOAT(function) _ZGVeN16v_##function
#define POSENC_PEER_LIBMVEC_DOUBLE(function) _ZGVeN8v_##function
#include "isa-inl.h"
