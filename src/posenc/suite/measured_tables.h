/// @file
/// The tables and backends that are measured unless a program names others.
#pragma once

#include "posenc/backend.h"
#include "posenc/suite/measurement.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace posenc::suite {

/// A dense table that is stored as the library decides. Its name is "5000x512", for example. Throws
/// InvalidArgument if an argument is not allowed, or if there are no rows.
MeasuredTable table_of(const EncodingSpec& spec, RowRange rows, DataType type = DataType::float32,
                       int threads = 1);

/// Tables of all sizes, from the L1 cache to memory, in layouts that real systems use. The first
/// eleven, up to 8192 x 4096, are the same on all machines. If the largest of them fits in the
/// caches, a larger twelfth table follows.
std::vector<MeasuredTable> default_tables(DataType type = DataType::float32, int threads = 1);

/// The backends that run here, for one ISA or for all. For all ISAs, each peer appears only once,
/// at its best ISA.
std::vector<const Backend*> backends_here(std::optional<Isa> isa = {});

/// Removes the tables that need more than `most_bytes` of memory together with a copy. By default
/// (0), that is half of the memory of the machine. Returns a line that names the removed tables and
/// the reason; empty if all fit. Throws InvalidArgument with this line if no table is left.
std::string leave_out_large(std::vector<MeasuredTable>& tables, std::int64_t most_bytes = 0);

}  // namespace posenc::suite
