// xsimd, under the ISA's own name (see isa-inl.h). In a file of its own because an #include whose
// name is a macro would have "xsimd" in the path replaced, too.
#pragma once

#include <xsimd/xsimd.hpp>
