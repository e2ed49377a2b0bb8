#define POSENC_ISA sse2
#define POSENC_ARCH xsimd::sse2
#include "posenc/layers/simd/isa_file.h"
