#include "posenc/simd/isa/isa_avx2-inl.h"

#include "posenc/simd/kernels-inl.h"
