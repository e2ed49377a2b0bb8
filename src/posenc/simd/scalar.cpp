#define POSENC_ISA scalar
#define POSENC_ARCH void
#define POSENC_VECTORS "posenc/simd/portable_batch.h"
#define POSENC_LANES "posenc/simd/lanes_scalar.h"
#include "posenc/simd/isa_file.h"
