// xsimd, in a namespace with the ISA's name (see isa-inl.h). This is a separate file because in an
// #include whose name is a macro, the "xsimd" of the path would be replaced, too.
#pragma once

#include <xsimd/xsimd.hpp>
