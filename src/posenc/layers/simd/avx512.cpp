#define POSENC_ISA avx512
#define POSENC_ARCH xsimd::avx512bw
#include "posenc/layers/simd/isa_file.h"
