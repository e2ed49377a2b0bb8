#include "posenc/error.h"

#include "posenc/support/limits.h"
#include "posenc/support/printable.h"

namespace posenc {

InvalidArgument::InvalidArgument(const std::string& message)
    : std::invalid_argument(shortened(escaped(message), max_message_bytes)) {}

}  // namespace posenc
