// Encoding into memory that the system has just given, beside warm memory: page faults can cost more than the encoding.
#pragma once

#include "shape.h"

#include "posenc/registry.h"

namespace posenc::bench {

/// encode_fresh/<backend>:<isa>/memory:<kind>/<shape>, the memory's return included, for every kind:
///   vector  std::vector<float>, which is filled with zeros first
///   pages   plain pages of 4 KiB
///   matrix  posenc::Matrix: huge pages where the table is large and the system gives them
///   warm    one buffer, kept
void add_encode_fresh(const Backend& backend, const Shape& shape, Stores stores);

}  // namespace posenc::bench
