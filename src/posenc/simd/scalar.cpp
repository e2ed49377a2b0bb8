#define POSENC_ISA scalar
#define POSENC_ARCH void
#define POSENC_VECTORS "posenc/simd/portable_batch-inl.h"
#define POSENC_LANES "posenc/simd/lanes_scalar-inl.h"
#include "posenc/simd/isa-inl.h"
