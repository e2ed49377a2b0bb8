/// @file
/// What the columns of a table hold.
#pragma once

#include "posenc/spec.h"

#include <string_view>

namespace posenc::check {

/// What the columns of a table hold, for frequencies k = 0 .. h - 1. The first three are those of
/// Layout.
enum class Arrangement {
  interleaved,            ///< sin w_0, cos w_0, sin w_1, ...
  halves,                 ///< sines, then cosines
  halves_cos_first,       ///< cosines, then sines
  interleaved_cos_first,  ///< cos w_0, sin w_0, cos w_1, ...: ggml's rope cache
  cosines,                ///< each once
  sines,
  cosines_twice,  ///< the cosines, and again: cos_cached of Transformers
  sines_twice,
  cosines_repeated,  ///< cos w_0, cos w_0, cos w_1, ...: diffusers
  sines_repeated,
  alternating,  ///< a mistake: sin w_0, cos w_1, sin w_2, ...: a frequency for each column
};

/// All of them.
inline constexpr Arrangement all_arrangements[] = {
    Arrangement::interleaved,           Arrangement::halves,      Arrangement::halves_cos_first,
    Arrangement::interleaved_cos_first, Arrangement::cosines,     Arrangement::sines,
    Arrangement::cosines_twice,         Arrangement::sines_twice, Arrangement::cosines_repeated,
    Arrangement::sines_repeated,        Arrangement::alternating};

/// The name of the enumerator: "cosines_twice".
std::string_view to_string(Arrangement arrangement) noexcept;
/// Throws InvalidArgument, listing the allowed names.
Arrangement parse_arrangement(std::string_view name);
/// The arrangement of that layout.
Arrangement arrangement_of(Layout layout) noexcept;

}  // namespace posenc::check
