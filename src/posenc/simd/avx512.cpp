#define POSENC_ISA avx512
#define POSENC_ARCH xsimd::avx512bw
#define POSENC_VECTORS "posenc/simd/xsimd_vectors.h"
#define POSENC_LANES "posenc/simd/lanes_avx512.h"
#define POSENC_HAS_VECTOR_SINCOS
#include "posenc/simd/isa_file.h"
