#define POSENC_ISA neon64
#define POSENC_ARCH xsimd::neon64
#include "posenc/layers/simd/isa_file.h"
