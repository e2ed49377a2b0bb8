#define POSENC_ISA avx2
#define POSENC_ARCH xsimd::fma3<xsimd::avx2>
#define POSENC_VECTORS "posenc/simd/xsimd_vectors-inl.h"
#define POSENC_LANES "posenc/simd/lanes_avx2-inl.h"
#define POSENC_HAS_VECTOR_SINCOS
#include "posenc/simd/isa-inl.h"
