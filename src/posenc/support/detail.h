// Internal names live in posenc::detail. Code in posenc uses them without this qualifier.
#pragma once

namespace posenc {
namespace detail {}
using namespace detail;
}  // namespace posenc
