// The largest error of a right entry. Internal: not installed.
#pragma once

#include "posenc/data_type.h"

namespace posenc::check {

/// The largest error that is good at that phase, for entries of a type with that factor. The rule
/// is stated in table.h.
double allowed_error(DataType type, double factor, double phase) noexcept;

}  // namespace posenc::check
