#include "posenc/simd/isa_scalar-inl.h"

#include "posenc/simd/kernels-inl.h"
