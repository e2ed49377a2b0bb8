#define POSENC_ISA avx512
#define POSENC_ARCH xsimd::avx512bw
#define POSENC_VECTORS "posenc/simd/xsimd_vectors-inl.h"
#define POSENC_LANES "posenc/simd/lanes_avx512-inl.h"
#define POSENC_HAS_VECTOR_SINCOS
#include "posenc/simd/isa-inl.h"
