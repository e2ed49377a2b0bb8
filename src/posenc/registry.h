// The backends of this build.
//
//   auto encoder = posenc::backend("rotation").plan({.d_model = 512});
//
// selection.h says which one is used if a program names none.
#pragma once

#include "posenc/backend.h"
#include "posenc/export.h"
#include "posenc/isa.h"

#include <memory>
#include <string_view>
#include <vector>

namespace POSENC_API posenc {

/// Every backend of this build, in the order of registration (simplest method first), each method
/// by ascending ISA.
std::vector<const Backend*> backends();

/// The backend of that name ("rotation", or "rotation:avx2" for one ISA): without an ISA, the best
/// that runs here. Throws InvalidArgument, listing the known ones, if there is none, or if it
/// does not run here.
const Backend& backend(std::string_view name);
const Backend& backend(std::string_view name, Isa isa);

/// Adds a backend, owned by the registry from then on. Throws InvalidArgument if one of its name
/// and ISA is known.
const Backend& register_backend(std::unique_ptr<Backend> added);

/// Takes a backend out again that register_backend() added, and gives it back. Encoders that it
/// planned stay valid as long as it lives. Throws InvalidArgument unless it was added so.
std::unique_ptr<Backend> unregister_backend(const Backend& added);

}  // namespace posenc
