#include "posenc/simd/isa/isa_scalar-inl.h"

#include "posenc/simd/kernels-inl.h"
