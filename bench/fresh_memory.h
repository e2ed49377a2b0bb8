// Encoding into memory that the system has just given, beside warm memory: page faults can cost
// more than the encoding.
#pragma once

#include "table_shape.h"

#include "posenc/registry.h"

#include <vector>

namespace posenc::bench {

/// Adds encode_fresh/<backend>:<isa>/memory:<kind>/<shape>, which gives the memory back too, for
/// every kind:
///
///   vector  std::vector<float>, which fills itself with zeros first
///   pages   plain pages of 4 KiB
///   matrix  posenc::Matrix: huge pages if the table is large and the system gives them
///   warm    one Matrix, kept
void add_fresh_memory(const std::vector<const Backend*>& backends, const TableShape& shape,
                      StorePolicy stores);

}  // namespace posenc::bench
