// The shape of an encoded table: the names, labels and counters of the benchmarks that encode one.
#pragma once

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
struct Shape {
  std::string_view preset;  ///< its name, or that of a benchmark shape; empty where it has none
  EncodingSpec spec;
  RowRange rows;
  DataType type = DataType::float32;
  std::int64_t stride = 0;  ///< elements from one row to the next; 0: the rows are dense
  std::int64_t offset = 0;  ///< elements before the first row

  std::int64_t elements() const { return rows.count * spec.d_model; }
  std::int64_t bytes() const { return table_bytes(spec, rows.count, size_of(type)); }
  std::int64_t row_stride() const { return stride > 0 ? stride : spec.d_model; }
  /// Of memory that holds the table, what is before and between its rows included.
  std::int64_t span_bytes() const { return (offset + rows.count * row_stride()) * size_of(type); }
};

/// A table of that shape in that memory, of span_bytes() or more.
OutputView view_of(const Shape& shape, void* memory);

Shape shape_of(const Preset& preset);
Shape shape_of(std::int64_t rows, std::int64_t d_model);

/// "rows:512/d:512", with what else tells it from others before it ("first:1e12"), and a stride, an
/// offset and a type other than float32 after it.
std::string to_string(const Shape& shape);

/// What the names of benchmarks end with where --stores overrides the library's choice:
/// "/stores:non_temporal".
std::string suffix_of(StorePolicy stores);

/// Tables from the first-level cache to memory, wide ones and long ones: those that speeds are
/// quoted for.
std::vector<Shape> cache_to_memory_shapes();

/// Elements/s, and the whole spec as the label: a name holds the shape alone.
void count_elements(benchmark::State& state, const Shape& shape);

/// The same, and bytes/s.
void count(benchmark::State& state, const Shape& shape);

/// Counter "share_of_limit", of so many bytes an iteration.
void compare_with_limit(benchmark::State& state, std::int64_t bytes, double limit_bytes_per_second);

/// The backends that encode the shape within two seconds, or within those given: one that takes
/// longer would take minutes with its repetitions. It is left out, and said to be on stderr.
std::vector<const Backend*> leave_out_slow(const std::vector<const Backend*>& backends,
                                           const Shape& shape, double most_seconds = 2);

}  // namespace posenc::bench
