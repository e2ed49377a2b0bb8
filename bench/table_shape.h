// The shape of an encoded table, and the names, labels and counters of the benchmarks that encode
// one.
#pragma once

#include "posenc/encoder.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {

/// What one benchmark encodes.
struct TableShape {
  std::string_view preset;  ///< the name of a preset or benchmark shape; empty if it has none
  EncodingSpec spec;
  RowRange rows;
  DataType type = DataType::float32;
  std::int64_t stride = 0;  ///< elements from one row to the next; 0: the rows are dense
  std::int64_t offset = 0;  ///< elements before the first row

  std::int64_t elements() const { return rows.count * spec.d_model; }
  std::int64_t bytes() const { return table_bytes(spec, rows.count, size_of(type)); }
  std::int64_t row_stride() const { return stride > 0 ? stride : spec.d_model; }
  /// Of memory that holds the table, including what is before and between its rows.
  std::int64_t span_bytes() const { return (offset + rows.count * row_stride()) * size_of(type); }
};

TableShape shape_of(const Preset& preset);
TableShape shape_of(std::int64_t rows, std::int64_t d_model);
TableShape with_type_of(TableShape shape, DataType type);

/// A table of that shape in that memory, of span_bytes() or more.
OutputView view_of(const TableShape& shape, void* memory);

/// "rows:512/d:512"; before it a preset or a first position ("first:1e12"), after it a stride, an
/// offset, and a type other than float32.
std::string to_string(const TableShape& shape);

/// What names end with if --stores overrides the library's choice: "/stores:non_temporal".
std::string suffix_of(StorePolicy stores);

/// Tables from the first-level cache to memory, wide ones and long ones: those that speeds are
/// quoted for.
std::vector<TableShape> cache_to_memory_shapes();

/// Sizes of tables, each four times the one before, from L1 (16 KiB) to memory (four times L3, at
/// most 256 MiB).
std::vector<std::int64_t> swept_bytes();

/// Counts elements/s, and gives the whole spec as the label: a name holds the shape alone.
void count_elements(benchmark::State& state, const TableShape& shape);

/// Counts bytes/s too.
void count_elements_and_bytes(benchmark::State& state, const TableShape& shape);

/// The backends that encode the shape within so many seconds. Others would take minutes with their
/// repetitions: they are left out, which is said on stderr.
std::vector<const Backend*> leave_out_slow(const std::vector<const Backend*>& backends,
                                           const TableShape& shape, double most_seconds = 2);

}  // namespace posenc::bench
