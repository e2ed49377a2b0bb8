#include "posenc/simd/isa_sse2-inl.h"

#include "posenc/simd/kernels-inl.h"
