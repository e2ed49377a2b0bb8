// The list of built-in methods: one line for each, from the simplest to the most complex, because
// the simplest wins a tie. rotation, which is correctly rounded, is before rotation32.
#pragma once

#include "posenc/backend.h"
#include "posenc/support/detail.h"

#include <memory>
#include <vector>

#define POSENC_METHODS(use) use(naive) use(div_term) use(xsimd) use(rotation) use(rotation32)

namespace posenc::detail {

using BackendList = std::vector<std::unique_ptr<Backend>>;

/// add_<method>(all), which the method's file defines, adds the method's backends to a list: one,
/// or for a vectorised method one for each ISA of the build, in ascending order.
#define POSENC_DECLARE_METHOD(method) void add_##method(BackendList& all);
POSENC_METHODS(POSENC_DECLARE_METHOD)
#undef POSENC_DECLARE_METHOD

}  // namespace posenc::detail
