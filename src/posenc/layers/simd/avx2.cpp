#define POSENC_ISA avx2
#define POSENC_ARCH xsimd::fma3<xsimd::avx2>
#include "posenc/layers/simd/isa_file.h"
