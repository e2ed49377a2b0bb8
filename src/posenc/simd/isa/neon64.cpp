#include "posenc/simd/isa/isa_neon64-inl.h"

#include "posenc/simd/kernels-inl.h"
