// Checks of the arguments of Rotary. Internal: not installed.
#pragma once

#include "posenc/matrix.h"
#include "posenc/model/axes.h"
#include "posenc/model/heads_view.h"
#include "posenc/model/rotary_cache_view.h"

#include <cstdint>
#include <span>

namespace posenc {

// Each check throws InvalidArgument, which names the argument, its value and the allowed values.

/// There must be at least these rows, and exactly these columns, in valid memory.
void check_output(const char* name, const OutputView& out, std::int64_t rows, std::int64_t columns);

/// Checked outputs must have one type, and share no element of their first rows.
void check_pair(const OutputView& cosines, const OutputView& sines, std::int64_t rows);

/// The tables must have the columns of so many pairs, and types that layers compute with.
void check_cache(const RotaryCacheView& cache, std::int64_t pairs);

/// Each must be a row of the cache.
void check_cache_rows(const RowPositions& rows, const RotaryCacheView& cache);

/// Checks tensors and their number of positions. Returns true if each sequence has its own.
bool check_tensors(std::span<const HeadsView> x, std::int64_t dimension, std::int64_t positions);

bool have_no_heads(std::span<const HeadsView> x) noexcept;

}  // namespace posenc
