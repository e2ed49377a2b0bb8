// The largest error of a good entry. Internal: not installed.
#pragma once

#include "posenc/data_type.h"

namespace posenc::check {

/// The largest error that is good at this phase, for entries of this type and factor. table.h
/// states the rule.
double allowed_error(DataType type, double factor, double phase) noexcept;

}  // namespace posenc::check
