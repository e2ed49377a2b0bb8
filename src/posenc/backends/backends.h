// The functions that make the built-in backends, for the registry's list: one for each method. The
// vectorised methods give one backend for each ISA of the build.
#pragma once

#include "posenc/backend.h"

#include <memory>
#include <vector>

namespace posenc {

std::unique_ptr<Backend> make_naive_backend();
std::unique_ptr<Backend> make_div_term_backend();
std::vector<std::unique_ptr<Backend>> make_xsimd_backends();
std::vector<std::unique_ptr<Backend>> make_rotation32_backends();
std::vector<std::unique_ptr<Backend>> make_rotation_backends();

}  // namespace posenc
