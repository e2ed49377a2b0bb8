#include "posenc/simd/isa/isa_sse2-inl.h"

#include "posenc/simd/kernels-inl.h"
