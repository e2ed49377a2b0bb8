#define POSENC_ISA neon64
#define POSENC_ARCH xsimd::neon64
#define POSENC_VECTORS "posenc/simd/xsimd_vectors-inl.h"
#define POSENC_LANES "posenc/simd/lanes_neon64-inl.h"
#define POSENC_HAS_VECTOR_SINCOS
#include "posenc/simd/isa-inl.h"
