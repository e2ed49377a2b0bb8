// The makers of the built-in backends, for the registry's list: one line a method.
#pragma once

#include "posenc/backend.h"

#include <memory>
#include <vector>

namespace posenc {

std::unique_ptr<Backend> make_naive_backend();
std::unique_ptr<Backend> make_div_term_backend();
std::vector<std::unique_ptr<Backend>>
make_xsimd_backends();  ///< one for every ISA that was compiled
std::vector<std::unique_ptr<Backend>>
make_rotation32_backends();  ///< one for every ISA that was compiled
std::vector<std::unique_ptr<Backend>>
make_rotation_backends();  ///< one for every ISA that was compiled

}  // namespace posenc
