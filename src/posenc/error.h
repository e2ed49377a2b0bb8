// What the library throws.
#pragma once

#include "posenc/export.h"

#include <stdexcept>

namespace POSENC_API posenc {

/// Bad input. The message names the argument, its value and what is allowed. Nothing has been
/// written when it is thrown.
class InvalidArgument : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace posenc
