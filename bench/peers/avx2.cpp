#include "posenc/simd/isa/isa_avx2-inl.h"

#define POSENC_PEER_SLEEF_FLOAT(accuracy) Sleef_sincosf8##accuracy##avx2
#define POSENC_PEER_SLEEF_DOUBLE Sleef_sincosd4_u35avx2
#define POSENC_PEER_LIBMVEC_FLOAT(function) _ZGVdN8v_##function
#define POSENC_PEER_LIBMVEC_DOUBLE(function) _ZGVdN4v_##function
#include "isa-inl.h"
