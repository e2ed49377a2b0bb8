// Encoding into memory that the system has just given, beside warm memory: page faults can cost
// more than the encoding.
#pragma once

#include "shape.h"

#include "posenc/registry.h"

#include <vector>

namespace posenc::bench {

/// encode_fresh/<backend>:<isa>/memory:<kind>/<shape>, the memory's return included, for every
/// kind:
///   vector  std::vector<float>, which is filled with zeros first
///   pages   plain pages of 4 KiB
///   matrix  posenc::Matrix: huge pages where the table is large and the system gives them
///   warm    one Matrix, kept
void add_encode_fresh(const std::vector<const Backend*>& backends, const Shape& shape,
                      StorePolicy stores);

}  // namespace posenc::bench
