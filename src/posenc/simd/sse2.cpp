#define POSENC_ISA sse2
#define POSENC_ARCH xsimd::sse2
#define POSENC_VECTORS "posenc/simd/xsimd_vectors-inl.h"
#define POSENC_LANES "posenc/simd/lanes_sse2-inl.h"
#define POSENC_HAS_VECTOR_SINCOS
#include "posenc/simd/isa-inl.h"
