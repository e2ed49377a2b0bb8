#define POSENC_PEER_ISA sse2
#define POSENC_PEER_FLOATS 4
#define POSENC_PEER_DOUBLES 2
#define POSENC_PEER_SLEEF_SUFFIX sse2
#define POSENC_PEER_SLEEF_FIXED_PREFIX Sleef_cinz_sincosf
#define POSENC_PEER_ABI_LETTER b
#include "isa-inl.h"
