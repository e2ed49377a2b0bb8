#define POSENC_PEER_ISA avx512
#define POSENC_PEER_FLOATS 16
#define POSENC_PEER_DOUBLES 8
#define POSENC_PEER_SLEEF_SUFFIX avx512f
#define POSENC_PEER_SLEEF_FIXED_PREFIX Sleef_finz_sincosf
#define POSENC_PEER_ABI_LETTER e
#include "isa-inl.h"
