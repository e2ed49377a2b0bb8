#define POSENC_ISA sse2
#define POSENC_ARCH xsimd::sse2
#define POSENC_VECTORS "posenc/simd/xsimd_vectors.h"
#define POSENC_LANES "posenc/simd/lanes_sse2.h"
#define POSENC_HAS_VECTOR_SINCOS
#include "posenc/simd/isa_file.h"
