/// @file
/// The order of sines and cosines in the columns of a table.
#pragma once

#include "posenc/spec.h"

#include <string_view>

namespace posenc::check {

/// The order of sines and cosines in the columns of a table, for frequencies k = 0 .. h - 1. The
/// first three values are the values of Layout.
enum class Arrangement {
  interleaved,            ///< sin w_0, cos w_0, sin w_1, ...
  halves,                 ///< sines, then cosines
  halves_cos_first,       ///< cosines, then sines
  interleaved_cos_first,  ///< cos w_0, sin w_0, cos w_1, ...: ggml's rope cache
  cosines,                ///< each cosine once
  sines,                  ///< each sine once
  cosines_twice,          ///< all cosines, and then all of them again: cos_cached of Transformers
  sines_twice,            ///< all sines, and then all of them again
  cosines_repeated,       ///< cos w_0, cos w_0, cos w_1, ...: diffusers
  sines_repeated,         ///< sin w_0, sin w_0, sin w_1, ...
  alternating,            ///< a mistake, one frequency per column: sin w_0, cos w_1, sin w_2, ...
};

/// All arrangements.
inline constexpr Arrangement all_arrangements[] = {
    Arrangement::interleaved,           Arrangement::halves,      Arrangement::halves_cos_first,
    Arrangement::interleaved_cos_first, Arrangement::cosines,     Arrangement::sines,
    Arrangement::cosines_twice,         Arrangement::sines_twice, Arrangement::cosines_repeated,
    Arrangement::sines_repeated,        Arrangement::alternating};

/// The name of the enumerator: "cosines_twice".
std::string_view to_string(Arrangement arrangement) noexcept;
/// Parses the name of an arrangement. Throws InvalidArgument, which lists the allowed names.
Arrangement parse_arrangement(std::string_view name);
/// The arrangement that is equal to the layout.
Arrangement arrangement_of(Layout layout) noexcept;

}  // namespace posenc::check
