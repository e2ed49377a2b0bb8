#define POSENC_PEER_ISA avx2
#define POSENC_PEER_FLOATS 8
#define POSENC_PEER_DOUBLES 4
#define POSENC_PEER_SLEEF_SUFFIX avx2
#define POSENC_PEER_SLEEF_FIXED_PREFIX Sleef_finz_sincosf
#define POSENC_PEER_ABI_LETTER d
#include "isa-inl.h"
