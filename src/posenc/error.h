// What the library throws.
#pragma once

#include "posenc/cxx20.h"

#include <stdexcept>

namespace posenc {

/// Bad input. The message names the argument, its value and what is allowed. Nothing has been
/// written when it is thrown.
class InvalidArgument : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace posenc
