/// @file
/// Instruction sets that a backend can be compiled for.
#pragma once

#include "posenc/cxx20.h"

#include <string_view>

namespace posenc {

/// Instruction sets, in ascending order of preference on one CPU.
enum class Isa {
  portable,  ///< plain C++, for every 64-bit processor
  sse2,      ///< the x86-64 baseline
  avx2,      ///< AVX2, FMA and F16C
  avx512,    ///< AVX-512 F, CD, DQ and BW
  neon64,    ///< AArch64 Advanced SIMD
};

/// All instruction sets, in that order.
inline constexpr Isa all_isas[] = {Isa::portable, Isa::sse2, Isa::avx2, Isa::avx512, Isa::neon64};

/// "portable", "sse2", "avx2", "avx512" or "neon64".
std::string_view to_string(Isa isa) noexcept;
/// Parses the name of an instruction set. Throws InvalidArgument, listing the allowed names.
Isa parse_isa(std::string_view name);

}  // namespace posenc
