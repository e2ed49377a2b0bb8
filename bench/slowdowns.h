// Which conditions slow encoding down? Tables that differ from a base in one thing.
#pragma once

#include "posenc/encoder.h"
#include "posenc/registry.h"

#include <vector>

namespace posenc::bench {

/// Adds one benchmark for each variant and backend, the base first, with the ratio
/// "time_over_base": the time of an element over that in the base.
///
///   positions/<backend>:<isa>/first:1e12/rows:200/d:512       large phases, which need slower
///                                                             argument reductions
///   widths/<backend>:<isa>/rows:32/d:4096                     as many elements in longer or
///                                                             shorter rows
///   strides/<backend>:<isa>/rows:256/d:512/stride:1024        rows a multiple of 4096 bytes apart,
///                                                             and a cache line more
///   alignment/<backend>:<isa>/rows:256/d:512/offset:1         rows that begin within a cache line
///   planning/<backend>:<isa>/rows:100/d:20/plan:included      a plan for every table
///   threads/<backend>:<isa>/rows:2048/d:1024/threads:2        all threads, in wall time
void add_slowdowns(const std::vector<const Backend*>& backends, StorePolicy stores, DataType type);

}  // namespace posenc::bench
