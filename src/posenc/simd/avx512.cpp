#define POSENC_ISA avx512
#define POSENC_ARCH xsimd::avx512bw
#include "posenc/simd/isa_file.h"
