// What a benchmark encodes, the memory that it writes, and its speed beside the limit.
#pragma once

#include "program.h"

#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/matrix.h"
#include "posenc/presets.h"
#include "posenc/spec.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {

struct Table {
  EncodingSpec spec = {};
  RowRange rows = {};
  std::string_view preset = {};  ///< the name of a preset or a benchmark shape, if it is one
  DataType type = DataType::float32;
  std::int64_t stride = 0;  ///< elements from one row to the next; 0: d_model
  std::int64_t offset = 0;  ///< elements before the first row, which begins a cache line without
  StorePolicy stores = StorePolicy::automatic;
  int threads = 0;  ///< 0: one thread, which its name does not say

  std::int64_t elements() const { return rows.count * spec.d_model; }
  std::int64_t bytes() const { return elements() * size_of(type); }
  std::int64_t row_stride() const { return stride > 0 ? stride : spec.d_model; }
  /// Of memory that holds the table, including what is before and between its rows.
  std::int64_t span_bytes() const { return (offset + rows.count * row_stride()) * size_of(type); }
  EncodeOptions options() const { return {threads > 0 ? threads : 1, stores}; }
};

Table table_of(std::int64_t rows, std::int64_t d_model, DataType type = DataType::float32);
Table table_of(const Preset& preset);

/// What names say of a table: "rows:512/d:512", and all that differs from the usual, as in
/// "preset:whisper/first:2/rows:8/d:64/stride:80/offset:1/dtype:float16/stores:cached/threads:2".
std::string to_string(const Table& table);

/// At least `bytes` of memory, 64-byte aligned and touched before. All benchmarks share it: it is
/// valid until the next call that asks for more.
float* warm_memory(std::int64_t bytes);

/// The table in memory: of span_bytes() or more, or in warm memory.
OutputView view_of(const Table& table, void* memory);
OutputView warm_view(const Table& table);

/// Counts elements/s and bytes/s. After the timed loop.
void count_elements(benchmark::State& state, const Table& table);

/// Times the call that writes the table, if it is right. Counts elements/s, bytes/s, and
/// share_of_limit: the seconds that the memory system needs for as many bytes, over the seconds of
/// an iteration.
///
/// The limit is the faster of a loop of plain stores and one of non-temporal stores over as many
/// bytes of warm memory, by one thread. Each is timed nine times, for at least 2 ms, and its median
/// is taken. This is done once for each size, when a benchmark first needs it. Disturbances of the
/// machine at that moment are in every share of that size: posenc measure times the same loops
/// between the backends.
void time_table(benchmark::State& state, const Table& table, const Expected& expected,
                const std::function<OutputView()>& call);

}  // namespace posenc::bench
