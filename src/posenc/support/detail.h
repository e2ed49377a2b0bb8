// What is internal lives in posenc::detail, and is used in posenc without that word.
#pragma once

namespace posenc {
namespace detail {}
using namespace detail;
}  // namespace posenc
