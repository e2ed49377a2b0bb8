#include "posenc/simd/isa/isa_avx512-inl.h"

#include "posenc/simd/kernels-inl.h"
